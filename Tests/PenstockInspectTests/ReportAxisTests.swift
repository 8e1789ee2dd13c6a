import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockInspect

/// The time axis of the report, and what is drawn below it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportAxisTests {
    private typealias Step = ReportBrowser.Step

    /// How far the axis and the bars are apart at most, in pixels.
    private static let offset = """
        Math.max(...all('.row .bar').flatMap((bar) => [bar, one('#ticks')].map((node) => node.getBoundingClientRect()))
          .flatMap((rect, index, rects) => [rect.left - rects[0].left, rect.right - rects[0].right]).map(Math.abs)) < 0.5
        """
    /// The third call begins 400 ms after the first.
    private static let tickOfThird = """
        Math.abs(all('.tick').find((tick) => tick.textContent === '400 ms').getBoundingClientRect().left
          - one('#row2 .bar i').getBoundingClientRect().left) <= 1
        """

    @Test(
        "Ticks stand above what they measure, wide, beside the details and on a phone", .covers("X11"),
        arguments: [1280, 500])
    func measures(width: Int) async throws {
        try await ReportBrowser.check(
            ReportSamples.archive(), size: (width, 900),
            [
                Step("The axis is as wide as the bars", Self.offset, is: "true"),
                Step("A tick is where the call begins", Self.tickOfThird, is: "true"),
                Step("It says what it counts", "one('#axisname').textContent", is: "time since the first call"),
                Step("Beside the details", "one('#row0').click()"),
                Step("The axis is still as wide", Self.offset, is: "true"),
                Step("A tick is still where the call begins", Self.tickOfThird, is: "true"),
                Step("Each from its start", "choose('#scale', 'own')"),
                Step(
                    "All begin at the left", "new Set(all('.row .bar').map((bar) => bar.firstChild.style.left)).size",
                    is: "1"),
                Step(
                    "It says so", "one('#axisname').textContent + one('.tick').textContent",
                    is: "time since the call began0 ms"),
                Step("All", "choose('#scale', 'all')"),
                Step("As before", Self.tickOfThird, is: "true"),
            ])
    }

    @Test("Ticks have units, and are no closer than what they say is wide", .covers("X11"))
    func labels() async throws {
        let cases: [(from: String, length: String, labels: String)] = [
            ("0", "0.5", "0 ms,0.1 ms,0.2 ms,0.3 ms,0.4 ms,0.5 ms"), ("0", "95", "0 ms,20 ms,40 ms,60 ms,80 ms"),
            ("130", "800", "200 ms,400 ms,600 ms,800 ms"), ("0", "1900", "0 s,0.5 s,1.0 s,1.5 s"),
            ("12000", "300", "12.00 s,12.05 s,12.10 s,12.15 s,12.20 s,12.25 s,12.30 s"),
            ("0", "60000", "0 s,10 s,20 s,30 s,40 s,50 s,1 min"),
            ("59900", "300", "59.90 s,59.95 s,1 min,1 min 0.05 s,1 min 0.10 s,1 min 0.15 s,1 min 0.20 s"),
            ("0", "600000", "0 s,2 min,4 min,6 min,8 min,10 min"),
            ("3599000", "7200000", "1 h,1 h 30 min,2 h,2 h 30 min"), ("0", "172800000", "0 s,12 h,1 d,1 d 12 h,2 d"),
            ("86400000", "8640000000", "20 d,40 d,60 d,80 d,100 d"),
            ("5", "0.005", "5.000 ms,5.001 ms,5.002 ms,5.003 ms,5.004 ms,5.005 ms"),
        ]
        let steps = cases.map { value in
            Step(
                "\(value.from) and \(value.length)",
                "ticksOf(\(value.from), \(value.length), 500).map((tick) => tick.label)", is: value.labels)
        }
        try await ReportBrowser.check(ReportSamples.archive(), steps)
    }

    @Test("Calls that lie far apart are drawn each from its start, unless the reader wants else", .covers("X11"))
    func farApart() async throws {
        var har = ReportSamples.archive()
        har.log.entries[4].startedDateTime = "2026-12-24T00:00:00.000Z"
        let step = Step("Each from its start", "one('#scale').value", is: "own")
        try await ReportBrowser.check(har, [step])
    }

    @Test("What took no time, what has no end and what no phase accounts for is drawn", .covers("X11"))
    func smallest() async throws {
        let seen =
            "every((piece) => piece.offsetWidth >= 3 && piece.getBoundingClientRect().right <= one('#ticks').getBoundingClientRect().right + 0.5)"
        let names = { (row: Int) in "all('#row\(row) .bar i').map((piece) => piece.className.split(' ')[0])" }
        try await ReportBrowser.check(
            ReportSamples.odd(),
            [
                Step("Out of memory, in no time", names(0), is: "none"),
                Step("No end, of another program", names(1), is: "other,failed"),
                Step("Cancelled before an answer", names(2), is: "wait,stopped"),
                Step("No phases", names(3), is: "other"),
                Step("Some phases", names(4), is: "wait,other"),
                Step("Failed before it was sent", names(5), is: "none,failed"),
                Step("Waited for its turn", names(6), is: "whole,wait"),
                Step("All are seen", "all('.bar i:not(.wait)').\(seen)", is: "true"),
                Step(
                    "Words as well", "all('.status').map((node) => node.textContent)",
                    is: "200,failed,cancelled,200,200,failed,200"),
            ])
    }

    @Test("Every colour is in the legend", .covers("X11"))
    func legend() async throws {
        let colour = "getComputedStyle(node).backgroundColor"
        try await ReportBrowser.check(
            ReportSamples.odd(),
            [
                Step(
                    "As it is in the bars",
                    "all('.row .bar i').every((node) => \(colour) === ((node) => \(colour))(one('#legend i.' + node.classList[0])))",
                    is: "true"),
                Step(
                    "With words", "all('#legend i').every((node) => node.parentNode.textContent.length > 2)", is: "true"
                ),
                Step(
                    "Each its own", "new Set(all('#legend i').map((node) => \(colour))).size", is: "\(Self.named.count)"
                ),
            ])
    }

    @Test("The page takes the reader's choice of light or dark", .covers("X11"), arguments: [true, false])
    func scheme(isDark: Bool) async throws {
        let step = Step(
            "The page", "getComputedStyle(document.body).backgroundColor",
            is: isDark ? "rgb(20, 23, 27)" : "rgb(255, 255, 255)")
        let setting = "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)"
        try await ReportBrowser.check(ReportSamples.archive(), arguments: [setting], [step])
    }

    // MARK: Contrast

    private static let named = [
        "blocked", "dns", "connect", "ssl", "wait", "receive", "none", "other", "soft", "bad", "warn",
    ]

    @Test(
        "Text has a contrast of 4.5 to 1 and bars one of 3 to 1, light and dark, on whatever they stand",
        .covers("X11"), arguments: ["light", "dark"])
    func contrast(scheme: String) throws {
        let style = scheme == "light" ? ReportStyle.light : ReportStyle.dark
        let needs: [(least: Double, names: [String])] = [
            (4.5, ["text", "soft", "bad", "good", "warn"]),
            (3, Self.named + ["edge", "focus"]),
        ]
        for (least, names) in needs {
            for name in names {
                for ground in ["page", "tile", "pick"] {
                    let contrast = try Self.contrast(name, ground, style)
                    #expect(contrast >= least, "\(name) on \(ground): \(contrast)")
                }
            }
        }
    }

    private static func contrast(_ first: String, _ second: String, _ style: String) throws -> Double {
        let values = [try luminance(first, style), try luminance(second, style)].sorted()
        return (values[1] + 0.05) / (values[0] + 0.05)
    }

    /// The relative luminance of a colour (WCAG 2.2, definition of "relative luminance").
    private static func luminance(_ name: String, _ style: String) throws -> Double {
        let text = style.components(separatedBy: "--\(name): #").dropFirst().first?.prefix(6) ?? ""
        let value = try #require(Int(text, radix: 16))
        let parts = [16, 8, 0].map { shift -> Double in
            let part = Double(value >> shift & 0xFF) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
