import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite("Admission", .timeLimit(.minutes(5)))
struct AdmissionTests {
    private func held(_ count: Int) -> [ScriptedTransport.Step] { Array(repeating: .held(.product), count: count) }

    /// The numbers of the products that were asked for, in order.
    private func order(_ rig: RetryRig) -> [String] {
        rig.script.requests.compactMap { $0.request.url.path.split(separator: "/").last.map(String.init) }
    }

    /// Lets the calls of a client come to the queue one after the other.
    private func start(_ rig: RetryRig, _ id: String, _ options: CallOptions = .init()) async -> Call<Product> {
        let before = rig.queued
        let call = rig.client.start(GetProduct(id: id), options: options)
        await rig.whenQueuedOrSent(before + 1)
        return call
    }

    @Test(
        "With a cap of 4 there are never more than 4 open; the urgent go first, the least urgent is not left behind; and nothing goes during a pause",
        .covers("S3.36"))
    func cap() async throws {
        let rig = RetryRig(held(40)) { $0.admission = .init(total: 4) }
        var calls: [Call<Product>] = []
        for number in 0..<4 { calls.append(await start(rig, "first\(number)")) }
        calls.append(await start(rig, "background", .priority(.background)))
        for number in 0..<6 { calls.append(await start(rig, "normal\(number)")) }
        for number in 0..<6 { calls.append(await start(rig, "high\(number)", .priority(.high))) }
        #expect(rig.script.openExchangeCount == 4 && rig.hits == 4)
        // What has waited long enough goes before what is urgent.
        for number in 0..<3 {
            rig.script.release()
            await rig.script.waitForExchanges(count: 5 + number)
            #expect(rig.script.openExchangeCount <= 4)
        }
        #expect(order(rig).suffix(3) == ["high0", "high1", "high2"])
        rig.clock.advance(by: .seconds(16))
        calls.append(await start(rig, "late", .priority(.high)))
        for number in 3..<14 {
            rig.script.release()
            await rig.script.waitForExchanges(count: 5 + number)
            #expect(rig.script.openExchangeCount <= 4)
        }
        let rest = ["high3", "high4", "high5"] + (0..<6).map { "normal\($0)" } + ["background", "late"]
        #expect(order(rig).suffix(11) == rest[...])
        rig.client.pause(.all)
        for number in 0..<2 { calls.append(await start(rig, "paused\(number)")) }
        for _ in 0..<4 { rig.script.release() }
        for call in calls.dropLast(2) { _ = try await call.value }
        #expect(rig.script.openExchangeCount == 0 && rig.hits == 18)
        rig.client.resume(.all)
        await rig.script.waitForExchanges(count: 20)
        for _ in 0..<2 { rig.script.release() }
        for call in calls.suffix(2) { _ = try await call.value }
        #expect(rig.recorder.grammarViolations.isEmpty)
    }

    @Test("After a pause the urgent go first, and nothing that is paused goes at its beginning", .covers("S3.36"))
    func resumed() async throws {
        let rig = RetryRig(held(2)) { $0.admission = .init(total: 1) }
        rig.client.pause(.all)
        let low = await start(rig, "low", .priority(.background))
        let high = await start(rig, "high", .priority(.high))
        rig.client.resume(.all)
        for count in 1...2 {
            await rig.script.waitForExchanges(count: count)
            rig.script.release()
        }
        for call in [low, high] { _ = try await call.value }
        #expect(order(rig) == ["high", "low"])
        // One moment for all: a permit that has come back lets none go that is held by the same pause.
        var queue = AdmissionQueue(AdmissionPolicy(rate: .init(1, per: .seconds(1))))
        for ticket: AdmissionQueue.Ticket in 1...3 { _ = queue.enter(ticket, host: "a", priority: .normal, at: .zero) }
        #expect(queue.hold([2: true, 3: true], at: .seconds(5)).isEmpty)
        #expect(queue.hold([2: false, 3: false], at: .seconds(5)) == [2])
    }

    @Test("A load that an urgent call joins at the cache is urgent", .covers("S3.36"))
    func joinedLoad() async throws {
        let rig = RetryRig(held(4), storing: true) {
            $0.admission = .init(total: 1)
            $0.options.cache = .http
        }
        var calls = [await start(rig, "running"), await start(rig, "normal"), await start(rig, "x", .priority(.low))]
        calls.append(rig.client.start(GetProduct(id: "x"), options: .priority(.high)))
        let isJoined: (Event) -> Bool = { event in
            if case .cacheDecided(_, let status) = event { status.isCollapsed } else { false }
        }
        while !Task.isCancelled, !rig.events.contains(where: isJoined) { await Task.yield() }
        for count in 2...3 {
            rig.script.release()
            await rig.script.waitForExchanges(count: count)
        }
        #expect(order(rig) == ["running", "x", "normal"])
        for call in calls { call.cancel() }
    }

