import PenstockTestSupport
import Testing

@testable import PenstockInspect

/// The report by keyboard, and as it is for those who do not see it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReportKeyboardTests {
    private typealias Step = ReportBrowser.Step

    /// A key that the page takes for itself, and where the keyboard is then.
    private func key(_ name: String, _ key: String, to place: String) -> Step {
        Step(name, "press('\(key)') + ' ' + focused()", is: "true \(place)")
    }

    @Test("Arrows move from row to row, Enter and Space open details, Escape closes them", .covers("X11"))
    func rows() async throws {
        try await ReportBrowser.check(
            ReportSamples.archive(),
            [
                Step("Nothing has the keyboard", "focused()", is: "BODY"),
                key("The first key comes to the list", "ArrowDown", to: "row0"),
                key("Down", "ArrowDown", to: "row1"),
                Step("One row alone is on the way of Tab", "all('.row[tabindex=\"0\"]').map((r) => r.id)", is: "row1"),
                key("The end", "End", to: "row2"),
                key("It goes no further", "ArrowDown", to: "row2"),
                key("The beginning", "Home", to: "row0"),
                Step("No details", "one('#detail').hidden", is: "true"),
                Step("Enter", "press('Enter') + ' ' + one('#detail').hidden", is: "true false"),
                Step(
                    "The keyboard stays", "focused() + one('#row0').ariaExpanded + one('#row1').ariaExpanded",
                    is: "row0truefalse"),
                Step(
                    "The details are those", "one('#detail h2').textContent",
                    is: "GET https://shop.example.com/products?page=2"),
                Step(
                    "They follow", "press('j') + ' ' + one('#detail').textContent.includes('served stale')",
                    is: "true true"),
                Step("The open row", "all('.row[aria-expanded=\"true\"]').map((row) => row.id)", is: "row1"),
                key("Enter once more goes into them", "Enter", to: "detail"),
                Step("Arrows scroll there", "press('ArrowDown') + ' ' + focused()", is: "false detail"),
                Step("Escape", "press('Escape') + ' ' + one('#detail').hidden + ' ' + focused()", is: "true true row1"),
                Step("Space", "press(' ') + ' ' + one('#detail').hidden", is: "true false"),
                Step("To the left", "press('ArrowLeft') + ' ' + one('#detail').hidden", is: "true true"),
                Step(
                    "By pointer", "one('#row2').click() + ' ' + focused() + ' ' + one('#detail').hidden",
                    is: "undefined row2 false"),
                Step("Close", "one('#detail button').click() + ' ' + one('#detail').hidden", is: "undefined true"),
            ])
    }

    @Test("A slash comes to the filter, which narrows the list; Escape empties it, and then leaves it", .covers("X11"))
    func filter() async throws {
        let shown = "all('.row').length + ' ' + one('#count').textContent"
        try await ReportBrowser.check(
            ReportSamples.archive(),
            [
                key("Slash", "/", to: "filter"),
                Step("A slash in it is one", "press('/')", is: "false"),
                Step("So is an arrow to the side", "press('ArrowLeft')", is: "false"),
                Step("Words of a decision", "type('STALE shop')"),
                Step("One", shown, is: "1 1 of 3"),
                key("Into the list", "Enter", to: "row0"),
                Step(
                    "Its call", "press('Enter') + ' ' + one('#detail').textContent.includes('served stale')",
                    is: "true true"),
                Step("Nothing", "type('nowhere')"),
                Step("None", shown, is: "0 0 of 3"),
                Step("It says so", "one('#empty').hidden + one('#empty').textContent", is: "falseNo call matches."),
                Step("Details of what is not shown are closed", "one('#detail').hidden", is: "true"),
                Step("To the filter", "one('#filter').focus()"),
                Step("Escape", "press('Escape') + one('#filter').value + focused()", is: "truefilter"),
                Step("All", shown, is: "3 3 calls"),
                key("Escape again", "Escape", to: "row0"),
                Step("Several attempts", "choose('#kind', 'retried')"),
                Step("One of them", shown, is: "1 1 of 3"),
                Step("Stale", "choose('#kind', 'stale')"),
                Step("One as well", shown, is: "1 1 of 3"),
            ])
    }

    @Test("Rows that are out of sight keep the keyboard, and no key shuts it in", .covers("X11"))
    func movesFar() async throws {
        try await ReportBrowser.check(
            ReportSamples.many(2000),
            [
                key("Into the list", "ArrowDown", to: "row0"),
                Step("Out of sight", "void (one('#list').scrollTop = 20000)"),
                Step("Still there", "focused() + ' ' + (all('.row').length < 60)", is: "row0 true"),
                key("Back", "ArrowDown", to: "row1"),
                Step("In sight", "one('#list').scrollTop < 100", is: "true"),
                Step("A page", "press('PageDown') + ' ' + (Number(focused().slice(3)) > 8)", is: "true true"),
                key("The last", "End", to: "row1999"),
                Step(
                    "Above the lower edge", "one('#row1999').getBoundingClientRect().bottom <= innerHeight + 1",
                    is: "true"),
                key("The first", "Home", to: "row0"),
                Step(
                    "Below the head",
                    "one('#row0').getBoundingClientRect().top >= one('#head').getBoundingClientRect().bottom - 1",
                    is: "true"),
                Step(
                    "In order",
                    "all('.row').map((row) => row.ariaRowIndex).join() === all('.row').map((row, index) => index + 2).join()",
                    is: "true"),
                Step(
                    "Tab is nobody's",
                    "['#row0', '#filter', '#kind', '#detail', 'summary'].map((s) => { one(s).focus(); return press('Tab'); })",
                    is: "false,false,false,false,false"),
                Step(
                    "With Control a key is the browser's",
                    "one('#row0').focus() || document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', ctrlKey: true, bubbles: true, cancelable: true }))",
                    is: "true"),
            ])
    }

    @Test("Everything has its role and its name", .covers("X11"))
    func roles() async throws {
        try await ReportBrowser.check(
            ReportSamples.archive(),
            [
                Step(
                    "A grid", "one('#list').role + ' ' + one('#list').ariaLabel + ' ' + one('#list').ariaRowCount",
                    is: "treegrid Calls 4"),
                Step(
                    "Rows",
                    "new Set(all('.row').map((row) => row.role + row.ariaExpanded + row.getAttribute('aria-controls'))).size",
                    is: "1"),
                Step(
                    "Cells", "all('.row').every((row) => [...row.children].every((cell) => cell.role === 'gridcell'))",
                    is: "true"),
                Step(
                    "As many as heads", "all('[role=columnheader]').length === one('.row').children.length", is: "true"),
                Step(
                    "Fields have names", "all('input, select').every((field) => field.ariaLabel.length > 5)", is: "true"
                ),
                Step("What is found is said", "one('#count').role", is: "status"),
                Step(
                    "Details have a name",
                    "one('#row0').click() || one('#' + one('#detail').getAttribute('aria-labelledby')).textContent.length > 5",
                    is: "true"),
                Step(
                    "What scrolls can be reached", "all('#detail, .hosts > div').every((node) => node.tabIndex === 0)",
                    is: "true"),
                Step("Nothing jumps the queue", "all('[tabindex]').every((node) => node.tabIndex <= 0)", is: "true"),
                Step(
                    "The focus is seen", "one('#row0').focus() || getComputedStyle(one('#row0')).outlineStyle",
                    is: "solid"),
            ])
    }
}
