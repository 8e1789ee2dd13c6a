import Foundation

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

    static func note(_ text: String) {
        trace("penstockctl: \(text)")
    }

    /// Puts a line in the place of the one before it, on a terminal. An empty one takes it away.
    static func redraw(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K\(printable(line))".utf8))
    }

    /// One line. Nobody can be told when standard error itself fails.
    static func trace(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(printable(line))\n".utf8))
    }

    /// Servers choose part of what is printed; a terminal must not obey them.
    private static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format {
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
        message = "cannot write to \(place): \(cause.localizedDescription)"
    }
}
