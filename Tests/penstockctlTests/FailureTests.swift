import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// Every kind of error has an exit status and a name.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
    private func expect(
        _ kind: String, _ status: Int32, stage: String = "transport", answer: Int? = nil, _ arguments: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let tool = try await Tool.start(["fetch", "--json"] + arguments).end()
        #expect(tool.status == status, "\(tool.errors)", sourceLocation: sourceLocation)
        #expect(try tool.keys() == ["error"], sourceLocation: sourceLocation)
        let error = try #require(try tool.report().error, sourceLocation: sourceLocation)
        #expect(error.kind == kind, sourceLocation: sourceLocation)
        #expect(error.stage == stage, sourceLocation: sourceLocation)
        #expect(error.status == answer, sourceLocation: sourceLocation)
        #expect(error.message.hasPrefix(kind), sourceLocation: sourceLocation)
        #expect(tool.errors.contains(kind), sourceLocation: sourceLocation)
    }

    @Test func `A port where nobody listens is unreachable`() async throws {
        let server = try LoopbackServer.echo()
        server.stop()
        try await expect("unreachable", 6, server.address("/"))
    }

    @Test func `A server that does not answer is a timeout`() async throws {
        let server = try LoopbackServer { _ in .hold }
        defer { server.stop() }
        try await expect("timeout", 7, server.address("/"), "--timeout", "0.3")
    }

    @Test func `A handshake that fails is tls`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        try await expect("tls", 8, "https://127.0.0.1:\(server.url.port)/")
        #expect(server.requestCount == 0)
    }

    @Test func `Authorities that cannot be read are tls`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let file = try folder.write(Data("no certificate".utf8), to: "ca.pem")
        try await expect("tls", 8, "https://127.0.0.1:\(server.url.port)/", "--cacert", file)
    }

    @Test func `A connection that closes is transport`() async throws {
        let server = try LoopbackServer { _ in .close }
        defer { server.stop() }
        try await expect("transport", 9, "POST", server.address("/"))
    }

    @Test func `A head beyond the limit is limitExceeded`() async throws {
        let line = String(repeating: "a", count: 8_000)
        let lines = (0..<40).map { HTTPField(name: HTTPFieldName("X-\($0)"), value: line) }
        let server = try LoopbackServer { _ in .init(fields: HTTPFields(lines)) }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/"), "--json")
        #expect(tool.status == 10)
        #expect(try tool.report().error?.kind == "limitExceeded")
    }

    @Test(arguments: ["ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "/loop"])
    func `A redirect that must not be followed is blocked, with the status`(_ location: String) async throws {
        let server = try LoopbackServer { _ in .init(status: 302, fields: ["Location": location]) }
        defer { server.stop() }
        try await expect("blocked", 4, stage: "redirect", answer: 302, server.address("/loop"))
        #expect(server.requestCount == 1)
    }

    @Test func `A field that the transport sets is invalidParameter`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        try await expect("invalidParameter", 2, stage: "prepare", server.address("/"), "-H", "Host: evil")
        #expect(server.connectionCount == 0)
    }

    @Test func `What the transport cannot do is unsupported`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        try await expect("unsupported", 5, "HEAD", server.address("/"), "-d", "a=1")
        #expect(server.connectionCount == 0)
    }

    @Test func `An interrupt cancels the call and closes the wire`() async throws {
        let server = try LoopbackServer { _ in .hold }
        defer { server.stop() }
        let running = try Tool.start(["fetch", server.address("/"), "--json"])
        try await server.waitForRequests(count: 1)
        running.interrupt()
        let tool = await running.end()
        #expect(tool.status == 130)
        #expect(try tool.report().error?.kind == "cancelled")
        try await server.waitForAborts(count: 1)
    }

    @Test func `Without JSON the reason is on standard error and nothing on standard output`() async throws {
        let server = try LoopbackServer { _ in .close }
        defer { server.stop() }
        let tool = try await Tool.fetch("POST", server.address("/"))
        #expect(tool.status == 9)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains("transport"))
    }
}

/// Redirects, as the tool shows them.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/a": .init(status: 302, fields: ["Location": "/b?x=1"])
            case "/b": .init(status: 307, fields: ["Location": "/c"])
            default: .text("\(request.method) \(request.text)")
            }
        }
    }

    @Test func `Redirects are followed and listed`() async throws {
        let server = try server()
        defer { server.stop() }
        let report = try await Tool.fetch(server.address("/a"), "--json").report()
        #expect(report.status == 200)
        #expect(report.url == server.address("/c"))
        let (a, b, c) = (server.address("/a"), server.address("/b?x=1"), server.address("/c"))
        #expect(report.redirects == [.init(status: 302, from: a, to: b), .init(status: 307, from: b, to: c)])
    }

    @Test func `With --no-follow the redirect is the answer`() async throws {
        let server = try server()
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/a"), "--no-follow", "--json")
        #expect(tool.status == 0)
        let report = try tool.report()
        #expect(report.status == 302)
        #expect(report.url == server.address("/a"))
        #expect(report.redirects == [])
        #expect(server.requestCount == 1)
    }

    @Test func `A file and standard input are sent again where a redirect keeps the body`() async throws {
        let server = try server()
        defer { server.stop() }
        let folder = try Folder()
        let file = try await Tool.fetch(server.address("/b"), "-d", "@\(folder.write(Data("x=1".utf8), to: "data"))")
        #expect(file.text == "POST x=1")
        let input = try await Tool.fetch(server.address("/b"), "-d", "@-", input: Data("y=2".utf8))
        #expect(input.text == "POST y=2")
    }
}