    @Test("A cap for each host leaves the others alone")
    func perHost() async throws {
        let rig = RetryRig(held(3)) { $0.admission = .init(perHost: 1) }
        let first = await start(rig, "1")
        let second = await start(rig, "2")
        let other = await start(rig, "3", .with { $0.baseURL = "https://other.example.com" })
        #expect(order(rig) == ["1", "3"])
        for _ in 0..<3 {
            rig.script.release()
            await rig.settle()
        }
        await rig.script.waitForExchanges(count: 3)
        rig.script.release()
        for call in [first, second, other] { _ = try await call.value }
        #expect(rig.queueReasons == [.host])
    }

    @Test("Servers on two ports of a host, or with two schemes, have caps, rates and pauses of their own")
    func origins() async throws {
        func at(_ url: String) -> CallOptions { .with { $0.baseURL = url } }
        let others = ["https://a.example.com", "https://a.example.com:8443", "http://a.example.com"].map(at)
        let capped = RetryRig(held(4)) {
            $0.admission = .init(perHost: 1, rate: .init(2, per: .seconds(3_600)))
            $0.options.cleartext = .everywhere
        }
        var calls: [Call<Product>] = []
        for (number, options) in others.enumerated() {
            calls.append(capped.client.start(GetProduct(id: "\(number)"), options: options))
            await capped.script.waitForExchanges(count: number + 1)
        }
        // The port that is left out is the scheme's own.
        calls.append(await start(capped, "3", at("https://a.example.com:443")))
        #expect(order(capped) == ["0", "1", "2"] && capped.queueReasons == [.host])
        for call in calls { call.cancel() }

        let busy = HTTPResponse(status: 429, fields: ["Retry-After": "60"])
        let rig = RetryRig([.respond(busy), .product, .product]) {
            $0.admission = .init(heedsServer: true)
            $0.options.retry = RetryPolicy.none
            $0.options.cleartext = .everywhere
        }
        _ = await failure { try await rig.client.send(GetProduct(id: "0"), options: others[0]) }
        for options in others.dropFirst() { _ = try await rig.client.send(GetProduct(), options: options) }
        #expect(rig.hits == 3)
        var late = others[0]
        late.timeouts.total = .seconds(30)
        let refused = await failure { try await rig.client.send(GetProduct(id: "1"), options: late) }
        guard case .unavailable(let reason)? = refused?.kind else { return #expect(refused == nil) }
        #expect(reason.hasPrefix("https://a.example.com takes nothing"))
    }

    @Test("A paused group is held back, also what begins while it is; what is on the wire and everyone else goes on")
    func pause() async throws {
        let rig = RetryRig(held(1) + Array(repeating: .product, count: 9))
        let feed = CallOptions.with { $0.tags = ["feed"] }
        let sent = await start(rig, "sent", feed)
        rig.client.pause(.tag("feed"))
        rig.client.pause(.tag("feed"))
        let first = await start(rig, "1", feed)
        let second = await start(rig, "2", feed)
        _ = try await rig.client.send(GetProduct(id: "other"))
        rig.script.release()
        _ = try await sent.value
        #expect(order(rig) == ["sent", "other"])
        #expect(rig.queueReasons == [.paused, .paused])
        rig.client.resume(.tag("feed"))
        _ = try await first.value
        _ = try await second.value
        #expect(Set(order(rig).suffix(2)) == ["1", "2"])
        _ = try await rig.client.send(GetProduct(id: "3"), options: feed)
    }

    @Test(
        "Groups are all calls, those of a service, of an API, or of a tag; of the client and of those derived from it")
    func groups() async throws {
        for group in [CallSelection.all, .service(.main), .endpoint(GetProduct.self)] {
            let rig = RetryRig([.product, .product])
            let derived = rig.client.with { $0.headers = ["X-A": "b"] }
            derived.pause(group)
            _ = try await rig.client.send(GetProduct(id: "parent"))
            let call = derived.start(GetProduct(id: "derived"))
            await rig.whenQueuedOrSent(2)
            #expect(rig.hits == 1)
            rig.client.resume(group)
            await rig.settle()
            #expect(rig.hits == 1)
            derived.resume(group)
            _ = try await call.value
        }
        let rig = RetryRig([.product, .product])
        rig.client.pause(.service("another"))
        rig.client.pause(.endpoint(PlaceOrder.self))
        rig.client.pause(.tag("other"))
        _ = try await rig.client.send(GetProduct())
    }

    @Test("A client and those derived from it share their places, where they have the same limits", .covers("S3.36"))
    func sharedPlaces() async throws {
        let rig = RetryRig([.held(.product), .product]) { $0.admission = .init(total: 1) }
        let derived = rig.client.with { $0.headers = ["X-A": "b"] }
        let first = rig.client.start(GetProduct(id: "parent"))
        await rig.script.waitForExchanges(count: 1)
        let second = derived.start(GetProduct(id: "derived"))
        await rig.whenQueuedOrSent(2)
        #expect(rig.hits == 1)
        rig.script.release()
        _ = try await first.value
        _ = try await second.value
    }

    @Test("A call that waits ends with the call: cancelled, out of time, out of scope; and takes no place afterwards")
    func ends() async throws {
        let rig = RetryRig(held(2)) { $0.admission = .init(total: 1) }
        let running = await start(rig, "running")
        let cancelled = await start(rig, "cancelled")
        let late = await start(rig, "late", .timeout(.seconds(5)))
        var scope: CallScope? = CallScope()
        let owned = rig.client.start(GetProduct(id: "owned"), in: scope)
        await rig.whenQueuedOrSent(4)
        cancelled.cancel()
        #expect(await failure { try await cancelled.value }?.kind == .cancelled)
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .seconds(5))
        #expect(await failure { try await late.value }?.kind == .timeout(.total))
        scope = nil
        #expect(await failure { try await owned.value }?.kind == .cancelled)
        let last = await start(rig, "last")
        rig.script.release()
        _ = try await running.value
        await rig.script.waitForExchanges(count: 2)
        rig.script.release()
        _ = try await last.value
        #expect(order(rig) == ["running", "last"])
        #expect(rig.recorder.grammarViolations.isEmpty)
    }

