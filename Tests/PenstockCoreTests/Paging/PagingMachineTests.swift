import PenstockCore
import PenstockTestSupport
import Testing

/// Which page is loaded next.
struct PagingMachineTests {
    private func begin(_ machine: inout PagingMachine) throws -> PagingMachine.Load {
        guard case .begin(let load) = machine.next() else { throw Unexpected() }
        return load
    }

    private struct Unexpected: Error {}

    /// Begins a load and brings its page.
    private func advance(
        _ machine: inout PagingMachine, from url: HTTPURL? = nil, following: PagePosition?
    ) throws -> Bool {
        let load = try begin(&machine)
        return machine.finish(load, from: url, following: following)
    }

    @Test("By default 10,000 pages are loaded, and a position has 8,192 bytes")
    func defaults() {
        #expect(PagingLimits().pages == 10_000 && PagingLimits().positionLength == 8_192)
    }

    @Test("One page is loaded at a time, and the next one begins where the last one said")
    func advances() throws {
        var machine = PagingMachine(start: .number(1))
        #expect(machine.current == nil)
        let first = try begin(&machine)
        #expect(first.position == .number(1))
        #expect(machine.current == first)
        #expect(machine.next() == .join(first))
        #expect(machine.pageCount == 0)
        #expect(machine.finish(first, following: .number(2)) == true)
        #expect(machine.pageCount == 1)
        #expect(machine.current == nil)
        let second = try begin(&machine)
        #expect(second.position == .number(2))
        #expect(machine.finish(second, following: nil) == true)
        #expect(machine.next() == .end)
        #expect(!machine.hasMore)
        #expect(machine.pageCount == 2)
    }

    @Test("A failure does not advance; the failed load counts no more")
    func failure() throws {
        var machine = PagingMachine(start: .cursor("a"))
        let first = try begin(&machine)
        machine.fail(first)
        #expect(machine.hasMore)
        let again = try begin(&machine)
        #expect(again.position == .cursor("a"))
        #expect(again != first)
        machine.fail(first)
        #expect(machine.current == again)
        #expect(machine.finish(first, following: nil) == false)
        #expect(machine.current == again)
        #expect(machine.pageCount == 0)
    }

    @Test("After a reset nothing that was asked for before it counts")
    func reset() throws {
        var machine = PagingMachine(start: .offset(0))
        let first = try begin(&machine)
        #expect(machine.finish(first, following: .offset(20)) == true)
        let second = try begin(&machine)
        #expect(machine.reset() == second)
        #expect(machine.pageCount == 0)
        #expect(machine.finish(second, following: .offset(40)) == false)
        let anew = try begin(&machine)
        #expect(anew.position == .offset(0))
        #expect(machine.finish(second, following: .offset(40)) == false)
        machine.fail(second)
        #expect(machine.current == anew)
        #expect(machine.finish(anew, following: .offset(20)) == true)
        #expect(try begin(&machine).position == .offset(20))
    }

    @Test("A reset without a load under way, and one after the end, begin anew")
    func idleReset() throws {
        var machine = PagingMachine(start: .start)
        #expect(machine.reset() == nil)
        #expect(try advance(&machine, following: nil))
        #expect(machine.reset() == nil)
        #expect(machine.hasMore)
        #expect(try begin(&machine).position == .start)
    }

