import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What the server does wrong when it is told to.
@Suite(.timeLimit(.minutes(5)))
struct LoopbackFaultTests {
    private func reply(_ response: LoopbackServer.Response) throws -> String {
        let server = try LoopbackServer { _ in response }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        return client.readToEnd()
    }

    @Test func `A short reply claims more than it sends`() throws {
        let text = try reply(.short(Data("abc".utf8), declared: 10))
        #expect(text.contains("Content-Length: 10\r\n") && text.hasSuffix("\r\n\r\nabc"))
    }

    @Test func `Raw bytes come as they are`() throws {
        #expect(try reply(.raw(Data("HTTP/1.1 what\n\n".utf8))) == "HTTP/1.1 what\n\n")
    }

    @Test(arguments: [LoopbackServer.Response.close, .reset])
    func `A connection closes or breaks without a reply`(response: LoopbackServer.Response) throws {
        #expect(try reply(response).isEmpty)
    }

    @Test func `A reply that closes says so, one that drops does not`() throws {
        #expect(try reply(.text("x").ending(.close)).contains("Connection: close\r\n"))
        #expect(try !reply(.text("x").ending(.drop)).contains("Connection"))
    }

    @Test func `Chunks are framed one by one, an empty one left out`() throws {
        let pieces = ["ab", "", "c"].map { Data($0.utf8) }
        let text = try reply(.chunks(pieces, pause: .milliseconds(5)).ending(.close))
        #expect(text.contains("Transfer-Encoding: chunked\r\n"))
        #expect(text.hasSuffix("\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"))
    }

    @Test func `A delay goes before the reply`() throws {
        let start = ContinuousClock.now
        #expect(try reply(.text("x").delayed(by: .milliseconds(80)).ending(.close)).hasSuffix("x"))
        #expect(ContinuousClock.now - start >= .milliseconds(80))
    }

    @Test func `Fields come in order with duplicates, and framing fields replace the server's own`() throws {
        var response = LoopbackServer.Response(body: Data("abc".utf8)).ending(.close)
        response.fields.append("a", for: .setCookie)
        response.fields.append("b", for: .setCookie)
        response.fields.append("3", for: .contentLength)
        response.fields.append("4", for: .contentLength)
        let text = try reply(response)
        #expect(text.contains("Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 3\r\nContent-Length: 4\r\nConnection"))
    }
}
