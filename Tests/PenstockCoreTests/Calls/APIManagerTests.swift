import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The long-lived object of one API.
@Suite(.timeLimit(.minutes(5))) @MainActor struct APIManagerTests {
    @Test("It loads with the parameters of the moment, keeps the payload, and tells its delegate")
    func loads() async throws {
        let stub = CallSupport.answering()
        let page = Page()
        let manager = APIManager(client: CallSupport.client(stub), source: page)
        manager.delegate = page
        #expect(manager.payload == nil)
        page.name = "first"
        manager.load()
        #expect(manager.isLoading)
        await page.outcomes.wait(for: 1)
        page.name = "second"
        manager.load()
        await page.outcomes.wait(for: 2)
        #expect(!manager.isLoading)
        #expect(stub.requests.map(\.url.query) == ["name=first", "name=second"])
        #expect(manager.payload?.data == CallSupport.greeting.body)
        #expect(manager.response?.value == Message(text: "hello"))
    }

    @Test("Many reformers work on one payload with one request; without one there is the raw payload", .covers("S3.15"))
    func reformersShareOnePayload() async throws {
        let stub = CallSupport.answering()
        let page = Page()
        let manager = APIManager(client: CallSupport.client(stub)) { Hello() }
        manager.delegate = page
        #expect(try await manager.reformed(with: Length()) == nil)
        manager.load()
        await page.outcomes.wait(for: 1)
        #expect(try await manager.reformed(with: Length()) == 5)
        #expect(try await manager.reformed(with: Loud()) == "HELLO")
        #expect(manager.payload?.data == CallSupport.greeting.body)
        #expect(stub.requests.count == 1)
    }

    @Test("Hooks run inner before outer, around the load and around the delivery", .covers("S3.21"))
    func hooksRunInOrder() async throws {
        let log = Log()
        let (manager, page) = observed(CallSupport.answering(), log)
        manager.load()
        await page.outcomes.wait(for: 1)
        #expect(
            log.lines == [
                "inner willLoad", "outer willLoad", "inner didLoad", "outer didLoad",
                "inner willDeliver", "outer willDeliver", "delegate", "inner didDeliver", "outer didDeliver",
            ])
    }

    @Test(
        "Either hook may veto the load, and the hooks after it still run", .covers("S3.21"),
        arguments: ["inner", "outer"])
    func eitherMayVetoTheLoad(who: String) async throws {
        let log = Log(vetoes: "\(who) willLoad")
        let stub = CallSupport.answering()
        let (manager, page) = observed(stub, log)
        #expect(manager.load() == nil)
        await drainMainActor()
        #expect(stub.requests.isEmpty)
        #expect(page.outcomes.values.isEmpty)
        #expect(log.lines.suffix(2) == ["inner didLoad", "outer didLoad"])
    }

    @Test(
        "Either hook may keep a result from the delegate, and the hooks after it still run", .covers("S3.21"),
        arguments: ["inner", "outer"], [true, false])
    func eitherMayVetoTheDelivery(who: String, succeeds: Bool) async throws {
        let log = Log(vetoes: "\(who) willDeliver")
        let stub = succeeds ? CallSupport.answering() : StubTransport()
        let (manager, page) = observed(stub, log)
        manager.load()
        while !Task.isCancelled, manager.isLoading { await Task.yield() }
        #expect(page.outcomes.values.isEmpty)
        #expect(log.lines.suffix(2) == ["inner didDeliver", "outer didDeliver"])
    }

    @Test("Cancelling a manager ends its own calls and no others", .covers("S3.22"))
    func cancelsOnlyItsOwn() async throws {
        let transport = CallSupport.holding(2)
        let client = CallSupport.client(transport)
        let (first, second) = (Page(), Page())
        let one = APIManager(client: client, source: first)
        let other = APIManager(client: client, source: second)
        (one.delegate, other.delegate) = (first, second)
        one.load()
        await transport.waitForExchanges(count: 1)
        other.load()
        await transport.waitForExchanges(count: 2)
        one.cancel()
        await first.outcomes.wait(for: 1)
        #expect(first.outcomes.values == [.cancelled])
        #expect(other.isLoading)
        transport.release()
        await second.outcomes.wait(for: 1)
        #expect(second.outcomes.values == [nil])
        #expect(first.outcomes.values.count == 1)
    }

    @Test("Cancelling a manager ends all of its calls, and its delegate hears of each", .covers("S3.22"))
    func cancelsAllOfItsOwn() async throws {
        let transport = CallSupport.holding(3)
        let client = CallSupport.client(transport)
        let page = Page()
        let manager = APIManager(client: client, source: page)
        manager.delegate = page
        for count in 1...3 {
            manager.load()
            await transport.waitForExchanges(count: count)
        }
        let calls = client.calls
        manager.cancel()
        #expect(calls.map(\.isCancelled) == [true, true, true])
        client.cancelAll()
        await page.outcomes.wait(for: 3)
        #expect(page.outcomes.values == [.cancelled, .cancelled, .cancelled])
        #expect(!manager.isLoading)
    }

    @Test("The calls of a manager that goes end, and nobody hears of them", .covers("S3.23"))
    func diesWithItsCalls() async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport)
        let page = Page()
        var manager: APIManager<Hello>? = APIManager(client: client, source: page)
        manager?.delegate = page
        manager?.load()
        await transport.waitForExchanges(count: 1)
        manager = nil
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
        await drainMainActor()
        #expect(transport.openExchangeCount == 0)
        #expect(page.outcomes.values.isEmpty)
    }

    @Test("A manager that was made to let its calls finish does not end them", .covers("S3.23"))
    func fireAndKeep() async throws {
        let transport = CallSupport.holding()
        let recorder = EventRecorder()
        let client = CallSupport.client(transport) { $0.sinks = [recorder] }
        var manager: APIManager<Hello>? = APIManager(client: client, lifetime: .finishes) { Hello() }
        manager?.load()
        await transport.waitForExchanges(count: 1)
        manager = nil
        transport.release()
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
        #expect(recorder.records.contains { if case .callEnded(.success) = $0.event { true } else { false } })
    }

    @Test("Only the delegate of the manager that loaded hears of it", .covers("S3.13"))
    func resultsAreNotBroadcast() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let pages = (0..<3).map { _ in Page() }
        let managers = pages.map { page in
            let manager = APIManager(client: client, source: page)
            manager.delegate = page
            return manager
        }
        managers[1].load()
        await pages[1].outcomes.wait(for: 1)
        await drainMainActor()
        #expect(pages.map(\.outcomes.values.count) == [0, 1, 0])
        #expect(pages[1].heard.first === managers[1])
    }

    @Test("A source that throws fails the load with its own error and sends nothing")
    func throwingSources() async throws {
        let stub = CallSupport.answering()
        let page = Page()
        let manager = APIManager<Hello>(client: CallSupport.client(stub)) { throw CocoaError(.fileNoSuchFile) }
        manager.delegate = page
        #expect(manager.load() == nil)
        #expect(page.outcomes.values.count == 1)
        #expect(manager.error?.underlying is CocoaError)
        #expect(stub.requests.isEmpty)
    }

    @Test("What a source throws is seen as the app wants it, and asked about once", .covers("S2.23"))
    func mappedSources() async throws {
        let asked = Locked(0)
        let client = CallSupport.client(CallSupport.answering()) {
            $0.errorMapper = ErrorMapper { _ in
                asked.withLock { $0 += 1 }
                return .init(code: 12, userText: "mapped")
            }
        }
        let manager = APIManager<Hello>(client: client) { throw CocoaError(.fileNoSuchFile) }
        manager.load()
        #expect(manager.error?.presentation?.code == 12)
        #expect(asked.withLock { $0 } == 1)
        let own = APIManager<Hello>(client: client) {
            var error = APIError(.cacheMiss, stage: .prepare)
            error.presentation = .init(code: 3)
            throw error
        }
        own.load()
        #expect(own.error?.presentation?.code == 3)
        #expect(asked.withLock { $0 } == 1)
    }

    private func observed(_ transport: any Transport, _ log: Log) -> (APIManager<Hello>, Page) {
        let page = Page(log)
        let manager = LoggedManager(client: CallSupport.client(transport), source: page)
        manager.log = log
        manager.delegate = page
        manager.interceptor = log
        return (manager, page)
    }

    private struct Length: Reformer {
        func reform(_ payload: Payload) throws -> Int { try payload.value(String.self, at: "text").count }
    }

    private struct Loud: Reformer {
        func reform(_ payload: Payload) throws -> String { try payload.value(String.self, at: "text").uppercased() }
    }
}

