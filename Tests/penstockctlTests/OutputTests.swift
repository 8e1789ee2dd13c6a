import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// What comes out, and where.
@Suite(.timeLimit(.minutes(5))) struct OutputTests {
    private static let binary = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) })

    @Test func `The body goes to standard output byte for byte, and nothing else`() async throws {
        let server = try LoopbackServer { _ in .init(body: Self.binary) }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/"))
        #expect(tool.status == 0)
        #expect(tool.output == Self.binary)
        #expect(tool.errors.isEmpty)
    }

    @Test func `Any status is an answer, unless --fail is given`() async throws {
        let server = try LoopbackServer { _ in .text("no such page", status: 404) }
        defer { server.stop() }
        let answer = try await Tool.fetch(server.address("/"))
        #expect(answer.status == 0)
        #expect(answer.text == "no such page")
        let failure = try await Tool.fetch(server.address("/"), "--fail")
        #expect(failure.status == 22)
        #expect(failure.errors.contains("404"))
        let report = try await Tool.fetch(server.address("/"), "--fail", "--json")
        #expect(report.status == 22)
        #expect(try report.report().status == 404)
    }

    @Test func `JSON is one object that tells everything`() async throws {
        let server = try LoopbackServer { _ in
            .text("h\u{e9}llo \"you\"\n", fields: ["X-Twice": "1", "x-twice": "2"])
        }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/a?b=c"), "--json")
        #expect(tool.status == 0)
        let report = try tool.report()
        #expect(report.status == 200)
        #expect(report.body == "h\u{e9}llo \"you\"\n")
        #expect(report.protocol == "http/1.1")
        #expect(report.url == server.address("/a?b=c"))
        #expect(report.redirects == [])
        #expect(report.source == "network")
        #expect(report.connection?.reused == false)
        #expect(report.connection?.remoteAddress == "127.0.0.1")
        #expect(report.connection?.remotePort == server.url.port)
        #expect(try #require(report.headers).filter { $0[0].lowercased() == "x-twice" }.map { $0[1] } == ["1", "2"])
        let keys = ["status", "headers", "body", "protocol", "url", "redirects", "timings", "connection", "source"]
        #expect(try tool.keys() == Set(keys))
    }

    @Test func `Timings are milliseconds in the order of their phases`() async throws {
        let server = try LoopbackServer { _ in .text("").delayed(by: .milliseconds(50)) }
        defer { server.stop() }
        let timings = try #require(try await Tool.fetch(server.address("/"), "--json").report().timings)
        let names = ["nameLookup", "connect", "requestStart", "firstByte", "total"]
        #expect(Set(timings.keys) == Set(names))
        let values = names.compactMap { timings[$0] }
        #expect(values == values.sorted())
        #expect((50..<20_000).contains(try #require(timings["firstByte"])))
    }

    @Test func `A body that is no UTF-8 is in base 64`() async throws {
        let server = try LoopbackServer { _ in .init(body: Self.binary) }
        defer { server.stop() }
        let tool = try await Tool.fetch(server.address("/"), "--json")
        #expect(try tool.report().bodyBase64 == Self.binary)
        #expect(try tool.report().body == nil)
    }

    @Test func `Text keeps its byte order mark and its zeros`() async throws {
        let server = try LoopbackServer { _ in .init(body: Data([0xEF, 0xBB, 0xBF, 0x61, 0x00])) }
        defer { server.stop() }
        let body = try await Tool.fetch(server.address("/"), "--json").report().body
        #expect(body.map { Array($0.utf8) } == [0xEF, 0xBB, 0xBF, 0x61, 0x00])
    }

    @Test func `A file gets the whole body, and JSON goes beside it`() async throws {
        let server = try LoopbackServer { _ in .init(body: Self.binary) }
        defer { server.stop() }
        let folder = try Folder()
        let plain = try await Tool.fetch(server.address("/"), "-o", folder.write(Data("old".utf8), to: "a"))
        #expect(plain.status == 0)
        #expect(plain.output.isEmpty)
        #expect(try folder.read("a") == Self.binary)
        let json = try await Tool.fetch(server.address("/"), "--json", "--output=\(folder.path("b"))")
        #expect(try json.report().status == 200)
        #expect(try !json.keys().contains("body") && !json.keys().contains("bodyBase64"))
        #expect(try folder.read("b") == Self.binary)
        #expect(try folder.names == ["a", "b"])
    }

    @Test func `A body that breaks off leaves the file as it was`() async throws {
        let server = try LoopbackServer { _ in .short(Data("half".utf8), declared: 100) }
        defer { server.stop() }
        let folder = try Folder()
        let tool = try await Tool.fetch(server.address("/"), "-o", folder.write(Data("old".utf8), to: "a"))
        #expect(tool.status == 9)
        #expect(try folder.read("a") == Data("old".utf8))
        #expect(try folder.names == ["a"])
    }

    @Test func `A file that is replaced keeps its permissions, and a link to it stays a link`() async throws {
        let server = try LoopbackServer { _ in .text("new") }
        defer { server.stop() }
        let folder = try Folder()
        let files = FileManager.default
        let file = try folder.write(Data("old".utf8), to: "secret")
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try files.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: file)
        #expect(try await Tool.fetch(server.address("/"), "-o", folder.path("link")).status == 0)
        #expect(try folder.read("secret") == Data("new".utf8))
        #expect(try files.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try files.destinationOfSymbolicLink(atPath: folder.path("link")) == file)
        #expect(try folder.names == ["link", "secret"])
    }

    @Test func `A pipe is written into, not replaced`() async throws {
        let server = try LoopbackServer { _ in .text("new") }
        defer { server.stop() }
        let folder = try Folder()
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        // Whatever goes wrong, the reader must not wait for ever; a test's child may have the gentler signals blocked.
        let line = #"cat "$2" & "$0" fetch "$1" -o "$2" && [ -p "$2" ] || kill -9 $!; wait"#
        let tool = try await Tool.shell(line, server.address("/"), pipe)
        #expect(tool.text == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType == .typeUnknown)
    }

    @Test func `The answer comes out although the report cannot be written`() async throws {
        let folder = try Folder()
        let place = folder.url.appendingPathComponent("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        let server = try LoopbackServer { _ in
            try? FileManager.default.removeItem(at: place)
            return .text("ok")
        }
        defer { server.stop() }
        let file = folder.path("out")
        let tool = try await Tool.fetch(server.address("/"), "-o", file, "--report", place.path + "/r.html", "--json")
        #expect(tool.status == 20 && tool.errors.contains("--report: "), "\(tool.errors)")
        #expect(try tool.report().status == 200)
        #expect(try folder.read("out") == Data("ok".utf8))
    }

    @Test func `No two options may name the same file, by whatever name`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let files = FileManager.default
        let file = try folder.write(Data(), to: "a")
        try files.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: file)
        try files.linkItem(atPath: file, toPath: folder.path("hard"))
        for (first, second) in [("a", "a"), ("a", "link"), ("hard", "a"), ("new", "new"), ("new", "./new")] {
            for (one, other) in [("-o", "--har"), ("--har", "--report"), ("--report", "--cookies"), ("-o", "--cache")] {
                let words = [one, folder.path(first), other, folder.url.path + "/" + second]
                let tool = try await Tool.start(["fetch", server.address("/")] + words).end()
                #expect(tool.status == 64 && tool.errors.contains("\(one) and \(other)"), "\(tool.errors)")
            }
        }
        #expect(server.requestCount == 0)
    }

    @Test func `What is to end leaves no part of a report behind`() async throws {
        let server = try LoopbackServer { _ in .hold }
        defer { server.stop() }
        let folder = try Folder()
        let line = #"TMPDIR="$2" exec "$0" fetch "$1" --report "$2/r.html""#
        let tool = try Tool.startShell(line, server.address("/"), folder.url.path)
        try await server.waitForRequests(count: 1)
        tool.terminate()
        #expect(await tool.end().status == 130)
        #expect(try folder.names == ["r.html"])
    }

    @Test func `A closed standard output is an error`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let tool = try await Tool.shell(#""$0" fetch "$1" >&-"#, server.address("/"))
        #expect(tool.status == 20)
        #expect(server.requests.map(\.body) == [Data()])
    }

    @Test func `A directory is no place for the body`() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let tool = try await Tool.fetch(server.address("/"), "-o", folder.url.path)
        #expect(tool.status == 64)
        #expect(tool.errors.contains("-o"))
        #expect(server.connectionCount == 0)
    }

    @Test func `A reader that goes away is an error, not a crash`() async throws {
        let server = try LoopbackServer { _ in .init(body: Data(count: 4 << 20)) }
        defer { server.stop() }
        let running = try Tool.start(["fetch", server.address("/")])
        let tool = await running.endUnread()
        #expect(tool.status == 20)
        #expect(tool.errors.contains("standard output"))
    }
}
