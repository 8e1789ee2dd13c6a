import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What comes slowly, in parts, or before the reply.
@Suite(.timeLimit(.minutes(5)))
struct PacingTests {
    private func reply(
        _ response: LoopbackServer.Response, configuration: LoopbackServer.Configuration = .init()
    ) throws -> (text: String, took: Duration) {
        let server = try LoopbackServer(configuration) { _ in response.ending(.close) }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        let start = ContinuousClock.now
        client.send("GET / HTTP/1.1\r\n\r\n")
        return (client.readToEnd(), ContinuousClock.now - start)
    }

    @Test func `Interim responses go before the final one, with their fields`() throws {
        let interim: [LoopbackServer.Interim] = [.init(102), .init(103, fields: ["Link": "</a.css>"])]
        let text = try reply(.text("x").preceded(by: interim)).text
        let start = "HTTP/1.1 102 Status\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n"
        #expect(text.hasPrefix(start))
    }

    @Test func `Trailers come after the last chunk`() throws {
        let text = try reply(.text("abc").trailers(["Digest": "x"])).text
        #expect(text.contains("Transfer-Encoding: chunked\r\n") && !text.contains("Content-Length"))
        #expect(text.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\nDigest: x\r\n\r\n"))
    }

    @Test(arguments: [LoopbackServer.Response.Part.head, .content, .trailers])
    func `A delay goes before each part, and not before the one before it`(part: LoopbackServer.Response.Part) throws {
        let pause = Duration.milliseconds(60)
        let server = try LoopbackServer { _ in .text("abc").trailers(["T": "1"]).delayed(by: pause, before: part) }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        let start = ContinuousClock.now
        client.send("GET / HTTP/1.1\r\n\r\n")
        let before = ["\r\n\r\n", "3\r\nabc\r\n"].prefix(part == .head ? 0 : part == .content ? 1 : 2)
        for mark in before { #expect(client.read(through: mark).hasSuffix(mark)) }
        let first = ContinuousClock.now - start
        #expect(client.read(through: "T: 1\r\n\r\n").hasSuffix("T: 1\r\n\r\n"))
        #expect(ContinuousClock.now - start >= pause)
        // The part before came on its own: the rest was waited for.
        if part != .head { #expect(ContinuousClock.now - start > first) }
    }

    @Test func `Throttled content takes its time`() throws {
        let (text, took) = try reply(.text("0123456789").throttled(to: 2, per: .milliseconds(10)))
        #expect(text.hasSuffix("\r\n\r\n0123456789"))
        #expect(took >= .milliseconds(40))
    }

    @Test func `A throttled connection is written to and read slowly`() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.sending = .init(bytes: 20, per: .milliseconds(5))
        #expect(try reply(.text("x"), configuration: configuration).took >= .milliseconds(15))
        configuration.sending = nil
        configuration.receiving = .init(bytes: 4, per: .milliseconds(10))
        #expect(try reply(.text("x"), configuration: configuration).took >= .milliseconds(40))
    }

    @Test func `A throttled upload holds the client back`() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.receiving = .init(bytes: 1_024, per: .milliseconds(1))
        let server = try LoopbackServer(configuration) { .text("\($0.body.count)") }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        client.send("PUT / HTTP/1.1\r\nContent-Length: 20000\r\n\r\n\(String(repeating: "a", count: 20_000))")
        #expect(client.read(through: "20000").hasSuffix("\r\n\r\n20000"))
    }

    @Test func `What a connection carried is counted`() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        let reply = client.read(through: "hello")
        client.close()
        try await server.waitForOpenConnections(atMost: 0)
        let record = try #require(server.connections.first)
        #expect(record.number == 1 && record.requests == 1 && !record.isOpen && record.closedByClient)
        #expect(record.bytesReceived == 18 && record.bytesSent == reply.utf8.count)
        #expect(record.bytesReceivedAfterFault == nil && record.handshake == nil)
    }

    @Test(arguments: [
        (LoopbackServer.ConnectionFault.Effect.close, ""), (.reset, ""),
        (.send(Data("SSH-2.0-x\r\n".utf8)), "SSH-2.0-x\r\n"),
    ])
    func `A connection can go wrong before its first request`(
        effect: LoopbackServer.ConnectionFault.Effect, text: String
    ) throws {
        for trigger in [LoopbackServer.ConnectionFault.Trigger.accept, .firstBytes] {
            let server = try LoopbackServer(onConnect: { $0 == 1 ? .init(effect, at: trigger) : nil }) { _ in
                .text("ok").ending(.close)
            }
            defer { server.stop() }
            let client = try RawClient(port: server.url.port)
            if trigger == .firstBytes { client.send("GET / HTTP/1.1\r\n\r\n") }
            #expect(client.readToEnd() == text)
            #expect(client.wasReset == (effect == .reset))
            let second = try RawClient(port: server.url.port)
            second.send("GET / HTTP/1.1\r\n\r\n")
            #expect(second.readToEnd().hasSuffix("ok"))
            #expect(server.connections.map(\.connectionFault) == [.init(effect, at: trigger), nil])
        }
    }
}
