import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// The report, in a real browser without a window.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportTests {
    @Test("A browser shows the calls of an archive, their attempts, totals and decisions", .covers("X11"))
    func shows() async throws {
        let page = try await ReportBrowser.page(ReportSamples.archive())
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
        let page = try await ReportBrowser.page(har, title: attack)
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
        let page = try await ReportBrowser.page(ReportSamples.many(10_000))
        #expect(page.contains("data-ready=\"10000\"") && page.contains("10000 calls"))
        let rows = page.components(separatedBy: "class=\"row\"").count - 1
        #expect((5...60).contains(rows))
    }

    @Test("Whatever is done with ten thousand calls, few rows are in the page", .covers("X11"))
    func manyCallsInUse() async throws {
        let few = "[all('.row').length < 60, all('.bar i').length < 600, one('#count').textContent]"
        try await ReportBrowser.check(
            ReportSamples.many(10_000),
            [
                .init("At first", few, is: "true,true,10000 calls"),
                .init("Some words", "type('cart 500')"),
                .init("What has them all", few, is: "true,true,87 of 10000"),
                .init("No words", "type('')"),
                .init("All", few, is: "true,true,10000 calls"),
                .init("On one axis", "choose('#scale', 'all')"),
                .init("Still few", few, is: "true,true,10000 calls"),
                .init("At the end", "press('/') && press('Enter') && press('End')", is: "true"),
                .init("The last row", "focused()", is: "row9999"),
                .init("Few there", few, is: "true,true,10000 calls"),
            ])
    }

    @Test("A page has its calls in parts that are read one after the other, and lists each call once", .covers("X11"))
    func parts() throws {
        let page = String(decoding: try HTMLReport.page(ReportSamples.many(2000)), as: UTF8.self)
        let parts = page.components(separatedBy: "class=\"data\">").dropFirst()
            .compactMap { $0.components(separatedBy: "</script>").first }
        #expect(parts.count > 4 && parts.allSatisfy { $0.utf8.count < 1 << 19 })
        let entries = try parts.flatMap { try JSONDecoder().decode([HAR.Entry].self, from: Data($0.utf8)) }
        #expect(entries.compactMap { $0._call?.number } == Array(1...2000))
        let none = HAR(log: .init(version: "1.2", creator: nil, entries: []))
        #expect(try !String(decoding: HTMLReport.page(none), as: UTF8.self).contains("class=\"data\""))
    }

    @Test("A report of no calls says so", .covers("X11"))
    func noCalls() async throws {
        try await ReportBrowser.check(
            HAR(log: .init(version: "1.2", creator: nil, entries: [])),
            [
                .init(
                    "In words", "one('#empty').hidden + ' ' + one('#empty').textContent",
                    is: "false There are no calls."),
                .init("Keys do no harm", "press('ArrowDown') + focused() + press('Enter')", is: "trueBODYfalse"),
                .init("Nor does the filter", "type('a')"),
                .init("No row", "all('.row').length", is: "0"),
            ])
    }

    @Test("An archive of another program is shown as well, and what is none is refused", .covers("X11"))
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
        #expect(try await ReportBrowser.page(har).contains("data-ready=\"1\""))
        let broken = ["", "{", "[]", #"{"log":{"version":"2.0","entries":[]}}"#, #"{"log":{"entries":[]}}"#]
        for text in broken {
            try Data(text.utf8).write(to: file)
            #expect(throws: HARError.self) { try HAR(contentsOf: file) }
        }
        #expect(throws: HARError.self) { try HAR(contentsOf: folder.appendingPathComponent("none")) }
    }
}
