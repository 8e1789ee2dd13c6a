import Foundation
import Penstock
import Synchronization
import Testing

@testable import Shop

/// What the demo prints and leaves behind, looked through for all that nobody else may know.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct SecretTests {
    @Test(
        "Nothing that the demo prints or leaves behind has a password, a token, a key or a card in it, in any form; and a leak into any of it would be found",
        .covers("X10"))
    func nothing() async throws {
        let visit = try await Visit.made()
        defer { visit.end() }
        #expect(visit.watcher.issued.count >= 8, "tokens were issued, and seen: \(visit.watcher.issued.count)")
        let scan = SecretScan(Secret.all + visit.watcher.issued)
        let outputs = try visit.outputs()
        #expect(outputs.keys.sorted() == ["drawn", "printed", "shop.har", "shop.html"])
        for (name, bytes) in outputs.sorted(by: { $0.key < $1.key }) {
            #expect(scan.found(in: bytes) == [], "\(name)")
            // It was there, and was read: what is no secret is in it.
            let mark = name == "drawn" ? "100 %" : name == "printed" ? "Teapot" : "/user/login"
            #expect(bytes.range(of: Data(mark.utf8)) != nil, "\(name) has no \(mark)")
        }
        for (index, secret) in (Secret.all + visit.watcher.issued.sorted().prefix(4)).enumerated() {
            let forms = SecretScan.forms(of: secret)
            for name in outputs.keys {
                let leak = forms[index % forms.count]
                #expect(scan.found(in: (outputs[name] ?? Data()) + leak) == [secret], "\(name), \(leak)")
            }
        }
    }

    @Test("A secret is looked for as it is, escaped as in a URL or a form, and in base64 wherever it begins there")
    func forms() {
        let scan = SecretScan(["open sesame"])
        for text in ["an open sesame.", "p=open%20sesame&q=1", "p=open+sesame"] {
            #expect(scan.found(in: Data(text.utf8)) == ["open sesame"], "\(text)")
        }
        for before in 0..<6 {
            let text = String(repeating: "ÿ", count: before) + "x" + "open sesame" + "ÿ"
            for bytes in [Data(text.utf8), Data(text.utf8.dropFirst())] {
                #expect(scan.found(in: Data(bytes.base64EncodedString().utf8)) == ["open sesame"], "\(before)")
            }
        }
        for text in ["open sesam", "Open sesame", ""] { #expect(scan.found(in: Data(text.utf8)) == []) }
    }
}

/// The demo, as the executable runs it, with everything that can be seen of it.
@MainActor
private struct Visit {
    let folder: URL
    let watcher: Watcher
    let printed: [String]
    let drawn: [String]

    static func made() async throws -> Visit {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("visit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let (watcher, drawn) = (Watcher(), Drawn())
        var printed: [String] = []
        try await Story.visit(
            leaving: folder, draw: { drawn.add($0) }, watching: { watcher.before($0) }, say: { printed.append($0) })
        return Visit(folder: folder, watcher: watcher, printed: printed, drawn: drawn.lines)
    }

    /// By name: what was shown, and every file that is left, with its name before its content.
    func outputs() throws -> [String: Data] {
        var outputs = [
            "printed": Data(printed.joined(separator: "\n").utf8), "drawn": Data(drawn.joined(separator: "\n").utf8),
        ]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            // A folder has no content, and its name is looked at all the same.
            let content = try? Data(contentsOf: folder.appendingPathComponent(name))
            outputs[name] = Data((name + "\n").utf8) + (content ?? Data())
        }
        return outputs
    }

    func end() {
        try? FileManager.default.removeItem(at: folder)
    }
}

/// What was drawn over itself.
private final class Drawn: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func add(_ line: String) { kept.withLock { $0.append(line) } }
}

/// Sees everything that goes over the wire, and keeps what the servers gave out for one user alone.
private final class Watcher: Sendable {
    private let secrets = Mutex<Set<String>>([])

    /// The tokens and cookies that the servers have given out.
    var issued: Set<String> { secrets.withLock { $0 } }

    func before(_ next: any EventSink) -> any EventSink { Tap(watcher: self, next: next) }

    private struct Tap: EventSink {
        let watcher: Watcher
        let next: any EventSink

        func receive(_ event: Event, _ context: EventContext) {
            switch event {
            case .requestSent(let request): watcher.keep(request.fields)
            case .responseReceived(let response, _, _): watcher.keep(response)
            default: break
            }
            next.receive(event, context)
        }
    }

    private func keep(_ fields: HTTPFields) {
        for field in fields where field.name == .authorization {
            if let token = field.value.split(separator: " ").last { keep(String(token)) }
        }
    }

    private func keep(_ response: HTTPResponse) {
        for field in response.fields where field.name == .setCookie {
            if let pair = field.value.split(separator: ";").first, let value = pair.split(separator: "=").last {
                keep(String(value))
            }
        }
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: response.body) else { return }
        keep(json)
    }

    /// Whatever is called a token.
    private func keep(_ json: JSONValue) {
        guard case .object(let members) = json else { return }
        for (name, value) in members {
            if let text = value.string, Self.names.contains(name) { keep(text) }
            keep(value)
        }
    }

    private func keep(_ secret: String) {
        secrets.withLock { _ = $0.insert(secret) }
    }

    private static let names: Set = ["token", "accessToken", "refreshToken", "access_token", "refresh_token"]
}

/// Looks for secrets in bytes.
private struct SecretScan {
    private let forms: [(secret: String, bytes: Data)]

    init(_ secrets: some Sequence<String>) {
        forms = secrets.flatMap { secret in Self.forms(of: secret).map { (secret, $0) } }
    }

    func found(in bytes: Data) -> Set<String> {
        Set(forms.filter { bytes.range(of: $0.bytes) != nil }.map(\.secret))
    }

    /// The secret as it is and without its spaces, escaped as in a URL and as in a form, and in base64 of both alphabets wherever
    /// it begins in three bytes.
    static func forms(of secret: String) -> [Data] {
        let escaped = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret
        let spaced = secret.replacingOccurrences(of: " ", with: "%20")
        let form = secret.replacingOccurrences(of: " ", with: "+")
        let plain = [secret, secret.replacingOccurrences(of: " ", with: ""), escaped, spaced, form]
        let coded = (0..<3).map { base64(of: Array(secret.utf8), after: $0) }
        let forURL = coded.map {
            $0.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        var seen: Set<String> = []
        return (plain + coded + forURL).filter { seen.insert($0).inserted }.map { Data($0.utf8) }
    }

    /// The letters that no byte beside it has a part in.
    private static func base64(of bytes: [UInt8], after count: Int) -> String {
        let encoded = Data([UInt8](repeating: 0, count: count) + bytes).base64EncodedString()
        let start = count == 0 ? 0 : count + 1
        return String(encoded.prefix((count + bytes.count) * 8 / 6).dropFirst(start))
    }
}
