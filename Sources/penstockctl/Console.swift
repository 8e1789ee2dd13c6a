import Foundation
import Penstock

/// Standard output for what was asked for, standard error for everything about it.
enum Console {
    /// Bytes as they are.
    ///
    /// - Throws: for example when the reader of a pipe is gone.
    static func out(_ data: Data) throws(OutputFailure) {
        do {
            try FileHandle.standardOutput.write(contentsOf: data)
        } catch {
            throw OutputFailure("standard output", error)
        }
    }

    /// Prints a text that was asked for, and gives the exit status.
    static func show(_ text: String) -> Int32 {
        do {
            try out(Data("\(text)\n".utf8))
            return ExitCode.success
        } catch {
            return ExitCode.output
        }
    }

    /// Prints lines that were asked for and in which a server has chosen something, and gives the exit status.
    static func show(lines: [String]) -> Int32 {
        lines.isEmpty ? ExitCode.success : show(lines.map(printable).joined(separator: "\n"))
    }

    static func note(_ text: String) {
        trace("penstockctl: \(text)")
    }

    /// Puts a line in the place of the one before it, on a terminal. An empty one takes it away.
    static func redraw(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K\(printable(line))".utf8))
    }

    /// One line. Nobody can be told when standard error itself fails.
    ///
    /// - Parameter colour: the line's, where standard error shows colours.
    static func trace(_ line: String, _ colour: Colour? = nil) {
        let text = printable(line)
        let shown = colour.flatMap { isColoured ? "\u{1B}[\($0.rawValue)m\(text)\u{1B}[0m" : nil } ?? text
        try? FileHandle.standardError.write(contentsOf: Data("\(shown)\n".utf8))
    }

    /// The numbers that terminals know the colours by (ECMA-48 §8.3.117).
    enum Colour: Int {
        case response = 32
        case request = 36
        case event = 90
    }

    /// Whether standard error is a terminal whose user wants colours.
    private static let isColoured = showsColours(
        isTerminal: isatty(2) == 1, ProcessInfo.processInfo.environment)

    /// `NO_COLOR` with any value but an empty one is the user's wish for none; a `dumb` terminal would print the numbers.
    static func showsColours(isTerminal: Bool, _ environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// JSON that no terminal obeys: characters that are not seen stand in its texts alone, and are escaped there.
    static func printable(json: Data) -> Data {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var result = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            let isUnseen = scalar.value >= 0x7F && isUnseen(scalar)
            guard isUnseen else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return Data(result.utf8)
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
    }

    /// Servers choose part of what is printed; a terminal must not obey them.
    private static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnseen(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// What was asked for could not be written.
struct OutputFailure: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }

    init(_ place: String, _ cause: any Error) {
        message = "cannot write to \(place): \(Words.reason(cause))"
    }
}
