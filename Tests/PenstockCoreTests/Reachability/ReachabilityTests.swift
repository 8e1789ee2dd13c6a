import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// The status of the network, and what follows from it.
@Suite(.timeLimit(.minutes(5))) struct ReachabilityTests {
    @Test("Nothing is posted to the notification centre", .covers("S3.13"))
    func noNotifications() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let sources = try #require(
            FileManager.default.enumerator(at: root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in sources where file.pathExtension == "swift" {
            count += 1
            let code = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: "\n")
            #expect(!code.contains("NotificationCenter"), "\(file.lastPathComponent)")
        }
        #expect(count > 100)
    }

    private let wifi = NetworkStatus(isReachable: true, interfaces: [.wifi])

    @Test(
        "A change of the network is broadcast to everybody who listens, and nothing that happens to a call is",
        .covers("S3.13"))
    func broadcast() async throws {
        let reachability = Reachability(.unreachable)
        let script = ScriptedTransport([.respond(HTTPResponse(status: 500)), noWay, .respond(CallSupport.greeting)])
        let client = CallSupport.client(script) { $0.reachability = reachability }
        var listeners = (0..<3).map { _ in reachability.changes.makeAsyncIterator() }
        for index in listeners.indices { #expect(await listeners[index].next() == .unreachable) }
        for _ in 0..<2 { #expect(await failure { try await client.send(Hello()) } != nil) }
        _ = try await client.send(Hello())
        client.cancelAll()
        reachability.update(.unreachable)
        reachability.update(wifi)
        for index in listeners.indices { #expect(await listeners[index].next() == wifi) }
        let cellular = NetworkStatus(isReachable: true, interfaces: [.cellular], isExpensive: true)
        reachability.update(cellular)
        for index in listeners.indices { #expect(await listeners[index].next() == cellular) }
        #expect(reachability.status == cellular)
    }

    @Test("One who listens late gets the status of the moment; one who is slow gets the newest")
    func lateAndSlow() async {
        let reachability = Reachability()
        #expect(reachability.status == nil && reachability.failure == nil && reachability.listenersSoFar == 0)
        var slow = reachability.changes.makeAsyncIterator()
        reachability.update(.unreachable)
        reachability.update(wifi)
        #expect(await slow.next() == wifi)
        var late = reachability.changes.makeAsyncIterator()
        #expect(await late.next() == wifi)
        #expect(reachability.listenersSoFar == 2)
        reachability.fail("the kernel says nothing")
        #expect(reachability.failure == "the kernel says nothing" && reachability.status == wifi)
    }

    @Test func `a network costs nothing and is unlimited unless it is said to be otherwise`() {
        let status = NetworkStatus(isReachable: true)
        #expect(!status.isExpensive && !status.isConstrained && status.interfaces.isEmpty)
        #expect(!NetworkStatus.unreachable.isReachable)
    }

    @Test("Who ends the iteration is forgotten, and listening ends with the source")
    func ending() async throws {
        var reachability: Reachability? = Reachability(wifi)
        let changes = try #require(reachability?.changes)
        let task = Task { for await _ in changes {} }
        #expect(reachability?.listenerCount == 1)
        task.cancel()
        await task.valueOfTest
        #expect(reachability?.listenerCount == 0)
        var iterator = reachability?.changes.makeAsyncIterator()
        _ = await iterator?.next()
        reachability = nil
        #expect(await iterator?.next() == nil)
    }

    private static let reasons: [TransportError.Reachability] = [
        .offline, .nameNotResolved, .connectionRefused, .noRoute, .proxy, .proxyAuthentication, .noDescriptors,
    ]

    @Test(
        "Only a missing way to the server becomes an offline error, and only while the network is known to be gone",
        .covers("S2.24"),
        arguments: reasons)
    func relabelling(reason: TransportError.Reachability) {
        let isMissingWay = [.offline, .nameNotResolved, .noRoute].contains(reason)
        #expect(ConnectivityRule.reason(reason, given: .unreachable) == (isMissingWay ? .offline : reason))
        #expect(ConnectivityRule.reason(reason, given: wifi) == reason)
        #expect(ConnectivityRule.reason(reason, given: nil) == reason)
        for (state, status) in [(SendState.unsent, wifi), (.maybeProcessed, .unreachable), (.answered, .unreachable)] {
            #expect(!ConnectivityRule.waits(after: .unreachable(reason), state, given: status))
        }
        #expect(!ConnectivityRule.waits(after: .unreachable(reason), .unsent, given: nil))
        #expect(!ConnectivityRule.waits(after: .unreachable(reason), nil, given: .unreachable))
        #expect(ConnectivityRule.waits(after: .unreachable(reason), .unsent, given: .unreachable) == isMissingWay)
    }

    @Test(
        "No other failure is relabelled while the network is gone, and none waits",
        .covers("S2.24"),
        arguments: [
            .timeout(.firstByte), .timeout(.connect), .tls(.untrusted), .connectionLost, .protocolViolation, .other,
            .unreachable(.connectionRefused),
        ] as [TransportError.Kind])
    func othersStay(kind: TransportError.Kind) async {
        let script = ScriptedTransport([.fail(TransportError(kind, sendState: .unsent))])
        let client = CallSupport.client(script) { $0.reachability = Reachability(.unreachable) }
        let error = await failure { try await client.send(Hello(), options: .waitsForConnectivity(.yes)) }
        #expect(error?.kind != .unreachable(.offline))
        #expect(error != nil)
        #expect(script.requests.count == 1)
    }

    @Test("A call that finds no way while the network is gone fails as offline, after it was sent")
    func failsAtOnce() async {
        let script = ScriptedTransport([noWay])
        let client = CallSupport.client(script) { $0.reachability = Reachability(.unreachable) }
        let error = await failure { try await client.send(Hello()) }
        #expect(error?.kind == .unreachable(.offline))
        #expect(error?.attempts.count == 1)
        #expect(script.requests.count == 1)
    }

    @Test(
        "Sending is never blocked beforehand: what gets through gets through",
        .covers("S2.24"),
        arguments: [ConnectivityWait.no, .yes])
    func neverBlocked(wait: ConnectivityWait) async throws {
        let client = CallSupport.client(CallSupport.answering()) { $0.reachability = Reachability(.unreachable) }
        #expect(try await client.send(Hello(), options: .waitsForConnectivity(wait)).text == "hello")
    }

    @Test(
        "A call says whether it waits, and for how long at most; where it says no, it waits as little as by default",
        .covers("S2.24"))
    func waitChoices() async {
        #expect(!ConnectivityWait.no.isWaiting && ConnectivityWait.no.limit == nil)
        #expect(ConnectivityWait.yes.isWaiting && ConnectivityWait.yes.limit == nil)
        #expect(ConnectivityWait.upTo(.seconds(3)).isWaiting && ConnectivityWait.upTo(.seconds(3)).limit == .seconds(3))
        let (client, script, _) = waiting([noWay], .waitsForConnectivity(.yes))
        let error = await failure { try await client.send(Hello(), options: .waitsForConnectivity(.no)) }
        #expect(error?.kind == .unreachable(.offline))
        #expect(script.requests.count == 1)
    }

    private var noWay: ScriptedTransport.Step {
        .fail(TransportError(.unreachable(.nameNotResolved), sendState: .unsent))
    }

    private func waiting(
        _ steps: [ScriptedTransport.Step], _ options: CallOptions, _ clock: TestClock = TestClock()
    ) -> (client: APIClient, script: ScriptedTransport, reachability: Reachability) {
        let script = ScriptedTransport(steps)
        let reachability = Reachability(.unreachable)
        let client = CallSupport.client(script) {
            $0.reachability = reachability
            $0.time = clock.timeSource
            $0.options = options.retry(.none)
        }
        return (client, script, reachability)
    }

    @Test(
        "The status is a stream; any call is sent, fails as offline for want of a way alone, and waits if told to",
        .covers("S2.24"))
    func wholeRule() async throws {
        let timeout = TransportError(.timeout(.connect), sendState: .unsent)
        let (client, script, reachability) = waiting(
            [noWay, .fail(timeout), .respond(CallSupport.greeting), noWay, .respond(CallSupport.greeting)], .init())
        var statuses = reachability.changes.makeAsyncIterator()
        #expect(await statuses.next() == .unreachable)
        #expect(await failure { try await client.send(Hello()) }?.kind == .unreachable(.offline))
        #expect(await failure { try await client.send(Hello()) }?.kind == .timeout(.connect))
        #expect(try await client.send(Hello()).text == "hello")
        #expect(script.requests.count == 3)
        async let patient = client.send(Hello(), options: .waitsForConnectivity(.yes))
        while !Task.isCancelled, reachability.listenerCount < 2 { await Task.yield() }
        #expect(script.requests.count == 4)
        reachability.update(wifi)
        #expect(await statuses.next() == wifi)
        #expect(try await patient.text == "hello")
        #expect(script.requests.count == 5)
    }

    @Test("A call that may wait is sent again once there is a way")
    func waits() async throws {
        let (client, script, reachability) = waiting(
            [noWay, .respond(CallSupport.greeting)], .waitsForConnectivity(.yes))
        async let answer = client.send(Hello())
        while !Task.isCancelled, reachability.listenerCount == 0 { await Task.yield() }
        #expect(script.requests.count == 1)
        reachability.update(wifi)
        #expect(try await answer.text == "hello")
        #expect(script.requests.count == 2)
    }

    @Test(
        "A call whose credential cannot be renewed for want of a way waits, and the renewal itself does not",
        .covers("S2.24"))
    func waitsForRenewal() async throws {
        let (clock, reachability) = (TestClock(), Reachability(.unreachable))
        let script = ScriptedTransport([noWay, .respond(CallSupport.greeting), .respond(CallSupport.greeting)])
        let authenticator = BearerAuthenticator { _, context in
            _ = try await context.client.send(Hello())
            return Credential("new", refreshToken: "r2", obtained: context.time.date())
        }
        let service = Service(.main, "https://shop.example.com", authenticator: authenticator)
        let client = CallSupport.client(script) {
            $0.services = ServiceRegistry([service])
            $0.reachability = reachability
            $0.time = clock.timeSource
            $0.vault = MemoryVault()
            $0.options = CallOptions.waitsForConnectivity(.yes).retry(.none)
        }
        let old = Credential("old", refreshToken: "r1", expiresIn: .seconds(1), obtained: clock.timeSource.date())
        try await client.signIn(old)
        clock.advance(by: .seconds(2))
        async let answer = client.send(Hello())
        while !Task.isCancelled, reachability.listenerCount == 0 { await Task.yield() }
        #expect(script.requests.count == 1)
        // Sooner than a failure is forgotten otherwise.
        clock.advance(by: .seconds(1))
        reachability.update(wifi)
        #expect(try await answer.text == "hello")
        #expect(script.requests.map { $0.request.fields[.authorization] } == [nil, nil, "Bearer new"])
    }

    @Test("Sending again is told of, with how long it waited, and counted; what waited is sent though nothing is left")
    func counted() async throws {
        for reserve in [0.5, 1, 2] {
            let (clock, recorder, reachability) = (TestClock(), EventRecorder(), Reachability(.unreachable))
            let script = ScriptedTransport([noWay, .respond(CallSupport.greeting)])
            let client = CallSupport.client(script) {
                $0.reachability = reachability
                $0.time = clock.timeSource
                $0.options = CallOptions.waitsForConnectivity(.yes).retry(.none)
                $0.retryBudget = .init(ratio: 0, reserve: reserve, refill: nil)
                $0.sinks = [recorder]
            }
            async let answer = client.send(Hello())
            while !Task.isCancelled, reachability.listenerCount == 0 { await Task.yield() }
            clock.advance(by: .seconds(7))
            reachability.update(wifi)
            #expect(try await answer.text == "hello")
            let told = recorder.records.compactMap { record in
                if case .retried(let wait, let reason, let left) = record.event {
                    "\(wait) \(reason) \(left)"
                } else {
                    nil
                }
            }
            let left = reserve < 1 ? reserve : reserve - 1
            #expect(told == ["\(Duration.seconds(7)) \(RetryReason.unreachable(.offline)) \(left)"])
            let origin = try #require(script.requests.first?.request.url.origin)
            #expect(client.state.origins.withdraw(.failure, for: origin) == (reserve == 2))
        }
    }

    @Test("It waits through every loss of the network, and comes through in the end")
    func waitsAgain() async throws {
        let reachability = Reachability(.unreachable)
        let count = Box(0)
        let stub = StubTransport { _ throws(TransportError) in
            count.update { $0 += 1 }
            guard count.value == 3 else {
                reachability.update(.unreachable)
                throw TransportError(.unreachable(.noRoute), sendState: .unsent)
            }
            return CallSupport.greeting
        }
        let client = CallSupport.client(stub) { $0.reachability = reachability }
        async let answer = client.send(Hello(), options: .waitsForConnectivity(.yes))
        for wait in 1...2 {
            while !Task.isCancelled, reachability.listenersSoFar < wait { await Task.yield() }
            reachability.update(wifi)
        }
        #expect(try await answer.text == "hello")
        #expect(count.value == 3)
    }

    @Test("A way that comes and goes at once is none: it waits on, and no longer than it was told")
    func waitsThroughFlaps() async throws {
        for comes in [true, false] {
            let clock = TestClock()
            let (client, script, reachability) = waiting(
                [noWay, .respond(CallSupport.greeting)], .waitsForConnectivity(.upTo(.seconds(5))), clock)
            async let answer = failure { try await client.send(Hello()) }
            await script.waitForExchanges(count: 1)
            for _ in 0..<20 {
                let before = reachability.listenersSoFar
                while !Task.isCancelled, reachability.listenerCount == 0 { await Task.yield() }
                reachability.update(wifi)
                reachability.update(.unreachable)
                for _ in 0..<20 where reachability.listenersSoFar == before { await Task.yield() }
            }
            for _ in 0..<200 { await Task.yield() }
            #expect(client.callCount == 1)
            if comes { reachability.update(wifi) } else { clock.advance(by: .seconds(5)) }
            #expect(await answer?.kind == (comes ? nil : .unreachable(.offline)))
            #expect(script.requests.count == (comes ? 2 : 1))
        }
    }

    @Test("It waits no longer than it was told, and then fails of what it failed of")
    func waitsUpTo() async throws {
        let clock = TestClock()
        let (client, script, reachability) = waiting([noWay], .waitsForConnectivity(.upTo(.seconds(5))), clock)
        async let error = failure { try await client.send(Hello()) }
        await script.waitForExchanges(count: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(4_999))
        #expect(client.callCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await error?.kind == .unreachable(.offline))
        while !Task.isCancelled, reachability.listenerCount > 0 { await Task.yield() }
    }

    @Test("What it was told is for all of its waits together")
    func waitsUpToInAll() async throws {
        let clock = TestClock()
        let (client, script, reachability) = waiting(
            [noWay, .held(noWay)], .waitsForConnectivity(.upTo(.seconds(5))), clock)
        async let error = failure { try await client.send(Hello()) }
        await script.waitForExchanges(count: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3))
        reachability.update(wifi)
        await script.waitForExchanges(count: 2)
        reachability.update(.unreachable)
        while !Task.isCancelled, reachability.listenerCount > 0 { await Task.yield() }
        script.release()
        while !Task.isCancelled, reachability.listenerCount == 0 { await Task.yield() }
        for _ in 0..<200 { await Task.yield() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(1_999))
        #expect(client.callCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await error?.kind == .unreachable(.offline))
        #expect(script.requests.count == 2)
    }

    @Test("It waits no longer than its total time-out, and not past a cancellation")
    func waitsWithTheCall() async throws {
        let clock = TestClock()
        let options = CallOptions.waitsForConnectivity(.yes).timeout(.seconds(3))
        let timed = waiting([noWay], options, clock)
        async let error = failure { try await timed.client.send(Hello()) }
        await timed.script.waitForExchanges(count: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3))
        #expect(await error?.kind == .timeout(.total))

        let cancelled = waiting([noWay], .waitsForConnectivity(.yes))
        let task = Task { await failure { try await cancelled.client.send(Hello()) } }
        while !Task.isCancelled, cancelled.reachability.listenerCount == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.valueOfTest?.kind == .cancelled)
        while !Task.isCancelled, cancelled.reachability.listenerCount > 0 { await Task.yield() }
    }
}
