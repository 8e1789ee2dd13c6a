import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import penstockctl

/// `penstockctl record`, and the bar of a transfer.
@Suite(.timeLimit(.minutes(5))) struct RecordToolTests {
    @Test("record hands requests on, answers as the origin does, and replay then answers without it", .covers("X11"))
    func recordAndReplay() async throws {
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/old":
                let host = request.fields["Host"] ?? ""
                return .init(status: 302, fields: ["Location": "http://\(host)/new?a=1"])
            case "/away": return .init(status: 302, fields: ["Location": "https://elsewhere.example/"])
            case "/empty": return .init(status: 204)
            default: break
            }
            var response = LoopbackServer.Response.json(
                #"{"seen":"\#(request.method) \#(request.target) \#(request.text)"}"#, status: 201)
            response.fields.append("a=1; Max-Age=60", for: "Set-Cookie")
            response.fields.append("b=2; Max-Age=60", for: "Set-Cookie")
            response.fields["Connection"] = "X-Hop"
            response.fields["X-Hop"] = "1"
            return response
        }
        defer { origin.stop() }
        let folder = try Folder()
        let archive = folder.path("shop.har")
        let tool = try Tool.start(["record", "--har", archive, "--to", origin.url.origin.text])
        let url = String(try await tool.firstLine().dropLast())

        func ask(_ url: String) async throws -> [Report] {
            var reports: [Report] = []
            for words in [
                ["/products?page=2&token=c4n4ry"], ["POST", "/orders", "-d", "quantity=2"],
                ["DELETE", "/orders/1"], ["/away", "--no-follow"], ["/empty"],
            ] {
                let fetch = words.map { $0.hasPrefix("/") ? url + $0 : $0 } + ["--json"]
                reports.append(try await Tool.start(["fetch"] + fetch).end().report())
            }
            return reports
        }
        let live = try await ask(url)
        #expect(live.map(\.status) == [201, 201, 201, 302, 204])
        #expect(live[0].body == #"{"seen":"GET /products?page=2&token=c4n4ry "}"#)
        #expect(live[1].body == #"{"seen":"POST /orders quantity=2"}"#)
        #expect(live[0].headers?.filter { $0[0] == "Set-Cookie" }.count == 2)
        #expect(live[0].headers?.contains { $0[0] == "X-Hop" } == false)
        #expect(live[3].headers?.contains(["Location", "https://elsewhere.example/"]) == true)
        let host = origin.requests.map { $0.fields["Host"] }
        #expect(host.allSatisfy { $0 == "127.0.0.1:\(origin.url.port)" })
        // A redirect within the origin is followed here, and recorded too.
        let followed = try await Tool.fetch("\(url)/old", "--json").report()
        #expect(followed.url == "\(url)/new?a=1" && followed.status == 201)
        tool.interrupt()
        let ended = await tool.end()
        #expect(
            ended.status == 0 && ended.errors.contains("7 answers are in the archive \(archive)"), "\(ended.errors)")
        let count = origin.requestCount
        let text = String(decoding: try folder.read("shop.har"), as: UTF8.self)
        #expect(!text.contains("token=c4n4ry") && text.contains("/products"))

        let replay = try Tool.start(["replay", archive])
        let served = String(try await replay.firstLine().dropLast())
        let again = try await ask(served)
        #expect(again.map(\.status) == live.map(\.status))
        #expect(again[1].body == live[1].body && again[4].body == live[4].body)
        let led = try await Tool.fetch("\(served)/old", "--json").report()
        #expect(led.url == "\(served)/new?a=1" && led.body == followed.body)
        replay.interrupt()
        #expect(await replay.end().status == 0)
        #expect(origin.requestCount == count)
    }

    @Test("The length of an answer without content is that of the origin's, or none, live and when it is replayed")
    func lengths() async throws {
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/same": .init(status: 304, fields: ["Content-Length": "7", "ETag": "\"1\""])
            case "/coded": .init(fields: ["Content-Length": "7", "Content-Encoding": "gzip"])
            default: .text("seven b")
            }
        }
        defer { origin.stop() }
        let folder = try Folder()
        let archive = folder.path("a.har")
        func lengths(_ url: String) async throws -> [String?] {
            var found: [String?] = []
            for words in [["HEAD", "x"], ["GET", "same"], ["HEAD", "coded"], ["GET", "x"]] {
                let report = try await Tool.fetch(words[0], url + words[1], "--json").report()
                found.append(report.headers?.first { $0[0].lowercased() == "content-length" }?[1])
            }
            return found
        }
        let tool = try Tool.start(["record", "--har", archive, "--to", origin.url.origin.text])
        #expect(try await lengths(try await tool.firstLine()) == ["7", "7", nil, "7"])
        tool.interrupt()
        #expect(await tool.end().status == 0)
        let replay = try Tool.start(["replay", archive])
        #expect(try await lengths(try await replay.firstLine()) == ["7", "7", nil, "7"])
        replay.interrupt()
        #expect(await replay.end().status == 0)
    }

    @Test("An origin that is not there, and one that never answers, end no recording")
    func failures() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/slow" ? .hold : .text(String(repeating: "x", count: 20))
        }
        let folder = try Folder()
        let archive = folder.path("a.har")
        let tool = try Tool.start(["record", "--content=10", "--har", archive, "--to", origin.url.absoluteString])
        let url = try await tool.firstLine()
        let raw = try RawClient(port: HTTPURL(url).port)
        raw.send("GET http://elsewhere.example/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n")
        #expect(raw.read(through: "\r\n\r\n").contains(" 400 "))
        #expect(try await Tool.fetch("\(url)long").text.count == 20)
        let slow = try Tool.start(["fetch", "\(url)slow", "--timeout", "60"])
        try await origin.waitForRequests(count: 2)
        tool.interrupt()
        #expect(await tool.end().status == 0)
        slow.interrupt()
        _ = await slow.end()
        // What is longer than was asked for is left out.
        #expect(try !String(decoding: folder.read("a.har"), as: UTF8.self).contains("xxxx"))
        origin.stop()

        let gone = try Tool.start(["record", "--har", archive, "--to", origin.url.absoluteString])
        let answer = try await Tool.fetch(try await gone.firstLine(), "--json").report()
        #expect(answer.status == 502 && answer.body?.contains("unreachable") == true)
        gone.interrupt()
        #expect(await gone.end().errors.contains("0 answers"))
    }

    static let wrongUsage: [([String], String)] = [
        ([], "--har"), (["--har", "a.har"], "--to"), (["--to", "http://127.0.0.1:9"], "--har"),
        (["--har", "/nowhere/a.har", "--to", "http://127.0.0.1:9"], "--har"),
        (["--har", "a.har", "--to", "example.com"], "--to"),
        (["--har", "a.har", "--to", "http://127.0.0.1:9/v1"], "--to"),
        (["--har", "a.har", "--to", "http://127.0.0.1:9/?a=1"], "--to"),
        (["--har", "a.har", "--to", "http://127.0.0.1:9", "x"], "arguments"),
        (["--har", "a.har", "--to", "http://127.0.0.1:9", "--cacert", "/dev/null"], "--cacert needs https"),
        (["--har", "a.har", "--to", "http://127.0.0.1:9", "--content", "many"], "--content"),
    ]

    @Test("A recording that cannot be made is wrong usage", arguments: wrongUsage)
    func mistakes(_ words: [String], _ name: String) async throws {
        let tool = try await Tool.start(["record"] + words).end()
        #expect(tool.status == 64 && tool.output.isEmpty && tool.errors.contains(name), "\(tool.errors)")
    }

    static let locations: [(String, String?)] = [
        ("https://a.example/new?a=1", "/new?a=1"), ("HTTPS://A.example:443/new", "/new"), ("/new", "/new"),
        ("next", "/x/next"), ("?b=2", "/x/y?b=2"), ("https://b.example/new", nil), ("http://a.example/new", nil),
        ("https://a.example:8443/new", nil), ("https://a.example//b.example/", nil), ("//b.example/", nil),
        ("mailto:a@b.example", nil),
    ]

    @Test("What serves requests for as long as the user likes keeps none of them")
    func keepsNothing() async throws {
        let server = try LoopbackService.server { .text($0.text) }
        defer { server.stop() }
        #expect(try await Tool.fetch(server.address("/"), "-d", "tea").text == "tea")
        #expect(server.requestCount == 1 && server.requests.isEmpty && server.connections.isEmpty)
    }

    @Test("A redirect within the origin is written without it, and any other one as it came", arguments: locations)
    func relocation(_ location: String, _ expected: String?) throws {
        let url = try HTTPURL("https://a.example/x/y")
        let fields: HTTPFields = ["A": "1", "Location": location]
        #expect(HARAnswers.relocated(fields, of: url) == ["A": "1", "Location": expected ?? location])
        #expect(HARAnswers.relocated(["A": "1"], of: url) == ["A": "1"])
    }

    @Test("Fields of one connection are not handed on, and the coding of a request's content is")
    func endToEnd() {
        let fields: HTTPFields = [
            "Host": "a", "connection": "close, X-A", "X-A": "1", "X-B": "2", "TE": "trailers", "Content-Length": "3",
            "Transfer-Encoding": "chunked", "Content-Encoding": "gzip", "Accept-Encoding": "br", "Upgrade": "h2c",
            "Authorization": "Bearer 1",
        ]
        let sent = Forwarder.endToEnd(fields, keepsCoding: true)
        #expect(Set(sent.map(\.name.text)) == ["X-B", "Content-Encoding", "Authorization"])
        #expect(Set(Forwarder.endToEnd(fields, keepsCoding: false).map(\.name.text)) == ["X-B", "Authorization"])
    }
}