    @Test(
        "A service that names a page again which was loaded before is refused, not followed",
        arguments: [
            ([.start, .cursor("a")], .cursor("a")), ([.start, .cursor("a"), .cursor("b")], .cursor("a")),
            ([.start], .start), ([.number(1), .number(2)], .number(1)), ([.offset(0)], .offset(0)),
        ] as [([PagePosition], PagePosition)])
    func repetition(loaded: [PagePosition], again: PagePosition) throws {
        var machine = PagingMachine(start: loaded[0])
        for following in loaded.dropFirst() + [again] {
            #expect(try advance(&machine, following: following))
        }
        #expect(machine.next() == .refuse(.repeated(again)))
        #expect(machine.next() == .refuse(.repeated(again)))
        #expect(machine.hasMore)
        machine.reset()
        // Nothing is known of what was loaded before.
        for following in loaded.dropFirst() + [again] { #expect(try advance(&machine, following: following)) }
        #expect(machine.pageCount == loaded.count)
        #expect(machine.next() == .refuse(.repeated(again)))
        machine.reset()
        #expect(try begin(&machine).position == loaded[0])
    }

    @Test("A link that leads back to where the first page came from is known as well")
    func linkToFirst() throws {
        let (one, two) = (try HTTPURL("https://a.example/l?p=1"), try HTTPURL("https://a.example/l?p=2"))
        var machine = PagingMachine(start: .start)
        #expect(try advance(&machine, from: one, following: .link(two)))
        #expect(try advance(&machine, from: two, following: .link(one)))
        #expect(machine.next() == .refuse(.repeated(.link(one))))
    }

    @Test("Numbers, offsets and cursors of the same digits are different pages")
    func kindsDiffer() throws {
        var machine = PagingMachine(start: .number(1))
        for following in [PagePosition.offset(1), .cursor("1"), .cursor("number 1")] {
            #expect(try advance(&machine, following: following))
        }
        #expect(try begin(&machine).position == .cursor("number 1"))
    }

    @Test("As many pages as the limit allows are loaded, and then no more until a reset", arguments: [0, 1, 3])
    func endless(limit: Int) throws {
        var machine = PagingMachine(start: .number(0), limits: PagingLimits(pages: limit))
        for page in 0..<limit { #expect(try advance(&machine, following: .number(page + 1))) }
        #expect(machine.next() == .refuse(.tooManyPages(limit: limit)))
        #expect(machine.next() == .refuse(.tooManyPages(limit: limit)))
        machine.reset()
        #expect((try? begin(&machine)) == nil ? limit == 0 : limit > 0)
    }

    @Test("A list that ends just at the limit has ended")
    func endsAtLimit() throws {
        var machine = PagingMachine(start: .number(0), limits: PagingLimits(pages: 1))
        #expect(try advance(&machine, following: nil))
        #expect(machine.next() == .end)
    }

    @Test("A cursor or a link is followed up to its limit in bytes", arguments: [7, 8, 9])
    func longPositions(length: Int) throws {
        let limits = PagingLimits(positionLength: 8)
        let cursor = PagePosition.cursor(String(repeating: "é", count: length / 2) + (length % 2 == 1 ? "x" : ""))
        var machine = PagingMachine(start: .start, limits: limits)
        #expect(try advance(&machine, following: cursor))
        let decision = machine.next()
        if length > 8 {
            #expect(decision == .refuse(.positionTooLong(bytes: length)))
        } else {
            #expect(machine.current.map { .begin($0) } == decision)
        }
        let link = PagePosition.link(try HTTPURL("http://a.b/c"))
        var other = PagingMachine(start: .start, limits: PagingLimits(positionLength: 11))
        #expect(try advance(&other, following: link))
        #expect(other.next() == .refuse(.positionTooLong(bytes: 12)))
        // Numbers have no length.
        var counted = PagingMachine(start: .number(1), limits: PagingLimits(positionLength: 0))
        for following in [PagePosition.number(2), .offset(30)] { #expect(try advance(&counted, following: following)) }
        #expect(try begin(&counted).position == .offset(30))
    }

    @Test("Every error says what is wrong")
    func descriptions() throws {
        let origin = try HTTPURL("https://other.example/").origin
        let errors: [PagingError] = [
            .repeated(.start), .unexpectedPage(asked: 2, answered: 3), .tooManyPages(limit: 5),
            .positionTooLong(bytes: 9), .unusableLink("no host"), .foreignOrigin(origin),
        ]
        #expect(
            errors.map { "\($0)" } == [
                "the service names a page as the next one that was loaded before",
                "page 2 was asked for, and page 3 came", "there are more than 5 pages",
                "the next page's position has 9 bytes", "the link to the next page cannot be used: no host",
                "the next page is at another origin, https://other.example",
            ])
    }

    @Test(
        "The next offset is after the rows that came, until the rows or the total are used up",
        arguments: [
            (0, 20, nil, 20, 20), (0, 19, nil, 20, nil), (0, 21, nil, 20, 21), (40, 20, nil, nil, 60),
            (40, 1, nil, nil, 41),
            (40, 0, nil, nil, nil), (40, -3, nil, nil, nil), (0, 0, 100, 20, nil), (0, 5, 100, 20, 5),
            (95, 5, 100, 20, nil),
            (94, 5, 100, 20, 99), (95, 6, 100, nil, nil), (.max, 1, nil, nil, nil), (.max - 1, 1, nil, nil, .max),
        ] as [(Int, Int, Int?, Int?, Int?)])
    func offsets(offset: Int, count: Int, total: Int?, size: Int?, next: Int?) {
        #expect(OffsetRule.next(after: offset, count: count, total: total, size: size) == next)
    }

    @Test(
        "A link's query keeps what is its own, and has the common parameters of the moment",
        arguments: [
            ("page=2", nil, "page=2"), ("page=2", "", "page=2"), (nil, "token=new", "token=new"),
            ("", "token=new", "token=new"),
            (nil, nil, nil), ("page=2&token=old", "token=new", "page=2&token=new"),
            ("tok%65n=old&page=2", "token=new", "page=2&token=new"), ("a+b=1", "a%20b=2", "a%20b=2"),
            ("token", "token=new", "token=new"), ("tokens=1", "token=new", "tokens=1&token=new"),
        ] as [(String?, String?, String?)])
    func linkQueries(link: String?, common: String?, merged: String?) {
        #expect(LinkQuery.merged(link, under: common) == merged)
    }
}
