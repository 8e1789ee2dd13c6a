import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// The cache of the tool: of `fetch`, as `cache` shows it, and as `drive` uses it.
@Suite(.timeLimit(.minutes(5))) struct CacheToolTests {
    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            .init(
                status: 200, fields: ["Cache-Control": "max-age=600", "Set-Cookie": "secret=1"],
                body: request.body + Data("tea".utf8))
        }
    }

    @Test func `What fetch stored is the answer of the next one, and cacheOnly needs no server`() async throws {
        let server = try server()
        let folder = try Folder()
        let (url, file) = (server.address("/tea"), folder.path("http.sqlite"))
        let miss = try await Tool.fetch(url, "--cache", file, "--policy", "cacheOnly")
        #expect(miss.status == 16)
        #expect(try await Tool.fetch(url, "--cache", file).text == "tea")
        #expect(try await Tool.fetch(url, "--cache", file).text == "tea")
        #expect(server.requestCount == 1)
        server.stop()
        #expect(try await Tool.fetch(url, "--cache", file, "--policy=cacheOnly").text == "tea")
    }

    @Test func `Without --cache nothing is stored, and a policy without one, or that does not exist, is wrong usage`()
        async throws
    {
        let server = try server()
        defer { server.stop() }
        _ = try await Tool.fetch(server.address("/tea"))
        _ = try await Tool.fetch(server.address("/tea"))
        #expect(server.requestCount == 2)
        #expect(try await Tool.fetch(server.address("/tea"), "--policy", "often").status == 64)
        #expect(try await Tool.fetch(server.address("/tea"), "--policy", "reload").status == 64)
    }

    @Test func `cache lists, shows, counts and clears, and shows no secret`() async throws {
        let server = try server()
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("http.sqlite")
        for page in 1...3 { _ = try await Tool.fetch(server.address("/tea?page=\(page)"), "--cache", file) }
        let list = try await Tool.run("cache", "ls", "--cache", file)
        #expect(list.status == 0)
        #expect(list.text.split(separator: "\n").count == 3)
        #expect(list.text.contains("GET 200 3 bytes"))
        let shown = try await Tool.run("cache", "show", server.address("/tea?page=2"), "--cache", file)
        #expect(shown.text.contains("max-age=600"))
        #expect(!shown.text.contains("secret"))
        #expect(try await Tool.run("cache", "stats", "--cache", file).text.hasPrefix("responses  3\n"))
        #expect(
            try await Tool.run("cache", "clear", "--url", server.address("/tea?page=2"), "--cache", file).status == 0)
        #expect(try await Tool.run("cache", "show", server.address("/tea?page=2"), "--cache", file).status == 63)
        #expect(try await Tool.run("cache", "stats", "--cache", file).text.hasPrefix("responses  2\n"))
        #expect(try await Tool.run("cache", "clear", "--all", "--cache", file).status == 0)
        #expect(try await Tool.run("cache", "ls", "--cache", file).text.isEmpty)
    }

    @Test(arguments: [
        ["ls"], ["clear", "--cache", "/dev/null"], ["show", "--cache", "/dev/null"], ["ls", "--cache", "/none"],
    ])
    func `cache refuses what it cannot do`(words: [String]) async throws {
        #expect(try await Tool.start(["cache"] + words).end().status == 64)
    }

    @Test(.covers("H29"), arguments: ["a text, and no cache\n", "SQLite format 3"])
    func `A file that is no cache is refused with a status, and stays as it is`(text: String) async throws {
        let server = try server()
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("notes.txt")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        for words in [
            ["fetch", server.address("/tea"), "--cache", file], ["drive", "--cache", file],
            ["cache", "ls", "--cache", file],
            ["cache", "clear", "--all", "--cache", file],
        ] {
            let tool = try await Tool.start(words).end()
            #expect(tool.status == 64, "\(words)")
            #expect(tool.errors.contains("notes.txt is no file of stored responses, and was left as it is"))
        }
        #expect(server.requestCount == 0, "the answer could not have been stored")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["notes.txt"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(text.utf8))
    }

    @Test func `A cache that nobody may read is told of by cache, and is a miss for fetch`() async throws {
        let server = try server()
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("missing/http.sqlite")
        try Data().write(to: URL(fileURLWithPath: folder.path("missing")))
        #expect(try await Tool.fetch(server.address("/tea"), "--cache", file).text == "tea")
        let tool = try await Tool.run("cache", "ls", "--cache", file)
        #expect(tool.status == 64)
    }

    @Test func `drive ends, and not well, when nobody reads what it says`() async throws {
        // Its input stays open until it has ended.
        let line = #"mkfifo "$1" && { exec 3<>"$1"; "$0" drive <&3 >&-; }"#
        let folder = try Folder()
        let tool = try await Tool.shell(line, folder.path("input"))
        #expect(tool.status == 20 && tool.errors.contains("standard output"))
    }

    @Test func `drive answers each line of input, and keeps what it got for its next run`() async throws {
        let server = try server()
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("http.sqlite")
        func drive(_ id: Int) async throws -> [String] {
            let line = #"{"id":\#(id),"method":"GET","url":"\#(server.address("/tea"))","headers":[["X-A","1"]]}"#
            let tool = try await Tool.run("drive", "--cache", file, input: Data("\(line)\nnonsense\n".utf8))
            #expect(tool.status == 0)
            #expect(tool.errors.contains("no request"))
            return tool.text.split(separator: "\n").map(String.init)
        }
        let first = try await drive(1)
        #expect(first.first?.contains(#""protocol":1"#) == true)
        #expect(first.last?.contains(#""id":1"#) == true)
        #expect(first.last?.contains(#""body":"tea""#) == true)
        let second = try await drive(2)
        #expect(second.last?.contains("Penstock; hit") == true)
        #expect(server.requestCount == 1)
        #expect(server.requests.first?.fields["X-A"] == "1")
    }

    @Test func `drive sends each request once, also where the server is busy again and again`() async throws {
        let server = try LoopbackServer { _ in .init(status: 503, body: Data("busy".utf8)) }
        defer { server.stop() }
        let folder = try Folder()
        let lines = (0..<20).map { #"{"id":\#($0),"method":"GET","url":"\#(server.address("/\($0)"))","headers":[]}"# }
        let input = Data(lines.joined(separator: "\n").utf8)
        let tool = try await Tool.run("drive", "--cache", folder.path("http.sqlite"), input: input)
        #expect(tool.text.split(separator: "\n").dropFirst().allSatisfy { $0.contains(#""status":503"#) })
        #expect(server.requestCount == 20)
    }
}
