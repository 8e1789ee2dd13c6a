import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Several calls that were begun as one, and a user or an environment that changes meanwhile.
@Suite(.timeLimit(.minutes(5))) struct CallPartyTests {
    private let user = Box("alice")

    private func client(_ transport: any Transport) -> APIClient {
        let bases: BaseURLs = [.development: "https://dev.example.com", .test: "https://test.example.com"]
        var configuration = APIClient.Configuration(services: [Service(.main, bases)], build: .debug)
        configuration.options.retry = RetryPolicy.none
        configuration.identity = { [user] in user.value }
        return APIClient(configuration, transport: transport)
    }

    private func change(_ client: APIClient, environment: Bool) throws {
        if environment { try client.switchEnvironment(to: .test) } else { user.value = "bob" }
    }

    @Test(
        "A batch under way goes on neither as another user nor in another environment", .covers("S1.22"),
        arguments: [false, true])
    func batch(environment: Bool) async throws {
        let gate = GateTransport()
        let client = client(gate)
        async let answers = client.batchResults((0..<5).map(Fetch.init(number:)), limit: 2)
        await gate.waitForRequests(2)
        try change(client, environment: environment)
        gate.releaseAll()
        #expect(await answers.map { $0.failure?.kind } == [nil, nil, .cancelled, .cancelled, .cancelled])
        #expect(Set(gate.began) == ["/0", "/1"])
        #expect(try await client.batch(Fetch("new"), Fetch("newer")).0.text == "/new")
    }

    @Test("What comes of one user's answer is not asked for as another", .covers("S1.22"), arguments: [false, true])
    func graph(environment: Bool) async throws {
        let gate = GateTransport()
        let client = client(gate)
        var graph = CallGraph()
        let parent = try graph.add(Fetch("parent"))
        let child = try graph.add(after: parent) { _ in Fetch("child") }
        let whole = graph
        async let run = client.run(whole)
        await gate.waitForRequests(1)
        try change(client, environment: environment)
        gate.releaseAll()
        let results = await run
        #expect(try results[parent].get().text == "/parent")
        guard case .failure(.failed(let error)) = results[child] else {
            Issue.record("\(results[child])")
            return
        }
        #expect(error.kind == .cancelled && gate.began == ["/parent"])
    }

    @Test("Calls whose options name an environment do not mind that the client has another one")
    func ownEnvironment() async throws {
        let gate = GateTransport()
        let client = client(gate)
        let options = CallOptions.with { $0.environment = .development }
        async let answers = client.batchResults((0..<3).map(Fetch.init(number:)), limit: 1, options: options)
        await gate.waitForRequests(1)
        try client.switchEnvironment(to: .test)
        gate.releaseAll()
        #expect(await answers.allSatisfy { $0.failure == nil })
        #expect(gate.requests.allSatisfy { $0.url.host == "dev.example.com" })
    }

    @Test(
        "One user's place in a list is not gone on from by another, who begins anew after a reset", .covers("S1.22"),
        arguments: [false, true])
    func pager(environment: Bool) async throws {
        let script = ScriptedTransport((1...4).map { .respond(.rows([$0], next: "secret")) })
        let client = client(script)
        let pager = Pager(client, .cursor(\.next) { ListRows(after: $0) })
        try await pager.loadNextPage()
        try change(client, environment: environment)
        await #expect(throws: APIError.self) { try await pager.loadNextPage() }
        #expect(script.requests.count == 1)
        pager.reset()
        try await pager.loadNextPage()
        #expect(script.requests.map(\.request.url.query) == [nil, nil])
    }

    @Test("Common headers of one user never go with what belongs to another, who was there when the call began")
    func commonHeaders() async throws {
        let (gate, headers) = (GateTransport(isOpen: true), Box(0))
        var configuration = APIClient.Configuration("https://api.example.com")
        configuration.identity = { [user] in user.value }
        configuration.headers = CommonHeaders { [user] in
            headers.update { $0 += 1 }
            return ["X-User": user.value]
        }
        // The user changes while the request is made, after the call has begun.
        configuration.parameters = CommonParameters { [user] in
            if headers.value == 1 { user.value = "bob" }
            return [:]
        }
        let client = APIClient(configuration, transport: gate)
        #expect(try await client.send(Fetch("first")).text == "/first")
        await #expect(throws: APIError.self) { try await client.send(Fetch("second")) }
        user.value = "alice"
        let raw = HTTPRequest(method: .get, url: try HTTPURL("https://api.example.com/raw"))
        headers.value = 5
        _ = try await client.send(raw)
        #expect(gate.requests.map { $0.fields["X-User"] } == ["alice", "alice"])
        #expect(client.callCount == 0)
    }

    @Test("The object of a list goes on for the user of its first page alone, until it is reset")
    @MainActor func manager() async throws {
        let script = ScriptedTransport((1...4).map { .respond(.rows([$0], next: "secret")) })
        let client = client(script)
        let manager = PagedAPIManager(client: client, .cursor(\.next) { ListRows(after: $0) })
        let ends = Mailbox<Int>()
        let listener = PageCounter(ends)
        manager.delegate = listener
        manager.loadNextPage()
        await ends.wait(for: 1)
        user.value = "bob"
        manager.loadNextPage()
        await ends.wait(for: 2)
        #expect(manager.error?.kind == .cancelled && script.requests.count == 1)
        manager.reset()
        manager.loadNextPage()
        await ends.wait(for: 3)
        #expect(manager.error == nil && manager.pages.count == 1)
        #expect(script.requests.map(\.request.url.query) == [nil, nil])
    }
}

/// Counts what it is told.
@MainActor private final class PageCounter: APIManagerDelegate {
    private let ends: Mailbox<Int>

    init(_ ends: Mailbox<Int>) {
        self.ends = ends
    }

    func managerDidSucceed(_ manager: any AnyAPIManager) { ends.put(1) }
    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { ends.put(0) }
}
