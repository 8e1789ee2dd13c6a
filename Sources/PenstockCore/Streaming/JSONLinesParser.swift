import Foundation

/// Reads JSON values that stand on one line each (jsonlines.org, also called NDJSON) from bytes that come in pieces.
///
/// ```swift
/// var parser = JSONLinesParser()
/// for try await bytes in content {
///     parser.push(bytes)
///     while let line = try parser.next() { show(try JSONDecoder().decode(Order.self, from: line)) }
/// }
/// parser.finish()
/// while let line = try parser.next() { … }
/// ```
///
/// A line ends with LF or CR LF; the last one needs no end. Lines of nothing but white space are skipped. The lines are
/// not looked into: whether one is JSON, and UTF-8, is for its decoder to find out.
public struct JSONLinesParser: Sendable {
    private var lines: LineSplitter
    private var isFinished = false

    /// A parser at the beginning of a stream.
    ///
    /// - Parameter maxLineLength: in bytes, without the line end. 1 MiB by default.
    public init(maxLineLength: Int = 1 << 20) {
        lines = LineSplitter(maxLength: maxLineLength, endsAtCR: false)
    }

    /// Gives it the next bytes. After ``finish()`` they are ignored.
    public mutating func push(_ bytes: Data) {
        if !isFinished { lines.push(bytes) }
    }

    /// Says that no more bytes come, so that what is there is the last line.
    public mutating func finish() {
        isFinished = true
    }

    /// The bytes of the next line that is not blank; `nil` when more input is needed, and at the end.
    ///
    /// - Throws: ``StreamLimitError/lineTooLong(limit:)`` in the place of that line, and from then on.
    public mutating func next() throws(StreamLimitError) -> Data? {
        while let line = try nextLine() {
            // A copy: a slice would keep the whole piece it came in, and count from where it stood there.
            if !line.allSatisfy(Self.isSpace) { return Data(line) }
        }
        return nil
    }

    private mutating func nextLine() throws(StreamLimitError) -> Data? {
        if let line = try lines.next() { return line }
        return isFinished ? lines.rest() : nil
    }

    /// RFC 8259 §2, without LF, which a line cannot hold.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D
    }
}
