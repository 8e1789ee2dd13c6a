import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockInspect

/// What an archive holds is text to the report, whatever it looks like.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportSafetyTests {
    private static let attacks = [
        "</script><script>document.title='owned'</script>", "</SCRIPT ><svg/onload=document.title='owned'>",
        "<!--<script>document.title='owned'", "<img src=x onerror=\"document.title='owned'\">",
        "javascript:document.title='owned'", "data:text/html,<script>document.title='owned'</script>",
        "'\"><iframe srcdoc=\"<script>parent.document.title='owned'</script>\">", "${document.title='owned'}",
        "a\u{2028}document.title='owned'//\u{2029}b", #"\u003c/script>\u003cscript>document.title='owned'//"#,
        "&lt;/script&gt;&#60;b&#62;", "]]></style><style>*{background:url(//a.example)}</style>",
        "\u{0}<b>\u{8}\u{1b}[31m", "constructor", "__proto__", "\u{202e}gnp.exe\u{2066}\u{200b}\u{feff}",
    ]

    /// One call for each attack, which is in every text that it has.
    ///
    /// - Parameter sends: whether the calls have sent something.
    private static func archive(sends: Bool = true) -> HAR {
        var har = ReportSamples.many(attacks.count)
        for (index, attack) in attacks.enumerated() { plant(attack, sends: sends, in: &har.log.entries[index]) }
        return har
    }

    private static func plant(_ attack: String, sends: Bool, in entry: inout HAR.Entry) {
        let pair = [HAR.Pair(name: attack, value: attack)]
        entry.request.method = attack
        entry.request.url = attack.hasPrefix("javascript:") ? attack : "https://\(attack)/\(attack)?\(attack)"
        (entry.request.httpVersion, entry.response.httpVersion) = (attack, attack)
        (entry.request.headers, entry.request.queryString, entry.response.headers) = (pair, pair, pair)
        entry.request.postData = HAR.PostData(mimeType: attack, text: attack, comment: attack)
        (entry.response.statusText, entry.response.redirectURL) = (attack, attack)
        entry.response.content?.text = attack
        entry.response.content?.mimeType = attack
        entry.serverIPAddress = attack
        entry._call = HAR.Call(
            number: 1, endpoint: attack, service: attack, environment: attack, attempt: sends ? 1 : 0, attempts: 1,
            offset: 0, elapsed: 10, outcome: attack, error: attack, attemptError: attack, sendState: attack,
            source: attack,
            decisions: [HAR.Decision(at: 0, attempt: 1, text: attack)])
    }

    @Test("What an archive holds is neither markup nor script in the file", .covers("X11"), arguments: attacks)
    func source(attack: String) throws {
        let page = String(decoding: try HTMLReport.page(Self.archive(), title: attack), as: UTF8.self)
        let data = try #require(
            page.components(separatedBy: "class=\"data\">").last?.components(separatedBy: "</script>").first)
        #expect(!data.contains { $0 == "<" || $0 == ">" || $0 == "&" })
        let entries = try JSONDecoder().decode([HAR.Entry].self, from: Data(data.utf8))
        #expect(entries.map(\.request.method) == Self.attacks)
        let harmless = String(decoding: try HTMLReport.page(Self.archive(), title: "a"), as: UTF8.self)
        let count = { (text: String) in text.components(separatedBy: "<").count }
        #expect(count(page) == count(harmless))
    }

    @Test("What an archive holds is text in the page, wherever it stands, and runs nowhere", .covers("X11"))
    func page() async throws {
        try await check(Self.archive())
        try await check(Self.archive(sends: false))
    }

    private func check(_ har: HAR) async throws {
        let harmless = """
            all('*').every((node) => [...node.attributes].every((attribute) =>
              !/^(on.*|href|src|srcset|srcdoc|action|formaction|data|ping|background)$/i.test(attribute.name)))
              && !one('a, img, iframe, object, embed, svg, form, link, base, b b, summary b')
            """
        let opened = Self.attacks.indices.flatMap { index in
            [
                ReportBrowser.Step(
                    "Call \(index)", "one('#row\(index)').focus() || press('Enter') && one('#detail').focus()"),
                .init(
                    "Each text of call \(index)",
                    "one('#detail').textContent.split(seen(calls[\(index)].method)).length > 12",
                    is: "true"),
                .init("Harmless with call \(index)", harmless, is: "true"),
            ]
        }
        let title = Self.attacks.joined(separator: " ")
        let ends: [ReportBrowser.Step] = [
            .init("The title", "[document.title === 'owned', document.title.length > 300]", is: "false,true"),
            .init("One script", "all('script:not([nonce])').length", is: "0"),
            .init("Its style is as it was", "document.styleSheets.length", is: "1"),
            .init(
                "What is not seen is written out",
                "one('#row13 .method') && calls.some((call) => seen(call.method).startsWith('\\\\u{202e}gnp.exe'))",
                is: "true"),
        ]
        try await ReportBrowser.check(har, title: title, opened + ends)
    }

    @Test("Numbers and dates that no clock tells neither stop the page nor keep it busy", .covers("X11"))
    func numbers() async throws {
        let cases: [(time: Double, date: String, offset: Double)] = [
            (1e308, "2026-01-01T00:00:00.000Z", 0), (-1, "yesterday", -5),
            (0.0001, "+275760-09-13T00:00:00.000Z", 0),
            (2, "2026-01-01T00:00:01.000Z", 1e300),
            (1e-300, "", 0), (5, "0000-01-01T00:00:00Z", 3),
        ]
        var har = ReportSamples.many(cases.count)
        for (index, value) in cases.enumerated() {
            har.log.entries[index].time = value.time
            har.log.entries[index].startedDateTime = value.date
            har.log.entries[index].timings.wait = value.time
            har.log.entries[index].request.url = "https://a.example/case\(index)"
            har.log.entries[index]._call?.offset = value.offset
            har.log.entries[index]._call?.elapsed = value.time
        }
        let scales = ["sight", "all", "own"].map { ReportBrowser.Step("Scale \($0)", "choose('#scale', '\($0)')") }
        let rows = (0..<cases.count).map { ReportBrowser.Step("Row \($0)", "one('#row\($0)').click()") }
        let alone = (0..<cases.count).map { ReportBrowser.Step("\($0) alone", "type('case\($0)')") }
        let end = ReportBrowser.Step("All are there", "type('') || all('.row').length", is: "6")
        try await ReportBrowser.check(har, scales + rows + scales.flatMap { [$0] + alone } + [end])
    }
}
