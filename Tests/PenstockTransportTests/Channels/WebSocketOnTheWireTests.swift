import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

extension TransportUnderTest {
    static let withChannels = withWire.filter { $0.capabilities.contains(.channels) }
}

/// A client's WebSocket on real sockets, against the fault server.
@Suite(.covers("X14"), .timeLimit(.minutes(5)))
struct WebSocketOnTheWireTests {
    private typealias Request = LoopbackServer.Request

    private func run(
        _ transport: TransportUnderTest, _ serve: @escaping @Sendable (LoopbackWebSocket) -> Void,
        _ body: (LoopbackServer, APIClient) async throws -> Void
    ) async throws {
        try await Shop.run(
            transport,
            answering: { .webSocket($0, subprotocols: ["chat"], compression: ZlibCompression(), serve: serve) },
            body)
    }

    // MARK: Messages

    @Test(
        "Messages of every size come back, compressed or not", arguments: TransportUnderTest.withChannels,
        [false, true])
    func echo(transport: TransportUnderTest, compresses: Bool) async throws {
        try await run(transport, { $0.echo() }) { _, client in
            let settings = WebSocketOptions(
                subprotocols: ["other", "chat"], deflate: compresses ? WebSocketDeflate() : nil)
            let socket = client.webSocket("/chat", settings)
            try await socket.open()
            #expect(socket.isOpen)
            #expect(socket.subprotocol == "chat")
            #expect((socket.compression != nil) == compresses)
            var iterator = socket.messages.makeAsyncIterator()
            for size in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                for message in [
                    WebSocketMessage.binary(sampleBytes(seed: 1, count: size)),
                    .text(String(repeating: "é", count: size)),
                ] {
                    try await socket.send(message)
                    #expect(try await iterator.next() == message)
                }
            }
            await socket.close()
            #expect(try await iterator.next() == nil)
            #expect(!socket.isOpen)
            #expect(client.callCount == 0)
        }
    }

    @Test(
        "A chat is a loop over the messages, which ends when the server closes",
        arguments: TransportUnderTest.withChannels)
    func loop(transport: TransportUnderTest) async throws {
        let talk: @Sendable (LoopbackWebSocket) -> Void = { socket in
            for number in 0..<100 {
                socket.ping(Data("\(number)".utf8))
                socket.send(.text("\(number)"), fragmentBytes: 1)
            }
            socket.close(.normal, reason: "enough")
        }
        try await run(transport, talk) { _, client in
            let socket = client.webSocket("/chat")
            var texts: [String] = []
            for try await message in socket.messages { texts.append(message.text ?? "") }
            #expect(texts == (0..<100).map(String.init))
            #expect(socket.closedBy == WebSocketClosure(code: .normal, reason: "enough"))
            let error = await #expect(throws: APIError.self) { try await socket.send("late") }
            #expect(error?.kind == .transport(.connectionLost))
        }
    }

    @Test("Messages of many tasks arrive whole, each task's in its order", arguments: TransportUnderTest.withChannels)
    func manySenders(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.echo() }) { _, client in
            let socket = client.webSocket("/chat")
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<8 {
                    group.addTask { for number in 0..<50 { try? await socket.send(.text("\(sender) \(number)")) } }
                }
            }
            var next = [Int](repeating: 0, count: 8)
            var iterator = socket.messages.makeAsyncIterator()
            for _ in 0..<400 {
                let text = try #require(try await iterator.next()?.text)
                let parts = text.split(separator: " ").compactMap { Int($0) }
                #expect(parts == [parts[0], next[parts[0]]])
                next[parts[0]] += 1
            }
            #expect(next == [Int](repeating: 50, count: 8))
        }
    }

    @Test("Messages are handed to the actor that was named, in their order", arguments: TransportUnderTest.withChannels)
    func delivery(transport: TransportUnderTest) async throws {
        let talk: @Sendable (LoopbackWebSocket) -> Void = { socket in
            for number in 0..<50 { socket.send(.text("\(number)")) }
            socket.close()
        }
        try await run(transport, talk) { _, client in
            let seen = Locked<[String]>([])
            try await client.webSocket("/chat").deliver(on: MainActor.shared) { message in
                MainActor.assertIsolated()
                seen.withLock { $0.append(message.text ?? "") }
            }
            #expect(seen.withLock { $0 } == (0..<50).map(String.init))
        }
    }

    // MARK: The upgrade

    @Test(
        "The upgrade carries the service's headers, cookies and credential, and its 101 is in the events",
        arguments: TransportUnderTest.withChannels)
    func upgrade(transport: TransportUnderTest) async throws {
        let recorder = EventRecorder()
        let server = try LoopbackServer { request in
            if request.path == "/cookie" { return .init(fields: ["Set-Cookie": "a=b"]) }
            return .webSocket(request, fields: ["Set-Cookie": "c=d"]) { $0.echo() }
        }
        let change: (inout APIClient.Configuration) -> Void = {
            $0.sinks = [recorder]
            $0.services = ServiceRegistry([
                Service(
                    .main, [.development: server.url.absoluteString], headers: ["X-Shop": "7"], authenticator: passes)
            ])
        }
        try await Shop.run(transport, on: server, configured: change) { server, client in
            try await client.signIn(Credential("2"), to: .main)
            _ = try await client.send(Page("/cookie"))
            let socket = client.webSocket("/chat")
            try await socket.open()
            let fields = try #require(server.requests.last?.fields)
            #expect(fields["X-Shop"] == "7")
            #expect(fields["Cookie"] == "a=b")
            #expect(fields["Authorization"] == "Bearer 2")
            #expect(fields["User-Agent"] != nil)
            #expect(fields.values(of: "Sec-WebSocket-Version") == ["13"])
            let statuses = recorder.records.compactMap { record -> Int? in
                if case .responseReceived(let response, _, _) = record.event { response.status } else { nil }
            }
            #expect(statuses.last == 101)
            await socket.close()
            _ = try await client.send(Page("/cookie"))
            #expect(server.requests.last?.fields["Cookie"] == "a=b; c=d")
            #expect(recorder.grammarViolations.isEmpty)
        }
    }

    @Test(
        "A refused credential is renewed once, and the upgrade sent anew with another key",
        arguments: TransportUnderTest.withChannels)
    func renewal(transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            guard request.fields["Authorization"] == "Bearer 3" else {
                return .init(status: 401, body: Data("no".utf8))
            }
            return .webSocket(request) { $0.echo() }
        }
        let change: (inout APIClient.Configuration) -> Void = {
            $0.services = ServiceRegistry([
                Service(.main, [.development: server.url.absoluteString], authenticator: passes)
            ])
        }
        try await Shop.run(transport, on: server, configured: change) { server, client in
            try await client.signIn(Credential("2"), to: .main)
            let socket = client.webSocket("/chat")
            try await socket.open()
            let keys = server.requests.compactMap { $0.fields["Sec-WebSocket-Key"] }
            #expect(keys.count == 2)
            #expect(Set(keys).count == 2)
        }
    }

    @Test("A refusal is told by its status, with its content", arguments: TransportUnderTest.withChannels)
    func refusal(transport: TransportUnderTest) async throws {
        try await Shop.run(transport, answering: { _ in .init(status: 403, body: Data("not you".utf8)) }) { _, client in
            let socket = client.webSocket("/chat")
            let error = await #expect(throws: APIError.self) { try await socket.open() }
            #expect(error?.kind == .httpStatus(403))
            #expect(error?.response?.body == Data("not you".utf8))
            let again = await #expect(throws: APIError.self) { for try await _ in socket.messages {} }
            #expect(again?.kind == .httpStatus(403))
            #expect(client.callCount == 0)
        }
    }

    @Test(
        "An answer that proves nothing is refused, and so is one in pieces that never ends",
        arguments: TransportUnderTest.withChannels)
    func falseAnswers(transport: TransportUnderTest) async throws {
        let heads = [
            "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: none\r\n\r\n",
            "HTTP/1.1 101\r\n\r\n", "HTTP/1.1 200 OK\nUpgrade: websocket\n\n", "SSH-2.0-x\r\n", "HTTP/2 101 \r\n\r\n",
        ]
        for head in heads {
            try await Shop.run(transport, answering: { _ in .raw(Data(head.utf8), ending: .hold) }) { server, client in
                let error = await #expect(throws: APIError.self) { try await client.webSocket("/chat").open() }
                #expect(error?.kind == .transport(.protocolViolation))
                try await server.waitForOpenConnections(atMost: 0)
            }
        }
        try await Shop.run(transport, answering: { _ in .raw(Data("HTTP/1.1 1".utf8), ending: .hold) }) {
            server, client in
            let error = await #expect(throws: APIError.self) {
                try await client.webSocket("/chat", options: .with { $0.timeouts.firstByte = .milliseconds(100) })
                    .open()
            }
            #expect(error?.kind == .timeout(.firstByte))
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test("TLS is under the trust policy of the client", arguments: TransportUnderTest.withChannels, [false, true])
    func trust(transport: TransportUnderTest, isTrusted: Bool) async throws {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { .webSocket($0) { $0.echo() } }
        let change: (inout APIClient.Configuration) -> Void = {
            if isTrusted { $0.options.trust = .authorities(authority.file) }
        }
        try await Shop.run(transport, on: server, configured: change) { server, client in
            let socket = client.webSocket("/chat")
            guard isTrusted else {
                let error = await #expect(throws: APIError.self) { try await socket.open() }
                #expect(error?.kind == .tls(.untrusted))
                #expect(server.requestCount == 0)
                return
            }
            var iterator = socket.messages.makeAsyncIterator()
            let large = WebSocketMessage.binary(sampleBytes(seed: 2, count: 3_000_000))
            async let sent: Void = socket.send(large)
            #expect(try await iterator.next() == large)
            try await sent
            await socket.close()
        }
    }

    @Test(
        "A WebSocket over TLS whose socket just ends is abnormal, and one that has said goodbye has ended well",
        arguments: TransportUnderTest.withChannels, [true, false])
    func endsOfWebSocket(transport: TransportUnderTest, hasGoodbye: Bool) async throws {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { request in
            .webSocket(request) { socket in
                socket.send(.text("one"))
                guard hasGoodbye else { return }
                socket.close()
                while socket.receive() != nil {}
            }
            .ending(.drop)
        }
        try await Shop.run(transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }) {
            _, client in
            let socket = client.webSocket("/")
            var seen: [String?] = []
            var thrown: APIError?
            do throws(APIError) {
                for try await message in socket.messages { seen.append(message.text) }
            } catch {
                thrown = error
            }
            #expect(seen == ["one"])
            #expect(thrown?.kind == (hasGoodbye ? nil : .transport(.connectionLost)))
            #expect(socket.closedBy?.code == (hasGoodbye ? .normal : .abnormal))
        }
    }

    @Test("Plain http is refused unless it is allowed", arguments: TransportUnderTest.withChannels)
    func cleartext(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.echo() }) { server, client in
            let error = await #expect(throws: APIError.self) {
                try await client.webSocket("/chat", options: .cleartext(.refused)).open()
            }
            guard case .blocked = error?.kind else { return #expect(Bool(false), "\(String(describing: error))") }
            #expect(server.connectionCount == 0)
        }
    }

    // MARK: Ends

    @Test(
        "A code says how the messages end", arguments: TransportUnderTest.withChannels,
        [(1_000, true), (1_001, true), (1_008, false), (1_011, false), (4_000, false)])
    func codes(transport: TransportUnderTest, code: (UInt16, Bool)) async throws {
        let close: @Sendable (LoopbackWebSocket) -> Void = { $0.close(.init(rawValue: code.0), reason: "why") }
        try await run(transport, close) { _, client in
            let socket = client.webSocket("/chat")
            var iterator = socket.messages.makeAsyncIterator()
            if code.1 {
                let last = try await iterator.next()
                #expect(last == nil)
            } else {
                let error = await #expect(throws: APIError.self) { try await iterator.next() }
                #expect(error?.kind == .transport(.connectionLost))
                #expect(error?.underlying as? WebSocketClosure == socket.closedBy)
            }
            #expect(socket.closedBy?.code.rawValue == code.0)
            #expect(socket.closedBy?.reason == "why")
        }
    }

    @Test(
        "A connection that just ends is a loss, after the messages that had come",
        arguments: TransportUnderTest.withChannels)
    func dropped(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.send("one") }) { _, client in
            let socket = client.webSocket("/chat")
            var iterator = socket.messages.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == "one")
            let error = await #expect(throws: APIError.self) { try await iterator.next() }
            #expect(error?.kind == .transport(.connectionLost))
            #expect(socket.closedBy?.code == .abnormal)
        }
    }

    @Test(
        "A server that breaks the protocol is told why, and the messages throw it",
        arguments: TransportUnderTest.withChannels)
    func brokenServer(transport: TransportUnderTest) async throws {
        let told = Locked<WebSocketMachine.Event?>(nil)
        let rude: @Sendable (LoopbackWebSocket) -> Void = { socket in
            socket.wire.send(Data([0x81, 0x02, 0xC3, 0x28]))
            let event = socket.receive()
            told.withLock { $0 = event }
        }
        try await run(transport, rude) { server, client in
            let error = await #expect(throws: APIError.self) {
                for try await _ in client.webSocket("/chat").messages {}
            }
            #expect((error?.underlying as? WebSocketFailure)?.kind == .invalidText)
            try await server.waitForOpenConnections(atMost: 0)
            #expect(told.withLock { $0 } == .closed(code: .invalidPayload, reason: ""))
        }
    }

    @Test(
        "Cancelling the reader, its scope, the client or the socket closes the wire at once",
        arguments: TransportUnderTest.withChannels, 0..<5)
    func cancellation(transport: TransportUnderTest, way: Int) async throws {
        try await run(transport, { $0.echo() }) { server, client in
            var scope: CallScope? = CallScope()
            var socket: WebSocket? = client.webSocket("/chat", in: scope)
            try await socket?.open()
            #expect(client.callCount == 1)
            let reader = Task { [socket] in
                guard let socket, way < 4 else { return APIError.Kind.cancelled }
                do throws(APIError) {
                    var iterator = socket.messages.makeAsyncIterator()
                    while try await iterator.next() != nil {}
                    return .cacheMiss
                } catch {
                    return error.kind
                }
            }
            switch way {
            case 0: reader.cancel()
            case 1: scope = nil
            case 2: client.cancelAll()
            case 3: socket?.cancel()
            default: socket = nil
            }
            #expect(await reader.value == .cancelled)
            try await server.waitForOpenConnections(atMost: 0)
            // The server may see the end before the call has left the table.
            while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
            _ = scope
        }
    }

    // MARK: Pressure and silence

    @Test(
        "What nobody reads stays on the wire, and comes when it is asked for",
        arguments: TransportUnderTest.withChannels)
    func backPressure(transport: TransportUnderTest) async throws {
        let sent = Locked(0)
        let count = 2_000
        let flood: @Sendable (LoopbackWebSocket) -> Void = { socket in
            for number in 0..<count {
                guard socket.send(.binary(sampleBytes(seed: UInt64(number), count: 16 << 10))) else { return }
                sent.withLock { $0 += 1 }
            }
            socket.close()
        }
        try await run(transport, flood) { _, client in
            let settings = WebSocketOptions(
                deflate: nil, pingInterval: .milliseconds(20), pongTimeout: .milliseconds(200))
            let socket = client.webSocket("/chat", settings)
            try await socket.open()
            // Until nothing has gone for a while: the system's own buffers take some megabytes.
            var seen = -1
            while seen != sent.withLock({ $0 }) {
                seen = sent.withLock { $0 }
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(seen < count)
            var received = 0
            for try await message in socket.messages {
                #expect(message == .binary(sampleBytes(seed: UInt64(received), count: 16 << 10)))
                received += 1
            }
            #expect(received == count)
        }
    }

    @Test(
        "Who sends waits for a server that does not read, and is told when that takes too long",
        arguments: TransportUnderTest.withChannels)
    func blockedSender(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.wire.waitForHangUp() }) { server, client in
            let socket = client.webSocket(
                "/chat", options: .with { $0.timeouts.idle = .milliseconds(200) }, WebSocketOptions(deflate: nil))
            let error = await #expect(throws: APIError.self) {
                while true { try await socket.send(.binary(Data(count: 1 << 20))) }
            }
            #expect(error?.kind == .timeout(.idle))
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test("A server that answers no ping counts as gone", arguments: TransportUnderTest.withChannels)
    func silence(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.wire.waitForHangUp() }) { server, client in
            let settings = WebSocketOptions(pingInterval: .milliseconds(50), pongTimeout: .milliseconds(50))
            let error = await #expect(throws: APIError.self) {
                for try await _ in client.webSocket("/chat", settings).messages {}
            }
            #expect(error?.kind == .timeout(.idle))
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test("A server that answers pings is asked again and again", arguments: TransportUnderTest.withChannels)
    func pings(transport: TransportUnderTest) async throws {
        let pings = Monitor(0)
        let listen: @Sendable (LoopbackWebSocket) -> Void = { socket in
            while let event = socket.receive() { if case .ping = event { pings.withLock { $0 += 1 } } }
        }
        try await run(transport, listen) { _, client in
            let settings = WebSocketOptions(pingInterval: .milliseconds(10), pongTimeout: .seconds(60))
            let socket = client.webSocket("/chat", settings)
            try await socket.open()
            await pings.waitUnlessCancelled { $0 >= 5 }
            await socket.close()
        }
    }

    // MARK: Again

    @Test(
        "It connects again where that was asked for, and the messages go on", arguments: TransportUnderTest.withChannels
    )
    func reconnection(transport: TransportUnderTest) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            if request.number == 2 { return .init(status: 503) }
            return .webSocket(request) { socket in
                socket.send(.text("\(request.number)"))
                if request.number == 4 { socket.close() }
            }
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let settings = WebSocketOptions(
                reconnection: .init(backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(2))))
            var texts: [String?] = []
            for try await message in client.webSocket("/chat", settings).messages { texts.append(message.text) }
            #expect(texts == ["1", "3", "4"])
            #expect(server.requestCount == 4)
        }
    }

    @Test(
        "A hundred sockets that wait have one thread between them, and each gets its own messages",
        arguments: TransportUnderTest.withChannels)
    func manySockets(transport: TransportUnderTest) async throws {
        try await run(transport, { $0.echo() }) { _, client in
            let sockets = (0..<100).map { _ in client.webSocket("/chat", WebSocketOptions(deflate: nil)) }
            for socket in sockets { try await socket.open() }
            #expect(client.callCount == 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, socket) in sockets.enumerated() {
                    group.addTask {
                        var iterator = socket.messages.makeAsyncIterator()
                        for round in 0..<10 {
                            try await socket.send(.text("\(number) \(round)"))
                            #expect(try await iterator.next() == .text("\(number) \(round)"))
                        }
                        await socket.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// Credentials that are numbered: each renewal gives the next.
private let passes = BearerAuthenticator(
    expiry: .standard, refresh: { old, _ in Credential("\((Int(old.token) ?? 0) + 1)") })