    enum GroupEnd: CaseIterable { case client, scope, user }

    /// - Parameter kind: whether an attempt has a context of its own.
    @Test(
        "Calls that are ended together make no room for one another: none that waits is sent, or takes from the rate",
        arguments: ["plain", "hedged", "joined"], GroupEnd.allCases)
    func endedTogether(kind: String, by end: GroupEnd) async throws {
        let rig = RetryRig(held(20)) { configuration in
            configuration.admission = .init(total: 1, rate: .init(3, per: .seconds(3_600)))
            if kind == "hedged" {
                configuration.options.retry = .init(limit: 0, hedging: .init(after: .seconds(5)))
            }
            if kind == "joined" { configuration.options.inFlight = .join }
        }
        let scope = CallScope()
        var calls: [Call<Product>] = []
        for number in 0..<10 {
            let before = rig.queued
            calls.append(rig.client.start(GetProduct(id: "\(number)"), in: scope))
            await rig.whenQueuedOrSent(before + 1)
        }
        switch end {
        case .client: rig.client.cancelAll()
        case .scope: scope.cancelAll()
        case .user: await rig.client.signOut("")
        }
        for call in calls { #expect(await failure { try await call.value }?.kind == .cancelled) }
        while !Task.isCancelled, rig.script.openExchangeCount > 0 { await Task.yield() }
        await rig.settle()
        #expect(order(rig) == ["0"])
        #expect(!rig.events.contains { if case .admitted = $0 { true } else { false } })
        // What is left of the rate is for those that come after.
        for (count, id) in ["a", "b"].enumerated() {
            let next = rig.client.start(GetProduct(id: id))
            await rig.script.waitForExchanges(count: count + 2)
            rig.script.release()
            _ = try await next.value
        }
        #expect(order(rig) == ["0", "a", "b"])
    }

    @Test("The app's code that does not return holds no place once its call has ended")
    func stuckCode() async throws {
        let (entered, leave) = (Monitor(0), Latch())
        let rig = RetryRig([.product]) { configuration in
            configuration.admission = .init(total: 1)
            configuration.attemptInterceptors = [
                Intercepting { request, _, next in
                    guard request.url.path.hasSuffix("stuck") else { return try await next(request) }
                    entered.withLock { $0 += 1 }
                    await leave.wait()
                    return try await next(request)
                }
            ]
        }
        defer { leave.open() }
        let stuck = rig.client.start(GetProduct(id: "stuck"))
        await entered.waitUnlessCancelled { $0 >= 1 }
        let next = await start(rig, "next")
        #expect(rig.queueReasons == [.total])
        stuck.cancel()
        #expect(await failure { try await stuck.value }?.kind == .cancelled)
        _ = try await next.value
        #expect(order(rig) == ["next"])
        // What returns after all gives nothing back a second time.
        leave.open()
        await rig.settle()
        #expect(rig.recorder.grammarViolations.isEmpty)
    }

    @Test("A pause of the server that outlasts what waits refuses it at once, and lets the rest wait")
    func refusedWhileWaiting() async throws {
        let busy = HTTPResponse(status: 503, fields: ["Retry-After": "10"])
        let rig = RetryRig([.held(.respond(busy)), .product]) { configuration in
            configuration.admission = .init(total: 1, heedsServer: true)
            configuration.options.retry = RetryPolicy.none
        }
        let first = await start(rig, "1")
        let short = await start(rig, "short", .timeout(.seconds(10)))
        let long = await start(rig, "long", .timeout(.seconds(11)))
        rig.script.release()
        #expect(await failure { try await first.value }?.kind == .httpStatus(503))
        let refused = await failure { try await short.value }
        #expect(refused?.stage == .admission && refused?.attempts.isEmpty == true)
        guard case .unavailable? = refused?.kind else { return #expect(refused?.kind == .unavailable(reason: "")) }
        await rig.clock.waitForSleepers(count: 1)
        await rig.settle()
        rig.clock.advance(by: .seconds(10))
        _ = try await long.value
        #expect(order(rig) == ["1", "long"])
    }

    @Test("An attempt that waits to be repeated holds no place")
    func retryHoldsNone() async throws {
        let rig = RetryRig([.busy("10"), .product, .product]) { $0.admission = .init(total: 1) }
        let retried = rig.client.start(GetProduct(id: "1"))
        await rig.clock.waitForSleepers(count: 1)
        _ = try await rig.client.send(GetProduct(id: "2"))
        rig.clock.advance(by: .seconds(10))
        _ = try await retried.value
        #expect(order(rig) == ["1", "2", "1"])
        // Nor does one that has failed.
        let failing = RetryRig([.lost(.unprocessed), .product, .product]) {
            $0.admission = .init(total: 1)
            $0.random = RandomSource { .max }
        }
        let again = failing.client.start(GetProduct(id: "1"))
        await failing.clock.waitForSleepers(count: 1)
        _ = try await failing.client.send(GetProduct(id: "2"))
        failing.clock.advance(by: .milliseconds(250))
        _ = try await again.value
        #expect(order(failing) == ["1", "2", "1"])
    }

    @Test("A streamed response holds its place until its content has ended, or nobody wants more of it")
    func streams() async throws {
        let stream = ScriptedTransport.Step.stream(.init(status: 200), [Data("a".utf8)])
        let rig = RetryRig([stream, stream, stream, .product]) { $0.admission = .init(total: 1) }
        let read = try await rig.client.stream(GetProduct(id: "1"))
        let second = rig.client.start(GetProduct(id: "never"))
        await rig.whenQueuedOrSent(2)
        #expect(rig.hits == 1)
        second.cancel()
        _ = await failure { try await second.value }
        for try await _ in read {}
        var dropped: StreamedResponse? = try await rig.client.stream(GetProduct(id: "2"))
        #expect(dropped?.http.status == 200)
        dropped = nil
        let broken = try await rig.client.stream(GetProduct(id: "3"))
        for try await _ in broken {}
        _ = try await rig.client.send(GetProduct(id: "4"))
        #expect(rig.hits == 4)
    }

    @Test("The rate is kept by the clock, and a wait that reaches the deadline is refused at once")
    func rate() async throws {
        let rig = RetryRig(Array(repeating: .product, count: 9)) { configuration in
            configuration.admission = .init(rate: .init(1, per: .seconds(10)))
        }
        rig.clock.advance(by: .seconds(3))
        _ = try await rig.client.send(GetProduct(id: "1"))
        let refused = await failure { try await rig.client.send(GetProduct(id: "2"), options: .timeout(.seconds(10))) }
        #expect(refused?.stage == .admission && refused?.attempts.isEmpty == true)
        guard case .unavailable? = refused?.kind else { return #expect(refused?.kind == .unavailable(reason: "")) }
        let third = await start(rig, "3")
        #expect(rig.queueReasons == [.rate])
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .seconds(10))
        _ = try await third.value
        #expect(order(rig) == ["1", "3"])
        let waits = rig.events.compactMap { if case .admitted(let after) = $0 { after } else { nil } }
        #expect(waits == [.seconds(10)])
    }

    @Test("Retry-After holds back the calls that follow where the answer is 429 or 503, and no other")
    func statuses() async throws {
        for (status, holds) in [(429, true), (503, true), (404, false), (500, false), (502, false), (504, false)] {
            let fields: HTTPFields = ["Retry-After": "10"]
            let rig = RetryRig([.respond(.init(status: status, fields: fields)), .product]) { configuration in
                configuration.admission = .init(heedsServer: true)
                configuration.options.retry = RetryPolicy.none
            }
            _ = await failure { try await rig.client.send(GetProduct(id: "1")) }
            let next = await start(rig, "2")
            #expect(rig.hits == (holds ? 1 : 2), "\(status)")
            if holds {
                await rig.clock.waitForSleepers(count: 1)
                rig.clock.advance(by: .seconds(10))
            }
            _ = try await next.value
        }
    }

    @Test("What a server says of its limits holds back the calls that follow, where that is asked for")
    func server() async throws {
        let refusals: [HTTPFields] = [["Retry-After": "10"], ["RateLimit": #""a";r=0;t=10"#]]
        for fields in refusals {
            for heeds in [true, false] {
                let rig = RetryRig([.respond(.init(status: 429, fields: fields)), .product]) { configuration in
                    configuration.admission = .init(heedsServer: heeds)
                    configuration.options.retry = RetryPolicy.none
                }
                _ = await failure { try await rig.client.send(GetProduct(id: "1")) }
                let next = await start(rig, "2")
                #expect(rig.hits == (heeds ? 1 : 2))
                if heeds {
                    await rig.clock.waitForSleepers(count: 1)
                    rig.clock.advance(by: .seconds(10))
                }
                _ = try await next.value
            }
        }
    }

    @Test("A call that a server would have wait for longer than its policy says fails at once, and tells for how long")
    func overlongPause() async throws {
        for (said, longest, waits) in [
            (60, nil, true), (61, nil, false), (1_000_000_000, nil, false), (61, 61, true), (1_000_000_000, 600, true),
        ] as [(Int, Int?, Bool)] {
            let busy = HTTPResponse(status: 503, fields: ["Retry-After": "\(said)"])
            let rig = RetryRig([.respond(busy), .product]) {
                $0.admission = .init(heedsServer: true)
                var policy = RetryPolicy.none
                if let longest { policy.longestHint = .seconds(longest) }
                $0.options.retry = policy
                $0.options.timeouts.total = .seconds(3_600)
            }
            _ = await failure { try await rig.client.send(GetProduct(id: "1")) }
            guard waits else {
                let error = await failure { try await rig.client.send(GetProduct(id: "2")) }
                guard case .unavailable(let reason)? = error?.kind else { return #expect(error == nil) }
                #expect(reason.contains("takes nothing for \(Duration.seconds(min(said, 600)))"))
                #expect(error?.stage == .admission && rig.hits == 1)
                continue
            }
            let call = await start(rig, "2")
            #expect(rig.queueReasons == [.rate])
            await rig.clock.waitForSleepers(count: 1)
            rig.clock.advance(by: .seconds(min(said, 600)))
            _ = try await call.value
        }
    }

    @Test(
        "A call that is held back while a server pauses fails when it is let go, where it would have to wait too long")
    func overlongPauseOfHeld() async throws {
        for isSuspended in [true, false] {
            let rig = RetryRig([.held(.respond(.init(status: 503, fields: ["Retry-After": "61"]))), .product]) {
                $0.admission = .init(total: 1, heedsServer: true)
                $0.options.retry = RetryPolicy.none
                $0.options.timeouts.total = .seconds(3_600)
            }
            let first = await start(rig, "1")
            let call = await start(rig, "2")
            if isSuspended { call.suspend() } else { rig.client.pause(.all) }
            rig.script.release()
            _ = await failure { try await first.value }
            await rig.settle()
            #expect(call.state != .over)
            if isSuspended { call.resume() } else { rig.client.resume(.all) }
            let kind = await call.result.failure?.kind
            guard case .unavailable? = kind else { return #expect(kind == nil) }
            #expect(rig.hits == 1)
        }
    }

    @Test(
        "A call that others come to wait for becomes more urgent in the queue, also where it may be hedged",
        arguments: [false, true])
    func raised(mayBeHedged: Bool) async throws {
        let rig = RetryRig(held(3)) { configuration in
            configuration.admission = .init(total: 1)
            guard mayBeHedged else { return }
            configuration.options.retry = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .seconds(60)))
        }
        let running = await start(rig, "running")
        let normal = await start(rig, "normal")
        let low = await start(rig, "low", .priority(.low))
        rig.client.call(low.id)?.prioritise(by: .background)
        #expect(rig.client.call(low.id)?.priority == .low)
        rig.client.call(low.id)?.prioritise(by: .high)
        #expect(rig.client.call(low.id)?.priority == .high)
        for count in 2...4 {
            rig.script.release()
            if count < 4 { await rig.script.waitForExchanges(count: count) }
        }
        for call in [running, normal, low] { _ = try await call.value }
        #expect(order(rig) == ["running", "low", "normal"])
    }

    @Test("A flight that a more urgent call has joined is as urgent behind a redirect, also where the cache shares it")
    func raisedFlight() async throws {
        let moved = HTTPResponse(status: 302, fields: ["Location": "moved"])
        let rig = RetryRig([.held(.respond(moved))] + held(3), storing: true) { configuration in
            configuration.admission = .init(total: 1)
            configuration.options = CallOptions.inFlight(.join).cache(.http)
        }
        let low = await start(rig, "low", .priority(.low))
        let first = await start(rig, "first")
        let second = await start(rig, "second")
        let high = rig.client.start(GetProduct(id: "low"), options: .priority(.high))
        while !Task.isCancelled, !rig.hasJoined { await Task.yield() }
        rig.script.release()
        await rig.whenQueuedOrSent(4)
        for count in 2...4 {
            await rig.script.waitForExchanges(count: count)
            rig.script.release()
        }
        for call in [low, first, second, high] { _ = try await call.value }
        #expect(order(rig) == ["low", "first", "moved", "second"])
    }

    @Test("A flight is as urgent as the call that began it becomes, and no less than those that wait for it")
    func raisedLeader() async throws {
        let rig = RetryRig(held(3)) { configuration in
            configuration.admission = .init(total: 1)
            configuration.options.inFlight = InFlightPolicy.join
        }
        let running = await start(rig, "running")
        let normal = await start(rig, "normal")
        let low = await start(rig, "low", .priority(.low))
        rig.client.call(low.id)?.prioritise(by: .high)
        for count in 2...4 {
            rig.script.release()
            if count < 4 { await rig.script.waitForExchanges(count: count) }
        }
        for call in [running, normal, low] { _ = try await call.value }
        #expect(order(rig) == ["running", "low", "normal"])
    }

    @Test("Whoever comes to wait has nobody look at all those who wait already")
    func linearLine() throws {
        let client = APIClient(.init(services: [.shop()]), transport: StubTransport { _ in .product })
        let (call, time) = (client.begin(GetProduct(), .init(isSilent: true)).context, TestClock().timeSource)
        let origin = try HTTPURL("https://api.example.com/").origin
        LinearWork.expect("a line", unit: "a", limit: LinearParsingTests.limit, from: 1_000) { line in
            let admissions = Admissions(.init(total: 1, heedsServer: true), time, Deadlines(time))
            for _ in line.utf8 {
                guard case .waits(let ticket, _, _) = admissions.enter(call, to: origin) else { continue }
                admissions.suspend(ticket, false)
            }
        }
    }
}

extension RetryRig {
    var queueReasons: [AdmissionQueue.WaitReason] {
        events.compactMap { if case .queued(let reason) = $0 { reason } else { nil } }
    }

    var hasJoined: Bool {
        events.contains { if case .inFlightDecided(.joined) = $0 { true } else { false } }
    }

    /// How many attempts were queued or sent at once.
    var queued: Int {
        let admitted = events.filter { if case .admitted = $0 { true } else { false } }.count
        return queueReasons.count + hits - admitted
    }

    func whenQueuedOrSent(_ count: Int) async {
        while !Task.isCancelled, queued < count { await Task.yield() }
    }

    /// Lets what is ready run.
    func settle() async {
        for _ in 0..<200 { await Task.yield() }
    }
}
