import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a handle offers to those who wait.
@Suite(.timeLimit(.minutes(5))) struct CallMemberTests {
    private static let expected = Message(text: "hello")

    struct Count: Endpoint {
        typealias Output = Payload
        var route: Route { .get("/count") }
    }

    /// One screen that hears of calls with two outputs.
    @MainActor final class Screen {
        let messages = Mailbox<Result<Message, APIError>>()
        let counts = Mailbox<Result<Payload, APIError>>()

        func show(_ message: Result<Message, APIError>) { messages.put(message) }
        func count(_ count: Result<Payload, APIError>) { counts.put(count) }
    }

    private actor Counter {
        var count = 0
    }

    @Test(
        "A handle delivers to closures, actors, delegates and methods, each once, also when the call is over",
        .covers("S0.18", "S3.14"))
    @MainActor func everyMember() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let results = Mailbox<Result<Message, APIError>>()
        let (listener, screen, counter) = (Listener(results), Screen(), Counter())
        for isLate in [false, true] {
            let call = client.start(Hello())
            if isLate { _ = try await call.value }
            try await delivered { done in
                call.onResult(results.put).deliver(to: listener).deliver(to: screen, Screen.show)
                    .onResult(on: counter) { counter, _ in
                        counter.count += 1
                        done(())
                    }
            }
            await results.wait(for: isLate ? 4 : 2)
            await screen.messages.wait(for: isLate ? 2 : 1)
        }
        await drainMainActor()
        #expect(results.values.map { try? $0.get() } == Array(repeating: Self.expected, count: 4))
        #expect(screen.messages.values.map { try? $0.get() } == [Self.expected, Self.expected])
        #expect(await counter.count == 2)
    }

    @Test("One object hears of calls with different outputs", .covers("S0.18"))
    @MainActor func severalOutputs() async throws {
        let client = CallSupport.client(CallSupport.answering())
        var screen: Screen? = Screen()
        let (messages, counts) = (screen!.messages, screen!.counts)
        client.start(Hello()).deliver(to: screen!, Screen.show)
        client.start(Count()).deliver(to: screen!, Screen.count)
        await messages.wait(for: 1)
        await counts.wait(for: 1)
        let held = CallSupport.holding()
        let call = CallSupport.client(held).start(Hello()).deliver(to: screen!, Screen.show)
        await held.waitForExchanges(count: 1)
        screen = nil
        held.release()
        _ = await call.result
        await drainMainActor()
        #expect(messages.values.count == 1)
    }

    @Test(
        "Who listens after the scope has gone hears nothing, and after a cancellation hears of that", .covers("S1.17"))
    @MainActor func goneAndCancelled() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let results = Mailbox<Result<Message, APIError>>()
        var scope: CallScope? = CallScope()
        let call = client.start(Hello(), in: scope)
        _ = try await call.value
        scope = nil
        call.onResult(results.put)
        let held = CallSupport.client(CallSupport.holding()).start(Hello())
        held.onResult(results.put)
        held.cancel()
        await results.wait(for: 1)
        await drainMainActor()
        #expect(results.values.map { $0.failure?.kind } == [.cancelled])
    }

    @Test("A call that has been delivered stays what it was: nothing ends it any more, and no newer call supersedes it")
    @MainActor func endedAfterwards() async throws {
        let recorder = EventRecorder()
        let client = CallSupport.client(CallSupport.answering()) {
            $0.options.inFlight = .cancelPrevious
            $0.cache = .none
            $0.sinks = [recorder]
        }
        let results = Mailbox<Result<Message, APIError>>()
        let first = client.start(Hello())
        _ = try await first.value
        first.cancel()
        first.onResult(results.put)
        await results.wait(for: 1)
        let second = client.start(Hello())
        _ = try await second.value
        _ = try await client.send(Hello())
        second.onResult(results.put)
        await results.wait(for: 2)
        #expect(results.values.map { try? $0.get() } == [Self.expected, Self.expected])
        let decisions = recorder.records.count { if case .inFlightDecided = $0.event { true } else { false } }
        #expect(decisions == 0)
        #expect(recorder.grammarViolations == [])
    }

    @Test("A loop over what comes of a call ends with the scope that it was given", arguments: [true, false])
    func loopInScope(isCachedFirst: Bool) async throws {
        let held = CallSupport.holding()
        let client = CallSupport.client(held)
        var scope: CallScope? = CallScope()
        let responses = isCachedFirst ? client.responses(to: Hello(), in: scope) : nil
        let updates = isCachedFirst ? nil : client.updates(of: Hello(), in: scope)
        let loop = Task {
            await failure {
                if let responses { for try await _ in responses {} }
                if let updates { for try await _ in updates {} }
            }
        }
        await held.waitForExchanges(count: 1)
        scope = nil
        #expect(await loop.value?.kind == .cancelled)
    }

    @Test("A handle tells whether its call runs, stands still, or is over", .covers("S0.7"))
    func state() async throws {
        let transport = CallSupport.holding()
        let call = CallSupport.client(transport).start(Hello())
        await transport.waitForExchanges(count: 1)
        #expect(call.state == .running)
        call.suspend()
        #expect(call.state == .suspended)
        call.resume()
        #expect(call.state == .running)
        transport.release()
        _ = try await call.value
        #expect(call.state == .over)
        let other = CallSupport.client(CallSupport.holding()).start(
            Hello(), options: .with { $0.priority = .background })
        #expect(call.priority == .normal && other.priority == .background)
        other.cancel()
        #expect(other.state == .over)
    }

    @Test(
        "What is stored and what is loaded reach closure, delegate, sequence and manager in that order",
        .covers("S2.10"))
    @MainActor func cachedThenFresh() async throws {
        let rig = CacheRig(CachePolicy(.cacheThenNetwork, ttl: .seconds(60)))
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let told = Mailbox<String>()
        let call = rig.client.start(Tea())
        call.onCached { told.put("closure cached \($0.value.id)") }.onResult {
            told.put("closure \((try? $0.get().id) ?? 0)")
        }
        await told.wait(for: 2)
        #expect(told.values == ["closure cached 1", "closure 2"])
        // One who comes late hears both as well.
        call.onCached { told.put("late cached \($0.value.id)") }
        await told.wait(for: 3)

        rig.serves(.tea(3))
        let listener = TeaListener(told)
        rig.client.start(Tea(), delegate: listener)
        await told.wait(for: 5)

        rig.serves(.tea(4))
        var sequence: [Int] = []
        for try await response in rig.client.start(Tea()).responses { sequence.append(response.value.id) }
        #expect(sequence == [3, 4])

        rig.serves(.tea(5))
        let manager = APIManager(client: rig.client) { Tea() }
        manager.delegate = listener
        manager.load()
        await told.wait(for: 7)
        #expect(
            told.values.dropFirst(2) == [
                "late cached 1", "delegate cached 2", "delegate 3", "manager cached 4", "manager 5",
            ])
    }

    @Test(
        "Where nothing is stored only what is loaded is delivered, and a failing load comes after what is stored",
        .covers("S2.10"))
    @MainActor func missAndFailure() async throws {
        let rig = CacheRig(CachePolicy(.cacheThenNetwork, ttl: .seconds(60)))
        let told = Mailbox<String>()
        let hear = { @MainActor (call: Call<Product>) -> Void in
            call.onCached { told.put("cached \($0.value.id)") }.onResult {
                told.put("\(($0.failure?.kind.name) ?? "loaded")")
            }
        }
        hear(rig.client.start(Tea()))
        await told.wait(for: 1)
        rig.isOffline()
        hear(rig.client.start(Tea()))
        await told.wait(for: 3)
        #expect(told.values == ["loaded", "cached 1", "unreachable"])
        #expect(rig.hits == 2)
    }

    @Test(
        "A delegate and a manager hear of a miss and of a failing load as a closure does, each of one load",
        .covers("S2.10"))
    @MainActor func missAndFailureByObjects() async throws {
        let rig = CacheRig(CachePolicy(.cacheThenNetwork, ttl: .seconds(60)))
        let told = Mailbox<String>()
        let listener = TeaListener(told)
        rig.client.start(Tea(), delegate: listener)
        await told.wait(for: 1)
        #expect(rig.hits == 1)
        let manager = APIManager(client: rig.client) { Tea(page: 2) }
        manager.delegate = listener
        rig.serves(.tea(2))
        manager.load()
        await told.wait(for: 2)
        #expect(rig.hits == 2)
        rig.isOffline()
        rig.client.start(Tea(), delegate: listener)
        await told.wait(for: 4)
        #expect(rig.hits == 3)
        manager.load()
        await told.wait(for: 6)
        #expect(rig.hits == 4)
        await drainMainActor()
        #expect(
            told.values == [
                "delegate 1", "manager 2", "delegate cached 1", "delegate unreachable", "manager cached 2",
                "manager unreachable",
            ])
    }

    @Test("Whatever a sequence of a call's throws is an APIError, to the compiler too")
    func typedThrows() async throws {
        let client = CallSupport.client(StubTransport { _ in HTTPResponse(status: 404) })
        var kinds: [APIError.Kind] = []
        do throws(APIError) { for try await _ in client.updates(of: Hello()) {} } catch { kinds.append(error.kind) }
        do throws(APIError) { for try await _ in client.responses(to: Hello()) {} } catch { kinds.append(error.kind) }
        do throws(APIError) { for try await _ in client.start(Hello()).updates {} } catch { kinds.append(error.kind) }
        do throws(APIError) { for try await _ in client.events(of: Hello()) {} } catch { kinds.append(error.kind) }
        do throws(APIError) { for try await _ in client.events(of: Hello()).values {} } catch {
            kinds.append(error.kind)
        }
        do throws(APIError) { for try await _ in try await client.stream(Hello()) {} } catch {
            kinds.append(error.kind)
        }
        do throws(APIError) { for try await _ in try await client.lines(of: Hello()) {} } catch {
            kinds.append(error.kind)
        }
        #expect(kinds == Array(repeating: .httpStatus(404), count: 7))
    }

    @Test("Events are the endpoint's output, decoded as the service says, and one that is none does not end the stream")
    func typedEvents() async throws {
        let head = HTTPResponse(status: 200, fields: [.contentType: "text/event-stream"])
        let text = "data: {\"text\":\"a\"}\n\ndata: nonsense\n\ndata: {\"text\":\"b\"}\n\n"
        let script = ScriptedTransport([.stream(head, [Data(text.utf8)]), .respond(.init(status: 204))])
        let steps: ServerSentEvents<Message> = CallSupport.client(script).events(of: Hello())
        var iterator = steps.values.makeAsyncIterator()
        #expect(try await iterator.next() == Message(text: "a"))
        let error = await #expect(throws: APIError.self) { try await iterator.next() }
        #expect(error?.kind.name == "decoding")
        #expect(try await iterator.next() == Message(text: "b"))
    }
}

