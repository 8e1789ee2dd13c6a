import Foundation

/// Why a request could not be read.
enum ReadFailure: Error {
    /// The client closed the connection.
    case closed
    /// The client broke the protocol or a limit; answered with this status.
    case refused(status: Int)
}

/// The bytes that come in by a connection, read ahead into a buffer.
struct ByteSource {
    let wire: Wire
    private var bytes: [UInt8] = []
    private var start = 0

    init(_ wire: Wire) {
        self.wire = wire
    }

    var isEmpty: Bool { start == bytes.count }

    /// Reads more. `false` once the client has closed.
    mutating func fill() -> Bool {
        guard let more = wire.receive() else { return false }
        if isEmpty { (bytes, start) = (more, 0) } else { bytes.append(contentsOf: more) }
        return true
    }

    /// A line without its CRLF.
    ///
    /// - Throws: ``ReadFailure``; a bare LF or more than `limit` bytes is refused.
    mutating func line(limit: Int, tooLong status: Int) throws(ReadFailure) -> String {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) { return try line(endingAt: end) }
            guard bytes.count - start <= limit else { throw .refused(status: status) }
            let length = bytes.count - start
            guard fill() else { throw .closed }
            searched = start + length
        }
    }

    private mutating func line(endingAt end: Int) throws(ReadFailure) -> String {
        guard end > start, bytes[end - 1] == UInt8(ascii: "\r") else { throw .refused(status: 400) }
        defer { start = end + 1 }
        return String(decoding: bytes[start..<(end - 1)], as: UTF8.self)
    }

    mutating func take(_ count: Int) throws(ReadFailure) -> Data {
        var data = Data()
        while data.count < count {
            if isEmpty, !fill() { throw .closed }
            let end = min(bytes.count, start + count - data.count)
            data.append(contentsOf: bytes[start..<end])
            start = end
        }
        return data
    }

    mutating func takeAll() -> Data {
        defer { start = bytes.count }
        return Data(bytes[start...])
    }

    /// Waits for the client to go, reading ahead what it sends meanwhile.
    ///
    /// - Parameter duration: how long to wait; `nil` means for ever.
    /// - Returns: whether it went.
    mutating func clientGoes(within duration: Duration?) -> Bool {
        let clock = ContinuousClock()
        let deadline = duration.map { clock.now.advanced(by: $0) }
        while true {
            let rest = deadline.map { max(.zero, clock.now.duration(to: $0)) }
            guard wire.isReadable(within: rest) else { return false }
            guard fill(), bytes.count - start <= ByteSource.readAhead else { return true }
        }
    }

    /// A client that sends more than this while it waits for a reply is cut off.
    private static let readAhead = 4 << 20
}
