import Foundation
import PenstockCore

/// A server that does what it is told once for each `Idempotency-Key`, as the IETF's draft has it, and that loses its answers:
/// for tests of an ``Outbox`` and of the endpoints that are put into it.
///
/// ```swift
/// let server = IdempotentServer { _ in .commitAndDrop }
/// let client = APIClient(configuration, transport: StubTransport(server.respond))
/// …
/// #expect(server.effects.map(\.body) == [Data("tea".utf8)])
/// ```
///
/// - The first request of a key has an effect, and its answer is kept; every later one has that answer and no effect.
/// - While a key is being processed, others with it are answered 409.
/// - A key that comes with other bytes is answered 422, and a request without one 400. Neither has an effect.
public final class IdempotentServer: Sendable {
    /// What becomes of one request.
    public enum Fate: Hashable, Sendable {
        /// Nothing goes wrong.
        case answer
        /// There is no connection; the server hears nothing.
        case unreachable
        /// It is lost on the way to the server.
        case drop
        /// The server does it, and the answer is lost.
        case commitAndDrop
        /// The server begins to do it, and the answer is lost. It answers so many requests with that key by 409 before it is
        /// done.
        case process(conflicts: Int)
        /// The server answers this status and does nothing.
        case refuse(Int, retryAfter: String? = nil)
    }

    /// Something that the server did.
    public struct Effect: Hashable, Sendable {
        /// The value of `Idempotency-Key`, as it came.
        public let key: String
        /// The method of the request.
        public let method: HTTPMethod
        /// The path, which names the resource.
        public let path: String
        /// The content of the request.
        public let body: Data
        /// The running number of its lane; `nil` for a request without one.
        public let number: String?
    }

    fileprivate struct Known: Sendable {
        let effect: Effect
        let target: String
        /// How many are still answered by 409; `nil` once it is done.
        var conflicts: Int?
    }

    fileprivate struct State: Sendable {
        var known: [String: Known] = [:]
        var effects: [Effect] = []
        var misused: [String] = []
        var count = 0
    }

    private let state = Locked(State())
    private let fate: @Sendable (HTTPRequest) -> Fate
    private let answer: @Sendable (Effect) -> HTTPResponse
    private let numberField: HTTPFieldName

    /// - Parameters:
    ///   - numberField: the field that ``Effect/number`` has the value of.
    ///   - answer: to what was done. By default 200 with an empty JSON object.
    ///   - fate: of each request. Nothing goes wrong by default.
    public init(
        numberField: HTTPFieldName = "X-Number",
        answer: @escaping @Sendable (Effect) -> HTTPResponse = { _ in
            HTTPResponse(status: 200, fields: [.contentType: "application/json"], body: Data("{}".utf8))
        }, fate: @escaping @Sendable (HTTPRequest) -> Fate = { _ in .answer }
    ) {
        self.numberField = numberField
        self.answer = answer
        self.fate = fate
    }

    /// What it did, in order.
    public var effects: [Effect] { state.withLock(\.effects) }
    /// The keys that came with other bytes than before.
    public var misusedKeys: [String] { state.withLock(\.misused) }
    /// How many requests it heard of.
    public var requestCount: Int { state.withLock(\.count) }

    /// Answers a request: what a ``StubTransport`` is made of.
    public func respond(to request: HTTPRequest) throws(TransportError) -> HTTPResponse? {
        let fate = fate(request)
        switch fate {
        case .unreachable: throw TransportError(.unreachable(.offline), sendState: .unsent)
        case .drop:
            state.withLock { $0.count += 1 }
            throw Self.lost
        case .refuse(let status, let hint):
            state.withLock { $0.count += 1 }
            return HTTPResponse(status: status, fields: hint.map { ["Retry-After": $0] } ?? [:])
        case .answer, .commitAndDrop, .process: break
        }
        let (response, isLost) = state.withLock { $0.take(request, fate, number: numberField, answer) }
        if isLost { throw Self.lost }
        return response
    }

    private static let lost = TransportError(.connectionLost, sendState: .maybeProcessed)
}

extension IdempotentServer.State {
    /// - Returns: the answer, and whether it gets lost.
    fileprivate mutating func take(
        _ request: HTTPRequest, _ fate: IdempotentServer.Fate, number: HTTPFieldName,
        _ answer: (IdempotentServer.Effect) -> HTTPResponse
    ) -> (HTTPResponse, Bool) {
        count += 1
        guard let key = request.fields["Idempotency-Key"] else { return (HTTPResponse(status: 400), false) }
        let body: Data = if case .bytes(let data) = request.body.source { data } else { Data() }
        let isLost = fate != .answer
        if var old = known[key] {
            guard old.target == request.url.target, old.effect.method == request.method, old.effect.body == body else {
                misused.append(key)
                return (HTTPResponse(status: 422), false)
            }
            guard let conflicts = old.conflicts else { return (answer(old.effect), isLost) }
            old.conflicts = conflicts > 1 ? conflicts - 1 : nil
            if old.conflicts == nil { effects.append(old.effect) }
            known[key] = old
            return (HTTPResponse(status: 409), isLost)
        }
        let effect = IdempotentServer.Effect(
            key: key, method: request.method, path: request.url.path, body: body, number: request.fields[number])
        var conflicts: Int?
        if case .process(let count) = fate { conflicts = max(count, 1) }
        if conflicts == nil { effects.append(effect) }
        known[key] = .init(effect: effect, target: request.url.target, conflicts: conflicts)
        return (answer(effect), isLost)
    }
}
