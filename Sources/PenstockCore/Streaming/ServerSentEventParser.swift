import Foundation

/// Reads an event stream from bytes that come in pieces, by the rules of WHATWG HTML §9.2.6.
///
/// ```swift
/// var parser = ServerSentEventParser(lastEventID: known)
/// for try await bytes in content {
///     parser.push(bytes)
///     while let event = try parser.next() { show(event) }
/// }
/// ```
///
/// An event that the stream does not end with a blank line is dropped. Bytes that are not UTF-8 become U+FFFD.
public struct ServerSentEventParser: Sendable {
    /// The id to connect again with; empty where there is none. It stays until the stream gives another, and an event
    /// without data, which is not delivered, gives its id too.
    public private(set) var lastEventID: String
    /// How long the stream last said to wait before connecting again.
    public private(set) var retry: Duration?

    /// Whether an event or a comment has come.
    private(set) var hasSpoken = false

    private let maxEventBytes: Int
    private var lines: LineSplitter
    private var isAtStart = true

    // What the block that is being read has given.
    private var data: String?
    private var name = ""
    private var id: String
    private var blockRetry: Duration?

    /// A parser at the beginning of a connection.
    ///
    /// - Parameters:
    ///   - lastEventID: the id that the stream was asked to go on from, as browsers do it; without it the id is empty
    ///     until the stream gives one, as the standard has it.
    ///   - maxLineLength: in bytes, without the line end. `nil`, the default, leaves room for the largest event in one line:
    ///     six bytes, `data: `, more than `maxEventBytes`, and no less than 1 MiB.
    ///   - maxEventBytes: of one event's data, in bytes. 1 MiB by default.
    public init(lastEventID: String = "", maxLineLength: Int? = nil, maxEventBytes: Int = 1 << 20) {
        self.lastEventID = lastEventID
        self.maxEventBytes = maxEventBytes
        id = lastEventID
        let roomForEvent = maxEventBytes.addingReportingOverflow("data: ".utf8.count)
        let enough = max(roomForEvent.overflow ? .max : roomForEvent.partialValue, 1 << 20)
        lines = LineSplitter(maxLength: maxLineLength ?? enough, endsAtCR: true)
    }

    /// Gives it the next bytes.
    public mutating func push(_ bytes: Data) {
        lines.push(bytes)
    }

    /// The next event; `nil` when more input is needed.
    ///
    /// - Throws: ``StreamLimitError`` in the place of what is too long, and from then on.
    public mutating func next() throws(StreamLimitError) -> ServerSentEvent? {
        while let line = try nextLine() {
            if !line.isEmpty {
                try take(line)
            } else if let event = endBlock() {
                return event
            }
        }
        return nil
    }

    private mutating func nextLine() throws(StreamLimitError) -> Data? {
        guard let line = try lines.next() else { return nil }
        defer { isAtStart = false }
        // The stream as a whole may begin with a byte order mark.
        return isAtStart && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line
    }

    private mutating func endBlock() -> ServerSentEvent? {
        defer { (data, name, blockRetry) = (nil, "", nil) }
        lastEventID = id
        hasSpoken = hasSpoken || data != nil
        return data.map {
            ServerSentEvent(id: id, name: name.isEmpty ? "message" : name, data: $0, retry: blockRetry)
        }
    }

    /// In bytes: `event` and `retry`.
    private static let longestName = 5

    private mutating func take(_ line: Data) throws(StreamLimitError) {
        let colon =
            line.withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: ":")) }.map { line.startIndex + $0 } ?? line.endIndex
        // A line that begins with a colon is a comment, and has no name that is known.
        hasSpoken = hasSpoken || colon == line.startIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        // No name that is known is longer, and one that a server makes of many marks would take long to be compared.
        let name = line[..<colon].prefix(Self.longestName + 1)
        switch String(decoding: name, as: UTF8.self) {
        case "data": try takeData(String(decoding: value, as: UTF8.self))
        case "event": self.name = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "retry": takeRetry(value)
        default: break
        }
    }

    private mutating func takeData(_ value: String) throws(StreamLimitError) {
        let joined = data.map { $0.utf8.count + 1 } ?? 0
        guard joined + value.utf8.count <= maxEventBytes else {
            throw lines.fail(.eventTooLong(limit: maxEventBytes))
        }
        guard data != nil else { return data = value }
        data?.append("\n")
        data?.append(value)
    }

    /// Digits only. What is too large to be a time is as long as can be.
    private mutating func takeRetry(_ value: Data) {
        guard !value.isEmpty, value.allSatisfy({ $0 &- 0x30 < 10 }) else { return }
        let milliseconds = Int(String(decoding: value, as: UTF8.self)) ?? .max
        blockRetry = .milliseconds(milliseconds)
        retry = blockRetry
    }
}

extension ServerSentEventParser: CustomReflectable {
    public var customMirror: Mirror { Redaction.mirror(of: self, ["lastEventID": lastEventID]) }
}

/// One event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The last id that the stream has given, with this event or before it; empty where it gave none. To be sent as
    /// `Last-Event-ID` with the next connection.
    public var id: String
    /// The event's type, `message` where the stream names none.
    public var name: String
    /// Its lines, joined with LF.
    public var data: String
    /// How long to wait before connecting again, where this event says so.
    public var retry: Duration?

    /// An event, for tests and for streams of an app's own making.
    ///
    /// - Parameters:
    ///   - id: the last id that the stream has given. Empty by default.
    ///   - name: its type. `message` by default.
    ///   - data: its lines, joined with LF.
    ///   - retry: how long to wait before connecting again. Nothing is said by default.
    public init(id: String = "", name: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.name = name
        self.data = data
        self.retry = retry
    }
}

extension ServerSentEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Type and size, never what the event says.
    public var description: String { "event \(name) (\(data.utf8.count) bytes)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Redaction.mirror(of: self, ["id": id, "name": name, "bytes": data.utf8.count])
    }
}
