import Foundation

/// Cuts bytes that come in pieces into lines, and keeps no more than the last piece and one line.
struct LineSplitter: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Whether CR alone ends a line. Otherwise it belongs to the line end only where LF follows.
    private let endsAtCR: Bool
    private let maxLength: Int
    private var waiting = Data()
    /// The beginning of a line whose end has not come.
    private var begun = Data()
    /// Whether LF, if it is next, belongs to the CR that ended the line before.
    private var skipsLineFeed = false
    private var failure: StreamLimitError?

    init(maxLength: Int, endsAtCR: Bool) {
        self.maxLength = maxLength
        self.endsAtCR = endsAtCR
    }

    mutating func push(_ bytes: Data) {
        guard failure == nil else { return }
        if waiting.isEmpty { waiting = bytes } else { waiting.append(bytes) }
    }

    /// The next line without its end, `nil` where that has not come. It may be a slice of what was pushed.
    mutating func next() throws(StreamLimitError) -> Data? {
        if let failure { throw failure }
        skipLineFeed()
        guard let end = lineEnd() else {
            try check(waiting)
            begun.append(waiting)
            waiting = Data()
            return nil
        }
        let piece = waiting[..<end]
        try check(piece)
        skipsLineFeed = waiting[end] == Self.carriageReturn
        waiting = waiting[(end + 1)...]
        guard !begun.isEmpty else { return withoutCR(piece) }
        begun.append(piece)
        return takeBegun()
    }

    /// What stands behind the last line end, `nil` where that is nothing.
    mutating func rest() -> Data? {
        begun.isEmpty ? nil : takeBegun()
    }

    /// Fails now and from now on.
    mutating func fail(_ error: StreamLimitError) -> StreamLimitError {
        failure = error
        (waiting, begun) = (Data(), Data())
        return error
    }

    private mutating func skipLineFeed() {
        guard skipsLineFeed, let first = waiting.first else { return }
        skipsLineFeed = false
        if first == Self.lineFeed { waiting = waiting.dropFirst() }
    }

    private func lineEnd() -> Data.Index? {
        let alternative = endsAtCR ? Self.carriageReturn : Self.lineFeed
        let offset = waiting.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Int? in
            var offset = 0
            while offset < bytes.count {
                if bytes[offset] == Self.lineFeed || bytes[offset] == alternative { return offset }
                offset += 1
            }
            return nil
        }
        return offset.map { waiting.startIndex + $0 }
    }

    /// - Parameter piece: what comes behind the line's beginning.
    private mutating func check(_ piece: Data) throws(StreamLimitError) {
        let mayEndInCR = !endsAtCR && (piece.last ?? begun.last) == Self.carriageReturn
        guard begun.count + piece.count - (mayEndInCR ? 1 : 0) <= maxLength else {
            throw fail(.lineTooLong(limit: maxLength))
        }
    }

    private mutating func takeBegun() -> Data {
        defer { begun = Data() }
        return withoutCR(begun)
    }

    private func withoutCR(_ line: Data) -> Data {
        !endsAtCR && line.last == Self.carriageReturn ? line.dropLast() : line
    }
}

extension LineSplitter: CustomReflectable {
    /// Nothing of what waits to be read.
    var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

/// A stream holds something that is larger than its reader accepts. What came before it has been delivered; nothing
/// after it can be.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line is longer than so many bytes.
    case lineTooLong(limit: Int)
    /// The data of one event is longer than so many bytes.
    case eventTooLong(limit: Int)
}

extension APIError.Kind {
    /// The kind of a call that ended for this reason: it names the limit that was exceeded.
    init(_ error: StreamLimitError) {
        switch error {
        case .lineTooLong: self = .limitExceeded(.lineLength)
        case .eventTooLong: self = .limitExceeded(.eventBytes)
        }
    }
}
