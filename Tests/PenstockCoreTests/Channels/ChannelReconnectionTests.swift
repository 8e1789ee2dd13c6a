import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Channels that are ended while they begin, and channels that connect again.
@Suite(.timeLimit(.minutes(5))) struct ChannelReconnectionTests {
    private static func client(
        _ transport: ScriptedWires, _ clock: TestClock, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var configuration = APIClient.Configuration("http://127.0.0.1:1")
        configuration.options.cleartext = .loopback
        configuration.time = clock.timeSource
        change(&configuration)
        return APIClient(configuration, transport: transport)
    }

    private static let options = WebSocketOptions(
        pingInterval: nil, reconnection: ChannelReconnection(backoff: Backoff(base: .zero, cap: .zero)))

    private static func failure(_ socket: WebSocket) async -> APIError.Kind? {
        do throws(APIError) { try await socket.open() } catch { return error.kind }
        return nil
    }

    @Test("A socket that is ended while its call is made connects to nobody")
    func endedWhileBegun() async {
        let known = Locked<WebSocket?>(nil)
        let wires = ScriptedWires(ScriptedWire())
        let client = Self.client(wires, TestClock()) { configuration in
            configuration.identity = {
                known.withLock { $0 }?.cancel()
                return "u"
            }
        }
        let socket = client.webSocket("/chat", Self.options)
        known.withLock { $0 = socket }
        #expect(await Self.failure(socket) == .cancelled)
        #expect(!socket.isOpen && wires.connects == 0 && client.callCount == 0)
        known.withLock { $0 = nil }
    }

    @Test(
        "A server that refuses for a while is asked again when it has said, up to the longest wait of a retry",
        arguments: [("7", 7), ("60", 60), ("86400", 60)] as [(String, Int64)])
    func retryAfter(value: String, seconds: Int64) async {
        let (clock, first, second) = (TestClock(), ScriptedWire(), ScriptedWire())
        let wires = ScriptedWires(first, second)
        let socket = Self.client(wires, clock).webSocket("/chat", Self.options)
        let opening = Task { await Self.failure(socket) }
        await first.state.waitUnlessCancelled { !$0.written.isEmpty }
        let answer = "HTTP/1.1 503 Busy\r\nRetry-After: \(value)\r\nContent-Length: 0\r\n\r\n"
        first.send(Data(answer.utf8))
        await clock.waitForSleeper(until: .init(offset: .seconds(seconds)))
        clock.advance(by: .seconds(seconds) - .nanoseconds(1))
        for _ in 0..<200 { await Task.yield() }
        #expect(wires.connects == 1)
        clock.advance(by: .nanoseconds(1))
        _ = await second.upgrade()
        #expect(await opening.valueOfTest == nil)
        #expect(wires.connects == 2)
        socket.cancel()
    }

    /// What a connection has been good for.
    enum Use: CaseIterable { case nothing, ping, time, message }

    @Test("A connection over which anything came, or that has lasted for 5 s, has worked", arguments: Use.allCases)
    func worked(use: Use) async {
        let (clock, all) = (TestClock(), (0..<4).map { _ in ScriptedWire() })
        let wires = ScriptedWires(all[0], all[1], all[2], all[3])
        var options = Self.options
        options.reconnection?.maxFailures = 1
        let socket = Self.client(wires, clock).webSocket("/chat", options)
        let reading = Task { for try await _ in socket.messages {} }
        for (number, wire) in all.enumerated() where use != .nothing || number < 2 {
            let head = await wire.upgrade()
            while !Task.isCancelled, !socket.isOpen { await Task.yield() }
            switch use {
            case .nothing: clock.advance(by: .seconds(5) - .nanoseconds(1))
            case .time: clock.advance(by: .seconds(5))
            case .message: wire.send(RawFrame(1, "hello").bytes)
            case .ping:
                wire.send(RawFrame(9).bytes)
                _ = await wire.events(behind: head) { !$0.isEmpty }
            }
            wire.state.withLock { $0.hasEnded = true }
            await wire.state.waitUnlessCancelled { $0.failure != nil }
        }
        _ = await reading.result
        // The last connection that is asked for is one that there is not.
        #expect(wires.connects == (use == .nothing ? 2 : 5))
    }

    @Test("A request that waits for a connection does not fail with one that is lost meanwhile, and goes over the next")
    func waitingRequest() async throws {
        let (clock, all) = (TestClock(), (0..<3).map { _ in ScriptedWire() })
        let again = TCPOptions<String>(reconnection: ChannelReconnection(backoff: Backoff(base: .zero, cap: .zero)))
        let line = Self.client(ScriptedWires(all[0], all[1], all[2]), clock)
            .tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, again)
        let calls = ReplyChannel(line, time: clock.timeSource) { $0 }
        try await calls.subscribe("watch")
        all[1].state.withLock { $0.isBlocked = true }
        all[0].state.withLock { $0.hasEnded = true }
        // The subscription is on its way over the second connection, and the request waits behind it.
        try #require(await all[1].reaches { $0.writings == 1 })
        let failure = Locked<APIError.Kind?>(nil)
        let request = Task { () -> String? in
            do throws(APIError) {
                return try await calls.request("1")
            } catch {
                failure.withLock { $0 = error.kind }
                return nil
            }
        }
        for _ in 0..<200 { await Task.yield() }
        all[1].fail(.connectionLost)
        let both = Data("watch\n1\n".utf8)
        while !Task.isCancelled, all[2].state.withLock(\.written) != both, failure.withLock({ $0 == nil }) {
            await Task.yield()
        }
        all[2].send(Data("1\n".utf8))
        #expect(await request.valueOfTest == "1")
        #expect(all[1].state.withLock(\.written).isEmpty)
        calls.cancel()
    }

    @Test("A request that is made while a lost connection says its goodbye goes over the next one")
    func requestDuringGoodbye() async throws {
        let (clock, all) = (TestClock(), (0..<2).map { _ in ScriptedWire() })
        let again = TCPOptions<String>(reconnection: ChannelReconnection(backoff: Backoff(base: .zero, cap: .zero)))
        let line = Self.client(ScriptedWires(all[0], all[1]), clock)
            .tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, again)
        let calls = ReplyChannel(line, time: clock.timeSource) { $0 }
        try await calls.open()
        all[0].state.withLock { $0.isBlocked = true }
        let stuck = Task { try? await calls.send("never") }
        await all[0].state.waitUnlessCancelled { $0.writings >= 1 }
        all[0].state.withLock { $0.hasEnded = true }
        for _ in 0..<200 { await Task.yield() }
        let failure = Locked<APIError.Kind?>(nil)
        let request = Task { () -> String? in
            do throws(APIError) {
                return try await calls.request("1")
            } catch {
                failure.withLock { $0 = error.kind }
                return nil
            }
        }
        for _ in 0..<200 { await Task.yield() }
        // The time for the goodbye is over.
        while !Task.isCancelled, !all[0].isOver {
            clock.advance(by: .milliseconds(100))
            await Task.yield()
        }
        while !Task.isCancelled, all[1].state.withLock(\.written) != Data("1\n".utf8), failure.withLock({ $0 == nil }) {
            await Task.yield()
        }
        all[1].send(Data("1\n".utf8))
        #expect(await request.valueOfTest == "1")
        #expect(failure.withLock { $0 } == nil)
        _ = await stuck.valueOfTest
        calls.cancel()
    }

    @Test(
        "A name of a subprotocol that is no token is refused, and nothing is sent",
        arguments: ["a\r\nX-Evil: 1", "a, b", "", "a b"])
    func subprotocols(name: String) async {
        let wires = ScriptedWires(ScriptedWire())
        let socket = Self.client(wires, TestClock()).webSocket("/chat", WebSocketOptions(subprotocols: ["ok", name]))
        guard case .invalidParameter("subprotocols", _)? = await Self.failure(socket) else {
            Issue.record("it is taken")
            return
        }
        #expect(wires.connects == 0)
    }
}
