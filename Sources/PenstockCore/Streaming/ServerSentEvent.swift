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
