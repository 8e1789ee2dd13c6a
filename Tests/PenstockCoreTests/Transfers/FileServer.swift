import Foundation
import PenstockTesting

@testable import PenstockCore

/// A server with one file, which does ranges as HTTP says unless a test changes its answers.
final class FileServer: Transport {
    struct Answer: Sendable {
        var status: Int
        var fields: HTTPFields
        var body: Data
        /// After so many bytes the connection is lost.
        var cut: Int?
        /// Whether the client cannot see if it ends or is broken off.
        var mayBeCutOff = false
        /// Called before each piece but the first.
        var meanwhile: (@Sendable () -> Void)?
    }

    typealias Twist = @Sendable (HTTPRequest, inout Answer) -> Void

    private struct State {
        var file: Data
        var tag: String?
        var twists: [Twist] = []
        var requests: [HTTPRequest] = []
        var bytes = 0
    }

    private let state: Locked<State>
    let capabilities = TransportCapabilities.all

    init(_ file: Data, tag: String? = "\"v1\"") {
        state = Locked(State(file: file, tag: tag))
    }

    var requests: [HTTPRequest] { state.withLock(\.requests) }
    /// Content that was given out.
    var bytes: Int { state.withLock(\.bytes) }

    func replace(_ file: Data, tag: String?) {
        state.withLock { ($0.file, $0.tag) = (file, tag) }
    }

    /// The next answers are changed, one by each.
    func twist(_ twists: Twist...) {
        state.withLock { $0.twists += twists }
    }

    static func cutting(after count: Int) -> Twist { { $1.cut = count } }

    private func answer(_ request: HTTPRequest) -> Answer {
        state.withLock { state in
            state.requests.append(request)
            var answer = Self.honest(request, state)
            if !state.twists.isEmpty { state.twists.removeFirst()(request, &answer) }
            state.bytes += min(answer.cut ?? .max, answer.body.count)
            return answer
        }
    }

    private static func honest(_ request: HTTPRequest, _ state: State) -> Answer {
        var fields: HTTPFields = ["Content-Type": "video/mp4"]
        fields[.eTag] = state.tag
        let applies = request.fields[.ifRange].map { $0 == state.tag } ?? true
        guard applies, let range = request.fields[.range], let first = Int(range.dropFirst(6).dropLast()) else {
            fields[.contentLength] = "\(state.file.count)"
            return Answer(status: 200, fields: fields, body: state.file)
        }
        guard first < state.file.count else {
            fields[.contentRange] = "bytes */\(state.file.count)"
            return Answer(status: 416, fields: fields, body: Data())
        }
        fields[.contentRange] = "bytes \(first)-\(state.file.count - 1)/\(state.file.count)"
        return Answer(status: 206, fields: fields, body: state.file.dropFirst(first))
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("collecting"), sendState: .unsent)
    }

    func open(_ exchange: TransportRequest) async throws(TransportError) -> TransportStream {
        let body = exchange.request.body
        if case .stream = body.source { throw TransportError(.unsupported("a stream"), sendState: .unsent) }
        let standIn = StandIn()
        guard exchange.control.attach(standIn) else { throw TransportError(.cancelled, sendState: .unsent) }
        exchange.control.detach(standIn)
        let answer = answer(exchange.request)
        return TransportStream(
            HTTPResponse(status: answer.status, fields: answer.fields), content: Content(answer, exchange.control))
    }

    func shutdown() async {}

    private final class StandIn: ControlledExchange {
        func cancel() {}
        func suspend() {}
        func resume() {}
    }

    private final class Content: TransportContent {
        private let rest: Locked<(body: Data, left: Int?)>
        private let control: ExchangeControl
        private let length: Int
        let completion: TransportCompletion
        private let meanwhile: (@Sendable () -> Void)?

        init(_ answer: Answer, _ control: ExchangeControl) {
            rest = Locked((answer.body, answer.cut))
            length = answer.body.count
            meanwhile = answer.meanwhile
            self.control = control
            var connection = ConnectionInfo()
            connection.mayBeCutOff = answer.mayBeCutOff
            completion = TransportCompletion(connection: connection)
        }

        func next() async throws(TransportError) -> Data? {
            if rest.withLock({ $0.body.count < length }) { meanwhile?() }
            await control.untilResumed()
            if control.isCancelled { throw TransportError(.cancelled, sendState: .answered) }
            let (piece, isCut) = rest.withLock { rest in
                let count = min(20_000, rest.body.count, rest.left ?? .max)
                let piece = Data(rest.body.prefix(count))
                rest.body = rest.body.dropFirst(count)
                rest.left = rest.left.map { $0 - count }
                return (piece, count == 0 && rest.left == 0)
            }
            if isCut { throw TransportError(.connectionLost, sendState: .answered) }
            return piece.isEmpty ? nil : piece
        }

        func discard() {}
    }
}
