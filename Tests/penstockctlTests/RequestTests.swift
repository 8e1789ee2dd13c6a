import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// What the arguments make of the request.
@Suite(.timeLimit(.minutes(5))) struct RequestTests {
    @Test func `Options may come before and after the URL, and -- ends them`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let tool = try await Tool.fetch("--timeout=10", "-H", "X-A: 1", "--", "PURGE", server.address("/a?b=c"))
        #expect(tool.status == 0)
        #expect(tool.text == "PURGE /a?b=c none\n")
        #expect(server.requests.first?.fields["X-A"] == "1")
        let late = try await Tool.fetch(server.address("/late"), "-H", "X-B: 2")
        #expect(late.text == "GET /late none\n")
        #expect(server.requests.last?.fields["X-B"] == "2")
    }

    @Test func `Headers are sent in order, repeated and empty ones too`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let tool = try await Tool.fetch(
            server.address("/"), "-H", "X-A: 1", "--header=X-A:2", "-H", "X-Empty:", "-H", "User-Agent: mine")
        #expect(tool.status == 0)
        let fields = try #require(server.requests.first?.fields)
        #expect(fields.values(of: "X-A") == ["1", "2"])
        #expect(fields.values(of: .userAgent) == ["mine"])
    }

    @Test func `Data makes a form by POST, which a method and a content type replace`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let form = try await Tool.fetch(server.address("/"), "-d", "a=1&b=2")
        #expect(form.text == "POST / application/x-www-form-urlencoded\na=1&b=2")
        let json = try await Tool.fetch("PUT", server.address("/"), "--data={}", "-H", "content-type: application/json")
        #expect(json.text == "PUT / application/json\n{}")
        #expect(server.requests.last?.fields.values(of: .contentType).count == 1)
    }

    @Test func `Data comes from a file or from standard input, byte for byte`() async throws {
        let server = try LoopbackServer { _ in .init(status: 204) }
        defer { server.stop() }
        let folder = try Folder()
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try await Tool.fetch(server.address("/"), "-d", "@\(folder.write(bytes, to: "data"))")
        #expect(file.status == 0)
        let input = try await Tool.fetch(server.address("/"), "-d", "@-", input: Data([0, 13, 10, 255]))
        #expect(input.status == 0)
        #expect(server.requests.map(\.body) == [bytes, Data([0, 13, 10, 255])])
        #expect(server.requests.allSatisfy { $0.fields.contains(.contentLength) })
    }

    @Test(arguments: ["curl", "urlsession"])
    func `Each transport carries a request`(_ transport: String) async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/x"), "-d", "a=1", "--transport", transport)
        #expect(tool.status == 0)
        #expect(tool.text == "POST /x application/x-www-form-urlencoded\na=1")
    }

    @Test(arguments: ["curl", "urlsession"])
    func `No transport takes a proxy from the environment`(_ transport: String) async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        // Nobody listens at the discard port.
        let proxies = ["http_proxy", "ALL_PROXY"].map { "\($0)=http://127.0.0.1:9" }.joined(separator: " ")
        let tool = try await Tool.shell(
            "exec env no_proxy=elsewhere.example \(proxies) \"$0\" fetch \"$1\" --transport \"$2\"",
            server.address("/x"), transport)
        #expect(tool.status == 0 && tool.text == "GET /x none\n", "\(tool.errors)")
    }

    @Test func `Verbose tells of heads and events on standard error, without secrets`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/a"
                ? .init(status: 302, fields: ["Location": "/b", "Set-Cookie": "id=hunter1"]) : .text("done\u{1B}[2J")
        }
        defer { server.stop() }
        let tool = try await Tool.fetch(
            server.address("/a?token=hunter2"), "-v", "-H", "Authorization: Basic hunter3", "-H", "X-Plain: seen")
        #expect(tool.status == 0)
        #expect(tool.text == "done\u{1B}[2J")
        for part in ["> GET", "X-Plain: seen", "< http/1.1 302", "< http/1.1 200", "redirected", "call ends"] {
            #expect(tool.errors.contains(part), "\(part) is not in \(tool.errors)")
        }
        #expect(!tool.errors.contains("hunter"))
    }
}