/// Hears of tea, by every way that needs an object.
@MainActor
private final class TeaListener: CallDelegate, APIManagerDelegate {
    private let told: Mailbox<String>

    init(_ told: Mailbox<String>) {
        self.told = told
    }

    func call(_ id: CallID, didFinishWith result: Result<Product, APIError>) {
        switch result {
        case .success(let tea): told.put("delegate \(tea.id)")
        case .failure(let error): told.put("delegate \(error.kind.name)")
        }
    }

    func call(_ id: CallID, didLoadCached response: APIResponse<Product>) {
        told.put("delegate cached \(response.value.id)")
    }

    func managerDidSucceed(_ manager: any AnyAPIManager) { told.put("manager \(number(manager))") }

    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { told.put("manager \(error.kind.name)") }

    func managerDidLoadCached(_ manager: any AnyAPIManager) { told.put("manager cached \(number(manager))") }

    private func number(_ manager: any AnyAPIManager) -> Int {
        (manager as? APIManager<Tea>)?.response?.value.id ?? 0
    }
}

/// An API that is named where it is called.
@Suite(.timeLimit(.minutes(5))) struct AdHocFormTests {
    @Test(
        "Every verb has a form, for models, text, bytes and nothing, with headers, placement and scope",
        .covers("S1.4", "S1.7"))
    func verbs() async throws {
        let rig = Rig([.shop { $0.envelope = nil }]) {
            $0.cache = .none
        } answering: { _ in
            .json(#"{"id":7,"name":"tea"}"#)
        }
        let (client, scope) = (rig.client, CallScope())
        let parameters: ParameterObject = ["a": 1]
        let model: Product = try await client.get("/x", parameters: parameters, headers: ["X-A": "1"], in: scope)
        let text: String = try await client.post("/x", parameters: parameters, placement: .form)
        let bytes: Data = try await client.put("/x", parameters: parameters)
        let _: Product = try await client.patch("/x", parameters: parameters)
        let _: Product = try await client.delete("/x", parameters: parameters)
        try await client.get("/x")
        try await client.post("/x")
        try await client.put("/x")
        try await client.patch("/x")
        try await client.delete("/x")
        #expect(model.name == "tea" && text == #"{"id":7,"name":"tea"}"# && bytes.count == text.utf8.count)
        let verbs = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        #expect(rig.sent.map(\.method.rawValue) == verbs + verbs)
        #expect(rig.sent[0].fields["X-A"] == "1")
        #expect(rig.sent.prefix(5).map { $0.url.query ?? $0.text } == ["a=1", "a=1", #"{"a":1}"#, #"{"a":1}"#, "a=1"])
        #expect(scope.callCount == 0)
    }

    @Test("The handle of an ad-hoc call is that of an endpoint, and so are its bytes", .covers("S1.4", "S3.19"))
    func handles() async throws {
        let rig = Rig { $0.cache = .none }
        let scope = CallScope()
        let model = rig.client.start(
            path: "/products/7", method: .post, parameters: ["a": 1], as: Product.self, in: scope)
        #expect(try await model.value.id == 7)
        try await rig.client.start(path: "/products/7", method: .post, parameters: ["a": 1]).value
        let _: Product = try await rig.client.send(path: "/products/7", method: .post, parameters: ["a": 1])
        #expect(Set(rig.wires).count == 1 && rig.wires.count == 3)
    }
    @Test(
        "A closure on the handle of an ad-hoc call is told once, of a model, of bytes and of nothing", .covers("S1.4"))
    @MainActor func closures() async throws {
        let rig = Rig([.shop { $0.envelope = nil }]) {
            $0.cache = .none
        } answering: { _ in
            .json(#"{"id":7,"name":"tea"}"#)
        }
        let told = Mailbox<String>()
        rig.client.start(path: "/model", as: Product.self).onResult { told.put("model \((try? $0.get().id) ?? 0)") }
        await told.wait(for: 1)
        rig.client.start(path: "/bytes", method: .post, as: Data.self).onResult {
            told.put("bytes \((try? $0.get()).map { String(decoding: $0, as: UTF8.self) } ?? "")")
        }
        await told.wait(for: 2)
        rig.client.start(path: "/nothing", method: .delete).onResult { (result: Result<Void, APIError>) in
            told.put("nothing \(result.failure == nil)")
        }
        await told.wait(for: 3)
        await drainMainActor()
        #expect(told.values == ["model 7", #"bytes {"id":7,"name":"tea"}"#, "nothing true"])
        #expect(
            rig.sent.map { "\($0.method) \($0.url.path)" } == [
                "GET /api/model", "POST /api/bytes", "DELETE /api/nothing",
            ])
    }
}
