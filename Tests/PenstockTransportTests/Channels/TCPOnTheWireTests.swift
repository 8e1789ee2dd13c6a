import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// An app's own protocols on real sockets.
@Suite(.covers("S3.40"), .timeLimit(.minutes(5)))
struct TCPOnTheWireTests {
    /// `id text` in a line; those that begin with `!` have no id.
    private typealias Lines = ReplyChannel<LineCodec, String>

    private func run(
        _ transport: TransportUnderTest, tls: LoopbackServer.TLS? = nil, trust: TrustPolicy = .system,
        _ serve: @escaping @Sendable (LoopbackWire, Int) -> Void,
        _ body: (LoopbackServer, APIClient) async throws -> Void
    ) async throws {
        let server = try LoopbackServer.serving(.init(tls: tls), serve)
        try await Shop.run(transport, on: server, configured: { $0.options.trust = trust }, body)
    }

    private func line(
        _ client: APIClient, _ server: LoopbackServer, _ settings: TCPOptions<String> = .init(), isSecure: Bool = false,
        in scope: CallScope? = nil
    ) -> TCPChannel<LineCodec> {
        client.tcp("127.0.0.1", port: server.url.port, codec: LineCodec(), isSecure: isSecure, settings, in: scope)
    }

    private static func lines(_ wire: LoopbackWire, _ body: (String) -> Bool) {
        var (codec, input) = (LineCodec(), FrameInput())
        while let bytes = wire.receive() {
            input.append(bytes)
            while let line = try? codec.decode(&input) { if !body(line) { return } }
        }
    }

