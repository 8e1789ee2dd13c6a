import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// How channels end: what is still answered, what is still written, and for how long anybody is waited for.
@Suite(.timeLimit(.minutes(5))) struct ChannelEndTests {
    private static func client(_ transport: ScriptedWires, _ clock: TestClock) -> APIClient {
        var configuration = APIClient.Configuration("http://127.0.0.1:1")
        configuration.options.cleartext = .loopback
        configuration.time = clock.timeSource
        return APIClient(configuration, transport: transport)
    }

    /// A client whose only connection is given.
    private static func client(_ wire: ScriptedWire, _ clock: TestClock = TestClock()) -> APIClient {
        client(ScriptedWires(wire), clock)
    }

    private static let hello = RawFrame(1, "hello").bytes
    private static let goodbye = RawFrame(8, Data([3, 0xE8])).bytes
    private static let isClosed: @Sendable ([WebSocketMachine.Event]) -> Bool = { events in
        if case .closed? = events.last { true } else { false }
    }

    /// Sends each message back.
    private static func echo(_ socket: WebSocket) -> Task<APIError?, Never> {
        Task {
            do {
                for try await message in socket.messages { try await socket.send(message) }
                return nil
            } catch {
                return error as? APIError
            }
        }
    }

    // MARK: The upgrade

    /// What limits an opening, in seconds, and which limit it is.
    static let openings: [(CallOptions, Int64, TimeoutPhase)] = [
        (.timeout(.seconds(10)), 10, .total), (.with { $0.timeouts.firstByte = .seconds(7) }, 7, .firstByte),
        (.timeout(.seconds(5)).with { $0.timeouts.firstByte = .seconds(7) }, 5, .total),
    ]

    @Test("An upgrade is waited for as long as its time-outs say, and no longer", arguments: openings)
    func upgradeTimes(options: CallOptions, seconds: Int64, phase: TimeoutPhase) async {
        for isAnswered in [true, false] {
            let (clock, wire) = (TestClock(), ScriptedWire())
            let socket = Self.client(wire, clock)
                .webSocket("/chat", options: options, WebSocketOptions(pingInterval: nil))
            let opening = Task { () -> APIError.Kind? in
                do throws(APIError) { try await socket.open() } catch { return error.kind }
                return nil
            }
            await wire.state.waitUnlessCancelled { !$0.written.isEmpty }
            clock.advance(by: .seconds(seconds) - .milliseconds(1))
            for _ in 0..<200 { await Task.yield() }
            #expect(!wire.isOver)
            if isAnswered { _ = await wire.upgrade() } else { clock.advance(by: .milliseconds(1)) }
            #expect(await opening.valueOfTest == (isAnswered ? nil : .timeout(phase)))
            socket.cancel()
        }
    }

    // MARK: The other end's goodbye

    @Test(
        "What came before a Close, or before a broken frame, in the same packet is answered first",
        .covers("X14"),
        arguments: [
            (goodbye, 1_000), (RawFrame(8).bytes, 1_005), (RawFrame(3).bytes, 1_002),
            (RawFrame(1, Data([0xFF])).bytes, 1_007), (RawFrame(8, Data([0])).bytes, 1_002),
        ] as [(Data, UInt16)])
    func answers(end: Data, code: UInt16) async {
        for count in [1, 3] {
            let wire = ScriptedWire()
            let socket = Self.client(wire).webSocket("/chat", WebSocketOptions(pingInterval: nil))
            let echo = Self.echo(socket)
            let frames = (0..<count).reduce(Data()) { bytes, _ in bytes + Self.hello }
            let head = await wire.upgrade(then: frames + end)
            let events = await wire.events(behind: head, when: Self.isClosed)
            let messages = [WebSocketMachine.Event](repeating: .message("hello"), count: count)
            #expect(events == messages + [.closed(code: WebSocketCloseCode(rawValue: code), reason: "")])
            wire.state.withLock { $0.hasEnded = true }
            let error = await echo.valueOfTest
            #expect((error == nil) == (code == 1_000 || code == 1_005))
        }
    }

    @Test("Who opens the socket first and reads it then has time to answer as well")
    func lateReader() async throws {
        let wire = ScriptedWire()
        let socket = Self.client(wire).webSocket("/chat", WebSocketOptions(pingInterval: nil))
        async let open: Void = socket.open()
        let head = await wire.upgrade(then: Self.hello + Self.goodbye)
        try await open
        let echo = Self.echo(socket)
        #expect(await wire.events(behind: head, when: Self.isClosed).first == .message("hello"))
        wire.state.withLock { $0.hasEnded = true }
        #expect(await echo.valueOfTest == nil)
    }

    @Test("Who does not answer is waited for a second behind each message, and five seconds in all")
    func patience() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let socket = Self.client(wire, clock).webSocket("/chat", WebSocketOptions(pingInterval: nil))
        var iterator = socket.messages.makeAsyncIterator()
        let frames = (0..<20).reduce(Data()) { bytes, _ in bytes + Self.hello }
        async let upgraded = wire.upgrade(then: frames + Self.goodbye)
        #expect(try await iterator.next() == "hello")
        let head = await upgraded
        // Others sleep by this clock too.
        await clock.waitForSleeper(until: .init(offset: .seconds(1)))
        for step in 1...6 {
            clock.advance(by: .milliseconds(900))
            if step < 6 {
                #expect(!Self.isClosed(wire.events(behind: head)), "\(step)")
                #expect(try await iterator.next() == "hello")
            }
        }
        #expect(await wire.events(behind: head, when: Self.isClosed).count == 1)
        wire.state.withLock { $0.hasEnded = true }
    }

    @Test("A Close long behind the last message is answered at once, whoever reads")
    func lateClose() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let socket = Self.client(wire, clock).webSocket("/chat", WebSocketOptions(pingInterval: nil))
        var iterator = socket.messages.makeAsyncIterator()
        async let upgraded = wire.upgrade(then: Self.hello)
        #expect(try await iterator.next() == "hello")
        let head = await upgraded
        clock.advance(by: .seconds(1))
        wire.send(Self.goodbye)
        #expect(await wire.events(behind: head, when: Self.isClosed).count == 1)
        wire.state.withLock { $0.hasEnded = true }
        let last = try await iterator.next()
        #expect(last == nil)
    }

    @Test("Behind a goodbye the other end closes first; what it still sends is dropped, for a second at most")
    func lingering() async throws {
        for closes in [true, false] {
            let (clock, wire) = (TestClock(), ScriptedWire())
            let socket = Self.client(wire, clock).webSocket("/chat", WebSocketOptions(pingInterval: nil))
            let echo = Self.echo(socket)
            let head = await wire.upgrade(then: RawFrame(3).bytes)
            _ = await wire.events(behind: head, when: Self.isClosed)
            for _ in 0..<10 { wire.send(Self.hello) }
            await wire.state.waitUnlessCancelled { $0.incoming.isEmpty }
            #expect(!wire.isOver)
            if closes {
                wire.state.withLock { $0.hasEnded = true }
            } else {
                await clock.waitForSleeper(until: .init(offset: .seconds(1)))
                clock.advance(by: .seconds(1))
            }
            await wire.state.waitUnlessCancelled { $0.failure != nil }
            #expect(wire.state.withLock(\.wasClosed))
            #expect((await echo.valueOfTest?.underlying as? WebSocketFailure)?.kind == .reservedOpcode)
        }
    }

    // MARK: This end's goodbye

    @Test("Who closes is done after five seconds, also where the other end reads nothing")
    func blockedGoodbye() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let line = Self.client(wire, clock).tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false)
        try await line.open()
        wire.state.withLock { $0.isBlocked = true }
        let sending = Task { try? await line.send("stuck") }
        await wire.state.waitUnlessCancelled { $0.writings == 1 }
        let closing = Task { await line.close() }
        await clock.waitForSleeper(until: .init(offset: .seconds(5)))
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        for _ in 0..<200 { await Task.yield() }
        #expect(!wire.isOver)
        clock.advance(by: .nanoseconds(1))
        await closing.valueOfTest
        _ = await sending.valueOfTest
        #expect(wire.state.withLock(\.wasClosed))
    }

    @Test("Who closes a line ends its own direction, and drops what comes until the other end closes, for 5 s at most")
    func endOfBytes() async throws {
        for closes in [true, false] {
            let (clock, wire) = (TestClock(), ScriptedWire())
            wire.state.withLock { $0.mayEndWriting = true }
            let beat = TCPOptions(heartbeat: Heartbeat("beat", every: .seconds(1)), bufferedBytes: 1)
            let line = Self.client(wire, clock).tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, beat)
            try await line.open()
            for _ in 0..<10 { wire.send(Data("unread\n".utf8)) }
            try await line.send("last")
            let closing = Task { await line.close() }
            await wire.state.waitUnlessCancelled { $0.hasEndedWriting && $0.incoming.isEmpty }
            #expect(!wire.isOver)
            let late = await #expect(throws: APIError.self) { try await line.send("late") }
            #expect(late?.kind == .transport(.connectionLost))
            if closes {
                wire.state.withLock { $0.hasEnded = true }
            } else {
                for _ in 0..<49 {
                    clock.advance(by: .milliseconds(100))
                    for _ in 0..<20 { await Task.yield() }
                }
                #expect(!wire.isOver)
                clock.advance(by: .milliseconds(100))
            }
            await closing.valueOfTest
            #expect(wire.state.withLock(\.wasClosed) && wire.state.withLock(\.written) == Data("last\n".utf8))
        }
    }

    // MARK: Ended from outside

    /// The second of two messages that came together, once something has happened between the two.
    private static func second<C: Channel>(
        of channel: C, _ meanwhile: () async -> Void
    ) async -> Result<C.Message?, APIError> where C.Messages == ChannelMessages<C.Message> {
        var iterator = channel.messages.makeAsyncIterator()
        do throws(APIError) {
            _ = try await iterator.next()
            await meanwhile()
            return .success(try await iterator.next())
        } catch {
            return .failure(error)
        }
    }

    /// Ends all calls of a client, or has the other end close and waits until there is no call.
    private static func end(_ client: APIClient, _ wire: ScriptedWire, byServer: Bool) async {
        guard byServer else { return client.cancelAll() }
        wire.state.withLock { $0.hasEnded = true }
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
    }

    @Test(
        "What has come is for nobody once the client has ended its calls, and is read where the other end has closed",
        arguments: [false, true])
    func unread(byServer: Bool) async {
        for _ in 0..<20 {
            let wire = ScriptedWire()
            let client = Self.client(wire)
            let socket = client.webSocket("/chat", WebSocketOptions(pingInterval: nil))
            async let upgraded = wire.upgrade(then: Self.hello + Self.hello)
            let second = await Self.second(of: socket) { await Self.end(client, wire, byServer: byServer) }
            _ = await upgraded
            #expect(second.failure?.kind == (byServer ? nil : .cancelled))
            let message: WebSocketMessage? = try? second.get()
            let expected: WebSocketMessage? = byServer ? "hello" : nil
            #expect(message == expected)
        }
    }

    @Test(
        "The same goes for frames, and for those that answer no request", arguments: [false, true], [false, true])
    func unreadFrames(byServer: Bool, areReplies: Bool) async {
        for _ in 0..<20 {
            let wire = ScriptedWire()
            let client = Self.client(wire)
            let line = client.tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false)
            wire.send(Data("one\ntwo\n".utf8))
            let second =
                if areReplies {
                    await Self.second(of: ReplyChannel(line) { _ in String?.none }) {
                        await Self.end(client, wire, byServer: byServer)
                    }
                } else {
                    await Self.second(of: line) { await Self.end(client, wire, byServer: byServer) }
                }
            #expect(second.failure?.kind == (byServer ? nil : .cancelled))
            let frame: String? = try? second.get()
            #expect(frame == (byServer ? "two" : nil))
        }
    }

    @Test(
        "Closing a channel that waits for its next connection leaves what had come to its reader",
        arguments: [false, true])
    func closedWithoutConnection(areReplies: Bool) async {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let again = ChannelReconnection(backoff: Backoff(base: .seconds(60), cap: .seconds(60)))
        let line = Self.client(wire, clock).tcp(
            "127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, TCPOptions(reconnection: again))
        wire.send(Data("one\ntwo\n".utf8))
        wire.state.withLock { $0.hasEnded = true }
        let leave: @Sendable () async -> Void = {
            while !Task.isCancelled, line.isOpen || !wire.isOver { await Task.yield() }
            await line.close()
        }
        let second =
            if areReplies {
                await Self.second(of: ReplyChannel(line) { _ in String?.none }, leave)
            } else {
                await Self.second(of: line, leave)
            }
        let frame: String? = try? second.get()
        #expect(frame == "two")
    }

    // MARK: What takes long

    @Test("A long message may take its time while the system takes some of it")
    func slowPath() async throws {
        let (clock, wire, piece) = (TestClock(), ScriptedWire(), 16 << 10)
        let line = Self.client(wire, clock).tcp(
            "127.0.0.1", port: 1, codec: LineCodec(maxLineBytes: .max), isSecure: false,
            options: .with { $0.timeouts.idle = .seconds(30) })
        try await line.open()
        wire.state.withLock { $0.room = 0 }
        let sending = Task { () -> APIError.Kind? in
            do throws(APIError) {
                try await line.send(String(repeating: "x", count: 4 * piece - 1))
            } catch {
                return error.kind
            }
            return nil
        }
        await wire.state.waitUnlessCancelled { $0.writings == 1 }
        try #require(wire.state.withLock(\.longestWriting) == piece)
        for number in 1...4 {
            await wire.state.waitUnlessCancelled { $0.writings == number }
            clock.advance(by: .seconds(20))
            wire.state.withLock { $0.room = piece }
        }
        #expect(await sending.valueOfTest == nil)
        #expect(wire.state.withLock(\.written.count) == 4 * piece)
    }

    /// Lines, of which it is known when each was made into bytes.
    private struct NotedCodec: FrameCodec {
        var lines = LineCodec()
        let encoded: Monitor<[String]>

        mutating func decode(_ input: inout FrameInput) throws -> String? { try lines.decode(&input) }

        func encode(_ line: String) throws -> Data {
            encoded.withLock { $0.append(line) }
            return try lines.encode(line)
        }
    }

    @Test("The time for a sign of life counts from when the question was written, however long that has waited")
    func questionBehindMessage() async throws {
        let (clock, wire, encoded) = (TestClock(), ScriptedWire(), Monitor<[String]>([]))
        let beat = TCPOptions(heartbeat: Heartbeat("beat", every: .seconds(10), patience: .seconds(5)))
        let line = Self.client(wire, clock).tcp(
            "127.0.0.1", port: 1, codec: NotedCodec(encoded: encoded), isSecure: false,
            options: .with { $0.timeouts.idle = nil }, beat)
        try await line.open()
        wire.state.withLock { $0.isBlocked = true }
        let sending = Task { try? await line.send("long") }
        await wire.state.waitUnlessCancelled { $0.writings == 1 }
        while !Task.isCancelled, !encoded.withLock({ $0.contains("beat") }) {
            clock.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
        }
        clock.advance(by: .seconds(60))
        wire.state.withLock { $0.isBlocked = false }
        await wire.state.waitUnlessCancelled { $0.written == Data("long\nbeat\n".utf8) }
        _ = await sending.valueOfTest
        for _ in 0..<200 { await Task.yield() }
        #expect(!wire.isOver)
        let written = clock.now.offset
        while !Task.isCancelled, !wire.isOver {
            clock.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(clock.now.offset - written >= .seconds(5))
        #expect(wire.state.withLock(\.failure)?.kind == .timeout(.idle))
    }

    @Test("A message of which the system takes nothing for the idle time ends the connection", .covers("S3.40"))
    func takesNothing() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let line = Self.client(wire, clock).tcp(
            "127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, options: .with { $0.timeouts.idle = .seconds(7) }
        )
        try await line.open()
        wire.state.withLock { $0.isBlocked = true }
        let sending = Task { () -> APIError.Kind? in
            do throws(APIError) { try await line.send("stuck") } catch { return error.kind }
            return nil
        }
        await clock.waitForSleeper(until: .init(offset: .seconds(7)))
        clock.advance(by: .seconds(7) - .nanoseconds(1))
        for _ in 0..<200 { await Task.yield() }
        #expect(!wire.isOver)
        clock.advance(by: .nanoseconds(1))
        #expect(await sending.valueOfTest == .timeout(.idle))
        line.cancel()
    }

    // MARK: Requests

    @Test("A request is refused whose id another one waits for, and the other has its reply", .covers("S3.40"))
    func sameID() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let line = Self.client(wire, clock).tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false)
        let calls = ReplyChannel(line, time: clock.timeSource) { $0.first }
        let first = Task { try? await calls.request("1 one") }
        let one = Data("1 one\n".utf8)
        await wire.state.waitUnlessCancelled { $0.written == one }
        let kind = Locked<APIError.Kind?>(nil)
        let second = Task {
            do throws(APIError) { _ = try await calls.request("1 two") } catch { kind.withLock { $0 = error.kind } }
        }
        while !Task.isCancelled, kind.withLock({ $0 == nil }), wire.state.withLock(\.written) == one {
            await Task.yield()
        }
        guard case .invalidParameter("frame", _)? = kind.withLock({ $0 }) else {
            return #expect(Bool(false), "it is sent")
        }
        await second.valueOfTest
        wire.send(Data("1 reply\n".utf8))
        #expect(await first.valueOfTest == "1 reply")
        calls.cancel()
    }

    @Test("A reply that comes with the end of the connection is given to its request")
    func replyBeforeEnd() async {
        for _ in 0..<50 {
            let (clock, wire) = (TestClock(), ScriptedWire())
            let line = Self.client(wire, clock).tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false)
            let calls = ReplyChannel(line, time: clock.timeSource) { $0 }
            let request = Task { try? await calls.request("1") }
            await wire.state.waitUnlessCancelled { $0.written == Data("1\n".utf8) }
            wire.state.withLock { state in
                state.incoming.append(Data("1\n".utf8))
                state.hasEnded = true
            }
            #expect(await request.valueOfTest == "1")
        }
    }

    @Test("Of the frames that answer nothing the last are kept, up to the channel's bytes, and one in any case")
    func keptBytes() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let line = Self.client(wire, clock).tcp(
            "127.0.0.1", port: 1, codec: LineCodec(), isSecure: false, TCPOptions<String>(bufferedBytes: 16))
        let calls = ReplyChannel(line, time: clock.timeSource) { $0.hasPrefix("news") ? nil : $0 }
        var iterator = calls.messages.makeAsyncIterator()
        let rounds = [
            (["news 1", "news 2", "news 3"], ["news 2", "news 3"]),
            (["news 4", "news that is longer than all"], ["news that is longer than all"]), (["news 5"], ["news 5"]),
        ]
        for (number, (news, kept)) in rounds.enumerated() {
            let request = Task { try await calls.request("\(number)") }
            await wire.state.waitUnlessCancelled { $0.written.suffix(2) == Data("\(number)\n".utf8) }
            wire.send(Data((news + ["\(number)"]).map { "\($0)\n" }.joined().utf8))
            #expect(try await request.valueOfTest == "\(number)")
            for text in kept { #expect(try await iterator.next() == text) }
        }
        calls.cancel()
    }

    @Test("The time for a reply counts from the call, also where the other end takes no request")
    func blockedRequest() async throws {
        let (clock, wire) = (TestClock(), ScriptedWire())
        let line = Self.client(wire, clock).tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false)
        let calls = ReplyChannel(line, timeout: .seconds(3), time: clock.timeSource) { $0 }
        try await calls.open()
        wire.state.withLock { $0.isBlocked = true }
        let request = Task { () -> APIError.Kind? in
            do throws(APIError) { _ = try await calls.request("1") } catch { return error.kind }
            return nil
        }
        await wire.state.waitUnlessCancelled { $0.writings == 1 }
        // The time to write something, and that for the reply.
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(3))
        #expect(await request.valueOfTest == .timeout(.firstByte))
        calls.cancel()
        wire.state.withLock { $0.isBlocked = false }
    }

    // MARK: Names

    @Test("A transport that cannot connect to where it is told is not asked for a connection")
    func resolver() async throws {
        let transport = ScriptedWires(ScriptedWire(), capabilities: .all.subtracting(.hostResolvers))
        let client = try Self.client(transport, TestClock()).with {
            $0.options.resolver = HostResolver([try StaticHosts(["shop.example": ["1.0.0.1"]])])
        }
        for channel in ["tcp", "udp"] {
            let error = await #expect(throws: APIError.self) {
                if channel == "tcp" {
                    try await client.tcp("127.0.0.1", port: 1, codec: LineCodec(), isSecure: false).open()
                } else {
                    try await client.datagrams("127.0.0.1", port: 1).open()
                }
            }
            #expect(error?.kind == .unsupported(feature: "a resolver of the client's own"))
        }
        #expect(transport.connects == 0)
    }
}
