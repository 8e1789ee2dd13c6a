import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LoopbackServerTests {
    private func makeServer(
        _ handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in .text("hello") }
    ) throws -> (LoopbackServer, RawClient) {
        let server = try LoopbackServer(handler: handler)
        return (server, try RawClient(port: server.url.port))
    }

    @Test func `A request is recorded as it came and answered with its length`() throws {
        let (server, client) = try makeServer { .text("got \($0.text)") }
        defer { server.stop() }
        client.send("PATCH /a%20b?x=1&x=2 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 3\r\n\r\nabc")
        let head = client.read(through: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(head.contains("Content-Length: 7\r\n"))
        #expect(client.read(through: "got abc") == "got abc")
        let request = try #require(server.requests.first)
        #expect(request.method == .patch)
        #expect(request.target == "/a%20b?x=1&x=2")
        #expect(request.path == "/a%20b" && request.query == "x=1&x=2")
        #expect(request.fields.values(of: "X-A") == ["1", "2"])
        #expect(request.text == "abc" && request.connection == 1)
    }

    @Test func `Requests that come in one packet are answered one after the other`() throws {
        let (server, client) = try makeServer { .text($0.path) }
        defer { server.stop() }
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n")
        let replies = client.readToEnd()
        #expect(replies.contains("\r\n\r\n/1HTTP/1.1 200 OK\r\n") && replies.hasSuffix("\r\n\r\n/2"))
        #expect(server.connectionCount == 1 && server.requestCount == 2)
    }

    @Test(arguments: ["close", "Close, X-Secret", "x-a ,close", "x-a\r\nConnection: close"])
    func `A connection that is to be closed is closed, whatever else Connection names`(options: String) throws {
        let (server, client) = try makeServer()
        defer { server.stop() }
        client.send("GET / HTTP/1.1\r\nConnection: \(options)\r\n\r\n")
        let reply = client.readToEnd()
        #expect(reply.contains("Connection: close\r\n") && reply.hasSuffix("hello"))
    }

    @Test func `Chunked content is joined, and what it follows is read after it`() throws {
        let (server, client) = try makeServer { .text($0.text) }
        defer { server.stop() }
        client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n")
        #expect(client.read(through: "abcde").hasSuffix("\r\n\r\nabcde"))
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.read(through: "\r\n\r\n").contains("Content-Length: 0\r\n"))
    }

    @Test func `A client that expects 100 gets it before it sends the content`() throws {
        let (server, client) = try makeServer { .text($0.text) }
        defer { server.stop() }
        client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ok")
        #expect(client.read(through: "\r\n\r\nok").hasPrefix("HTTP/1.1 200"))
    }

    @Test func `A reply to HEAD has the length of the content and no content`() throws {
        let (server, client) = try makeServer()
        defer { server.stop() }
        client.send("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let reply = client.readToEnd()
        #expect(reply.contains("Content-Length: 5\r\n") && reply.hasSuffix("\r\n\r\n"))
    }

    @Test func `204 and 304 have no content`() throws {
        let (server, client) = try makeServer { .text("never", status: Int($0.path.dropFirst()) ?? 500) }
        defer { server.stop() }
        client.send("GET /204 HTTP/1.1\r\n\r\n")
        #expect(!client.read(through: "\r\n\r\n").contains("Content-Length"))
        client.send("GET /304 HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(client.readToEnd().hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: h\n\n", 400), ("GET / HTTP/2.0\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nA b: c\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA: \u{1}\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nabcde", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    ])
    func `A malformed or oversized request is refused and the connection closed`(request: String, status: Int) throws {
        let (server, client) = try makeServer()
        defer { server.stop() }
        client.send(request)
        let reply = client.readToEnd()
        #expect(reply.hasPrefix("HTTP/1.1 \(status) "))
        #expect(reply.contains("Connection: close\r\n"))
        #expect(server.requestCount == 0 && server.refusalCount == 1)
    }

    @Test(arguments: [
        ("GET /\(String(repeating: "a", count: 99))", 414),
        ("GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 99))", 431),
    ])
    func `A head beyond the limit is refused`(head: String, status: Int) throws {
        var configuration = LoopbackServer.Configuration()
        configuration.maximumHeadBytes = 64
        let server = try LoopbackServer(configuration) { _ in .init() }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        client.send(head)
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test func `A held request counts as aborted as soon as the client goes`() async throws {
        let (server, client) = try makeServer { _ in .hold }
        defer { server.stop() }
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await server.waitForRequests(count: 1)
        #expect(server.abortCount == 0 && server.openConnectionCount == 1)
        client.close()
        try await server.waitForAborts(count: 1)
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `A client that goes in the middle of its request, or of a delay, has aborted`() async throws {
        let (server, client) = try makeServer { _ in .text("late").delayed(by: .seconds(60)) }
        defer { server.stop() }
        client.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        client.close()
        try await server.waitForAborts(count: 1)
        let second = try RawClient(port: server.url.port)
        second.send("GET / HTTP/1.1\r\n\r\n")
        try await server.waitForRequests(count: 1)
        second.close()
        try await server.waitForAborts(count: 2)
    }

    @Test func `A client that goes between two requests has aborted nothing`() async throws {
        let (server, client) = try makeServer()
        defer { server.stop() }
        client.send("GET / HTTP/1.1\r\n\r\n")
        _ = client.read(through: "hello")
        client.close()
        try await server.waitForOpenConnections(atMost: 0)
        #expect(server.abortCount == 0)
    }

    @Test func `A wait that is not met fails after its limit`() async throws {
        let (server, _) = try makeServer()
        defer { server.stop() }
        await #expect(throws: LoopbackServer.WaitTimeout.self) {
            try await server.waitForRequests(count: 1, limit: .milliseconds(10))
        }
    }

    @Test func `stop ends held connections, counts them as no abort, and closes the port`() async throws {
        let (server, client) = try makeServer { _ in .hold }
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await server.waitForRequests(count: 1)
        server.stop()
        #expect(client.readToEnd().isEmpty)
        #expect(server.openConnectionCount == 0 && server.abortCount == 0)
        #expect(throws: POSIXError.self) { try RawClient(port: server.url.port) }
        server.stop()
    }

    @Test func `A server that nobody refers to stops`() async throws {
        var server: LoopbackServer? = try LoopbackServer { _ in .hold }
        let port = try #require(server?.url.port)
        let client = try RawClient(port: port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await server?.waitForRequests(count: 1)
        server = nil
        #expect(client.readToEnd().isEmpty)
    }

    @Test func `Five hundred connections are served at a time`() async throws {
        let (server, first) = try makeServer { _ in .text("late").delayed(by: .milliseconds(50)) }
        defer { server.stop() }
        first.close()
        let clients = try (0..<500).map { _ in try RawClient(port: server.url.port) }
        for client in clients { client.send("GET / HTTP/1.1\r\n\r\n") }
        for client in clients { #expect(client.read(through: "late").hasSuffix("late")) }
        #expect(server.requestCount == 500 && server.connectionCount == 501)
    }
}
