import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What becomes of a call while another one of its kind is under way.
@Suite(.timeLimit(.minutes(5))) struct InFlightTests {
    /// A list by a filter, whose answer names the filter that was asked for.
    struct Filtered: Endpoint, Encodable {
        typealias Output = Message
        var filter: Int
        var route: Route { .get("/list") }
    }

    fileprivate static func answer(_ number: Int) -> HTTPResponse {
        HTTPResponse(status: 200, body: Data(#"{"text":"\#(number)"}"#.utf8))
    }

    /// A client whose exchanges are held one by one.
    private static func rig(
        _ policy: InFlightPolicy, count: Int = 8, _ recorder: EventRecorder = EventRecorder()
    ) -> (client: APIClient, script: ScriptedTransport) {
        let script = ScriptedTransport((1...count).map { .held(.respond(answer($0))) })
        let client = CallSupport.client(script) {
            $0.options.inFlight = policy
            $0.cache = .none
            $0.sinks = [recorder]
        }
        return (client, script)
    }

    @Test(
        "The decision is a table",
        arguments: [
            (InFlightPolicy.Strategy.independent, true, Duration?.some(.zero), InFlightDecision.send),
            (.ignoreNew, true, .seconds(9), .drop(.alreadyLoading)),
            (.ignoreNew, false, .zero, .send),
            (.cancelPrevious, true, nil, .supersede(after: .zero)),
            (.cancelPrevious, false, nil, .supersede(after: .zero)),
            (.join, true, nil, .join),
            (.debounce(.seconds(3)), false, nil, .supersede(after: .seconds(3))),
            (.debounce(.seconds(-3)), false, nil, .supersede(after: .zero)),
            (.throttle(.seconds(3)), true, nil, .send),
            (.throttle(.seconds(3)), false, .milliseconds(2_999), .drop(.tooSoon)),
            (.throttle(.seconds(3)), true, .seconds(3), .send),
        ])
    func table(
        strategy: InFlightPolicy.Strategy, isUnderWay: Bool, sinceLast: Duration?, decision: InFlightDecision
    ) {
        #expect(strategy.decide(isUnderWay: isUnderWay, sinceLast: sinceLast) == decision)
    }

    // MARK: Ignore new

    @MainActor
    @Test(
        "A second load on the same API object is ignored: exactly one hit, and the caller is told so", .covers("S3.7"))
    func ignoreNew() async throws {
        let recorder = EventRecorder()
        let (client, script) = Self.rig(.independent, recorder)
        let manager = APIManager(client: client, inFlight: .ignoreNew) { Filtered(filter: 1) }
        let heard = Mailbox<Result<String, APIError>>()
        let delegate = Hearing(heard)
        manager.delegate = delegate
        manager.load()
        await script.waitForExchanges(count: 1)
        manager.load()
        await heard.wait(for: 1)
        #expect(heard.values.first?.failure?.kind == .dropped(.alreadyLoading))
        script.release()
        await heard.wait(for: 2)
        #expect((try? heard.values.last?.get()) == "1")
        #expect(script.requests.count == 1)
        #expect(manager.response?.value.text == "1")
        #expect(recorder.reasons == [.dropped(.alreadyLoading)])
        // What is over is in nobody's way, and another object's load is none of this one's.
        let other = APIManager(client: client, inFlight: .ignoreNew) { Filtered(filter: 1) }
        manager.load()
        other.load()
        while !Task.isCancelled, script.requests.count < 3, manager.isLoading, other.isLoading { await Task.yield() }
        try #require(script.requests.count == 3)
        script.release()
        script.release()
        await heard.wait(for: 3)
        // Nobody hears of the other one's.
        let isOpen = { client.callCount > 0 || recorder.grammarViolations.contains { $0.contains("no end") } }
        while !Task.isCancelled, isOpen() { await Task.yield() }
        #expect(recorder.grammarViolations == [])
    }

    @Test("Ignoring goes by the API, by the request, or by the group, as the scope says")
    func scopes() async throws {
        for (scope, isIgnored) in [
            (InFlightPolicy.Scope.api, true), (.request, false), (.group("a"), true),
        ] {
            let (client, script) = Self.rig(.ignoreNew.per(scope))
            async let first = client.send(Filtered(filter: 1))
            await script.waitForExchanges(count: 1)
            async let second = result { () async throws(APIError) in try await client.send(Filtered(filter: 2)) }
            if isIgnored {
                #expect(await second.failure?.kind == .dropped(.alreadyLoading))
            } else {
                await script.waitForExchanges(count: 2)
                script.release()
            }
            script.release()
            #expect(await (second.failure == nil) == !isIgnored)
            _ = try await first
        }
    }

    @Test("The load of another user is none of this one's")
    func users() async throws {
        let (client, script) = Self.rig(.ignoreNew)
        let (alice, bob) = (client.with { $0.identity = { "alice" } }, client.with { $0.identity = { "bob" } })
        async let first = alice.send(Filtered(filter: 1))
        await script.waitForExchanges(count: 1)
        async let second = bob.send(Filtered(filter: 1))
        await script.waitForExchanges(count: 2)
        script.release()
        script.release()
        #expect(try await [first.text, second.text].sorted() == ["1", "2"])
    }

    // MARK: Cancel previous

    @MainActor
    @Test(
        "Of five filter changes only the last is delivered, and a late old response never overwrites", .covers("S3.8"))
    func cancelPrevious() async {
        let recorder = EventRecorder()
        let (client, script) = Self.rig(.cancelPrevious, recorder)
        let heard = Mailbox<Result<Message, APIError>>()
        for filter in 1...5 {
            client.start(Filtered(filter: filter)) { heard.put($0) }
            await script.waitForExchanges(count: filter)
        }
        while !Task.isCancelled, script.openExchangeCount > 1 { await Task.yield() }
        script.release()
        await heard.wait(for: 5)
        let delivered = heard.values.compactMap { try? $0.get().text }
        #expect(delivered == ["5"])
        #expect(heard.values.compactMap(\.failure?.kind) == Array(repeating: .dropped(.superseded), count: 4))
        #expect(recorder.reasons.filter { $0 == .dropped(.superseded) }.count == 4)
        let superseding = recorder.records.count {
            if case .inFlightDecided(.supersedes) = $0.event { true } else { false }
        }
        #expect(superseding == 4)
        #expect(recorder.grammarViolations == [])
    }

    @MainActor
    @Test("An old response whose wire did not end when told to comes late, and changes nothing", .covers("S3.8"))
    func lateResponse() async {
        let transport = Deaf()
        let client = CallSupport.client(transport) { $0.cache = .none }
        let filter = Locked(1)
        let manager = APIManager(client: client, inFlight: .cancelPrevious) {
            Filtered(filter: filter.withLock(\.self))
        }
        let heard = Mailbox<Result<String, APIError>>()
        let delegate = Hearing(heard)
        manager.delegate = delegate
        manager.load()
        await transport.began.waitUnlessCancelled { $0 >= 1 }
        filter.withLock { $0 = 2 }
        manager.load()
        await transport.began.waitUnlessCancelled { $0 >= 2 }
        await heard.wait(for: 1)
        #expect(heard.values.first?.failure?.kind == .dropped(.superseded))
        transport.old.open()
        await transport.answered.waitUnlessCancelled { $0 >= 1 }
        transport.new.open()
        await heard.wait(for: 2)
        #expect((try? heard.values.last?.get()) == "2")
        #expect(manager.response?.value.text == "2")
        #expect(heard.values.count == 2)
    }

    @MainActor
    @Test("A response that has come and is yet to be delivered is dropped by a newer call", .covers("S3.8"))
    func lateDelivery() async {
        // Both answer at once: the first result waits for the main actor, which this test does not leave before the second.
        let ended = Monitor(0)
        let client = CallSupport.client(CallSupport.answering()) {
            $0.options.inFlight = .cancelPrevious
            $0.cache = .none
            $0.sinks = [EndSink(ended)]
        }
        let heard = Mailbox<APIError.Kind?>()
        client.start(Filtered(filter: 1)) { heard.put($0.failure?.kind) }
        Self.block { ended.withLock { $0 == 1 } }
        client.start(Filtered(filter: 2)) { heard.put($0.failure?.kind) }
        Self.block { ended.withLock { $0 == 2 } }
        await heard.wait(for: 2)
        #expect(heard.values == [.dropped(.superseded), nil])
    }

    /// Holds the main actor.
    @MainActor
    private static func block(until isDone: () -> Bool) {
        while !isDone() { Thread.sleep(forTimeInterval: 0.001) }
    }

    @Test("A replay does not supersede its own call, nor is it ignored")
    func replay() async throws {
        for policy in [InFlightPolicy.cancelPrevious, .ignoreNew, .join, .throttle(.seconds(60))] {
            let rig = AuthRig(configured: { $0.options.inFlight = policy })
            try await rig.signIn()
            #expect(try await rig.client.send(GetProduct()).id == 7)
            #expect(rig.desk.sent.count == 2)
        }
    }

    @Test("A replay that comes soon after a newer call is sent all the same")
    func lateReplay() async throws {
        let (rig, gate) = Self.gated(.throttle(.seconds(10)))
        try await rig.signIn()
        async let late = rig.client.send(GetProduct(), options: .headers(["X-Slow": "1"]))
        await rig.desk.untilSent(1)
        rig.clock.advance(by: .seconds(10))
        #expect(try await rig.client.send(GetProduct()).id == 7)
        gate.withLock { $0 = true }
        #expect(try await late.id == 7)
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .dropped(.tooSoon))
    }

    /// A client whose slow answers come when the gate is open.
    private static func gated(_ policy: InFlightPolicy) -> (rig: AuthRig, gate: Monitor<Bool>) {
        let gate = Monitor(false)
        let holding = Intercepting { request, _, next in
            let exchange = try await next(request)
            if request.fields["X-Slow"] != nil { await gate.wait(until: \.self) }
            return exchange
        }
        let rig = AuthRig(configured: {
            $0.options.inFlight = policy
            $0.attemptInterceptors = [holding]
        })
        return (rig, gate)
    }

    // MARK: Join

    @Test("Who has signed in since shares no response with who was there before, though nobody says who it is")
    func otherSession() async throws {
        let (rig, gate) = Self.gated(.join)
        rig.desk.accept("alice's", "bob's")
        let slow = CallOptions.headers(["X-Slow": "1"])
        try await rig.signIn("alice's")
        async let first = rig.client.send(GetProduct(), options: slow)
        await rig.desk.untilSent(1)
        try await rig.client.signOut()
        try await rig.signIn("bob's")
        async let second = rig.client.send(GetProduct(), options: slow)
        await rig.desk.untilSent(2)
        gate.withLock { $0 = true }
        #expect(try await [first.id, second.id] == [7, 7])
        #expect(rig.desk.sent.map { $0.fields[.authorization] } == ["Bearer alice's", "Bearer bob's"])
    }

    @Test("A call that others may join is replayed under the key that it was sent with first")
    func replayedKey() async throws {
        let rig = AuthRig(configured: { $0.options.inFlight = InFlightPolicy.join })
        try await rig.signIn()
        _ = try await rig.client.send(PlaceOrder(), options: CallOptions.idempotency(.key))
        let keys = rig.desk.sent.map { $0.fields[IdempotencyKey.field] }
        #expect(keys.count == 2 && keys.first == keys.last && keys.compactMap(\.self).count == 2)
    }

    @Test("Calls that ask for the same wait for one response, and are told so")
    func join() async throws {
        let recorder = EventRecorder()
        let (client, script) = Self.rig(.join, recorder)
        let calls = (0..<5).map { _ in client.start(Filtered(filter: 1)) }
        await script.waitForExchanges(count: 1)
        while !Task.isCancelled, recorder.reasons.count < 4 { await Task.yield() }
        script.release()
        var joined = 0
        for call in calls {
            let response = try await call.response
            #expect(response.value.text == "1")
            joined += response.isJoined ? 1 : 0
        }
        #expect(joined == 4)
        #expect(script.requests.count == 1)
        #expect(recorder.reasons.count == 4 && recorder.reasons.allSatisfy(\.isJoined))
        #expect(recorder.grammarViolations == [])
    }

    @Test("Calls that wait for one response fail together, of one request")
    func joinedFailure() async throws {
        let recorder = EventRecorder()
        let lost = TransportError(.connectionLost, sendState: .maybeProcessed)
        let script = ScriptedTransport([.held(.fail(lost)), .respond(Self.answer(2))])
        let client = CallSupport.client(script) {
            $0.options = CallOptions.inFlight(.join).retry(.none)
            $0.cache = .none
            $0.sinks = [recorder]
        }
        let calls = (0..<3).map { _ in client.start(Filtered(filter: 1)) }
        await script.waitForExchanges(count: 1)
        while !Task.isCancelled, recorder.reasons.count < 2 { await Task.yield() }
        script.release()
        for call in calls { #expect(await failure { try await call.value }?.kind == .transport(.connectionLost)) }
        #expect(script.requests.count == 1)
    }

    @Test("A joined flight goes on while anybody waits, and dies with its last waiter")
    func lastWaiter() async throws {
        let recorder = EventRecorder()
        let (client, script) = Self.rig(.join, recorder)
        let (first, second) = (client.start(Filtered(filter: 1)), client.start(Filtered(filter: 1)))
        await script.waitForExchanges(count: 1)
        while !Task.isCancelled, recorder.reasons.isEmpty { await Task.yield() }
        first.cancel()
        #expect(await failure { try await first.value }?.kind == .cancelled)
        #expect(script.openExchangeCount == 1)
        second.cancel()
        #expect(await failure { try await second.value }?.kind == .cancelled)
        while !Task.isCancelled, script.openExchangeCount > 0 { await Task.yield() }
        async let third = client.send(Filtered(filter: 1))
        await script.waitForExchanges(count: 2)
        script.release()
        #expect(try await third.text == "2")
    }

    @Test("Calls that differ in anything that may matter are not joined")
    func different() async throws {
        let (client, script) = Self.rig(.join)
        let options: [CallOptions] = [
            CallOptions(), .headers(["X-Tenant": "7"]), .headers(["Accept-Language": "nl"]), .timeout(.seconds(7)),
        ]
        let calls = options.map { client.start(Filtered(filter: 1), options: $0) } + [client.start(Filtered(filter: 2))]
        await script.waitForExchanges(count: 5)
        for _ in 0..<5 { script.release() }
        for call in calls { #expect(try await !call.response.isJoined) }
    }

    @Test(
        "Writes under two keys are two writes, wherever the key comes from; under one key, or keys of their own, they join"
    )
    func keys() async throws {
        let keys = try ["a", "b"].map { try #require(IdempotencyKey($0)) }
        let cases: [(options: [CallOptions], isJoined: Bool)] = [
            (keys.map { .idempotency(.keyed($0)) }, false),
            ([.idempotency(.keyed(keys[0])), .idempotency(.keyed(keys[0]))], true),
            ([.idempotency(.keyed(keys[0])), .idempotency(.key)], false),
            ([.idempotency(.key), .idempotency(.key)], true),
            (keys.map { .headers(["Idempotency-Key": $0.fieldValue]) }, false),
            (keys.map { _ in .headers(["Idempotency-Key": "a"]) }, true),
        ]
        for (options, isJoined) in cases {
            let recorder = EventRecorder()
            let (client, script) = Self.rig(.join, recorder)
            let calls = options.map { client.start(Post(), options: $0) }
            if isJoined { while !Task.isCancelled, recorder.reasons.isEmpty { await Task.yield() } }
            await script.waitForExchanges(count: isJoined ? 1 : 2)
            for _ in calls { script.release() }
            for call in calls { _ = try await call.value }
            #expect(script.requests.count == (isJoined ? 1 : 2))
        }
    }

    private struct Post: Endpoint {
        typealias Output = Message
        var route: Route { .post("/orders") }
        var body: HTTPBody { .bytes(Data("one tea".utf8)) }
    }

    @Test("What only names a request does not keep it from being joined")
    func names() async throws {
        let recorder = EventRecorder()
        let (client, script) = Self.rig(.join, recorder)
        let calls = ["1", "2"].map { client.start(Filtered(filter: 1), options: .headers(["X-Request-Id": $0])) }
        while !Task.isCancelled, recorder.reasons.isEmpty { await Task.yield() }
        await script.waitForExchanges(count: 1)
        script.release()
        for call in calls { #expect(try await call.value.text == "1") }
    }

    @Test("A joined flight is as urgent as the most urgent of those who wait for it")
    func urgency() async throws {
        let recorder = EventRecorder()
        let script = ScriptedTransport((1...3).map { .held(.respond(Self.answer($0))) })
        let client = CallSupport.client(script) {
            $0.options.inFlight = .join
            $0.admission = AdmissionPolicy(perHost: 1)
            $0.cache = .none
            $0.sinks = [recorder]
        }
        func start(_ filter: Int, _ priority: CallPriority) -> Call<Message> {
            client.start(Filtered(filter: filter), options: .with { $0.priority = priority })
        }
        func untilQueued(_ count: Int) async {
            while !Task.isCancelled,
                recorder.records.filter({ if case .queued = $0.event { true } else { false } }).count < count
            {
                await Task.yield()
            }
        }
        let first = start(0, .normal)
        await script.waitForExchanges(count: 1)
        let low = start(1, .low)
        await untilQueued(1)
        let normal = start(2, .normal)
        await untilQueued(2)
        let high = start(1, .high)
        while !Task.isCancelled, recorder.reasons.isEmpty { await Task.yield() }
        for count in 2...4 {
            script.release()
            if count < 4 { await script.waitForExchanges(count: count) }
        }
        for call in [first, low, normal, high] { _ = try await call.value }
        #expect(script.requests.map(\.request.url.query) == ["filter=0", "filter=1", "filter=2"])
    }

    @Test("A flight is no longer urgent once those have left who were in a hurry; others who are keep it so")
    func lessUrgent() async throws {
        for staysUrgent in [false, true] {
            let recorder = EventRecorder()
            let script = ScriptedTransport((1...3).map { .held(.respond(Self.answer($0))) })
            let client = CallSupport.client(script) {
                $0.options.inFlight = .join
                $0.admission = AdmissionPolicy(perHost: 1)
                $0.cache = .none
                $0.sinks = [recorder]
            }
            func start(_ filter: Int, _ priority: CallPriority) -> Call<Message> {
                client.start(Filtered(filter: filter), options: .with { $0.priority = priority })
            }
            func untilQueued(_ count: Int) async {
                while !Task.isCancelled,
                    recorder.records.filter({ if case .queued = $0.event { true } else { false } }).count < count
                {
                    await Task.yield()
                }
            }
            let first = start(0, .normal)
            await script.waitForExchanges(count: 1)
            let low = start(1, .low)
            await untilQueued(1)
            let normal = start(2, .normal)
            await untilQueued(2)
            var joined: [Call<Message>] = []
            for priority in staysUrgent ? [CallPriority.high, .high] : [.high] {
                joined.append(start(1, priority))
                while !Task.isCancelled, recorder.reasons.count < joined.count { await Task.yield() }
            }
            joined[0].cancel()
            _ = await joined[0].result
            for count in 2...4 {
                script.release()
                if count < 4 { await script.waitForExchanges(count: count) }
            }
            for call in [first, low, normal] + joined.dropFirst() { _ = try await call.value }
            let order = script.requests.map(\.request.url.query)
            #expect(
                order == (staysUrgent ? ["filter=0", "filter=1", "filter=2"] : ["filter=0", "filter=2", "filter=1"]))
        }
    }

    @Test("A flight is as urgent as those who wait for it, when the call that started it has left")
    func leaderGone() async throws {
        let recorder = EventRecorder()
        let script = ScriptedTransport((1...3).map { .held(.respond(Self.answer($0))) })
        let client = CallSupport.client(script) {
            $0.options.inFlight = .join
            $0.admission = AdmissionPolicy(perHost: 1)
            $0.cache = .none
            $0.sinks = [recorder]
        }
        func start(_ filter: Int, _ priority: CallPriority) -> Call<Message> {
            client.start(Filtered(filter: filter), options: .with { $0.priority = priority })
        }
        func untilQueued(_ count: Int) async {
            while !Task.isCancelled,
                recorder.records.filter({ if case .queued = $0.event { true } else { false } }).count < count
            {
                await Task.yield()
            }
        }
        let first = start(0, .normal)
        await script.waitForExchanges(count: 1)
        let leader = start(1, .high)
        await untilQueued(1)
        let normal = start(2, .normal)
        await untilQueued(2)
        let low = start(1, .low)
        while !Task.isCancelled, recorder.reasons.isEmpty { await Task.yield() }
        leader.cancel()
        _ = await leader.result
        for count in 2...4 {
            script.release()
            if count < 4 { await script.waitForExchanges(count: count) }
        }
        for call in [first, normal, low] { _ = try await call.value }
        #expect(script.requests.map(\.request.url.query) == ["filter=0", "filter=2", "filter=1"])
    }

    @Test("Each of the calls that share a refused response is replayed, after one refresh")
    func joinedRefusal() async throws {
        let desk = TokenDesk()
        let gate = Monitor(false)
        let holding = Intercepting { request, _, next in
            let exchange = try await next(request)
            if request.fields[.authorization] == "Bearer old" { await gate.wait(until: \.self) }
            return exchange
        }
        let rig = AuthRig(
            desk: desk,
            configured: {
                $0.options.inFlight = .join
                $0.attemptInterceptors = [holding]
            })
        try await rig.signIn()
        async let results = rig.send(5)
        while !Task.isCancelled, rig.events.reasons.count(where: \.isJoined) < 4 { await Task.yield() }
        gate.withLock { $0 = true }
        #expect(await results.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(desk.refreshed.count == 1)
        #expect(desk.sent.filter { $0.fields[.authorization] == "Bearer old" }.count == 1)
    }

    // MARK: Debounce and throttle

    @Test("Of calls in quick succession the last is sent, when there was no newer one for a while")
    func debounce() async throws {
        let clock = TestClock()
        let script = ScriptedTransport([.respond(Self.answer(1))])
        let client = CallSupport.client(script) {
            $0.options.inFlight = .debounce(.milliseconds(300))
            $0.options.timeouts.total = .seconds(60)
            $0.cache = .none
            $0.time = clock.timeSource
        }
        var calls: [Call<Message>] = []
        for filter in 1...3 {
            calls.append(client.start(Filtered(filter: filter)))
            if filter > 1 {
                let error = await failure { try await calls[filter - 2].value }
                #expect(error?.kind == .dropped(.superseded))
            }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(100))
        }
        #expect(script.requests.isEmpty)
        let last = calls[2]
        let text = try await clock.ticking { try await last.value.text }
        #expect(text == "1")
        #expect(script.requests.map(\.request.url.query) == ["filter=3"])
    }

    @Test("A call that comes too soon after the last is dropped, and one that comes later is sent")
    func throttle() async throws {
        let clock = TestClock()
        let stub = CallSupport.answering()
        let client = CallSupport.client(stub) {
            $0.options.inFlight = .throttle(.seconds(10))
            $0.cache = .none
            $0.time = clock.timeSource
        }
        _ = try await client.send(Hello())
        clock.advance(by: .seconds(9))
        #expect(await failure { try await client.send(Hello()) }?.kind == .dropped(.tooSoon))
        clock.advance(by: .seconds(1))
        _ = try await client.send(Hello())
        #expect(stub.requests.count == 2)
    }

    @Test("However many kinds of calls there were, what is under way and what was sent lately is still known")
    func manyKinds() async throws {
        let clock = TestClock()
        let answers = (1...201).map { ScriptedTransport.Step.respond(Self.answer($0)) }
        let script = ScriptedTransport([.held(.respond(Self.answer(0)))] + answers)
        let client = CallSupport.client(script) {
            $0.cache = .none
            $0.time = clock.timeSource
        }
        clock.advance(by: .seconds(100))
        let ignoring = CallOptions.inFlight(InFlightPolicy.ignoreNew.per(.group("held")))
        let held = client.start(Filtered(filter: 0), options: ignoring)
        await script.waitForExchanges(count: 1)
        func throttled(_ number: Int) -> CallOptions {
            .inFlight(InFlightPolicy.throttle(.seconds(10)).per(.group("\(number)")))
        }
        for number in 0..<200 { _ = try await client.send(Filtered(filter: 1), options: throttled(number)) }
        clock.advance(by: .milliseconds(9_999))
        for number in 0..<200 {
            let error = await failure { try await client.send(Filtered(filter: 1), options: throttled(number)) }
            #expect(error?.kind == .dropped(.tooSoon), "\(number)")
        }
        let ignored = await failure { try await client.send(Filtered(filter: 0), options: ignoring) }
        #expect(ignored?.kind == .dropped(.alreadyLoading))
        clock.advance(by: .milliseconds(1))
        _ = try await client.send(Filtered(filter: 1), options: throttled(0))
        script.release()
        _ = try await held.value
    }

    @Test("Without a policy the path has no such stage")
    func lean() async throws {
        let recorder = EventRecorder()
        let client = CallSupport.client(CallSupport.answering()) { $0.sinks = [recorder] }
        _ = try await client.send(Hello())
        #expect(!recorder.trace(of: try #require(recorder.calls.first)).contains("inFlight"))
        _ = try await client.send(Hello(), options: .inFlight(.join))
        #expect(recorder.trace(of: try #require(recorder.calls.last)).contains("inFlight"))
    }
}

@MainActor
private final class Hearing: APIManagerDelegate {
    private let heard: Mailbox<Result<String, APIError>>

    init(_ heard: Mailbox<Result<String, APIError>>) { self.heard = heard }

    func managerDidSucceed(_ manager: any AnyAPIManager) {
        heard.put(.success((manager as? APIManager<InFlightTests.Filtered>)?.response?.value.text ?? ""))
    }

    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { heard.put(.failure(error)) }
}

/// Answers the filters 1 and 2 when it is let, and hears of no cancellation.
private struct Deaf: Transport {
    let capabilities = TransportCapabilities.all
    let old = Latch()
    let new = Latch()
    let began = Monitor(0)
    let answered = Monitor(0)

    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        let isNew = exchange.request.url.query == "filter=2"
        began.withLock { $0 += 1 }
        await (isNew ? new : old).wait()
        answered.withLock { $0 += 1 }
        return TransportResponse(InFlightTests.answer(isNew ? 2 : 1))
    }

    func shutdown() async {}
}

/// Counts calls that have ended.
private struct EndSink: EventSink {
    let ended: Monitor<Int>

    init(_ ended: Monitor<Int>) { self.ended = ended }

    func receive(_ event: Event, _ context: EventContext) {
        if case .callEnded = event { ended.withLock { $0 += 1 } }
    }
}

extension EventRecorder {
    fileprivate var reasons: [InFlightReason] {
        records.compactMap { record in
            guard case .inFlightDecided(let reason) = record.event else { return nil }
            if case .supersedes = reason { return nil }
            return reason
        }
    }
}

extension InFlightReason {
    fileprivate var isJoined: Bool {
        if case .joined = self { true } else { false }
    }
}
