import Foundation

/// What a name of a file may be that came from somewhere else.
///
/// A name that has passed is one component of a path, can be seen for what it is, and names an ordinary file on every system: it is
/// no way out of its folder, no device, not hidden, and no longer than any file system takes.
public enum FileNameRules {
    /// The longest name, in bytes of UTF-8: what ext4, APFS and most others take.
    public static let longest = 255

    /// The name itself where nothing is wrong with it, else a harmless one like it. A name that has passed once passes unchanged.
    ///
    /// | in the name | becomes |
    /// |---|---|
    /// | a path: `../../etc/passwd`, `C:\a\b.txt`, `/etc/passwd` | its last component |
    /// | control characters, NUL among them | nothing |
    /// | what cannot be seen, or turns the direction of writing: U+202E, zero-width spaces | nothing; joiners and selectors of forms stay between two characters that can be seen |
    /// | `< > : " \| ? *`, and U+FFFD | `_` |
    /// | any kind of space | a plain one |
    /// | dots and spaces at the beginning or the end, joiners or none between them | nothing |
    /// | `-` or `~` at the beginning, which shells and tools read otherwise | `_` |
    /// | a device of Windows: `CON`, `nul.txt`, `COM1` | `_` before it |
    /// | more than 255 bytes of UTF-8 | the beginning and the suffix, no character cut |
    /// | nothing that is left | `fallback` |
    ///
    /// - Parameter fallback: for a name of which nothing is left; made harmless too. `download` by default.
    public static func harmless(_ name: String, or fallback: String = "download") -> String {
        cleaned(name) ?? cleaned(fallback) ?? "download"
    }

    /// The name of the `number`th file that would have this name: `report 2.pdf`, `archive 2.tar.gz`. No longer than ``longest``.
    ///
    /// - Parameter name: one that is harmless.
    public static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, suffix) = divided(name)
        return cut(stem, suffix: " \(number)\(suffix)")
    }

    /// The name that a response suggests for its content, made harmless: that of `Content-Disposition`, else the last component of
    /// the URL, else `fallback`.
    public static func suggested(
        by fields: HTTPFields, of url: HTTPURL, or fallback: String = "download"
    ) -> String {
        if let name = ContentDisposition(fields)?.fileName, let name = cleaned(name) { return name }
        let last = url.path.split(separator: "/").last.map(String.init) ?? ""
        return harmless(last.removingPercentEncoding ?? last, or: fallback)
    }

    // MARK: The steps

    /// `nil` where nothing is left.
    private static func cleaned(_ name: String) -> String? {
        let component = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? []
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: component.lazy.compactMap(kept))
        var text = trimmed(composed(shortened(trimmed(String(scalars)))))
        guard !text.isEmpty else { return nil }
        if let first = text.unicodeScalars.first, first == "-" || first == "~" {
            text = "_" + String(text.unicodeScalars.dropFirst())
        }
        if isDevice(text) { text = "_" + text }
        guard text.utf8.count > longest else { return text }
        let (stem, suffix) = divided(text)
        return cut(stem, suffix: suffix)
    }

    /// More characters than what is left of a name can be made of.
    private static let mostScalars = 1_000

    /// The beginning and the end of a name that is too long by far: the work for one form of its characters may grow with the square of
    /// their number.
    private static func shortened(_ name: String) -> String {
        let scalars = name.unicodeScalars
        guard scalars.count > 2 * mostScalars else { return name }
        return String(scalars.prefix(mostScalars)) + String(scalars.suffix(mostScalars))
    }

    /// How often Foundation is asked for the form of a name: twice is enough for all that it does not see through at once.
    private static let mostForms = 8

    /// One form of each character (NFC), so that what looks alike is alike. It is asked for until it stays: of marks that fall apart,
    /// such as U+0F81, Foundation does not have the order right at once.
    private static func composed(_ text: String) -> String {
        var text = text
        for _ in 0..<mostForms {
            let form = text.precomposedStringWithCanonicalMapping
            if form.utf8.elementsEqual(text.utf8) { break }
            text = form
        }
        return text
    }

    /// What stands for a character; `nil` for nothing.
    private static func kept(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*", "\u{FFFD}": return "_"
        default: break
        }
        if isJoiner(scalar) { return scalar }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return nil
        case .spaceSeparator: return " "
        default:
            return scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isNoncharacterCodePoint
                ? nil : scalar
        }
    }

    /// Joiners, which scripts and emoji are written with, and the selectors of their forms. None can be seen by itself: at an end
    /// of a name it would only hide what stands there.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{200C}", "\u{200D}", "\u{FE00}"..."\u{FE0F}": true
        default: false
        }
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar == " " || isJoiner(scalar)
    }

    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, isTrimmed(first) { scalars = scalars.dropFirst() }
        return trimmedEnd(String(scalars))
    }

    private static func trimmedEnd(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let last = scalars.last, isTrimmed(last) { scalars = scalars.dropLast() }
        return String(scalars)
    }

    private static let devices: Set<String> = {
        let numbers = (0...9).map(String.init) + ["¹", "²", "³"]
        return Set(
            ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"] + numbers.flatMap { ["com" + $0, "lpt" + $0] })
    }()

    /// Windows looks at what stands before the first dot, without the spaces at its end; people do not see joiners.
    private static func isDevice(_ name: String) -> Bool {
        let stem = name.unicodeScalars.prefix { $0 != "." }.filter { !isJoiner($0) }
        return devices.contains(trimmedEnd(String(String.UnicodeScalarView(stem))).lowercased())
    }

    /// The longest suffix, in bytes: a longer one is no suffix but a part of the name.
    private static let longestSuffix = 16

    /// The name before its suffix, and the suffix with its dot.
    private static func divided(_ name: String) -> (stem: String, suffix: String) {
        let bytes = name.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex,
            bytes[dot...].count <= longestSuffix
        else { return (name, "") }
        let stem = name[..<dot]
        guard stem.lowercased().hasSuffix(".tar"), stem.utf8.count > 4 else {
            return (String(stem), String(name[dot...]))
        }
        let tar = bytes.index(dot, offsetBy: -4)
        return (String(name[..<tar]), String(name[tar...]))
    }

    /// Cuts the stem to as much as fits with the suffix, ended between two characters.
    private static func cut(_ stem: String, suffix: String) -> String {
        let room = longest - suffix.utf8.count
        var scalars = String.UnicodeScalarView()
        var count = 0
        for scalar in stem.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= room else { break }
            scalars.append(scalar)
        }
        return (suffix.isEmpty ? trimmedEnd(String(scalars)) : String(scalars)) + suffix
    }
}
