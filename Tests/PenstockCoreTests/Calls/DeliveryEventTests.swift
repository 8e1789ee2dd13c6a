import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What an observer is told of the last step of a call, the delivery of its result.
@Suite(.timeLimit(.minutes(5))) struct DeliveryEventTests {
    // MARK: Each receiver

    @Test(
        "The delivery to a task that awaits a call lies before the end of the call, of an output and of an error",
        .covers("S0.22"), arguments: [200, 500])
    func awaited(status: Int) async throws {
        let url = try HTTPURL("https://api.example.com/hello")
        let sends: [@Sendable (APIClient) async throws -> Void] = [
            { _ = try await $0.send(Hello()) },
            { _ = try await $0.response(for: Hello()) },
            { let _: Message = try await $0.get("/hello") },
            { _ = try await $0.send(HTTPRequest(method: .get, url: url), options: .with { $0.status = .success }) },
        ]
        for send in sends {
            let diary = Diary()
            try? await send(Self.client(diary, status))
            #expect(diary.lines == ["delivery", "/delivery success", "callEnded \(Self.outcome(of: status))"])
        }
    }

    /// The ways to hear of a call without awaiting it.
    enum Hearing: CaseIterable {
        case closure, actor, added, delegate, method, manager, pagedManager
    }

    @Test(
        "The delivery to who is told later ends after the end of the call, when all have been told", .covers("S0.22"),
        arguments: Hearing.allCases, [200, 500])
    @MainActor func told(_ hearing: Hearing, status: Int) async throws {
        let diary = Diary()
        let (gate, screen, clerk) = (Latch(), Screen(diary), Clerk())
        let client = Self.client(diary, status, after: gate)
        let manager = APIManager(client: client) { Hello() }
        let pages = PagedAPIManager(client: client, .numbered(isLast: { _ in true }) { _ in Hello() })
        (manager.delegate, pages.delegate) = (screen, screen)
        switch hearing {
        case .closure: client.start(Hello()) { screen.show($0) }
        case .actor: client.start(Hello(), on: clerk) { _, _ in diary.note("told") }
        case .added: client.start(Hello()).onResult { screen.show($0) }
        case .delegate: client.start(Hello(), delegate: screen)
        case .method: client.start(Hello()).deliver(to: screen, Screen.show)
        case .manager: manager.load()
        case .pagedManager: pages.loadNextPage()
        }
        gate.open()
        await diary.waits(for: "/delivery success")
        let ended = "callEnded \(Self.outcome(of: status))"
        #expect(diary.lines == ["delivery", ended, "told", "/delivery success"])
        withExtendedLifetime((screen, clerk, manager, pages)) {}
    }

    @Test("The delivery to all of many lasts until the last has been told", .covers("S0.22"))
    @MainActor func many() async throws {
        let diary = Diary()
        let (gate, screen, clerk) = (Latch(), Screen(diary), Clerk())
        let call = Self.client(diary, after: gate).start(Hello()) { screen.show($0) }
            .onResult { screen.show($0) }
            .onResult(on: clerk) { _, _ in diary.note("told") }
            .deliver(to: screen)
        gate.open()
        _ = await call.result
        #expect(diary.lines == ["delivery", "callEnded success", "told", "told", "told", "told", "/delivery success"])
        withExtendedLifetime(clerk) {}
    }

    @Test("The delivery by a handle without closures ends after the end of the call as well", .covers("S0.22"))
    func handle() async throws {
        let diary = Diary()
        let client = Self.client(diary)
        let told = ["delivery", "callEnded success", "/delivery success"]
        _ = try await client.start(Hello()).value
        #expect(diary.lines == told)
        for try await _ in client.start(Hello()).updates {}
        await diary.waits(for: "/delivery success", count: 2)
        for try await _ in client.responses(to: Hello()) {}
        await diary.waits(for: "/delivery success", count: 3)
        #expect(diary.lines == told + told + told)
    }

    @Test("Streamed content is delivered from its head to its end, however it ends", .covers("S0.22"))
    func streamed() async throws {
        let diary = Diary()
        let client = Self.client(diary)
        let whole = try await client.stream(Hello())
        #expect(diary.lines == ["delivery"])
        _ = try await whole.collect()
        #expect(diary.lines == ["delivery", "content", "/delivery success", "callEnded success"])

        let left = Diary()
        var dropped: StreamedResponse? = try await Self.client(left).stream(Hello())
        #expect(dropped?.http.status == 200)
        dropped = nil
        #expect(left.lines == ["delivery", "content", "/delivery cancelled", "callEnded cancelled"])

        let failing = Diary()
        await #expect(throws: APIError.self) { try await Self.client(failing, 500).stream(Hello()) }
        #expect(failing.lines.suffix(3) == ["delivery", "/delivery success", "callEnded httpStatus"])
    }

    @Test("An error from before anything was sent is delivered like any other", .covers("S0.22"))
    func refusedBeforeSending() async throws {
        let diary = Diary()
        let vetoing = Intercepting { _, _, _ in throw APIError(.blocked(reason: "no"), stage: .callInterception) }
        let client = Self.client(diary).with { $0.callInterceptors = [vetoing] }
        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        _ = await client.start(Hello()) { _ in diary.note("told") }.result
        #expect(
            diary.lines == [
                "delivery", "/delivery success", "callEnded blocked",
                "delivery", "callEnded blocked", "told", "/delivery success",
            ])
    }

    // MARK: The actor is busy

    /// What happens to a call between its end and its delivery.
    enum Turn: CaseIterable {
        case nothing, cancelled, ownerGone, receiverGone
    }

    @Test(
        "A main actor that is held puts off the delivery and not the end of the call", .covers("S0.22"),
        arguments: Turn.allCases)
    @MainActor func held(_ turn: Turn) async throws {
        let diary = Diary()
        var (page, screen): (CallScope?, Screen?) = (CallScope(), Screen(diary))
        let call = Self.client(diary).start(Hello(), delegate: try #require(screen), in: page)
        // The main actor is held here, where the delivery is to be, until the call is over.
        diary.holdsUntilEnd()
        #expect(diary.lines == ["delivery", "callEnded success"])
        switch turn {
        case .nothing: break
        case .cancelled: call.cancel()
        case .ownerGone: page = nil
        case .receiverGone: screen = nil
        }
        _ = await call.result
        let rest =
            switch turn {
            case .nothing: ["told", "/delivery success"]
            case .cancelled: ["told cancelled", "/delivery cancelled"]
            case .ownerGone, .receiverGone: ["/delivery cancelled"]
            }
        #expect(diary.lines == ["delivery", "callEnded success"] + rest)
        withExtendedLifetime((page, screen)) {}
    }

    // MARK: What is not delivered

    @Test("Where the owner has gone nothing is delivered, and the step says so", .covers("S0.22"))
    @MainActor func ownerGone() async throws {
        let (diary, transport) = (Diary(), CallSupport.holding())
        let client = CallSupport.client(transport) { $0.sinks = [diary] }
        var page: CallScope? = CallScope()
        let call = client.start(Hello(), in: page) { _ in diary.note("told") }
        await transport.waitForExchanges(count: 1)
        page = nil
        _ = await call.result
        #expect(page == nil)
        #expect(diary.lines == ["delivery", "callEnded cancelled", "/delivery cancelled"])
    }

    @Test("A manager that has gone gets nothing of a call that it has let finish", .covers("S0.22"))
    @MainActor func managerGone() async throws {
        let (diary, transport) = (Diary(), CallSupport.holding())
        let client = CallSupport.client(transport) { $0.sinks = [diary] }
        var manager: APIManager<Hello>? = APIManager(client: client, lifetime: .finishes) { Hello() }
        manager?.load()
        await transport.waitForExchanges(count: 1)
        manager = nil
        transport.release()
        await diary.waits(for: "/delivery cancelled")
        #expect(manager == nil)
        #expect(diary.lines == ["delivery", "callEnded success", "/delivery cancelled"])
    }

    @Test("A cancellation from before the response is delivered as what became of the call", .covers("S0.22"))
    @MainActor func cancelledOnTheWire() async throws {
        let (diary, transport) = (Diary(), CallSupport.holding(2))
        let client = CallSupport.client(transport) { $0.sinks = [diary] }
        let call = client.start(Hello()) { Screen(diary).show($0) }
        await transport.waitForExchanges(count: 1)
        call.cancel()
        _ = await call.result
        let task = Task { try await client.send(Hello()) }
        await transport.waitForExchanges(count: 2)
        task.cancel()
        _ = await task.result
        #expect(
            diary.lines == [
                "delivery", "callEnded cancelled", "told cancelled", "/delivery success",
                "delivery", "/delivery success", "callEnded cancelled",
            ])
    }

    @Test("What is ended once its response was judged is not delivered as it is, whoever waits", .covers("S0.22"))
    @MainActor func cancelledWhileJudged() async throws {
        let (diary, clients) = (Diary(), Box<APIClient?>(nil))
        let client = Self.client(diary)
        clients.value = client
        defer { clients.value = nil }
        await #expect(throws: APIError.self) { try await client.send(Ending(client: clients)) }
        _ = await client.start(Ending(client: clients)) { Screen(diary).show($0) }.result
        #expect(
            diary.lines == [
                "delivery", "/delivery cancelled", "callEnded cancelled",
                "delivery", "callEnded cancelled", "told cancelled", "/delivery cancelled",
            ])
    }

    @Test(
        "The first that is told may end the call for those after it, and then not all was delivered", .covers("S0.22"))
    @MainActor func cancelledByTheFirst() async throws {
        let diary = Diary()
        let (gate, screen) = (Latch(), Screen(diary))
        let client = Self.client(diary, after: gate)
        let calls = Box<Call<Message>?>(nil)
        let call = client.start(Hello()) { result in
            screen.show(result)
            calls.value?.cancel()
        }
        calls.value = call
        call.deliver(to: screen, Screen.show)
        gate.open()
        _ = await call.result
        calls.value = nil
        #expect(diary.lines == ["delivery", "callEnded success", "told", "told cancelled", "/delivery cancelled"])
    }

    @Test("Who asks for the result later is told it, and an observer is told nothing more", .covers("S0.22"))
    @MainActor func late() async throws {
        let diary = Diary()
        let call = Self.client(diary).start(Hello())
        _ = await call.result
        let mailbox = Mailbox<Result<Message, APIError>>()
        call.onResult(mailbox.put)
        await mailbox.wait(for: 1)
        await drainMainActor()
        #expect(diary.lines == ["delivery", "callEnded success", "/delivery success"])
    }

    @Test("A stored response that comes first is not the result, and no step of its own", .covers("S0.22"))
    @MainActor func stored() async throws {
        let diary = Diary()
        let rig = CacheRig(CachePolicy(.cacheThenNetwork, ttl: .seconds(60)))
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let gate = Latch()
        let client = rig.client.with {
            $0.sinks = [diary]
            $0.callInterceptors = [Self.waiting(for: gate)]
        }
        let call = client.start(Tea())
            .onCached { diary.note("stored \($0.value.id)") }
            .onResult { diary.note("told \((try? $0.get().id) ?? 0)") }
        gate.open()
        _ = await call.result
        let told = diary.lines
        #expect(told.filter { $0 != "stored 1" } == ["delivery", "callEnded success", "told 2", "/delivery success"])
        #expect(told.count == 5)
    }

    // MARK: Support

    /// - Parameter gate: what its calls wait for before they send.
    private static func client(_ diary: Diary, _ status: Int = 200, after gate: Latch? = nil) -> APIClient {
        CallSupport.client(StubTransport { _ in HTTPResponse(status: status, body: CallSupport.greeting.body) }) {
            $0.sinks = [diary]
            $0.callInterceptors = gate.map { [waiting(for: $0)] } ?? []
        }
    }

    private static func waiting(for gate: Latch) -> any Interceptor {
        Intercepting { request, _, next in
            await gate.wait()
            return try await next(request)
        }
    }

    private static func outcome(of status: Int) -> String { status == 200 ? "success" : "httpStatus" }

    private actor Clerk {}

    /// Ends all calls of its client while its own is judged.
    private struct Ending: Endpoint {
        typealias Output = Message
        let client: Box<APIClient?>
        var route: Route { .get("/hello") }
        var validator: Validator<Message> {
            .rule("ends all") { [client] _ in
                client.value?.cancelAll()
                return true
            }
        }
    }

    /// Hears of calls in every way that an object can.
    @MainActor private final class Screen: CallDelegate, APIManagerDelegate {
        private let diary: Diary

        init(_ diary: Diary) {
            self.diary = diary
        }

        func show(_ result: Result<Message, APIError>) {
            diary.note(result.failure?.kind == .cancelled ? "told cancelled" : "told")
        }

        func call(_ id: CallID, didFinishWith result: Result<Message, APIError>) { show(result) }

        func managerDidSucceed(_ manager: any AnyAPIManager) { diary.note("told") }

        func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { diary.note("told") }
    }

    /// Writes down the delivery and the end of calls, and what else a test notes, in the order in which they happen.
    private final class Diary: EventSink {
        private let notes = Box<[String]>([])
        private let end = DispatchSemaphore(value: 0)

        var lines: [String] { notes.value }

        func note(_ line: String) {
            notes.update { $0.append(line) }
        }

        func receive(_ event: Event, _ context: EventContext) {
            switch event {
            case .stageStarted(.delivery): note("delivery")
            case .stageEnded(.delivery, let outcome): note("/delivery \(Self.text(outcome))")
            case .contentEnded: note("content")
            case .callEnded(let outcome):
                note("callEnded \(Self.text(outcome))")
                end.signal()
            default: break
            }
        }

        /// Blocks the thread until a call has ended.
        func holdsUntilEnd() {
            end.wait()
        }

        func waits(for line: String, count: Int = 1) async {
            while !Task.isCancelled, lines.count(where: { $0 == line }) < count { await Task.yield() }
        }

        private static func text(_ outcome: Event.Outcome) -> String {
            switch outcome {
            case .success: "success"
            case .cancelled: "cancelled"
            case .failure(let kind): kind.name
            }
        }
    }
}
