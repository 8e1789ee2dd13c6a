import Foundation
import PenstockCore
import PenstockTesting

/// A transport that holds every request by its path until the test lets it go on; what answers then is the test's function.
final class GateTransport: Transport {
    private struct State {
        var began: [String] = []
        var open: [String] = []
        var mostOpen = 0
        var released: Set<String> = []
        var isOpen = false
        var requests: [HTTPRequest] = []
    }

    private final class Held: ControlledExchange {
        let isCancelled = Monitor(false)
        let gate: Monitor<State>

        init(_ gate: Monitor<State>) {
            self.gate = gate
        }

        func cancel() {
            isCancelled.withLock { $0 = true }
            gate.withLock { _ in }
        }
        func suspend() {}
        func resume() {}
    }

    private let state = Monitor(State())
    private let answer: @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse

    /// - Parameter isOpen: whether nothing is held.
    init(isOpen: Bool = false, _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse) {
        self.answer = answer
        state.withLock { $0.isOpen = isOpen }
    }

    /// Answers every request with its own path as a message.
    convenience init(isOpen: Bool = false) {
        self.init(isOpen: isOpen) { request throws(TransportError) in .message(request.url.path) }
    }

    var capabilities: TransportCapabilities { .all }

    /// The paths of the requests, in the order in which they came.
    var began: [String] { state.withLock(\.began) }
    var requests: [HTTPRequest] { state.withLock(\.requests) }
    /// The paths of those under way.
    var open: [String] { state.withLock(\.open) }
    /// How many were under way at most.
    var mostOpen: Int { state.withLock(\.mostOpen) }

    func release(_ path: String) { state.withLock { _ = $0.released.insert(path) } }
    func releaseAll() { state.withLock { $0.isOpen = true } }
    func waitForRequests(_ count: Int) async { await state.waitUnlessCancelled { $0.began.count >= count } }
    func waitForOpen(_ count: Int) async { await state.waitUnlessCancelled { $0.open.count == count } }

    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        let held = Held(state)
        let path = exchange.request.url.path
        guard exchange.control.attach(held) else { throw TransportError(.cancelled, sendState: .unsent) }
        state.withLock { state in
            state.began.append(path)
            state.requests.append(exchange.request)
            state.open.append(path)
            state.mostOpen = max(state.mostOpen, state.open.count)
        }
        defer {
            exchange.control.detach(held)
            state.withLock { state in
                state.released.remove(path)
                if let index = state.open.firstIndex(of: path) { state.open.remove(at: index) }
            }
        }
        await state.wait { state in
            state.isOpen || state.released.contains(path) || held.isCancelled.withLock { $0 }
        }
        guard !held.isCancelled.withLock({ $0 }) else { throw TransportError(.cancelled, sendState: .maybeProcessed) }
        return TransportResponse(try answer(exchange.request))
    }

    func shutdown() async {}
}

extension HTTPResponse {
    static func message(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, body: Data(#"{"text":"\#(text)"}"#.utf8))
    }
}

/// An API whose path tells one call from another.
struct Fetch: Endpoint {
    typealias Output = Message
    let name: String
    var route: Route { .get("/\(name)") }

    init(_ name: String) {
        self.name = name
    }

    init(number: Int) {
        name = "\(number)"
    }
}

/// An API of another type.
struct CountLetters: Endpoint {
    typealias Output = Int
    var name = "count"
    var route: Route { .get("/\(name)") }
}

/// An API that gives nothing back.
struct Touch: Endpoint {
    typealias Output = Void
    var route: Route { .post("/touch") }
}
