import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Rows of a list.
struct Rows: Codable, Hashable, Sendable {
    var rows: [Int]
    var next: String?
    var page: Int?
    var total: Int?
}

struct ListRows: Endpoint, Encodable {
    typealias Output = Rows
    var page: Int?
    var offset: Int?
    var after: String?
    var route: Route { .get("/rows") }
}

extension HTTPResponse {
    static func rows(
        _ rows: [Int], next: String? = nil, page: Int? = nil, total: Int? = nil, link: [String] = []
    ) -> HTTPResponse {
        let body = (try? JSONEncoder().encode(Rows(rows: rows, next: next, page: page, total: total))) ?? Data()
        return HTTPResponse(
            status: 200, fields: HTTPFields(link.map { HTTPField(name: "Link", value: $0) }), body: body)
    }
}

extension PageSource<ListRows> {
    static var byNumber: PageSource {
        .numbered(isLast: \.rows.isEmpty, answered: \.page) { ListRows(page: $0) }
    }
}

/// Page after page of a list.
@Suite(.timeLimit(.minutes(5))) struct PagerTests {
    /// Three full pages and an empty one, by number.
    private static let numbered: StubTransport.Responder = { request throws(TransportError) in
        let page = Int(request.url.query?.dropFirst("page=".count) ?? "") ?? 0
        return .rows(page <= 3 ? [page * 10, page * 10 + 1] : [])
    }

    private func error(_ pager: Pager<ListRows>) async -> APIError? {
        do throws(APIError) {
            try await pager.loadNextPage()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Pages come one to the last; who asks at once shares a hit; a failure does not advance; a reset begins anew",
        .covers("S3.26"))
    func wholeList() async throws {
        let isBroken = Box(false)
        let gate = GateTransport { request throws(TransportError) in
            guard !isBroken.value, let page = try Self.numbered(request) else { return HTTPResponse(status: 503) }
            return page
        }
        let pager = Pager(CallSupport.client(gate), .byNumber)
        async let answers = withTaskGroup(of: [Int]?.self) { group in
            for _ in 0..<10 { group.addTask { try? await pager.loadNextPage()?.rows } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await gate.waitForRequests(1)
        while !Task.isCancelled, pager.waiterCount < 10 { await Task.yield() }
        gate.releaseAll()
        #expect(await answers == Array(repeating: [10, 11], count: 10))
        isBroken.value = true
        #expect(await error(pager)?.kind == .httpStatus(503))
        isBroken.value = false
        var pages: [[Int]] = []
        while let page = try await pager.loadNextPage() { pages.append(page.rows) }
        #expect(pages == [[20, 21], [30, 31], []])
        #expect(try await pager.loadNextPage() == nil)
        let asked: [String?] = ["page=1", "page=2", "page=2", "page=3", "page=4"]
        #expect(gate.requests.map(\.url.query) == asked)
        pager.reset()
        #expect(try await pager.loadNextPage()?.rows == [10, 11])
        #expect(gate.requests.map(\.url.query) == asked + ["page=1"])
    }

    @Test("Pages come from the first to the last, and after the last one nothing is sent")
    func pagesInOrder() async throws {
        let stub = StubTransport(Self.numbered)
        let pager = Pager(CallSupport.client(stub), .byNumber)
        #expect(pager.hasMore && pager.pageCount == 0)
        var pages: [[Int]] = []
        while let page = try await pager.loadNextPage() { pages.append(page.rows) }
        #expect(pages == [[10, 11], [20, 21], [30, 31], []])
        #expect(stub.requests.map(\.url.query) == ["page=1", "page=2", "page=3", "page=4"])
        #expect(!pager.hasMore && pager.pageCount == 4)
        #expect(try await pager.loadNextPage() == nil)
        #expect(stub.requests.count == 4)
    }

    @Test("Any number who ask at once get one page of one hit")
    func concurrentCalls() async throws {
        let script = ScriptedTransport([.held(.respond(.rows([1]))), .respond(.rows([]))])
        let pager = Pager(CallSupport.client(script), .byNumber)
        let first = Task { try await pager.loadNextPage() }
        await script.waitForExchanges(count: 1)
        #expect(pager.isLoading)
        let others = (0..<20).map { _ in Task { try await pager.loadNextPage() } }
        for _ in 0..<50 { await Task.yield() }
        script.release()
        #expect(try await first.value?.rows == [1])
        // Those who came in time have the page; whoever asked later has the next one, which is the last.
        for other in others { _ = try await other.value }
        #expect(script.requests.count <= 2)
    }

    @Test("Whoever asks while a page is loading joins that load")
    func joining() async throws {
        let gate = GateTransport { _ throws(TransportError) in .rows([1]) }
        let pager = Pager(CallSupport.client(gate), .byNumber)
        async let answers = withTaskGroup(of: [Int]?.self) { group in
            for _ in 0..<100 { group.addTask { try? await pager.loadNextPage()?.rows } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await gate.waitForRequests(1)
        while !Task.isCancelled, pager.waiterCount < 100 { await Task.yield() }
        gate.release("/rows")
        #expect(await answers == Array(repeating: [1], count: 100))
        #expect(gate.began.count == 1)
    }

    @Test("A failure does not advance: the same page is asked for again")
    func failureDoesNotAdvance() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1])), .respond(HTTPResponse(status: 503)), .respond(.rows([2])),
        ])
        let pager = Pager(CallSupport.client(script), .byNumber)
        try await pager.loadNextPage()
        #expect(await error(pager)?.kind == .httpStatus(503))
        #expect(pager.pageCount == 1 && !pager.isLoading)
        #expect(try await pager.loadNextPage()?.rows == [2])
        #expect(script.requests.map(\.request.url.query) == ["page=1", "page=2", "page=2"])
    }

    @Test("A reset begins with the first page, and an answer from before it never lands", .covers("S3.26"))
    func reset() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1])), .held(.respond(.rows([2]))), .respond(.rows([10])), .respond(.rows([20])),
        ])
        let client = CallSupport.client(script)
        let pager = Pager(client, .byNumber)
        try await pager.loadNextPage()
        async let late = error(pager)
        await script.waitForExchanges(count: 2)
        let calls = client.calls
        pager.reset()
        try #require(calls.map(\.isCancelled) == [true])
        #expect(await late?.kind == .cancelled)
        #expect(script.openExchangeCount == 0)
        #expect(pager.pageCount == 0)
        #expect(try await pager.loadNextPage()?.rows == [10])
        #expect(try await pager.loadNextPage()?.rows == [20])
        #expect(script.requests.map(\.request.url.query) == ["page=1", "page=2", "page=1", "page=2"])
    }

    @Test("An answer that has come when the reset is made is dropped, too")
    func resetWhileArriving() async throws {
        let pagers = Box<[Pager<ListRows>]>([])
        // The reset happens while the answer is being judged: after the wire, before it lands.
        let source = PageSource<ListRows>.numbered(
            isLast: { page in
                if page.rows == [1] { pagers.value[0].reset() }
                return false
            },
            endpoint: { ListRows(page: $0) })
        let script = ScriptedTransport([.respond(.rows([1])), .respond(.rows([2]))])
        let pager = Pager(CallSupport.client(script), source)
        pagers.value = [pager]
        #expect(await error(pager)?.kind == .cancelled)
        #expect(pager.pageCount == 0)
        #expect(try await pager.loadNextPage()?.rows == [2])
        #expect(script.requests.map(\.request.url.query) == ["page=1", "page=1"])
        pagers.value = []
    }

    @Test("Who is cancelled leaves the others their page; the load ends when the last has left")
    func cancellation() async throws {
        let gate = GateTransport { _ throws(TransportError) in .rows([1]) }
        let pager = Pager(CallSupport.client(gate), .byNumber)
        let tasks = (0..<2).map { _ in Task { await error(pager)?.kind } }
        while !Task.isCancelled, pager.waiterCount < 2 { await Task.yield() }
        await gate.waitForRequests(1)
        tasks[0].cancel()
        #expect(await tasks[0].value == .cancelled)
        #expect(gate.open.count == 1)
        tasks[1].cancel()
        #expect(await tasks[1].value == .cancelled)
        await gate.waitForOpen(0)
        gate.releaseAll()
        #expect(try await pager.loadNextPage()?.rows == [1])
        #expect(gate.began.count == 2)
    }

    @Test("When the scope goes the load ends, and no other begins")
    func scopeGoes() async throws {
        let gate = GateTransport { _ throws(TransportError) in .rows([1]) }
        var scope: CallScope? = CallScope()
        let pager = Pager(CallSupport.client(gate), .byNumber, in: scope)
        let load = Task { await error(pager)?.kind }
        await gate.waitForRequests(1)
        scope = nil
        #expect(await load.value == .cancelled)
        #expect(await error(pager)?.kind == .cancelled)
        #expect(gate.began.count == 1)
    }

    @Test("A page that is not the one asked for is refused and not given out")
    func unexpectedPages() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1], page: 1)), .respond(.rows([3], page: 3)), .respond(.rows([2], page: 2)),
        ])
        let pager = Pager(CallSupport.client(script), .byNumber)
        try await pager.loadNextPage()
        let failure = await error(pager)
        #expect(failure?.underlying as? PagingError == .unexpectedPage(asked: 2, answered: 3))
        #expect(failure?.kind == .validation(rule: "paging"))
        #expect(failure?.response?.status == 200)
        #expect(failure?.request?.url.query == "page=2")
        #expect(failure?.sendState == .answered)
        #expect(failure?.attempts.count == 1)
        #expect(try await pager.loadNextPage()?.rows == [2])
    }

    @Test("Pages by offset go on after the rows that came, to the total")
    func offsets() async throws {
        let script = ScriptedTransport([
            .respond(.rows([0, 1, 2], total: 5)), .respond(.rows([3], total: 5)), .respond(.rows([4], total: 5)),
        ])
        let source = PageSource<ListRows>.offset(size: 3, count: \.rows.count, total: \.total) { ListRows(offset: $0) }
        let pager = Pager(CallSupport.client(script), source)
        while try await pager.loadNextPage() != nil {}
        #expect(script.requests.map(\.request.url.query) == ["offset=0", "offset=3", "offset=4"])
    }

    @Test("Pages by cursor go on until there is none", arguments: [nil, ""])
    func cursors(end: String?) async throws {
        let script = ScriptedTransport([.respond(.rows([1], next: "b/c")), .respond(.rows([2], next: end))])
        let pager = Pager(CallSupport.client(script), .cursor(\.next) { ListRows(after: $0) })
        while try await pager.loadNextPage() != nil {}
        #expect(script.requests.map(\.request.url.query) == [nil, "after=b%2Fc"])
    }

    @Test("A service that repeats a cursor, and one that never ends, come to a typed end")
    func endlessServices() async throws {
        let repeating = StubTransport { _ throws(TransportError) in .rows([1], next: "same") }
        let pager = Pager(CallSupport.client(repeating), .cursor(\.next) { ListRows(after: $0) })
        try await pager.loadNextPage()
        try await pager.loadNextPage()
        #expect(await error(pager)?.underlying as? PagingError == .repeated(.cursor("same")))
        #expect(repeating.requests.count == 2)

        let counter = Box(0)
        let endless = StubTransport { _ throws(TransportError) in
            counter.update { $0 += 1 }
            return .rows([], next: "\(counter.value)")
        }
        let source = PageSource<ListRows>.cursor(\.next, limits: PagingLimits(pages: 50)) { ListRows(after: $0) }
        var pages = 0
        let failure = await failure {
            for try await _ in CallSupport.client(endless).items(\.rows, of: source) { pages += 1 }
        }
        #expect(failure?.underlying as? PagingError == .tooManyPages(limit: 50))
        #expect(endless.requests.count == 50)
        #expect(pages == 0)
    }

    @Test("A list is a sequence of its pages and of its items, each iteration from the beginning")
    func sequences() async throws {
        let stub = StubTransport(Self.numbered)
        let client = CallSupport.client(stub)
        let pages = client.pages(PageSource.byNumber)
        for _ in 0..<2 {
            var rows: [[Int]] = []
            for try await page in pages { rows.append(page.rows) }
            #expect(rows == [[10, 11], [20, 21], [30, 31], []])
        }
        var items: [Int] = []
        for try await item in client.items(\.rows, of: PageSource.byNumber) {
            items.append(item)
            if item == 20 { break }
        }
        #expect(items == [10, 11, 20])
        #expect(stub.requests.count == 10)
    }

    @Test("What a sequence of pages or items throws is an error of the call, also to the compiler")
    func typedSequences() async throws {
        let client = CallSupport.client(StubTransport { _ throws(TransportError) in HTTPResponse(status: 500) })
        func pages() async throws(APIError) { for try await _ in client.pages(PageSource.byNumber) {} }
        func items() async throws(APIError) { for try await _ in client.items(\.rows, of: PageSource.byNumber) {} }
        for load in [pages, items] {
            do throws(APIError) {
                try await load()
                Issue.record("nothing was thrown")
            } catch {
                #expect(error.kind == .httpStatus(500))
            }
        }
    }

    @Test("Cancelling the task of an iteration ends the load it waits for")
    func cancelledIteration() async throws {
        let gate = GateTransport { _ throws(TransportError) in .rows([1]) }
        let client = CallSupport.client(gate)
        let task = Task { await failure { for try await _ in client.pages(PageSource.byNumber) {} } }
        await gate.waitForRequests(1)
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
        await gate.waitForOpen(0)
    }
}
