import Foundation

/// How values of the package print.
public enum PrintedForms {
    /// Every way in which a value becomes text, by itself and within others.
    public static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            "\(value)", String(reflecting: value), dumped, "\([value])", "\(["k": value])", "\(Optional(value) as Any)",
        ]
    }

    /// The names of the public types of a target that are declared in its sources, nested ones among them.
    ///
    /// - Throws: what the system says of the files.
    public static func publicTypes(ofTarget target: String) throws -> Set<String> {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/\(target)").standardized
        guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        var declared: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /public (?:final )?(?:class|struct|enum|actor) ([A-Z]\w*)/) {
                declared.insert(String(match.1))
            }
        }
        return declared
    }

    /// Whether a text shows some bytes: as they are, in hexadecimal digits, in either base64, or as the numbers that reflection
    /// makes of them.
    ///
    /// - Parameter secret: at least eight bytes.
    public static func shows(_ secret: Data, in text: String) -> Bool {
        let digits = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let base64 = secret.base64EncodedString().prefix { $0 != "=" }.dropLast()
        let forURLs = base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        let texts =
            [digits, digits.uppercased(), String(base64), forURLs]
            + [String(data: secret, encoding: .utf8)].compactMap(\.self)
        if texts.contains(where: text.contains) { return true }
        let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { UInt8($0) }
        return Data(numbers).range(of: secret.prefix(8)) != nil
    }
}
