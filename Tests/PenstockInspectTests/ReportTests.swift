import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// The report, in a real browser without a window.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportTests {
    /// What the page has become after its script has run, by a browser.
    private func rendered(_ har: HAR, title: String = "Calls", arguments: [String] = []) async throws -> String {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("report.html")
        try HTMLReport.page(har, title: title).write(to: file)
        let browser = try #require(Self.browser)
        let result = try await Subprocess.run(
            browser,
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--user-data-dir=\(folder.path)/profile", "--virtual-time-budget=20000", "--window-size=1280,800",
                "--enable-logging=stderr", "--dump-dom",
            ] + arguments + [file.absoluteString])
        return result.output
    }

    private static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }

    @Test("A browser shows the calls of an archive, their attempts, totals and decisions", .covers("X11"))
    func shows() async throws {
        let page = try await rendered(ReportSamples.archive())
        #expect(page.contains("data-ready=\"3\""))
        for text in [
            ">3 calls<", "3 attempts", "/products?page=2", "shop.example.com", ">stale<", "from the cache", "33.3 %",
        ] {
            #expect(page.contains(text), "no \(text)")
        }
    }

    @Test("Nothing in an archive becomes markup or script, wherever it stands", .covers("X11"))
    func hostileArchives() async throws {
        let attack =
            "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'\"&amp;<!--"
        var har = ReportSamples.archive()
        for index in har.log.entries.indices {
            har.log.entries[index].request.url = "https://shop.example.com/\(attack)"
            har.log.entries[index].request.method = attack
            har.log.entries[index].response.headers = [HAR.Pair(name: attack, value: attack)]
            har.log.entries[index].response.content?.text = attack
            har.log.entries[index]._call?.decisions = [HAR.Decision(at: 0, attempt: 1, text: attack)]
        }
        let page = try await rendered(har, title: attack)
        #expect(page.contains("data-ready=\"3\""))
        #expect(!page.contains("<title>owned") && !page.contains("<img"))
        #expect(page.contains("&lt;img src=x"))
        let source = String(decoding: try HTMLReport.page(har, title: attack), as: UTF8.self)
        #expect(
            source.components(separatedBy: "<script").count == 3
                && source.components(separatedBy: "</script").count == 3)
    }

    @Test("The page allows its own script and style alone, and asks for nothing from anywhere", .covers("X11"))
    func policy() throws {
        let page = { String(decoding: try HTMLReport.page(ReportSamples.archive()), as: UTF8.self) }
        let (first, second) = (try page(), try page())
        #expect(first.contains("default-src 'none'; script-src 'nonce-") && first.contains("form-action 'none'"))
        let nonce = first.components(separatedBy: "'nonce-").dropFirst().first?.prefix { $0 != "'" } ?? ""
        #expect(nonce.count == 24 && !second.contains(nonce))
        for outside in ["src=", "@import", "url(", "http:", "unsafe"] {
            #expect(!first.contains(outside), "\(outside)")
        }
    }

    @Test("Ten thousand calls are shown at once, with few rows in the page", .covers("X11"))
    func manyCalls() async throws {
        let page = try await rendered(ReportSamples.many(10_000))
        #expect(page.contains("data-ready=\"10000\"") && page.contains("10000 calls"))
        let rows = page.components(separatedBy: "role=\"option\"").count - 1
        #expect((5...60).contains(rows))
    }

    @Test("An archive of another program is shown as well, and what is none is refused")
    func otherArchives() async throws {
        let foreign = """
            {"log": {"version": "1.2", "creator": {"name": "Other", "version": "1"}, "entries": [{"startedDateTime":
            "2026-01-01T00:00:00.000Z", "time": 5, "request": {"method": "GET", "url": "https://a.example/x", "httpVersion":
            "HTTP/1.1", "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0}, "response":
            {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "content": {"size": 0,
            "mimeType": ""}, "redirectURL": "", "headersSize": -1, "bodySize": 0}, "cache": {}, "timings": {"wait": 5}}]}}
            """
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.har")
        try Data(foreign.utf8).write(to: file)
        let har = try HAR(contentsOf: file)
        #expect(try await rendered(har).contains("data-ready=\"1\""))
        let broken = ["", "{", "[]", #"{"log":{"version":"2.0","entries":[]}}"#, #"{"log":{"entries":[]}}"#]
        for text in broken {
            try Data(text.utf8).write(to: file)
            #expect(throws: HARError.self) { try HAR(contentsOf: file) }
        }
        #expect(throws: HARError.self) { try HAR(contentsOf: folder.appendingPathComponent("none")) }
    }
}

