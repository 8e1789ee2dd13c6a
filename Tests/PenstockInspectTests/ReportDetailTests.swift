import PenstockTestSupport
import Testing

@testable import PenstockInspect

/// What the report tells of one call.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportDetailTests {
    private typealias Step = ReportBrowser.Step

    @Test("A row says in words why its call was no plain success", .covers("X11"))
    func words() async throws {
        var har = ReportSamples.archive()
        har.log.entries[4]._call?.outcome = "failure"
        har.log.entries[4]._call?.error = "timeout(connect)"
        har.log.entries[3]._call?.isJoined = true
        har.log.entries[3]._call?.decisions?.append(.init(at: 1, attempt: 0, text: "joined call 1"))
        let texts = { (row: Int) in
            "all('#row\(row) .mark, #row\(row) .why, #row\(row) .status').map((node) => node.textContent).join('|')"
        }
        try await ReportBrowser.check(
            har,
            [
                Step("Retried", texts(0), is: "200|3 attempts|retried: 503, 503"),
                Step(
                    "Stale", texts(1),
                    is:
                        "stale|cache|joined call 1|served stale: the server answered with an error, 62 s past its freshness"
                ),
                Step("Failed", texts(2), is: "200|timeout(connect)"),
            ])
    }

    @Test("Details have the attempts by the call's clock, what was decided and what went over the wire", .covers("X11"))
    func attempts() async throws {
        let heads = "all('#detail h3, #detail summary').map((node) => node.textContent).join('|')"
        try await ReportBrowser.check(
            ReportSamples.archive(),
            [
                Step("Of three attempts", "one('#row0').click()"),
                Step(
                    "In order", heads,
                    is: [
                        "What was decided", "Time since the call began", "Attempt 1 of 3", "Query (1)",
                        "Request fields (2)", "Response fields (1)", "Attempt 2 of 3", "Query (1)",
                        "Request fields (2)", "Response fields (1)", "Attempt 3 of 3", "Query (1)",
                        "Request fields (2)", "Response fields (1)",
                    ].joined(separator: "|")),
                Step(
                    "The last is unfolded", "all('#detail details').map((node) => node.open)",
                    is: "false,false,false,false,false,false,true,true,true"),
                Step(
                    "Each below the one before", "all('.course > span').slice(1).map((node) => node.textContent)",
                    is: "1: 503,2: 503,3: 200"),
                Step(
                    "Each behind the one before",
                    "all('.course .bar').map((bar) => Math.round(320 * parseFloat(bar.firstChild.style.left.slice(4)) / 100))",
                    is: "0,120,240"),
                Step("What became of them", "one('#detail').textContent.includes('sent, and answered')", is: "true"),
                Step("No bar without an attempt", "one('#row1').click() || all('.course').length", is: "0"),
                Step(
                    "Where it came from", "one('#detail').textContent.includes('the cache, on disk, stale')", is: "true"
                ),
            ])
    }

    @Test(
        "A call that joined another leads to it, the nearest of that number, also when the filter hides it",
        .covers("X11"))
    func joined() async throws {
        var har = ReportSamples.archive()
        har.log.entries[4]._call?.decisions = [.init(at: 0, attempt: 0, text: "joined call 7")]
        for (start, url) in [(-9000.0, "far"), (300, "near"), (9000, "later")] {
            har.log.entries.append(
                ReportSamples.entry(7, attempt: 1, of: 1, at: start, took: 9, url: "https://a.example/\(url)"))
        }
        try await ReportBrowser.check(
            har,
            [
                Step("The one that joined", "type('token') || one('#row0').click()"),
                Step("The other", "one('#detail td button').click()"),
                Step("Its details", "one('#detail h2').textContent", is: "GET https://a.example/near"),
                Step("Its row", "focused() === one('.row[aria-expanded=\"true\"]').id", is: "true"),
                Step("No filter", "one('#filter').value + all('.row').length", is: "6"),
            ])
    }

    @Test("Long content is shown in part at first, and all of it when asked", .covers("X11"))
    func longContent() async throws {
        var har = ReportSamples.archive()
        har.log.entries[4].response.content?.text = String(repeating: "tea ", count: 40_000)
        try await ReportBrowser.check(
            har,
            [
                Step("Open", "one('#row2').click()"),
                Step("A part", "one('#detail pre').firstChild.length", is: "100000"),
                Step("The rest", "one('#detail pre button').click()"),
                Step("All", "one('#detail pre').textContent.length + ' ' + focused()", is: "160000 detail"),
            ])
    }
}
