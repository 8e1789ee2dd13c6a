import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What waits for one thing holds up nothing that waits for another.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxTrafficTests {
    private struct Elsewhere: OutboxEndpoint {
        typealias Output = Void
        var number: Int
        var service: ServiceID { "elsewhere" }
        var route: Route { .post("/elsewhere") }
        var lane: OutboxLane { "elsewhere/\(number)" }
    }

    private static func rig(
        _ transport: any Transport, user: Locked<String> = Locked("anna"), cipher: (any OutboxCipher)? = nil,
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> OutboxRig {
        OutboxRig(transport, user: user, types: OutboxRig.types + [Elsewhere.self], cipher: cipher) { configuration in
            configuration.services = ServiceRegistry([
                Service(.main, [.development: "https://api.example.com"]),
                Service("elsewhere", [.development: "https://elsewhere.example.com"]),
            ])
            change(&configuration)
        }
    }

    private static func put(_ count: Int, _ rig: OutboxRig) async throws -> [OutboxReceipt<Void>] {
        var receipts: [OutboxReceipt<Void>] = []
        for number in 0..<count { receipts.append(try await rig.outbox.put(Elsewhere(number: number))) }
        return receipts
    }

    @Test("A host may be tried again, by one row alone, from the moment that its rest is over")
    func endOfRest() throws {
        let origin = try HTTPURL("https://a.example/").origin
        var traffic = OutboxTraffic()
        traffic.learn("orders", leadsTo: origin)
        #expect(!traffic.isProbing(at: .zero), "it has not failed yet")
        traffic.note(.unreachable, from: origin, at: .zero)
        traffic.note(.unreachable, from: try HTTPURL("https://b.example/").origin, at: .seconds(1))
        let end = try #require(traffic.firstEnd(after: .zero))
        let before = end - .milliseconds(1)
        #expect(traffic.rest(of: origin, at: before) == end && !traffic.isProbing(at: before))
        #expect(traffic.rest(of: origin, at: end) == nil && traffic.isProbing(at: end))
    }

    @Test("What the app has paused counts as paused until it goes on")
    func pauses() {
        var traffic = OutboxTraffic()
        traffic.pause(nil, Elsewhere(number: 1))
        #expect(!traffic.hasPauses, "it goes nowhere")
        traffic.pause("orders", Elsewhere(number: 1))
        #expect(traffic.hasPauses)
        traffic.review { _ in true }
        #expect(traffic.hasPauses)
        traffic.review { _ in false }
        #expect(!traffic.hasPauses)
    }

    @Test("While one host is not there, what goes to another is delivered at once, however much waits for the first")
    func deadHost() async throws {
        let isDead = Locked(true)
        let stub = StubTransport { request throws(TransportError) in
            guard request.url.host == "elsewhere.example.com", isDead.withLock({ $0 }) else {
                return HTTPResponse(status: 204)
            }
            throw TransportError(.unreachable(.connectionRefused), sendState: .unsent)
        }
        let rig = Self.rig(stub)
        let dead = try await Self.put(20, rig)
        rig.outbox.start()
        await rig.advance { dead.contains { $0.state.isWaiting } }
        for product in 0..<3 {
            let start = rig.clock.now
            let like = try await rig.outbox.put(SetLike(product: product, isLiked: true))
            // The steps are small, since the clock of a test runs on while a slow machine delivers.
            await rig.advance(until: like, by: .milliseconds(1))
            #expect(rig.clock.now.offset - start.offset < .seconds(2))
        }
        let tried = stub.requests.count { $0.url.host == "elsewhere.example.com" }
        let start = rig.clock.now
        await rig.advance(by: .seconds(1)) { rig.clock.now.offset - start.offset > .seconds(120) }
        let more = stub.requests.count { $0.url.host == "elsewhere.example.com" } - tried
        #expect(more <= 8, "one at a time finds out that it is still not there")
        isDead.withLock { $0 = false }
        rig.outbox.wake()
        await rig.advance { dead.allSatisfy { $0.state == .done } }
        await rig.outbox.close()
    }

    @Test(
        "While the client leaves a host alone, what waits for it does so too: no row is refused after the other",
        arguments: [true, false])
    func sparedHost(isAsked: Bool) async throws {
        let isBusy = Locked(true)
        let stub = StubTransport { request in
            guard request.url.host == "elsewhere.example.com", isBusy.withLock({ $0 }) else {
                return HTTPResponse(status: 204)
            }
            return HTTPResponse(status: 503, fields: isAsked ? ["Retry-After": "300"] : [:])
        }
        let rig = Self.rig(stub) { configuration in
            if isAsked {
                configuration.admission = AdmissionPolicy(heedsServer: true)
            } else {
                configuration.circuitBreaker = .init(
                    minimumAttempts: 4, shortestPause: .seconds(300), longestPause: .seconds(300))
            }
        }
        let spared = try await Self.put(40, rig)
        rig.outbox.start()
        await rig.advance { rig.clock.now.offset > .seconds(120) }
        let attempts = try await rig.outbox.pending(limit: 100).map(\.attempts).reduce(0, +)
        #expect(attempts <= 12, "those that were under way, and one lap more")
        let like = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        await rig.advance(until: like)
        #expect(like.state == .done)
        isBusy.withLock { $0 = false }
        await rig.advance(by: .seconds(1)) { spared.allSatisfy { $0.state == .done } }
        #expect(rig.clock.now.offset < .seconds(1_200))
        await rig.outbox.close()
    }

    @Test("What the app has paused holds no place: the rest is delivered, and it goes on by itself when it is resumed")
    func paused() async throws {
        let rig = Self.rig(StubTransport { _ in HTTPResponse(status: 204) })
        rig.client.pause(.endpoint(Elsewhere.self))
        let paused = try await Self.put(6, rig)
        rig.outbox.start()
        let like = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        await rig.advance(until: like)
        #expect(like.state == .done)
        #expect(paused.allSatisfy { $0.state.isOpen })
        let resumed = rig.clock.now.offset
        rig.client.resume(.endpoint(Elsewhere.self))
        await rig.advance(by: .milliseconds(10)) { paused.allSatisfy { $0.state == .done } }
        #expect(rig.clock.now.offset - resumed < .seconds(10), "it is looked at once a second")
        await rig.outbox.close()
    }

    @Test("What waits in the client when the app pauses it gives up its place")
    func pausedWhileItWaits() async throws {
        let script = ScriptedTransport(
            [.held(.respond(HTTPResponse(status: 204)))]
                + [ScriptedTransport.Step](repeating: .respond(HTTPResponse(status: 204)), count: 8))
        let rig = OutboxRig(script, types: OutboxRig.types + [Elsewhere.self]) { configuration in
            configuration.services = ServiceRegistry([
                Service(.main, [.development: "https://api.example.com"]),
                Service("elsewhere", [.development: "https://elsewhere.example.com"]),
            ])
            configuration.admission = AdmissionPolicy(total: 1)
        }
        rig.outbox.start()
        let paused = try await Self.put(4, rig)
        await script.waitForExchanges(count: 1)
        rig.client.pause(.endpoint(Elsewhere.self))
        script.release()
        let like = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        await rig.advance(until: like)
        #expect(like.state == .done)
        rig.client.resume(.endpoint(Elsewhere.self))
        await rig.advance { paused.allSatisfy { $0.state == .done } }
        await rig.outbox.close()
    }

    @Test("Nothing is begun by a client that was shut down, and nothing that waits is undeliverable for it")
    func shutDown() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let rig = Self.rig(stub, user: Locked("anna"))
        let receipts = try await Self.put(10, rig)
        await rig.client.shutdown(draining: .zero)
        // Nothing is sent of what is put now either, and all of it is kept.
        let later = try await Self.put(1, rig)
        try await rig.client.clearCache(of: Elsewhere(number: 0))
        rig.outbox.start()
        await rig.advance { rig.clock.now.offset > .seconds(30) }
        #expect((receipts + later).allSatisfy { !$0.state.isLast && !$0.state.isFailed })
        #expect(stub.requests.isEmpty)
        await rig.outbox.close()
    }

    // MARK: A user who has signed out

    @Test(
        "Nothing is begun for a user who has signed out and is still named, and nothing of theirs is undeliverable",
        arguments: [true, false])
    func signedOut(isNoticed: Bool) async throws {
        let user = Locked("anna")
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let rig = Self.rig(stub, user: user)
        let receipts = try await Self.put(10, rig)
        await rig.client.signOut("anna")
        rig.outbox.start()
        await rig.advance { rig.clock.now.offset > .seconds(30) }
        #expect(receipts.allSatisfy { $0.state == .queued })
        #expect(stub.requests.isEmpty)
        user.withLock { $0 = "" }
        // The outbox sees by itself that another one is named, and is woken when the user is back; or it has seen nothing,
        // nobody wakes it, and it goes on by itself all the same.
        if isNoticed {
            await rig.advance { (try? rig.client.state.signOuts.check("anna")) != nil }
        } else {
            rig.client.state.signOuts.review()
        }
        user.withLock { $0 = "anna" }
        if isNoticed { rig.outbox.wake() }
        await rig.advance { receipts.allSatisfy { $0.state == .done } }
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    /// Signs its user out while a write is opened to be sent.
    private final class Leaving: OutboxCipher {
        let leave = Locked<(@Sendable () -> Void)?>(nil)

        func seal(_ plain: Data, for context: String) -> Data { plain }

        func open(_ sealed: Data, for context: String) -> Data {
            leave.withLock { $0 }?()
            return sealed
        }
    }

    @Test("A write whose user signs out just before it is sent stays queued")
    func signsOutMeanwhile() async throws {
        let (user, cipher) = (Locked("anna"), Leaving())
        let rig = Self.rig(StubTransport { _ in HTTPResponse(status: 204) }, user: user, cipher: cipher)
        let receipt = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        cipher.leave.withLock { leave in
            leave = { [client = rig.client] in
                client.state.signOuts.begin("anna", asLongAs: client.configuration.identity)
            }
        }
        rig.outbox.start()
        await rig.advance { receipt.state.isWaiting }
        #expect(try await rig.outbox.counts() == OutboxCounts(pending: 1))
        cipher.leave.withLock { $0 = nil }
        user.withLock { $0 = "" }
        rig.client.state.signOuts.review()
        user.withLock { $0 = "anna" }
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        await rig.outbox.close()
    }

    // MARK: The end

    @Test(
        "A receipt of a write that is put after the outbox was closed says so, and so does a toggle that is tapped then"
    )
    func putAfterClose() async throws {
        let rig = OutboxRig(StubTransport())
        let like = try await OutboxToggle("like/1", initially: false, in: rig.outbox) {
            SetLike(product: 1, isLiked: $0)
        }
        await rig.outbox.close()
        let receipt = try await rig.outbox.put(KeepEntry(text: "a"))
        let isClosed: @Sendable (any Error) -> Bool = { error in
            if case .over(.closed) = error as? OutboxError { true } else { false }
        }
        await #expect { try await receipt.value } throws: { isClosed($0) }
        like.toggle()
        await #expect { try await like.settled() } throws: { isClosed($0) }
        #expect(try await rig.outbox.counts().pending == 2)
    }

    @Test("A write that failed is gone once a later one of its fold is done, and its receipt says what took its place")
    func refusedBeforeDone() async throws {
        let script = ScriptedTransport([
            .held(.respond(HTTPResponse(status: 403))), .respond(HTTPResponse(status: 204)),
        ])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let first = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        await script.waitForExchanges(count: 1)
        let second = try await rig.outbox.put(SetLike(product: 1, isLiked: false))
        script.release()
        try await second.value
        #expect(try await rig.outbox.retry(first.id) == false)
        #expect(script.requests.count == 2)
        // Whatever there is to tell is told by then.
        await rig.outbox.close()
        #expect(first.state == .replaced(by: second.id))
    }

    @Test("A clock that is set back keeps no write", arguments: [301.0, 299, 10])
    func clockSetBack(by seconds: TimeInterval) async throws {
        let ahead = Locked(seconds)
        let rig = OutboxRig(ScriptedTransport([.respond(HTTPResponse(status: 201))])) { configuration in
            let base = configuration.time
            configuration.time = TimeSource(
                now: base.now, date: { base.date().addingTimeInterval(ahead.withLock { $0 }) }, sleep: base.sleep)
        }
        let receipt = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        ahead.withLock { $0 = 0 }
        let began = rig.clock.timeSource.now()
        rig.outbox.start()
        await rig.advance(until: receipt, by: .milliseconds(1))
        #expect(receipt.state == .done)
        #expect(rig.clock.timeSource.now() - began < .seconds(seconds))
        await rig.outbox.close()
    }
}