enum ReportSamples {
    static func entry(
        _ call: UInt64, attempt: Int, of attempts: Int, at start: Double, took: Double, status: Int = 200,
        url: String = "https://shop.example.com/products?page=2", source: String = "network", decisions: [String] = []
    ) -> HAR.Entry {
        var entry = HAR.Entry(
            startedDateTime: HARDate.text(Date(timeIntervalSince1970: 1_790_000_000 + start / 1000)), time: took,
            request: HAR.Request(
                method: "GET", url: url, httpVersion: "HTTP/2", cookies: [],
                headers: [
                    .init(name: "Accept", value: "application/json"), .init(name: "Authorization", value: "‹redacted›"),
                ],
                queryString: [.init(name: "page", value: "2")], headersSize: -1, bodySize: 0),
            response: HAR.Response(
                status: status, statusText: "", httpVersion: "HTTP/2", cookies: [],
                headers: [.init(name: "Content-Type", value: "application/json")],
                content: HAR.Content(size: 48_210, compression: 39_000, mimeType: "application/json"), redirectURL: "",
                headersSize: -1, bodySize: attempt == 0 ? 0 : 9_210),
            timings: HAR.Timings(
                blocked: took * 0.05, dns: took * 0.05, connect: took * 0.3, ssl: took * 0.2, send: 0, wait: took * 0.4,
                receive: took * 0.2))
        var own = HAR.Call(
            number: call, endpoint: "ProductList", service: "main", environment: "production", attempt: attempt,
            attempts: attempts, offset: 0, elapsed: took, outcome: "success")
        own.source = source
        own.decisions =
            decisions.isEmpty
            ? nil : decisions.enumerated().map { .init(at: Double($0.offset), attempt: 1, text: $0.element) }
        entry._call = own
        return entry
    }

    /// Three calls: one of three attempts, one out of the cache, stale, and one plain.
    static func archive() -> HAR {
        var entries: [HAR.Entry] = []
        for attempt in 1...3 {
            var entry = entry(
                1, attempt: attempt, of: 3, at: Double(attempt - 1) * 120, took: 80, status: attempt < 3 ? 503 : 200,
                decisions: attempt < 3
                    ? []
                    : [
                        "the cache asks the server (uri-miss): nothing is stored for this URL",
                        "retried after 41 ms: 503", "retried after 38 ms: 503",
                    ])
            entry._call?.offset = Double(attempt - 1) * 120
            entry._call?.elapsed = 320
            entry._call?.sendState = "answered"
            entries.append(entry)
        }
        var stale = entry(
            2, attempt: 0, of: 0, at: 150, took: 4, source: "disk",
            decisions: ["served stale: the server answered with an error, 62 s past its freshness"])
        stale._call?.isStale = true
        entries += [stale, entry(3, attempt: 1, of: 1, at: 400, took: 95, url: "https://id.example.com/token")]
        return HAR(log: .init(version: "1.2", creator: .init(name: "Penstock", version: "0.1.0"), entries: entries))
    }

    static func many(_ count: Int) -> HAR {
        let paths = ["products?page=2", "cart", "orders/7", "users/me", "images/tea.jpg"]
        let entries = (0..<count).map { index -> HAR.Entry in
            let (start, took) = (Double(index * 37), Double(20 + index * 7919 % 400))
            let status = index.isMultiple(of: 23) ? 500 : 200
            let url = "https://shop\(index % 4).example.com/" + paths[index % 5]
            return entry(UInt64(index + 1), attempt: 1, of: 1, at: start, took: took, status: status, url: url)
        }
        return HAR(log: .init(version: "1.2", creator: .init(name: "Penstock", version: "0.1.0"), entries: entries))
    }
}
