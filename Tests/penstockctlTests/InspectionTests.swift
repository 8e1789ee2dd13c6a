import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What the tool leaves behind about what happened, and what it makes of it.
@Suite(.timeLimit(.minutes(5))) struct InspectionTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func entries(_ file: URL) throws -> [[String: Any]] {
        let har = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return (har?["log"] as? [String: Any])?["entries"] as? [[String: Any]] ?? []
    }

    @Test("fetch leaves an archive and a report, without secrets, and says where", .covers("X11"))
    func archiveAndReport() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        try await withFolder { folder in
            let (archive, report) = (folder.appendingPathComponent("a.har"), folder.appendingPathComponent("a.html"))
            let tool = try await Tool.fetch(
                "\(server.url)x?token=c4n4ry", "-H", "Authorization: Bearer c4n4ry", "--har", archive.path, "--report",
                report.path)
            #expect(tool.status == 0 && tool.errors.contains(archive.path) && tool.errors.contains(report.path))
            #expect(try entries(archive).count == 1)
            for file in [archive, report] {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.contains("127.0.0.1") && !text.contains("c4n4ry"))
            }
            let again = try await Tool.run("report", archive.path, "--title", "<b>", "-o", folder.path + "/b.html")
            #expect(again.status == 0)
            #expect(try String(contentsOfFile: folder.path + "/b.html", encoding: .utf8).contains("&lt;b&gt;"))
            let alone = try await Tool.fetch("\(server.url)x", "--report", report.path)
            #expect(alone.status == 0 && !alone.errors.contains("archive"))
        }
    }

    @Test("fetch sends a request as often as it is told, so many at a time, and tells how long that took")
    func repetition() async throws {
        let server = try LoopbackServer { request in .text("ok", status: request.path == "/bad" ? 500 : 200) }
        defer { server.stop() }
        let tool = try await Tool.fetch("\(server.url)good", "--repeat", "25", "--concurrency", "4")
        #expect(tool.status == 0 && tool.text == "ok" && server.requestCount == 25)
        #expect((1...4).contains(server.connectionCount))
        #expect(
            tool.errors.contains("25 calls in ") && tool.errors.contains("0 failed") && tool.errors.contains("99 %"))
        // Standard error is no terminal here: nothing is drawn on it.
        #expect(!tool.errors.contains("█"))
        let bad = try await Tool.fetch("\(server.url)bad", "--repeat", "3")
        #expect(bad.errors.contains("3 failed") && bad.errors.contains("3 × status 500"))
        for words in [
            ["--repeat", "0"], ["--repeat", "x"], ["--concurrency", "1001"], ["--repeat", "-1"],
            ["--concurrency", "2"], ["--report", "/nowhere/a.html"], ["--report", "/"],
        ] {
            let wrong = try await Tool.start(["fetch", "\(server.url)"] + words).end()
            #expect(wrong.status == 64 && wrong.errors.contains(words[0]))
        }
        #expect(server.requestCount == 28)
    }

    @Test("A report goes into a pipe and leaves a link one, but never into the place of its archive")
    func placeOfReport() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        let folder = try Folder()
        let archive = folder.path("a.html")
        #expect(try await Tool.fetch(server.address("/"), "--har", archive).status == 0)
        let before = try folder.read("a.html")
        for words in [[], ["-o", archive], ["-o", folder.url.path + "/./a.html"]] {
            let tool = try await Tool.start(["report", archive] + words).end()
            #expect(tool.status == 64 && tool.errors.contains("-o"))
        }
        #expect(try folder.read("a.html") == before)
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let line = #"cat "$2" & "$0" report "$1" -o "$2" && [ -p "$2" ] || kill -9 $!; wait"#
        #expect(try await Tool.shell(line, archive, pipe).text.hasPrefix("<!"))
        let page = try folder.write(Data(), to: "page")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: page)
        #expect(try await Tool.run("report", archive, "-o", folder.path("link")).status == 0)
        #expect(try !folder.read("page").isEmpty)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == page)
        let wrong = try await Tool.run("report", folder.url.path)
        #expect(wrong.status == 64 && wrong.errors.contains("it is a directory"))
    }

    @Test("With --repeat, --fail tells of any call that failed")
    func anyFailure() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let first = Locked(true)
        let moody = try LoopbackServer { _ in
            let isFirst = first.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return .text("ok", status: isFirst ? 500 : 200)
        }
        defer {
            server.stop()
            moody.stop()
        }
        #expect(try await Tool.fetch(server.address("/"), "--repeat", "3", "--fail").status == 0)
        let tool = try await Tool.fetch(moody.address("/"), "--repeat", "3", "--fail")
        #expect(tool.status == 22 && tool.text == "ok" && tool.errors.contains("1 failed"))
    }

    @Test("An answer whose content nobody has read is none without content, in the archive and when it is replayed")
    func unread() async throws {
        let first = Locked(true)
        let server = try LoopbackServer { _ in
            let isFirst = first.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return isFirst ? .text("busy", status: 503, fields: ["Retry-After": "0"]) : .text("ok")
        }
        defer { server.stop() }
        let folder = try Folder()
        let archive = folder.path("a.har")
        let tool = try await Tool.fetch(server.address("/x"), "-v", "--har", archive, "--content", "100")
        #expect(tool.status == 0 && tool.text == "ok" && tool.errors.contains("503 (4 bytes, not read)"))
        let responses = try entries(URL(fileURLWithPath: archive)).map { $0["response"] as? [String: Any] }
        let contents = responses.map { $0?["content"] as? [String: Any] }
        #expect(contents.map { $0?["text"] as? String } == [nil, "ok"])
        #expect(contents.first??["comment"] as? String == "4 bytes, not read")
        let replay = try Tool.start(["replay", archive])
        let url = try await replay.firstLine()
        #expect(try await Tool.fetch("\(url)x", "--json").report().status == 501)
        #expect(try await Tool.fetch("\(url)x").text == "ok")
        replay.interrupt()
        #expect(await replay.end().errors.contains("/x, entry 1"))
    }

    @Test("replay serves the answers of an archive by method and target, each of several in its turn")
    func replay() async throws {
        let archive = #"""
            {"log": {"version": "1.2", "entries": [
            {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {"wait": 1}, "request": {"method": "GET",
            "url": "https://a.example/x?token=%E2%80%B9redacted%E2%80%BA", "httpVersion": "HTTP/2"}, "response": {"status": 201,
            "statusText": "", "httpVersion": "HTTP/2", "headers": [{"name": "X-A", "value": "b"},
            {"name": "Content-Encoding", "value": "gzip"}, {"name": ":status", "value": "201"}], "content": {"text": "first"}}},
            {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {"wait": 1}, "request": {"method": "GET",
            "url": "https://a.example/x?token=%E2%80%B9redacted%E2%80%BA", "httpVersion": "HTTP/2"}, "response": {"status": 200,
            "statusText": "", "httpVersion": "HTTP/2", "content": {"text": "c2Vjb25k", "encoding": "base64"}}}]}}
            """#
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a.har")
            try Data(archive.utf8).write(to: file)
            let server = try Tool.start(["replay", file.path])
            let url = try await server.firstLine()
            let first = try await Tool.fetch("\(url)x?token=mine", "--json").report()
            #expect(first.status == 201 && first.body == "first" && first.headers?.contains(["X-A", "b"]) == true)
            for _ in 0..<2 { #expect(try await Tool.fetch("\(url)x?token=mine").text == "second") }
            #expect(try await Tool.fetch("\(url)y", "--json").report().status == 404)
            server.interrupt()
            #expect(await server.end().status == 0)
            for command in ["replay", "report"] {
                let wrong = try await Tool.run(command, "/nonexistent")
                #expect(wrong.status == 64 && wrong.errors.contains("/nonexistent"), "\(command)")
            }
        }
    }

    @Test("fetch keeps content where it is told to, and what was not kept is refused by replay, by its name")
    func content() async throws {
        let origin = try LoopbackServer { _ in .text(String(repeating: "x", count: 20)) }
        defer { origin.stop() }
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a.har")
            let page = folder.appendingPathComponent("a.html")
            for (words, isKept) in [([], false), (["--content", "19"], false), (["--content=20"], true)] {
                let fetch = ["fetch", "\(origin.url)x", "--har", file.path, "--report", page.path]
                #expect(try await Tool.start(fetch + words).end().status == 0)
                #expect(try String(contentsOf: page, encoding: .utf8).contains("xxxxx") == isKept)
                guard isKept else {
                    let wrong = try await Tool.run("replay", file.path)
                    #expect(wrong.status == 64 && wrong.errors.contains("\(origin.url)x, entry 1"), "\(wrong.errors)")
                    continue
                }
                let server = try Tool.start(["replay", file.path])
                #expect(try await Tool.fetch("\(try await server.firstLine())x").text.count == 20)
                server.interrupt()
                _ = await server.end()
            }
        }
    }

    @Test("report and replay read what is whole of an archive that was cut off, and say so", .covers("X11"))
    func cutOff() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        let folder = try Folder()
        let words = ["--har", folder.path("a.har"), "--content", "10", "--repeat", "2"]
        #expect(try await Tool.start(["fetch", server.address("/x")] + words).end().status == 0)
        let file = try folder.write(try folder.read("a.har").dropLast(9), to: "a.har")
        let report = try await Tool.run("report", file)
        #expect(report.status == 0 && report.errors.contains("a.har: the archive was cut off: 1 entries are whole"))
        #expect(try String(decoding: folder.read("a.html"), as: UTF8.self).contains("/x"))
        let replay = try Tool.start(["replay", file])
        #expect(try await Tool.fetch("\(try await replay.firstLine())x").text == "ok")
        replay.interrupt()
        #expect(await replay.end().errors.contains("the archive was cut off"))
    }

    @Test("report and replay leave out what is no entry of an archive, and say so", .covers("X11"))
    func unreadable() async throws {
        let entry = #"""
            {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {}, "request": {"method": "GET", "url":
            "https://a.example/x", "httpVersion": "HTTP/2"}, "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2",
            "content": {"size": 5.5, "text": "\ud83d"}}}
            """#
        let archive = #"{"log": {"version": "1.2", "entries": [\#(entry), {"time": 1}]}}"#
        let folder = try Folder()
        let file = try folder.write(Data(archive.utf8), to: "a.har")
        let report = try await Tool.run("report", file)
        #expect(
            report.status == 0 && report.errors.contains("1 entries of the archive cannot be read, and are left out"))
        #expect(try String(decoding: folder.read("a.html"), as: UTF8.self).contains("Left out: 1 entries"))
        let replay = try Tool.start(["replay", file])
        #expect(try await Tool.fetch("\(try await replay.firstLine())x").text == "\u{FFFD}")
        replay.interrupt()
        #expect(await replay.end().errors.contains("cannot be read"))
    }

    @Test("replay moves the dates of answers to the present, unless it is told not to")
    func dates() async throws {
        let then = "Thu, 01 Jan 2026 00:00:00 GMT"
        let archive = #"""
            {"log": {"version": "1.2", "entries": [{"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {},
            "request": {"method": "GET", "url": "https://a.example/x", "httpVersion": "HTTP/2"}, "response": {"status": 200,
            "statusText": "", "httpVersion": "HTTP/2", "headers": [{"name": "Date", "value": "\#(then)"}]}}]}}
            """#
        let folder = try Folder()
        let file = try folder.write(Data(archive.utf8), to: "a.har")
        for words in [[], ["--recorded-dates"]] {
            let server = try Tool.start(["replay", file] + words)
            let answer = try await Tool.fetch("\(try await server.firstLine())x", "--json").report()
            let date = try #require(answer.headers?.first { $0[0] == "Date" })
            #expect((date[1] == then) == !words.isEmpty)
            server.interrupt()
            _ = await server.end()
        }
    }

    @Test("An archive without some of its contents is replayed, but for these answers")
    func someContent() async throws {
        let origin = try LoopbackServer { request in
            .text(String(repeating: "x", count: request.path == "/long" ? 11 : 10))
        }
        let folder = try Folder()
        let archive = folder.path("a.har")
        let tool = try Tool.start(["record", "--content=10", "--har", archive, "--to", origin.url.origin.text])
        let url = try await tool.firstLine()
        for path in ["short", "long"] { _ = try await Tool.fetch(url + path) }
        tool.interrupt()
        #expect(await tool.end().status == 0)
        origin.stop()
        let server = try Tool.start(["replay", archive])
        let served = try await server.firstLine()
        #expect(try await Tool.fetch(served + "short").text.count == 10)
        let long = try await Tool.fetch(served + "long", "--json").report()
        #expect(long.status == 501 && long.body?.contains("/long, entry 2") == true)
        server.interrupt()
        let ended = await server.end()
        #expect(ended.status == 0 && ended.errors.contains("/long, entry 2; 1 such answers are refused"))
    }

    @Test("Completions and manual have every command and every option, and are what shells and man can read")
    func completions() async throws {
        let manual = try await Tool.run("manual")
        let bash = try await Tool.run("completions", "bash")
        let fish = try await Tool.run("completions", "fish")
        for word in ["fetch", "cache", "vault", "report", "replay", "record", "drive", "completions", "manual"] {
            for text in [manual.text, bash.text, fish.text] { #expect(text.contains(word), "\(word)") }
        }
        for option in [
            "--har", "--report", "--content", "--repeat", "--concurrency", "--timeout", "--cacert", "--no-follow",
            "--sign-key",
            "--cookies", "--to",
        ] {
            #expect(bash.text.contains(option) && fish.text.contains(option.dropFirst(2)))
            #expect(manual.text.contains(option.replacingOccurrences(of: "-", with: "\\-")))
        }
        let script =
            bash.text + "\nCOMP_WORDS=(penstockctl fetch --conc); COMP_CWORD=2; _penstockctl; echo \"${COMPREPLY[@]}\""
        let shell = try await Subprocess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(shell.status == 0 && shell.output == "--concurrency\n")
        #expect(try await Tool.run("completions", "csh").status == 64)
    }
}