    @Test(
        "Frames survive single bytes and packets that are merged, in their order",
        arguments: TransportUnderTest.withChannels,
        [1, 100_000])
    func splits(transport: TransportUnderTest, step: Int) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { line in
                var rest = Data("\(line) once\n\(line) twice\n".utf8)
                while !rest.isEmpty {
                    guard wire.send(rest.prefix(step)) else { return false }
                    rest = rest.dropFirst(step)
                }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let channel = line(client, server)
            for number in 0..<50 { try await channel.send("\(number)") }
            var iterator = channel.messages.makeAsyncIterator()
            for number in 0..<50 {
                #expect(try await iterator.next() == "\(number) once")
                #expect(try await iterator.next() == "\(number) twice")
            }
            await channel.close()
            #expect(try await iterator.next() == nil)
            #expect(client.callCount == 0)
        }
    }

    @Test(
        "Answers that come at once, then late, then at once again all arrive, and closing ends who waits for one more",
        arguments: TransportUnderTest.withChannels, [false, true])
    func quickAndLate(transport: TransportUnderTest, isSecure: Bool) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { line in
                if line.hasSuffix("00") { usleep(3_000) }
                return wire.send(Data("\(line) back\n".utf8))
            }
        }
        let authority = try TestCertificateAuthority()
        let tls = try isSecure ? LoopbackServer.TLS(authority.issue()) : nil
        try await run(transport, tls: tls, trust: .authorities(authority.file), serve) { server, client in
            let channel = line(client, server, isSecure: isSecure)
            var iterator = channel.messages.makeAsyncIterator()
            for number in 0..<350 {
                try await channel.send("\(number)")
                #expect(try await iterator.next() == "\(number) back")
            }
            async let last = channel.messages.first { _ in true }
            await channel.close()
            #expect(try await last == nil)
            #expect(client.callCount == 0)
        }
    }

    @Test(
        "What was sent before the closing arrives, whatever the other end has sent that nobody has read",
        arguments: TransportUnderTest.withChannels, [false, true])
    func closingBehindUnread(transport: TransportUnderTest, isSecure: Bool) async throws {
        let seen = Locked(0)
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            wire.send(Data(String(repeating: "unread\n", count: 40_000).utf8))
            usleep(300_000)
            Self.lines(wire) { _ in
                seen.withLock { $0 += 1 }
                return true
            }
        }
        let authority = try TestCertificateAuthority()
        let tls = try isSecure ? LoopbackServer.TLS(authority.issue()) : nil
        try await run(transport, tls: tls, trust: .authorities(authority.file), serve) { server, client in
            let channel = line(client, server, TCPOptions(bufferedBytes: 1), isSecure: isSecure)
            var iterator = channel.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "unread")
            let order = String(repeating: "x", count: 4_000)
            for _ in 0..<200 { try await channel.send(order) }
            await channel.close()
            try await server.waitForOpenConnections(atMost: 0)
            #expect(seen.withLock { $0 } == 200)
        }
    }

    // MARK: Peers that say nothing

    /// Channels that connect to a server that says nothing to their handshake.
    private func stalled(
        _ count: Int, _ client: APIClient, _ server: LoopbackServer, connect: Duration
    ) -> [Task<APIError.Kind?, Never>] {
        (0..<count).map { _ in
            let channel = client.tcp(
                "127.0.0.1", port: server.url.port, codec: LineCodec(),
                options: .with { $0.timeouts.connect = connect })
            return Task {
                do throws(APIError) { try await channel.open() } catch { return error.kind }
                return nil
            }
        }
    }

    @Test(
        "Peers of one host that say nothing hold up nobody who goes elsewhere",
        arguments: TransportUnderTest.withChannels)
    func stalledElsewhere(transport: TransportUnderTest) async throws {
        let silent = try LoopbackServer.serving { wire, _ in wire.waitForHangUp() }
        defer { silent.stop() }
        let echo: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { wire.send(Data("\($0)\n".utf8)) }
        }
        try await run(transport, echo) { server, client in
            let openings = stalled(60, client, silent, connect: .seconds(120))
            try await silent.waitForConnections(count: 8)
            let channel = line(client, server)
            try await channel.send("hello")
            #expect(try await channel.messages.first { _ in true } == "hello")
            #expect(client.callCount == 61)
            await channel.close()
            client.cancelAll()
            for opening in openings { #expect(await opening.value == .cancelled) }
        }
    }

    @Test(
        "Each connection has its own time to connect, however long it waits for its turn",
        arguments: TransportUnderTest.withChannels)
    func stalledInLine(transport: TransportUnderTest) async throws {
        try await run(transport, { wire, _ in wire.waitForHangUp() }) { server, client in
            for opening in stalled(20, client, server, connect: .milliseconds(300)) {
                #expect(await opening.value == .timeout(.connect))
            }
            #expect(server.connectionCount == 20)
        }
    }

    @Test("Replies come to their requests by their ids, in whatever order", arguments: TransportUnderTest.withChannels)
    func replies(transport: TransportUnderTest) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            var waiting: [String] = []
            Self.lines(wire) { line in
                waiting.append(line)
                guard waiting.count == 20 else { return true }
                wire.send(Data("!push\n".utf8))
                for line in waiting.reversed() { wire.send(Data("\(line) back\n".utf8)) }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let calls = Lines(line(client, server)) { $0.hasPrefix("!") ? nil : $0.prefix { $0 != " " }.description }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let reply = try await calls.request("\(number) hello")
                        #expect(reply == "\(number) hello back")
                    }
                }
                try await group.waitForAll()
            }
            var iterator = calls.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "!push")
            let none = await #expect(throws: APIError.self) { try await calls.request("!x") }
            guard case .invalidParameter = none?.kind else { return #expect(Bool(false)) }
            await calls.close()
        }
    }

    @Test(
        "A reply that does not come in time fails its request alone, and is no message when it comes late",
        arguments: TransportUnderTest.withChannels)
    func lateReply(transport: TransportUnderTest) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { line in
                if line == "go" { wire.send(Data("slow late\n!end\n".utf8)) }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let calls = Lines(line(client, server), timeout: .milliseconds(50)) {
                $0.hasPrefix("!") ? nil : $0.prefix { $0 != " " }.description
            }
            let error = await #expect(throws: APIError.self) { try await calls.request("slow") }
            #expect(error?.kind == .timeout(.firstByte))
            try await calls.send("go")
            var iterator = calls.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "!end")
            await calls.close()
        }
    }

    @Test(
        "A lost connection fails what waits, is made again, and has its subscriptions before anything else",
        arguments: TransportUnderTest.withChannels)
    func reconnection(transport: TransportUnderTest) async throws {
        let seen = Locked<[[String]]>([[], []])
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, number in
            Self.lines(wire) { line in
                seen.withLock { $0[min(number, 2) - 1].append(line) }
                if line == "die" { return false }
                if line.hasPrefix("!") { wire.send(Data("!news \(number)\n".utf8)) }
                if line.hasPrefix("ask") { wire.send(Data("ask \(number)\n".utf8)) }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let again = TCPOptions<String>(
                reconnection: .init(backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(1))))
            let calls = Lines(line(client, server, again)) {
                $0.hasPrefix("!") ? nil : $0.prefix { $0 != " " }.description
            }
            try await calls.subscribe("!watch")
            var iterator = calls.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "!news 1")
            let error = await #expect(throws: APIError.self) { try await calls.request("die") }
            #expect(error?.kind == .transport(.connectionLost))
            #expect(try await iterator.next() == "!news 2")
            #expect(try await calls.request("ask me") == "ask 2")
            #expect(seen.withLock { $0 } == [["!watch", "die"], ["!watch", "ask me"]])
            #expect(server.connectionCount == 2)
            await calls.close()
        }
    }

    @Test(
        "A heartbeat goes after a silence, its answer is no message, and a dead peer is found out",
        arguments: TransportUnderTest.withChannels, [true, false])
    func heartbeat(transport: TransportUnderTest, answers: Bool) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            var beats = 0
            Self.lines(wire) { line in
                beats += line == "beat" ? 1 : 0
                if answers { wire.send(Data((beats == 3 ? "beat\nalive\n" : "beat\n").utf8)) }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let beat = Heartbeat("beat", every: .milliseconds(20), patience: .milliseconds(answers ? 60_000 : 50)) {
                $0 == "beat"
            }
            let channel = line(client, server, TCPOptions(heartbeat: beat))
            var iterator = channel.messages.makeAsyncIterator()
            if answers {
                let line = try await iterator.next()
                #expect(line == "alive")
                await channel.close()
            } else {
                let error = await #expect(throws: APIError.self) { try await iterator.next() }
                #expect(error?.kind == .timeout(.idle))
            }
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test(
        "An end between two frames is the end, and one within a frame is a loss",
        arguments: TransportUnderTest.withChannels, [true, false])
    func ends(transport: TransportUnderTest, isWhole: Bool) async throws {
        try await run(transport, { wire, _ in wire.send(Data((isWhole ? "one\n" : "one\ntw").utf8)) }) {
            server, client in
            let channel = line(client, server)
            var iterator = channel.messages.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == "one")
            if isWhole {
                let last = try await iterator.next()
                #expect(last == nil)
            } else {
                let error = await #expect(throws: APIError.self) { try await iterator.next() }
                #expect(error?.kind == .transport(.connectionLost))
                #expect((error?.underlying as? FrameError)?.kind == .truncated)
            }
        }
    }

    @Test(
        "Over TLS the frames end where TLS says so; a socket that just ends is a loss behind what came",
        .covers("H5"), arguments: TransportUnderTest.withChannels, [true, false])
    func endsOfTLS(transport: TransportUnderTest, isAnnounced: Bool) async throws {
        let authority = try TestCertificateAuthority()
        // A server of HTTP says goodbye or not, as it is told.
        let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in
            .raw(Data("one\ntwo\n".utf8), ending: isAnnounced ? .close : .drop)
        }
        try await Shop.run(transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }) {
            server, client in
            let channel = client.tcp(
                "127.0.0.1", port: server.url.port, codec: LineCodec(endsWithCRLF: true), isSecure: true)
            for line in ["GET / HTTP/1.1", "Host: a", ""] { try await channel.send(line) }
            var seen: [String] = []
            var thrown: APIError?
            do throws(APIError) {
                for try await line in channel.messages { seen.append(line) }
            } catch {
                thrown = error
            }
            #expect(seen == ["one", "two"])
            #expect(thrown?.kind == (isAnnounced ? nil : .transport(.connectionLost)))
            #expect(client.callCount == 0)
        }
    }

    @Test("Frames before one that the codec refuses are answered first", arguments: TransportUnderTest.withChannels)
    func answersBeforeBroken(transport: TransportUnderTest) async throws {
        let answers = Locked<[String]>([])
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            wire.send(Data("one\ntwo\n".utf8) + Data([0xFF, 0x0A]))
            Self.lines(wire) { line in
                answers.withLock { $0.append(line) }
                return true
            }
        }
        try await run(transport, serve) { server, client in
            let channel = line(client, server)
            let error = await #expect(throws: APIError.self) {
                for try await text in channel.messages { try await channel.send(text) }
            }
            #expect(error?.kind == .transport(.protocolViolation))
            try await server.waitForOpenConnections(atMost: 0)
            #expect(answers.withLock { $0 } == ["one", "two"])
        }
    }

    @Test(
        "A time-out of as long as there is, and limits of as much, are none", arguments: TransportUnderTest.withChannels
    )
    func unlimited(transport: TransportUnderTest) async throws {
        let echo: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { wire.send(Data("\($0)\n".utf8)) }
        }
        try await run(transport, echo) { server, client in
            let endless = Duration.seconds(Int64.max)
            let settings = TCPOptions<String>(
                heartbeat: Heartbeat("beat", every: endless, patience: endless), bufferedBytes: .max)
            let channel = client.tcp(
                "127.0.0.1", port: server.url.port, codec: LineCodec(maxLineBytes: .max), isSecure: false,
                options: .with { $0.timeouts = Timeouts(connect: endless, firstByte: endless, idle: endless) }, settings
            )
            try await channel.send("hello")
            var iterator = channel.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "hello")
            await channel.close()
        }
    }

    @Test("Bytes that the codec refuses close the wire", arguments: TransportUnderTest.withChannels)
    func broken(transport: TransportUnderTest) async throws {
        let serve: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            wire.send(Data([0xFF, 0xFE, 0x0A]))
            wire.waitForHangUp()
        }
        try await run(transport, serve) { server, client in
            let error = await #expect(throws: APIError.self) { for try await _ in line(client, server).messages {} }
            #expect(error?.kind == .transport(.protocolViolation))
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Test(
        "TLS is spoken by default and under the client's trust policy; plain TCP must be allowed",
        arguments: TransportUnderTest.withChannels)
    func secure(transport: TransportUnderTest) async throws {
        let authority = try TestCertificateAuthority()
        let echo: @Sendable (LoopbackWire, Int) -> Void = { wire, _ in
            Self.lines(wire) { wire.send(Data("\($0)\n".utf8)) }
        }
        try await run(transport, tls: .init(try authority.issue()), trust: .authorities(authority.file), echo) {
            server, client in
            let channel = line(client, server, isSecure: true)
            try await channel.send("hello")
            var iterator = channel.messages.makeAsyncIterator()
            #expect(try await iterator.next() == "hello")
            let stranger = client.with { $0.options.trust = .system }
            let error = await #expect(throws: APIError.self) {
                try await self.line(stranger, server, isSecure: true).open()
            }
            #expect(error?.kind == .tls(.untrusted))
            let careful = client.with { $0.options.cleartext = .refused }
            let refused = await #expect(throws: APIError.self) { try await self.line(careful, server).open() }
            guard case .blocked(let reason) = refused?.kind else { return #expect(Bool(false)) }
            #expect(reason.hasPrefix("a channel without encryption to 127.0.0.1 is not allowed; "))
        }
    }

    @Test(
        "A host or a port that is none is refused before anything is sent", arguments: TransportUnderTest.withChannels)
    func badTargets(transport: TransportUnderTest) async throws {
        try await run(transport, { _, _ in }) { server, client in
            for (host, port) in [
                ("a b", 1), ("a/b", 1), ("a@b", 1), ("127.0.0.1", 0), ("127.0.0.1", 65_536), ("", 1), ("a?b", 1),
            ] {
                let channel = client.tcp(host, port: port, codec: LineCodec(), isSecure: false)
                let error = await #expect(throws: APIError.self) { try await channel.open() }
                guard case .invalidParameter = error?.kind else { return #expect(Bool(false), "\(host) \(port)") }
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test("Nobody there, and nobody who answers: the error says which", arguments: TransportUnderTest.withChannels)
    func unreachable(transport: TransportUnderTest) async throws {
        try await run(transport, { wire, _ in wire.waitForHangUp() }) { server, client in
            let gone = try LoopbackServer { _ in .close }
            let port = gone.url.port
            gone.stop()
            let error = await #expect(throws: APIError.self) {
                try await client.tcp("127.0.0.1", port: port, codec: LineCodec(), isSecure: false).open()
            }
            #expect(error?.kind == .unreachable(.connectionRefused))
            // A server that says nothing to a handshake.
            let silent = client.tcp(
                "127.0.0.1", port: server.url.port, codec: LineCodec(),
                options: .with { $0.timeouts.connect = .milliseconds(200) })
            let late = await #expect(throws: APIError.self) { try await silent.open() }
            #expect(late?.kind == .timeout(.connect))
            let unwanted = client.tcp("127.0.0.1", port: server.url.port, codec: LineCodec())
            let opening = Task { () -> APIError.Kind? in
                do throws(APIError) { try await unwanted.open() } catch { return error.kind }
                return nil
            }
            try await server.waitForConnections(count: 2)
            unwanted.cancel()
            #expect(await opening.value == .cancelled)
            try await server.waitForOpenConnections(atMost: 0)
        }
    }
}
