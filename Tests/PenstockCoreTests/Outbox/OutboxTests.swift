import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Writes from the call site to the server, under a clock that stands still.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxTests {
    private static let product: @Sendable (IdempotentServer.Effect) -> HTTPResponse = { _ in
        .json(#"{"id":7,"name":"tea"}"#)
    }

    private static func isError(_ error: any Error, _ matches: (OutboxError) -> Bool) -> Bool {
        (error as? OutboxError).map(matches) ?? false
    }

    // MARK: One write

    @Test(
        "A write that was put offline is delivered when the network is back, and its receipt has the output",
        .covers("S4.8"))
    func offlineThenDelivered() async throws {
        let isOffline = Locked(true)
        let server = IdempotentServer(answer: Self.product) { _ in isOffline.withLock { $0 } ? .unreachable : .answer }
        let rig = OutboxRig(StubTransport(server.respond))
        let (signals, network) = AsyncStream<Void>.makeStream()
        rig.outbox.start(wakingOn: signals)
        let receipt = try await rig.outbox.put(BookOrder(cart: "7", quantity: 2))
        await rig.advance { receipt.state.isWaiting }
        #expect(server.effects == [])
        guard case .waiting(let until) = receipt.state else { return #expect(Bool(false), "\(receipt.state)") }
        isOffline.withLock { $0 = false }
        network.yield()
        await rig.advance(until: receipt, by: .milliseconds(1))
        #expect(rig.clock.timeSource.date() < until, "it has waited for its moment")
        #expect(try await receipt.value.name == "tea")
        #expect(receipt.state == .done)
        #expect(server.effects.map(\.path) == ["/carts/7/orders"])
        #expect(server.effects.first?.key == "\"\(receipt.key)\"")
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    @Test(
        "The states of a write begin with the one that it is in, and go on to the last without anybody holding the receipt"
    )
    func states() async throws {
        let rig = OutboxRig(StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#) })
        let states = try await rig.outbox.put(BookOrder()).states
        rig.outbox.start()
        var seen: [OutboxState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.queued, .sending(attempt: 1), .done])
        await rig.outbox.close()
    }

    @Test("Each attempt has the same key and the same bytes, with common headers read anew", .covers("S4.8"))
    func sameBytes() async throws {
        let token = Locked(0)
        let stub = StubTransport { _ in HTTPResponse(status: 503) }
        let rig = OutboxRig(stub) { configuration in
            configuration.headers = CommonHeaders { ["X-Token": "\(token.withLock { $0 += 1; return $0 })"] }
        }
        let receipt = try await rig.outbox.put(BookOrder(quantity: 3, note: "ü"))
        rig.outbox.start()
        await rig.advance { stub.requests.count >= 4 }
        await rig.outbox.close()
        let requests = stub.requests
        #expect(Set(requests.map(\.text)) == [#"{"cart":"1","note":"ü","quantity":3}"#])
        #expect(Set(requests.compactMap { $0.fields["Idempotency-Key"] }) == ["\"\(receipt.key)\""])
        #expect(Set(requests.compactMap { $0.fields["X-Order"] }) == ["yes"])
        #expect(Set(requests.compactMap { $0.fields[.contentType] }) == ["application/json"])
        #expect(Set(requests.compactMap { $0.fields["X-Token"] }).count == requests.count)
        #expect(receipt.state == .closed)
    }

    @Test("A lost answer is asked for again under the same key, and the server books once", .covers("S4.8"))
    func lostAnswer() async throws {
        let fates = Locked<[IdempotentServer.Fate]>([.drop, .commitAndDrop, .process(conflicts: 2), .commitAndDrop])
        let server = IdempotentServer(answer: Self.product) { _ in
            fates.withLock { $0.isEmpty ? .answer : $0.removeFirst() }
        }
        let rig = OutboxRig(StubTransport(server.respond))
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        #expect(server.effects.count == 1)
        #expect(server.misusedKeys == [])
        #expect(server.requestCount >= 4)
        await rig.outbox.close()
    }

    @Test(
        "Two writes with the same bytes are both sent, whatever the client does with calls of one kind",
        arguments: [InFlightPolicy.join, .cancelPrevious, .ignoreNew])
    func sameBytesTwice(policy: InFlightPolicy) async throws {
        let script = ScriptedTransport([
            .held(.respond(HTTPResponse(status: 204))), .respond(HTTPResponse(status: 204)),
        ])
        let rig = OutboxRig(script, types: [Ring.self]) { $0.options.inFlight = policy }
        let first = try await rig.outbox.put(Ring(door: "a"))
        let second = try await rig.outbox.put(Ring(door: "b"))
        rig.outbox.start()
        await script.waitForExchanges(count: 2)
        await rig.advance { first.state == .done || second.state == .done }
        script.release()
        await rig.advance { first.state == .done && second.state == .done }
        #expect(Set(script.requests.compactMap { $0.request.fields["Idempotency-Key"] }).count == 2)
        #expect(script.requests.count == 2)
        await rig.outbox.close()
    }

    /// Whose requests are all alike.
    private struct Ring: OutboxEndpoint {
        typealias Output = Void
        var door: String
        var route: Route { .post("/bell") }
        var body: HTTPBody { .bytes(Data("ring".utf8)) }
        var lane: OutboxLane { "door/\(door)" }
    }

    @Test("A write that was answered with See Other is done, though what that leads to is not there")
    func seeOther() async throws {
        let stub = StubTransport { request in
            request.method == .post ? .redirect(303, to: "/status") : HTTPResponse(status: 404)
        }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        #expect(stub.requests.map(\.method) == [.post, .get])
        #expect(try await rig.outbox.undeliverable().isEmpty)
        await rig.outbox.close()
    }

    @Test("409 while the same key is in progress is waited out")
    func inProgress() async throws {
        let fates = Locked<[IdempotentServer.Fate]>([.process(conflicts: 3)])
        let server = IdempotentServer(answer: Self.product) { _ in
            fates.withLock { $0.isEmpty ? .answer : $0.removeFirst() }
        }
        let rig = OutboxRig(StubTransport(server.respond))
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(try await receipt.value.name == "tea")
        #expect(server.requestCount == 5)
        #expect(server.effects.count == 1)
        await rig.outbox.close()
    }

    @Test("A refused write is on the list with its status, until the app sends it again or discards it")
    func undeliverable() async throws {
        let status = Locked(404)
        let stub = StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#, status: status.withLock { $0 }) }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder(cart: "9", quantity: 4))
        await #expect { try await receipt.value } throws: { error in
            Self.isError(error) {
                guard case .undeliverable(let failure, let last) = $0 else { return false }
                return failure == OutboxFailure(.refused, status: 404) && last?.kind == .httpStatus(404)
            }
        }
        let listed = try #require(try await rig.outbox.undeliverable().first)
        #expect(listed.id == receipt.id)
        #expect(listed.failure == OutboxFailure(.refused, status: 404))
        #expect(listed.name == "BookOrder")
        #expect(listed.lane == "cart/9")
        #expect(listed.attempts == 1)
        #expect(listed.endpoint(as: BookOrder.self)?.quantity == 4)
        #expect(listed.endpoint(as: SetLike.self) == nil)
        status.withLock { $0 = 200 }
        #expect(try await rig.outbox.retry(receipt.id))
        #expect(try await receipt.value.name == "tea")
        #expect(try await !rig.outbox.retry(receipt.id), "what is done is not queued again")
        #expect(Set(stub.requests.compactMap { $0.fields["Idempotency-Key"] }).count == 1)

        status.withLock { $0 = 410 }
        let other = try await rig.outbox.put(BookOrder(cart: "9"))
        await rig.advance(until: other)
        #expect(try await rig.outbox.discard(other.id))
        #expect(other.state == .discarded)
        #expect(try await rig.outbox.undeliverable().isEmpty)
        await rig.outbox.close()
    }

    @Test("The app decides about 409 and 422")
    func verdicts() async throws {
        let status = Locked(409)
        let stub = StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#, status: status.withLock { $0 }) }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let done = try await rig.outbox.put(BookOrder(note: "done"))
        await #expect { try await done.value } throws: { error in
            Self.isError(error) { if case .answer(let last) = $0 { last.kind == .httpStatus(409) } else { false } }
        }
        #expect(done.state == .done)
        #expect(stub.requests.count == 1)
        status.withLock { $0 = 422 }
        let again = try await rig.outbox.put(BookOrder(note: "again"))
        let date = rig.clock.timeSource.date()
        await rig.advance { again.state.isWaiting }
        guard case .waiting(let until) = again.state else {
            Issue.record("the state is \(again.state)")
            return
        }
        // The clock is moved until the state is seen.
        #expect(until.timeIntervalSince(date) >= 29.9)
        #expect(until.timeIntervalSince(rig.clock.timeSource.date()) <= 32)
        let plain = try await rig.outbox.put(BookOrder(cart: "2"))
        await rig.advance(until: plain)
        #expect(plain.state == .undeliverable(OutboxFailure(.refused, status: 422)))
        await rig.outbox.close()
    }

    @Test("2xx is delivered, also where its answer cannot be read; a code of the envelope that is no success is not")
    func envelopes() async throws {
        let text = Locked("not JSON")
        let stub = StubTransport { _ in .json(text.withLock { $0 }) }
        let rig = OutboxRig(stub) { configuration in
            configuration.services = ServiceRegistry([
                Service(.main, [.development: "https://api.example.com"], envelope: .retcode)
            ])
        }
        rig.outbox.start()
        let unreadable = try await rig.outbox.put(BookOrder())
        await #expect { try await unreadable.value } throws: { error in
            Self.isError(error) { if case .answer = $0 { true } else { false } }
        }
        #expect(unreadable.state == .done)
        text.withLock { $0 = #"{"retcode":5,"retdesc":"sold out"}"# }
        let refused = try await rig.outbox.put(BookOrder())
        await rig.advance(until: refused)
        #expect(refused.state == .undeliverable(OutboxFailure(.business)))
        #expect(stub.requests.count == 2)
        await rig.outbox.close()
    }

    @Test("401 without a way to refresh is kept, and sent at once when the app says that the credential is new")
    func credentials() async throws {
        let status = Locked(401)
        let stub = StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#, status: status.withLock { $0 }) }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance { receipt.state.isWaiting }
        status.withLock { $0 = 200 }
        rig.outbox.wake()
        #expect(try await receipt.value.name == "tea")
        await rig.outbox.close()
    }

    @Test("A server's hint is kept: nothing is sent before it, and waking changes nothing")
    func hints() async throws {
        let status = Locked(503)
        let stub = StubTransport { _ in
            HTTPResponse(
                status: status.withLock { $0 }, fields: ["Retry-After": "120", .contentType: "application/json"],
                body: Data(#"{"id":7,"name":"tea"}"#.utf8))
        }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance { receipt.state.isWaiting }
        let begun = rig.clock.now.offset
        let (count, date) = (stub.requests.count, rig.clock.timeSource.date())
        guard case .waiting(let until) = receipt.state else {
            Issue.record("the state is \(receipt.state)")
            return
        }
        #expect(until.timeIntervalSince(date) <= 120)
        status.withLock { $0 = 200 }
        rig.outbox.wake()
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        #expect(rig.clock.now.offset - begun >= .seconds(119))
        #expect(stub.requests.count == count + 1)
        await rig.outbox.close()
    }

    @Test("A write that expires while it waits is undeliverable, and says so")
    func expiry() async throws {
        let rig = OutboxRig(StubTransport { _ in HTTPResponse(status: 503) })
        rig.outbox.start()
        let receipt = try await rig.outbox.put(KeepEntry(text: "a"))
        await rig.advance(until: receipt, by: .seconds(10))
        guard case .undeliverable(let failure) = receipt.state else {
            Issue.record("the state is \(receipt.state)")
            return
        }
        #expect(failure.reason == .expired)
        #expect((999...2_000).contains(rig.clock.now.offset / .seconds(1)))
        await rig.outbox.close()
    }

    /// Means something for ten seconds.
    private struct Passing: OutboxEndpoint {
        typealias Output = Void
        var number: Int
        var route: Route { .post("/passing") }
        var lane: OutboxLane { "passing/\(number)" }
        static var outboxPolicy: OutboxPolicy { OutboxPolicy(lifetime: .seconds(10)) }
    }

    @Test("However many writes have expired, all of them are undeliverable at once")
    func manyExpired() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let rig = OutboxRig(stub, types: [Passing.self])
        var receipts: [OutboxReceipt<Void>] = []
        for number in 0..<250 { receipts.append(try await rig.outbox.put(Passing(number: number))) }
        rig.clock.advance(by: .seconds(11))
        rig.outbox.start()
        await rig.advance(by: .milliseconds(1)) { [receipts] in receipts.allSatisfy { $0.state.isFailed } }
        #expect(rig.clock.now.offset < .seconds(15))
        #expect(stub.requests.isEmpty)
        await rig.outbox.close()
    }

    @Test("A store that has failed is asked again after five seconds")
    func failedStore() async throws {
        let store = PassingStore(memory: MemoryOutboxStore(), passes: false)
        let rig = OutboxRig(StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#) }, store: store)
        store.fault.withLock { $0 = .busy }
        let receipt = try await rig.outbox.put(BookOrder())
        rig.outbox.start()
        // Once at its start, and once for what was put before that.
        await store.faults.waitUnlessCancelled { $0 >= 2 }
        await rig.clock.waitForSleepers(count: 1)
        store.fault.withLock { $0 = nil }
        let failed = rig.clock.now.offset
        await rig.advance(until: receipt, by: .milliseconds(10))
        #expect(receipt.state == .done)
        #expect((Duration.seconds(5)..<(.seconds(10))).contains(rig.clock.now.offset - failed))
        await rig.outbox.close()
    }

    // MARK: Lanes

    @Test("A lane is one after the other, lanes go side by side, no more than there may be")
    func lanes() async throws {
        let script = ScriptedTransport(Array(repeating: .held(.respond(.json(#"{"id":7,"name":"tea"}"#))), count: 12))
        let rig = OutboxRig(script)
        var receipts: [OutboxReceipt<Product>] = []
        for quantity in 1...2 {
            for cart in 1...6 {
                receipts.append(try await rig.outbox.put(BookOrder(cart: "\(cart)", quantity: quantity)))
            }
        }
        rig.outbox.start()
        var seen: [String: Int] = [:]
        for begun in 4...12 {
            await script.waitForExchanges(count: begun)
            #expect(script.openExchangeCount <= 4)
            let open = script.requests.suffix(4).map(\.request.url.path)
            #expect(Set(open).count == 4, "two writes of one lane at once")
            script.release()
        }
        for _ in 0..<3 { script.release() }
        for receipt in receipts { #expect(try await receipt.value.name == "tea") }
        for request in script.requests {
            let last = seen[request.request.url.path] ?? 0
            #expect(request.request.text.contains(#""quantity":\#(last + 1)"#), "out of order")
            seen[request.request.url.path] = last + 1
        }
        #expect(seen.count == 6)
        await rig.outbox.close()
    }

    @Test("A lane that a failure stops waits for the app; another goes on; numbers rise by one")
    func stoppedLane() async throws {
        let fates = Locked<[IdempotentServer.Fate]>([.refuse(403)])
        let server = IdempotentServer(fate: { _ in fates.withLock { $0.isEmpty ? .answer : $0.removeFirst() } })
        let rig = OutboxRig(StubTransport(server.respond))
        rig.outbox.start()
        let first = try await rig.outbox.put(KeepEntry(text: "a"))
        await rig.advance(until: first)
        let second = try await rig.outbox.put(KeepEntry(text: "b"))
        let like = try await rig.outbox.put(SetLike(product: 1, isLiked: true))
        try await like.value
        #expect(second.state == .queued)
        try await rig.outbox.retry(first.id)
        try await first.value
        try await second.value
        let entries = server.effects.filter { $0.path == "/diary" }
        #expect(entries.map(\.number) == ["1", "2"])
        #expect(entries.map(\.key) == ["\"\(first.key)\"", "\"\(second.key)\""])
        await rig.outbox.close()
    }

    // MARK: What cannot be put

    @Test("What cannot be put says why, and leaves nothing behind")
    func refusedToPut() async throws {
        let rig = OutboxRig(StubTransport(), types: [BookOrder.self, SendFile.self])
        await #expect { try await rig.outbox.put(BookOrder(quantity: 100)) } throws: { error in
            Self.isError(error) {
                guard case .request(let error) = $0, case .invalidParameter("quantity", _) = error.kind else {
                    return false
                }
                return true
            }
        }
        await #expect { try await rig.outbox.put(SetLike(product: 1, isLiked: true)) } throws: { error in
            "\(error)" == "SetLike is not among the endpoints of the outbox's configuration"
                && Self.isError(error) { if case .unregistered("SetLike") = $0 { true } else { false } }
        }
        await #expect { try await rig.outbox.put(SendFile(count: 193 << 10)) } throws: { error in
            Self.isError(error) {
                if case .store(.tooLarge(bytes: 197_632, limit: 196_608)) = $0 { true } else { false }
            }
        }
        await #expect { try await rig.outbox.put(SendFile(count: -1)) } throws: { error in
            Self.isError(error) {
                guard case .request(let error) = $0, case .invalidParameter("body", _) = error.kind else {
                    return false
                }
                return true
            }
        }
        await rig.store.close()
        await #expect { try await rig.outbox.put(BookOrder()) } throws: { error in
            Self.isError(error) { if case .store(.closed) = $0 { true } else { false } }
        }
        #expect(rig.client.callCount == 0)
    }

    // MARK: Restart

    @Test("What was being sent when the app ended is sent again under its key, before what was put later")
    func restart() async throws {
        let store = MemoryOutboxStore()
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 200)))])
        var rig: OutboxRig? = OutboxRig(script, store: store)
        rig?.outbox.start()
        let first = try #require(try await rig?.outbox.put(BookOrder(quantity: 1)))
        let second = try #require(try await rig?.outbox.put(BookOrder(quantity: 2)))
        await script.waitForExchanges(count: 1)
        await rig?.outbox.close()
        #expect(first.state == .closed)
        let calls = rig?.client.callCount
        #expect(calls == 0)
        rig = nil
        let server = IdempotentServer(answer: Self.product)
        let later = OutboxRig(StubTransport(server.respond), store: store)
        let receipt = try #require(try await later.outbox.receipt(for: second.id, BookOrder.self))
        #expect(try await later.outbox.pending().map(\.id) == [first.id, second.id])
        later.outbox.start()
        #expect(try await receipt.value.name == "tea")
        #expect(server.effects.map(\.key) == ["\"\(first.key)\"", "\"\(second.key)\""])
        #expect(script.requests.first?.request.fields["Idempotency-Key"] == "\"\(first.key)\"")
        #expect(try await later.outbox.receipt(for: first.id, BookOrder.self) == nil)
        await later.outbox.close()
    }

    @Test("An outbox that nobody holds sends no more, and tells those who wait")
    func released() async throws {
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 200)))])
        var rig: OutboxRig? = OutboxRig(script)
        rig?.outbox.start()
        let receipt = try #require(try await rig?.outbox.put(BookOrder()))
        await script.waitForExchanges(count: 1)
        let store = try #require(rig?.store)
        let owner = try #require(rig?.owner)
        rig = nil
        await #expect { try await receipt.value } throws: { error in
            Self.isError(error) { if case .over(.closed) = $0 { true } else { false } }
        }
        #expect(try await store.counts(of: owner) == OutboxCounts(pending: 1))
    }

    @Test("A write whose type the app has no more is delivered all the same; one that cannot be read is on the list")
    func unknownTypes() async throws {
        let store = MemoryOutboxStore()
        let rig = OutboxRig(StubTransport(), store: store)
        let receipt = try await rig.outbox.put(BookOrder())
        let row = try #require(try await store.row(receipt.id))
        let damaged = OutboxRow(
            id: OutboxID(), owner: row.owner, lane: "x", payload: row.payload.dropLast(300), created: row.created,
            expires: row.expires)
        _ = try await store.put(damaged, isNumbered: false)
        let server = IdempotentServer()
        let later = OutboxRig(StubTransport(server.respond), store: store, types: [])
        let changes = later.outbox.changes  // whatever comes first
        later.outbox.start()
        await later.advance { server.effects.count == 1 }
        #expect(server.effects.map(\.path) == ["/carts/1/orders"])
        for await change in changes where change.id == damaged.id && change.state.isFailed { break }
        let listed = try await later.outbox.undeliverable()
        #expect(listed.map(\.failure) == [OutboxFailure(.unreadable)])
        #expect(listed.map(\.name) == [nil])
        await later.outbox.close()
    }

    @Test("Whatever the bytes of a row are, they are read as what was put or not at all")
    func hostileContent() async throws {
        let rig = OutboxRig(StubTransport())
        let receipt = try await rig.outbox.put(BookOrder(note: "tea"))
        let payload = try #require(try await rig.store.row(receipt.id)).payload
        let whole = try OutboxContent(payload)
        #expect(whole.head.name == "BookOrder")
        #expect(try OutboxContent(whole.encoded()).body == whole.body)
        let head = payload.count - whole.body.count
        for count in 0..<head { #expect(throws: (any Error).self) { try OutboxContent(payload.prefix(count)) } }
        #expect(try OutboxContent(payload.prefix(head)).body.isEmpty)
        var lying = payload
        lying.replaceSubrange(lying.startIndex..<(lying.startIndex + 4), with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: (any Error).self) { try OutboxContent(lying) }
        var bad = whole
        bad.head.method = "NO METHOD"
        #expect(throws: (any Error).self) { try bad.request(key: "k", number: nil) }
        bad = whole
        bad.head.fields = [["X-Alone"]]
        #expect(throws: (any Error).self) { try bad.request(key: "k", number: nil) }
        bad = whole
        bad.head.url = "nowhere"
        #expect(throws: (any Error).self) { try bad.request(key: "k", number: nil) }
    }

    // MARK: Users

    @Test("Writes wait while another user is there, and go out with their own user and environment alone")
    func users() async throws {
        let server = IdempotentServer(answer: Self.product)
        let rig = OutboxRig(StubTransport(server.respond)) { $0.allowsEnvironmentSwitch = true }
        let receipt = try await rig.outbox.put(BookOrder())
        rig.user.withLock { $0 = "bert" }
        rig.outbox.start()
        let other = try await rig.outbox.put(BookOrder(cart: "2"))
        #expect(try await other.value.name == "tea")
        #expect(receipt.state == .queued)
        rig.user.withLock { $0 = "anna" }
        try rig.client.switchEnvironment(to: .test)
        let elsewhere = try await rig.outbox.put(BookOrder(cart: "3"))
        #expect(try await elsewhere.value.name == "tea")
        #expect(receipt.state == .queued)
        try rig.client.switchEnvironment(to: .development)
        rig.outbox.wake()
        #expect(try await receipt.value.name == "tea")
        #expect(server.effects.map(\.path) == ["/carts/2/orders", "/carts/3/orders", "/carts/1/orders"])
        await rig.outbox.close()
    }

    @Test("A logout removes what its policy does not keep, also what is being sent")
    func logout() async throws {
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 200)))])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await script.waitForExchanges(count: 1)
        rig.user.withLock { $0 = "" }
        let kept = OutboxRow(
            id: OutboxID(), owner: OutboxOwner(identity: "anna", environment: "development"), lane: "x",
            payload: Data(),
            created: Date(), expires: .distantFuture, isKept: true)
        _ = try await rig.store.put(kept, isNumbered: false)
        #expect(try await rig.outbox.forget(identity: "anna") == 1)
        #expect(receipt.state == .discarded)
        #expect(rig.client.callCount == 0 || rig.client.calls.allSatisfy(\.isCancelled))
        rig.user.withLock { $0 = "anna" }
        #expect(try await rig.outbox.pending().map(\.id) == [kept.id])
        await rig.outbox.close()
    }

    // MARK: The cipher

    @Test(
        "What is kept is sealed; while the key cannot be had the write waits, and what can never be opened is on the list"
    )
    func cipher() async throws {
        let cipher = TestCipher()
        let server = IdempotentServer(answer: Self.product)
        let rig = OutboxRig(StubTransport(server.respond), cipher: cipher)
        let receipt = try await rig.outbox.put(BookOrder(note: "secret"))
        let row = try #require(try await rig.store.row(receipt.id))
        #expect(!row.payload.contains(Data("secret".utf8)))
        #expect(!"\(row)".contains("anna"))
        cipher.mode.withLock { $0 = .locked }
        rig.outbox.start()
        await rig.advance { receipt.state.isWaiting }
        #expect(server.requestCount == 0)
        cipher.mode.withLock { $0 = .open }
        rig.outbox.wake()
        #expect(try await receipt.value.name == "tea")
        cipher.mode.withLock { $0 = .lost }
        let lost = try await rig.outbox.put(BookOrder())
        await rig.advance(until: lost)
        #expect(lost.state == .undeliverable(OutboxFailure(.unreadable)))
        cipher.mode.withLock { $0 = .broken }
        await #expect { try await rig.outbox.put(BookOrder()) } throws: { error in
            Self.isError(error) { if case .cipher = $0 { true } else { false } }
        }
        await rig.outbox.close()
    }

    // MARK: Several senders

    @Test(
        "Of two that share a store one sends; the other takes over when it lets go, and hears what came of its own writes"
    )
    func twoSenders() async throws {
        let store = MemoryOutboxStore()
        let script = ScriptedTransport([.held(.respond(.json(#"{"id":7,"name":"tea"}"#)))])
        let first = OutboxRig(script, store: store)
        let stub = StubTransport { _ in .json(#"{"id":7,"name":"tea"}"#) }
        let second = OutboxRig(stub, store: store, seed: 6)
        first.outbox.start()
        let one = try await first.outbox.put(BookOrder(cart: "1"))
        await script.waitForExchanges(count: 1)
        second.outbox.start()
        let two = try await second.outbox.put(BookOrder(cart: "2"))
        await second.clock.waitForSleepers(count: 1)
        #expect(stub.requests.isEmpty, "two senders at once")
        script.release()
        #expect(try await one.value.name == "tea")
        // The first may or may not have seen the second's write before it let go: somebody sends it.
        await second.advance { two.state.isLast || !script.unscripted.isEmpty }
        await first.outbox.close()
        await second.advance(until: two)
        #expect(
            two.state == .done || two.state == .undeliverable(OutboxFailure(.blocked)) || two.state == .settledElsewhere
        )
        await second.outbox.close()
    }

    @Test("Who has lost the lease writes nothing down, and ends what it sends")
    func fenced() async throws {
        let store = MemoryOutboxStore()
        let script = ScriptedTransport([.held(.respond(.json(#"{"id":7,"name":"tea"}"#)))])
        let rig = OutboxRig(script, store: store)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await script.waitForExchanges(count: 1)
        let date = rig.clock.timeSource.date()
        let lease = try await store.lease(for: "other", at: date.addingTimeInterval(60), duration: .seconds(200))
        #expect(lease?.token == 2)
        rig.outbox.wake()
        await rig.advance { script.openExchangeCount == 0 || rig.clock.now.offset > .seconds(60) }
        #expect(script.openExchangeCount == 0)
        #expect(try await store.row(receipt.id)?.state == .queued)
        #expect(try await store.row(receipt.id)?.unanswered != nil)
        await rig.outbox.close()
    }
}

/// Sends so many bytes; a stream, when there are fewer than none.
private struct SendFile: OutboxEndpoint {
    typealias Output = Void
    let count: Int
    var route: Route { .post("/files") }
    var parameters: NoParameters { NoParameters() }
    var body: HTTPBody {
        count < 0 ? .stream { AsyncThrowingStream { $0.finish() } } : .bytes(Data(count: count))
    }
}

/// Turns every bit, and says of what it is.
final class TestCipher: OutboxCipher {
    enum Mode { case open, locked, lost, broken }
    struct Failure: Error {}

    let mode = Locked(Mode.open)

    func seal(_ plain: Data, for context: String) throws -> Data {
        if mode.withLock({ $0 == .broken }) { throw Failure() }
        return Data((Array(context.utf8) + plain).map { ~$0 })
    }

    func open(_ sealed: Data, for context: String) throws -> Data {
        switch mode.withLock({ $0 }) {
        case .locked: throw OutboxCipherUnavailable()
        case .lost: throw Failure()
        case .open, .broken: break
        }
        let plain = sealed.map { ~$0 }
        guard plain.starts(with: context.utf8) else { throw Failure() }
        return Data(plain.dropFirst(context.utf8.count))
    }
}

extension Data {
    fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
