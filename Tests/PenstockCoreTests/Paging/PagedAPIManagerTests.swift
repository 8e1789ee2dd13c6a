import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The long-lived object of one list.
@Suite(.timeLimit(.minutes(5))) @MainActor struct PagedAPIManagerTests {
    @Test("It loads page after page, keeps them, tells its delegate, and stops at the last")
    func pages() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1])), .respond(HTTPResponse(status: 500)), .respond(.rows([2])), .respond(.rows([])),
        ])
        let (manager, screen) = listed(script)
        for count in 1...4 {
            #expect(manager.loadNextPage() != nil)
            #expect(manager.isLoading)
            await screen.told.wait(for: count)
            #expect(!manager.isLoading)
        }
        #expect(screen.told.values == [nil, .httpStatus(500), nil, nil])
        #expect(manager.pages.map(\.rows) == [[1], [2], []])
        #expect(manager.response?.value.rows == [])
        #expect(manager.payload?.data == script.requests.last.map { _ in HTTPResponse.rows([]).body })
        #expect(manager.error == nil)
        #expect(!manager.hasMore)
        #expect(manager.load() == nil)
        #expect(script.requests.map(\.request.url.query) == ["page=1", "page=2", "page=2", "page=3"])
    }

    @Test("Asking while a page is loading is one hit, and the same call")
    func oneHit() async throws {
        let script = ScriptedTransport([.held(.respond(.rows([1])))])
        let (manager, screen) = listed(script)
        let first = manager.loadNextPage()
        #expect(first != nil && manager.loadNextPage() == first && manager.load() == first)
        await script.waitForExchanges(count: 1)
        script.release()
        await screen.told.wait(for: 1)
        await drainMainActor()
        #expect(screen.told.values == [nil])
        #expect(script.requests.count == 1)
    }

    @Test("After a reset nothing from before it is shown or told")
    func reset() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1])), .held(.respond(.rows([2]))), .respond(.rows([10])),
        ])
        let (manager, screen) = listed(script)
        manager.loadNextPage()
        await screen.told.wait(for: 1)
        manager.loadNextPage()
        await script.waitForExchanges(count: 2)
        manager.reset()
        #expect(manager.pages.isEmpty && !manager.isLoading && manager.response == nil)
        manager.loadNextPage()
        await screen.told.wait(for: 2)
        await drainMainActor()
        #expect(screen.told.values == [nil, nil])
        #expect(manager.pages.map(\.rows) == [[10]])
        #expect(script.openExchangeCount == 0)
    }

    @Test("Cancelling ends the call, is told of, and does not advance")
    func cancelled() async throws {
        let script = ScriptedTransport([.held(.respond(.rows([1]))), .respond(.rows([1]))])
        let (manager, screen) = listed(script)
        manager.loadNextPage()
        await script.waitForExchanges(count: 1)
        manager.cancel()
        await screen.told.wait(for: 1)
        #expect(screen.told.values == [.cancelled])
        manager.loadNextPage()
        await screen.told.wait(for: 2)
        #expect(manager.pages.map(\.rows) == [[1]])
        #expect(script.requests.map(\.request.url.query) == ["page=1", "page=1"])
    }

    @Test("Hooks stand around each page, and a veto lets the same page be asked for again", .covers("S3.26"))
    func hooks() async throws {
        let script = ScriptedTransport([.respond(.rows([1])), .respond(.rows([2]))])
        let screen = Screen()
        let manager = Hooked(client: CallSupport.client(script), .byNumber)
        manager.delegate = screen
        manager.isVetoing = true
        #expect(manager.loadNextPage() == nil)
        try #require(!manager.isLoading)
        manager.isVetoing = false
        manager.loadNextPage()
        await screen.told.wait(for: 1)
        manager.isSilent = true
        manager.loadNextPage()
        while !Task.isCancelled, manager.pages.count < 2 { await Task.yield() }
        await drainMainActor()
        #expect(screen.told.values == [nil])
        #expect(
            manager.log == [
                "will page 1", "did page 1 false", "will page 1", "did page 1 true", "deliver", "delivered",
                "will page 2", "did page 2 true", "deliver", "delivered",
            ])
    }

    @Test("The options of the list go with the call for each page")
    func options() async throws {
        let stub = StubTransport { _ throws(TransportError) in .rows([1]) }
        let screen = Screen()
        let manager = PagedAPIManager(
            client: CallSupport.client(stub), .byNumber, options: .headers(["X-List": "all"]))
        manager.delegate = screen
        for count in 1...2 {
            manager.loadNextPage()
            await screen.told.wait(for: count)
        }
        #expect(stub.requests.map { $0.fields["X-List"] } == ["all", "all"])
    }

    @Test("A service that leads in circles is told of as a failure")
    func circles() async throws {
        let stub = StubTransport { _ throws(TransportError) in .rows([1], next: "a") }
        let screen = Screen()
        let manager = PagedAPIManager(client: CallSupport.client(stub), .cursor(\.next) { ListRows(after: $0) })
        manager.delegate = screen
        for count in 1...2 {
            manager.loadNextPage()
            await screen.told.wait(for: count)
        }
        #expect(manager.loadNextPage() == nil)
        #expect(screen.told.values == [nil, nil, .validation(rule: "paging")])
        #expect(stub.requests.count == 2)
    }

    @Test(
        "What is wrong with the pages themselves is seen as the app wants it, the service before the client",
        .covers("S2.23"))
    func mapped() async throws {
        let asked = Locked(0)
        let stub = StubTransport { _ throws(TransportError) in .rows([1], next: "a") }
        let client = CallSupport.client(stub) {
            $0.services = [
                Service(
                    .main, "https://api.example.com",
                    errorMapper: ErrorMapper { error in
                        asked.withLock { $0 += 1 }
                        return error.kind == .validation(rule: "paging") ? .init(code: 1) : nil
                    })
            ]
            $0.errorMapper = ErrorMapper { _ in .init(code: 2) }
        }
        let screen = Screen()
        let manager = PagedAPIManager(client: client, .cursor(\.next) { ListRows(after: $0) })
        manager.delegate = screen
        for count in 1...2 {
            manager.loadNextPage()
            await screen.told.wait(for: count)
        }
        manager.loadNextPage()
        #expect(manager.error?.presentation?.code == 1)
        #expect(asked.withLock { $0 } == 1)
        let pager = Pager(client, .cursor(\.next) { ListRows(after: $0) })
        for _ in 1...2 { try await pager.loadNextPage() }
        let error = await #expect(throws: APIError.self) { try await pager.loadNextPage() }
        #expect(error?.presentation?.code == 1)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("Clearing removes what is stored of every page that came, links included")
    func clearing() async throws {
        let stub = StubTransport { request throws(TransportError) in
            var response = HTTPResponse.rows([1], link: request.url.query == nil ? ["</rows?page=2>; rel=next"] : [])
            response.fields["Cache-Control"] = "max-age=1000"
            return response
        }
        let client = CallSupport.client(stub) { $0.options = .cache(.http) }
        let screen = Screen()
        let manager = PagedAPIManager(client: client, .link { ListRows() })
        manager.delegate = screen
        func loadBoth() async {
            let told = screen.told.values.count
            manager.reset()
            manager.loadNextPage()
            await screen.told.wait(for: told + 1)
            manager.loadNextPage()
            await screen.told.wait(for: told + 2)
        }
        await loadBoth()
        await loadBoth()
        #expect(stub.requests.count == 2)
        #expect(try await manager.clearCache())
        await loadBoth()
        #expect(stub.requests.count == 4)
    }

    private func listed(_ transport: any Transport) -> (PagedAPIManager<ListRows>, Screen) {
        let screen = Screen()
        let manager = PagedAPIManager(client: CallSupport.client(transport), .byNumber)
        manager.delegate = screen
        return (manager, screen)
    }
}

@MainActor
private final class Screen: APIManagerDelegate {
    let told = Mailbox<APIError.Kind?>()

    func managerDidSucceed(_ manager: any AnyAPIManager) { told.put(nil) }
    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { told.put(error.kind) }
}

@MainActor
private final class Hooked: PagedAPIManager<ListRows> {
    var log: [String] = []
    var isVetoing = false
    var isSilent = false

    override func willLoad(_ position: PagePosition) -> Bool {
        log.append("will \(position)")
        return !isVetoing
    }
    override func didLoad(_ position: PagePosition, as id: CallID?) { log.append("did \(position) \(id != nil)") }
    override func willDeliver(_ result: Result<Rows, APIError>) -> Bool {
        log.append("deliver")
        return !isSilent
    }
    override func didDeliver(_ result: Result<Rows, APIError>) { log.append("delivered") }
}
