import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// The rules for frames, case by case, at both ends that echo: a client's loop over its messages, and the fault server's.
@Suite(.covers("X14"), .timeLimit(.minutes(5)))
struct FrameRulesOnTheWireTests {
    /// What an end has answered.
    private struct Answers: Equatable, Sendable {
        var messages: [WebSocketMessage] = []
        var pongs: [Data] = []
        var code: UInt16?

        init(_ events: [WebSocketMachine.Event]) {
            for event in events {
                switch event {
                case .message(let message): messages.append(message)
                case .pong(let payload): pongs.append(payload)
                case .closed(let code, _): self.code = code.rawValue
                case .ping: break
                }
            }
        }

        init(_ expected: FrameCase) {
            (messages, pongs, code) = (expected.messages, expected.pongs, expected.code)
        }
    }

    private static let echo: @Sendable (WebSocket) async -> Void = { socket in
        do {
            for try await message in socket.messages { try await socket.send(message) }
        } catch {}
    }

    /// A group or a case that is left out is a change that is seen here.
    @Test("Each group has so many cases, each with a name of its own")
    func scope() {
        #expect(
            FrameCase.groups.map { "\($0.0): \($0.1.count)" } == [
                "framing: 21", "pings and pongs: 10", "reserved bits: 28", "reserved opcodes: 30", "fragmentation: 13",
                "UTF-8: 73", "closing: 37", "large messages: 6",
            ])
        for (name, cases) in FrameCase.groups {
            #expect(Set(cases.map(\.description)).count == cases.count, "\(name)")
        }
    }

    // MARK: The client

    @Test(
        "A client answers each frame as the rules have it, and every message before what is wrong",
        arguments: TransportUnderTest.withChannels, FrameCase.groups.indices)
    func client(transport: TransportUnderTest, group: Int) async throws {
        let (name, cases) = FrameCase.groups[group]
        let seen = Locked<[WebSocketMachine.Event]>([])
        let current = Locked(0)
        let talk: @Sendable (LoopbackWebSocket) -> Void = { socket in
            let pieces = cases[current.withLock { $0 }].pieces(isMasked: false)
            for piece in pieces { socket.wire.send(piece) }
            while let event = socket.receive() { seen.withLock { $0.append(event) } }
        }
        try await Shop.run(transport, answering: { .webSocket($0, serve: talk) }) { server, client in
            for (number, expected) in cases.enumerated() {
                current.withLock { $0 = number }
                seen.withLock { $0 = [] }
                await Self.echo(client.webSocket("/chat", WebSocketOptions(deflate: nil)))
                try await server.waitForOpenConnections(atMost: 0)
                #expect(Answers(seen.withLock { $0 }) == Answers(expected), "\(name): \(expected)")
            }
        }
    }

    @Test(
        "A client echoes what is compressed, with every window", arguments: TransportUnderTest.withChannels,
        [9, 12, 15])
    func compressed(transport: TransportUnderTest, bits: Int) async throws {
        let texts = Self.texts
        let seen = Locked<[WebSocketMessage]>([])
        let talk: @Sendable (LoopbackWebSocket) -> Void = { socket in
            for (number, text) in texts.enumerated() {
                // Whole and in frames, all behind one another.
                socket.send(number.isMultiple(of: 2) ? .text(text) : .binary(Data(text.utf8)), fragmentBytes: 5_000)
            }
            socket.wire.send(Data([0x88, 0x02, 0x03, 0xE8]))
            while let message = socket.message() { seen.withLock { $0.append(message) } }
        }
        for forgets in [false, true] {
            seen.withLock { $0 = [] }
            var deflate = WebSocketDeflate()
            (deflate.serverMaxWindowBits, deflate.clientMaxWindowBits) = (bits, bits)
            (deflate.serverNoContextTakeover, deflate.clientNoContextTakeover) = (forgets, forgets)
            let settings = WebSocketOptions(deflate: deflate)
            let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = {
                .webSocket($0, compression: ZlibCompression(), serve: talk)
            }
            try await Shop.run(transport, answering: answer) { server, client in
                let socket = client.webSocket("/chat", settings)
                await Self.echo(socket)
                try await server.waitForOpenConnections(atMost: 0)
                #expect(socket.compression == deflate)
            }
            let expected = texts.enumerated().map { number, text -> WebSocketMessage in
                number.isMultiple(of: 2) ? .text(text) : .binary(Data(text.utf8))
            }
            #expect(seen.withLock { $0 } == expected)
        }
    }

    /// Texts of every size that compress well, and one that does not.
    private static let texts: [String] =
        [0, 1, 16, 63, 64, 256, 4_096, 20_000, 131_072].flatMap { count in
            let line = "{\"id\": \(count), \"text\": \"größer als gedacht\"} "
            let text = String(String(repeating: line, count: count / line.count + 1).prefix(count))
            return [text, text]
        } + [sampleBytes(seed: 12, count: 30_000).base64EncodedString()]

    // MARK: The server

    @Test("The fault server answers each frame as the rules have it", arguments: FrameCase.groups.indices)
    func server(group: Int) async throws {
        let (name, cases) = FrameCase.groups[group]
        let server = try LoopbackServer { .webSocket($0) { $0.echo() } }
        defer { server.stop() }
        for expected in cases {
            let raw = try RawClient(port: server.url.port)
            raw.send(Self.request())
            let head = raw.read(through: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 101 "))
            for piece in expected.pieces(isMasked: true) { raw.send(piece) }
            var client = try WebSocketMachine(.client)
            client.receive(raw.readBytesToEnd())
            var events: [WebSocketMachine.Event] = []
            while let event = try client.next() { events.append(event) }
            #expect(!raw.wasReset)
            #expect(Answers(events) == Answers(expected), "\(name): \(expected)")
        }
    }

    @Test("The fault server answers another version with 426 and its own, and what asks for none with 400")
    func versions() throws {
        let server = try LoopbackServer { .webSocket($0) { $0.echo() } }
        defer { server.stop() }
        for (version, status) in [("8", "426"), ("14", "426"), (nil, "400")] as [(String?, String)] {
            let raw = try RawClient(port: server.url.port)
            raw.send(Self.request(version: version))
            let head = raw.read(through: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 \(status) "))
            #expect(head.contains("Sec-WebSocket-Version: 13\r\n") == (status == "426"))
            #expect(head.contains("Upgrade: websocket\r\n") == (status == "426"))
        }
    }

    private static func request(version: String? = "13") -> String {
        let line = version.map { "Sec-WebSocket-Version: \($0)\r\n" } ?? ""
        return "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(line)\r\n"
    }
}