/// The bar of a transfer on a terminal.
@Suite(.timeLimit(.minutes(5))) struct TransferBarTests {
    @Test("It tells what is done of what, how fast, and how long it will take")
    func lines() {
        func line(_ progress: TransferProgress, _ seconds: Double) -> String {
            TransferBar.line(progress, after: .seconds(seconds))
        }
        let half = String(repeating: "█", count: 15) + String(repeating: "·", count: 15)
        let full = String(repeating: "█", count: 30)
        let none = String(repeating: "·", count: 30)
        let cases: [(TransferProgress, Double, String)] = [
            (
                TransferProgress(received: 1_024, expectedToReceive: 2_048), 2.0,
                "\(half) 50 %  1.0 KiB of 2.0 KiB received, 512 B/s, 2 s left"
            ),
            (
                TransferProgress(received: 2_048, expectedToReceive: 2_048), 2,
                "\(full) 100 %  2.0 KiB of 2.0 KiB received, 1.0 KiB/s"
            ),
            (TransferProgress(received: 0, expectedToReceive: 2_048), 1, "\(none) 0 %  0 B of 2.0 KiB received, 0 B/s"),
            (TransferProgress(received: 1_023), 0, "1023 B received, 0 B/s"),
            (
                TransferProgress(received: 9_000, expectedToReceive: 2_048), 1,
                "\(full) 100 %  8.8 KiB of 2.0 KiB received, 8.8 KiB/s"
            ),
            (TransferProgress(sent: 50, expectedToSend: 100), 1, "\(half) 50 %  50 B of 100 B sent, 50 B/s, 1 s left"),
            (TransferProgress(sent: 100, expectedToSend: 100, received: 7), 1, "7 B received, 7 B/s"),
            (TransferProgress(sent: 50), 1, "50 B sent, 50 B/s"),
            (TransferProgress(expectedToSend: 0, received: 0), 1, "0 B received, 0 B/s"),
        ]
        for (progress, seconds, text) in cases { #expect(line(progress, seconds) == text) }
    }

    @Test("Sizes and times are in units that a person reads")
    func units() {
        let sizes: [(Double, String)] = [
            (0.0, "0 B"), (1_023.9, "1023 B"), (1_024, "1.0 KiB"), (1_047_500, "1022.9 KiB"), (1_048_524, "1023.9 KiB"),
            (1_048_525, "1.0 MiB"),
            (1_048_576, "1.0 MiB"), (5e9, "4.7 GiB"), (3e12, "2.7 TiB"), (9e15, "8185.5 TiB"),
        ]
        for (bytes, text) in sizes { #expect(TransferBar.size(bytes) == text) }
        let times: [(Double, String)] = [
            (0.2, "1 s"), (59.0, "59 s"), (59.1, "1:00 min"), (61, "1:01 min"), (3_599, "59:59 min"),
            (3_600, "1:00:00 h"), (7_265, "2:01:05 h"), (359_999, "99:59:59 h"), (360_000, "more than 99 h"),
            (.infinity, "more than 99 h"),
        ]
        for (seconds, text) in times { #expect(TransferBar.time(seconds) == text) }
    }

    #if os(Linux)
        @Test("On a terminal the bar is drawn and taken away; what was asked for comes as it is, also where it fails")
        func terminal() async throws {
            let body = Data(repeating: UInt8(ascii: "x"), count: 300_000)
            let server = try LoopbackServer { request in
                let whole = LoopbackServer.Response(body: body).throttled(to: 60_000, per: .milliseconds(60))
                return request.path == "/cut" ? whole.fault(.close, at: .responseBody(after: 200_000)) : whole
            }
            defer { server.stop() }
            let folder = try Folder()
            /// Standard error on a terminal that a program of its own makes.
            func run(_ words: String) async throws -> Tool {
                try await Tool.shell("exec script -qefc \"'$0' \(words) > '\(folder.path("out"))'\" /dev/null")
            }
            let shown = try await run("fetch '\(server.address("/"))'")
            let printed = try folder.read("out")
            #expect(shown.status == 0 && printed == body)
            #expect(shown.text.contains("█") && shown.text.contains("of 293.0 KiB received"))
            #expect(shown.text.hasSuffix("\r\u{1B}[K"), "\(shown.text.suffix(80))")
            let cut = try await run("fetch '\(server.address("/cut"))' --timeout 20")
            #expect(cut.status == 9 && cut.text.contains("\r\u{1B}[Kpenstockctl: "))
            let told = try await run("fetch '\(server.address("/"))' -v")
            #expect(told.status == 0 && !told.text.contains("█"))
            let silent = try await Tool.fetch(server.address("/"))
            #expect(silent.errors.isEmpty && silent.output == body)
        }
    #endif
}