/// A page that knows the parameters and hears the results.
@MainActor
private final class Page: APIParameterSource, APIManagerDelegate {
    var name = "world"
    let outcomes = Mailbox<APIError.Kind?>()
    private(set) var heard: [any AnyAPIManager] = []
    private let log: Log?

    init(_ log: Log? = nil) {
        self.log = log
    }

    func endpoint() -> Hello? { Hello(name: name) }

    func managerDidSucceed(_ manager: any AnyAPIManager) {
        hear(manager, nil)
    }

    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) {
        hear(manager, error.kind)
    }

    private func hear(_ manager: any AnyAPIManager, _ kind: APIError.Kind?) {
        heard.append(manager)
        log?.note("delegate")
        outcomes.put(kind)
    }
}

/// Writes down the hooks as they run; the outer ones itself.
@MainActor
private final class Log: APIManagerInterceptor {
    private(set) var lines: [String] = []
    private let vetoed: String?

    init(vetoes vetoed: String? = nil) {
        self.vetoed = vetoed
    }

    @discardableResult
    func note(_ line: String) -> Bool {
        lines.append(line)
        return line != vetoed
    }

    func manager(_ manager: any AnyAPIManager, willLoad endpoint: any Endpoint) -> Bool { note("outer willLoad") }
    func manager(_ manager: any AnyAPIManager, didLoad endpoint: any Endpoint, as id: CallID?) { note("outer didLoad") }
    func manager(_ manager: any AnyAPIManager, willDeliver error: APIError?) -> Bool { note("outer willDeliver") }
    func manager(_ manager: any AnyAPIManager, didDeliver error: APIError?) { note("outer didDeliver") }
}

/// A manager with hooks of its own.
@MainActor
private final class LoggedManager: APIManager<Hello> {
    var log: Log?

    override func willLoad(_ endpoint: Hello) -> Bool { log?.note("inner willLoad") ?? true }
    override func didLoad(_ endpoint: Hello, as id: CallID?) { log?.note("inner didLoad") }
    override func willDeliver(_ result: Result<APIResponse<Message>, APIError>) -> Bool {
        log?.note("inner willDeliver") ?? true
    }
    override func didDeliver(_ result: Result<APIResponse<Message>, APIError>) { log?.note("inner didDeliver") }
}
