import Foundation
import PenstockTesting

@testable import PenstockCore

/// A connection that a test is the other end of.
final class ScriptedWire: TransportWire {
    struct State: Sendable {
        var incoming: [Data] = []
        /// Whether the other end has closed.
        var hasEnded = false
        var written = Data()
        /// Whether the system takes nothing of what is written.
        var isBlocked = false
        /// How many bytes more the system takes.
        var room = Int.max
        /// How many writings have begun, and how many bytes the longest of them has.
        var writings = 0
        var longestWriting = 0
        /// Whether this end can say that it writes no more, and whether it has.
        var mayEndWriting = false
        var hasEndedWriting = false
        var failure: TransportError?
        /// Whether it was closed by this end, and not broken.
        var wasClosed = false
    }

    let state = Monitor(State())
    let timings = Timings()
    let connection = ConnectionInfo()

    func read() async throws(TransportError) -> Data? {
        let result = await state.wait { state -> Result<Data?, TransportError>? in
            if let failure = state.failure { return .failure(failure) }
            if !state.incoming.isEmpty { return .success(state.incoming.removeFirst()) }
            return state.hasEnded ? .success(nil) : nil
        }
        tellOthers()
        return try result.get()
    }

    func write(_ bytes: Data) async throws(TransportError) {
        state.withLock { state in
            state.writings += 1
            state.longestWriting = max(state.longestWriting, bytes.count)
        }
        var rest = bytes
        repeat {
            let result = await state.wait { [rest] state -> Result<Int, TransportError>? in
                if let failure = state.failure { return .failure(failure) }
                if state.isBlocked || state.room == 0 { return nil }
                let count = min(rest.count, state.room)
                state.room -= count
                state.written += rest.prefix(count)
                return .success(count)
            }
            tellOthers()
            rest = rest.dropFirst(try result.get())
        } while !rest.isEmpty
    }

    func endWriting() async throws(TransportError) -> Bool {
        state.withLock { state in
            state.hasEndedWriting = state.mayEndWriting
            return state.mayEndWriting
        }
    }

    /// What a condition has changed is not looked at by the others that wait.
    private func tellOthers() {
        state.withLock { _ in }
    }

    func close() {
        state.withLock { state in
            if state.failure == nil { state.wasClosed = true }
            state.failure = state.failure ?? TransportError(.connectionLost, sendState: .maybeProcessed)
        }
    }

    func fail(_ kind: TransportError.Kind) {
        state.withLock { $0.failure = $0.failure ?? TransportError(kind, sendState: .maybeProcessed) }
    }

    func cancel() { fail(.cancelled) }
    func suspend() {}
    func resume() {}

    // MARK: The other end

    /// Whether it comes to that. It is waited for as long as anything may take, and no longer, so that a test fails which never
    /// gets there.
    func reaches(_ isReached: (State) -> Bool) async -> Bool {
        for _ in 0..<1_000_000 where !Task.isCancelled {
            if state.withLock({ isReached($0) }) { return true }
            await Task.yield()
        }
        return false
    }

    var isOver: Bool { state.withLock { $0.failure != nil } }

    func send(_ bytes: Data) {
        state.withLock { $0.incoming.append(bytes) }
    }

    /// Answers the request for a WebSocket, with frames in the same packet.
    ///
    /// - Returns: how many bytes the request had.
    func upgrade(then frames: Data = Data()) async -> Int {
        let end = Data("\r\n\r\n".utf8)
        await state.waitUnlessCancelled { $0.written.range(of: end) != nil }
        let head = state.withLock { state in
            state.written.range(of: end).map { Data(state.written[..<$0.upperBound]) } ?? Data()
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let key = lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        let answer = """
            HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r
            Sec-WebSocket-Accept: \(WebSocketHandshake.accept(for: String(key)))\r\n\r\n
            """
        send(Data(answer.utf8) + frames)
        return head.count
    }

    /// What a server reads of the frames that were written behind so many bytes, once the condition holds.
    func events(
        behind count: Int, when isEnough: @escaping @Sendable ([WebSocketMachine.Event]) -> Bool
    ) async -> [WebSocketMachine.Event] {
        let found = Locked<[WebSocketMachine.Event]?>(nil)
        await state.waitUnlessCancelled { state in
            let events = Self.read(state.written.dropFirst(count))
            guard isEnough(events) else { return false }
            found.withLock { $0 = $0 ?? events }
            return true
        }
        return found.withLock { $0 ?? [] }
    }

    func events(behind count: Int) -> [WebSocketMachine.Event] {
        Self.read(state.withLock(\.written).dropFirst(count))
    }

    private static func read(_ bytes: Data) -> [WebSocketMachine.Event] {
        var events: [WebSocketMachine.Event] = []
        guard var server = try? WebSocketMachine(.server) else { return [] }
        server.receive(bytes)
        while let event = try? server.next() { events.append(event) }
        return events
    }
}

/// A transport whose connections are a test's.
final class ScriptedWires: Transport {
    let capabilities: TransportCapabilities
    let wires: [ScriptedWire]
    private let next = Locked(0)

    init(_ wires: ScriptedWire..., capabilities: TransportCapabilities = .all) {
        (self.wires, self.capabilities) = (wires, capabilities)
    }

    /// How many connections were asked for.
    var connects: Int { next.withLock { $0 } }

    func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        let number = next.withLock { next in
            next += 1
            return next - 1
        }
        guard number < wires.count, request.control.attach(wires[number]) else {
            throw TransportError(.cancelled, sendState: .unsent)
        }
        return wires[number]
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("requests"), sendState: .unsent)
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        throw TransportError(.unsupported("requests"), sendState: .unsent)
    }

    func shutdown() async {}
}
