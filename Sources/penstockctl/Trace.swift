import Penstock

/// What `-v` prints: events as they happen, decisions such as retries among them, and the head of every request and response.
/// What holds secrets prints itself without them.
struct Trace: EventSink {
    func receive(_ event: Event, _ context: EventContext) {
        let time = (context.elapsed / .milliseconds(1)).rounded()
        if let text = Self.text(of: event) { Console.trace("* \(Int(time)) ms  \(text)", .event) }
        switch event {
        case .requestSent(let request): Self.head("> \(request)", request.fields, mark: ">", .request)
        case .responseReceived(let response, _, let connection):
            Self.head(
                "< \(response.version) \(Self.text(of: response, over: connection))", response.fields, mark: "<",
                .response)
        case .responseBrokeOff(let response):
            Self.head("< \(response.version) \(response.status)", response.fields, mark: "<", .response)
        default: break
        }
    }

    /// The text of a response. Of one that is followed by another attempt nobody reads the content.
    private static func text(of response: HTTPResponse, over connection: ConnectionInfo) -> String {
        let isUnread =
            response.body.isEmpty && connection.bytesReceived > 0 && !(200...299).contains(response.status)
        return isUnread ? "\(response.status) (\(connection.bytesReceived) bytes, not read)" : "\(response)"
    }

    private static func head(_ first: String, _ fields: HTTPFields, mark: String, _ colour: Console.Colour) {
        Console.trace(first, colour)
        for field in fields { Console.trace("\(mark) \(field)", colour) }
    }

    private static func text(of event: Event) -> String? {
        switch event {
        case .callStarted: "the call begins"
        case .stageStarted(let stage): "\(stage) begins"
        case .stageEnded(let stage, let outcome): "\(stage) ends: \(text(of: outcome))"
        case .requestSent, .responseBrokeOff: nil
        case .responseReceived(let response, _, let connection):
            "status \(response.status) from \(text(of: connection))"
        case .requestFailed(let kind, let sendState, _, _):
            (sendState == .answered ? "no whole response" : "no response")
                + ": \(Words.failure(kind)), the request was \(sendState)"
        case .callEnded(let outcome): "the call ends: \(text(of: outcome))"
        default: Words.decision(event)
        }
    }

    private static func text(of outcome: Event.Outcome) -> String {
        switch outcome {
        case .success: "success"
        case .cancelled: "cancelled"
        case .failure(let kind): Words.failure(kind)
        }
    }

    private static func text(of connection: ConnectionInfo) -> String {
        let peer = connection.remoteAddress.map { "\($0) port \(connection.remotePort ?? 0)" } ?? "a peer unknown"
        return connection.isReused == true ? "\(peer), by a connection used before" : peer
    }
}
