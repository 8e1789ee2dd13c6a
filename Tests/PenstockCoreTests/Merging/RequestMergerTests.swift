import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Which keys are asked for together.
struct MergeQueueTests {
    @Test("Keys of one group are collected in order, each once, until the batch is closed")
    func collects() {
        var queue = MergeQueue<String, Int>(limit: 10)
        let first = queue.add(7, of: "a")
        #expect(first.isFirst && !first.isFull)
        let second = queue.add(5, of: "a")
        #expect(second.batch == first.batch && !second.isFirst)
        #expect(queue.add(7, of: "a").batch == first.batch)
        #expect(queue.openCount == 1)
        #expect(queue.close(first.batch) == [7, 5])
        #expect(queue.close(first.batch) == nil)
        #expect(queue.openCount == 0)
        let next = queue.add(7, of: "a")
        #expect(next.batch != first.batch && next.isFirst)
    }

    @Test("Keys of different groups are never asked for together", .covers("S3.44"))
    func groups() {
        var queue = MergeQueue<String, Int>(limit: 10)
        let (alice, bob) = (queue.add(1, of: "alice"), queue.add(1, of: "bob"))
        #expect(alice.batch != bob.batch && bob.isFirst)
        #expect(queue.close(alice.batch) == [1])
        #expect(queue.add(2, of: "bob").batch == bob.batch)
        #expect(queue.close(bob.batch) == [1, 2])
    }

    @Test("A batch is full at its limit, and a key that is in it already fills nothing", arguments: [0, 1, 2, 3])
    func limit(limit: Int) {
        var queue = MergeQueue<String, Int>(limit: limit)
        for key in 1..<max(limit, 1) {
            #expect(!queue.add(key, of: "a").isFull)
            #expect(!queue.add(key, of: "a").isFull)
        }
        #expect(queue.add(99, of: "a").isFull)
    }

    @Test("A full batch takes in nothing more before it is closed, not even a key that it has")
    func fullBatches() {
        var queue = MergeQueue<String, Int>(limit: 2)
        let first = queue.add(1, of: "a").batch
        #expect(queue.add(2, of: "a").isFull)
        let second = queue.add(2, of: "a")
        #expect(second.batch != first && second.isFirst && !second.isFull)
        #expect(queue.openCount == 2)
        #expect(queue.close(first) == [1, 2])
        #expect(queue.add(3, of: "a").batch == second.batch)
        #expect(queue.close(second.batch) == [2, 3])
    }

    @Test("A key leaves when the last one who waits for it does")
    func leaving() throws {
        var queue = MergeQueue<String, Int>(limit: 10)
        let batch = queue.add(1, of: "a").batch
        _ = queue.add(1, of: "a")
        _ = queue.add(2, of: "a")
        queue.leave(1, in: batch)
        queue.leave(3, in: batch)
        queue.leave(2, in: batch + 1)
        queue.leave(2, in: batch)
        #expect(queue.close(batch) == [1])
        queue.leave(1, in: batch)
        let empty = queue.add(1, of: "a").batch
        queue.leave(1, in: empty)
        #expect(queue.add(4, of: "a").isFirst)
        queue.leave(4, in: empty)
        #expect(queue.close(empty) == [])
        // As many as came have to leave, and one who comes again is there again.
        let busy = queue.add(1, of: "a").batch
        for _ in 0..<2 { _ = queue.add(1, of: "a") }
        _ = queue.add(2, of: "a")
        for _ in 0..<3 { queue.leave(1, in: busy) }
        queue.leave(2, in: busy)
        #expect(queue.add(2, of: "a").isFirst)
        #expect(queue.close(busy) == [2])
    }
}

/// Many requests as one.
@Suite(.timeLimit(.minutes(5))) struct RequestMergerTests {
    struct GetNames: Endpoint, Encodable {
        typealias Output = [String: String]
        let ids: String
        var route: Route { .get("/names") }
    }

    private let clock = TestClock()
    /// The keys that endpoints were made of.
    private let made = Locked<[[Int]]>([])

    private func merger(
        _ transport: any Transport, limit: Int = 100, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> (RequestMerger<Int, GetNames, String>, APIClient) {
        let client = CallSupport.client(transport) {
            $0.time = clock.timeSource
            change(&$0)
        }
        let merger = RequestMerger<Int, GetNames, String>(client, limit: limit) { [made] ids in
            made.withLock { $0.append(ids) }
            return GetNames(ids: ids.map(String.init).joined(separator: "-"))
        } values: { answer in
            Dictionary(uniqueKeysWithValues: answer.compactMap { key, name in Int(key).map { ($0, name) } })
        }
        return (merger, client)
    }

    /// Answers each id with its name, but for 13.
    private let server: @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse = {
        request throws(TransportError) in
        let ids = (request.url.query ?? "").dropFirst("ids=".count).split(separator: "-")
        let pairs = ids.filter { $0 != "13" }.map { #""\#($0)":"name \#($0)""# }
        return HTTPResponse(status: 200, body: Data("{\(pairs.joined(separator: ","))}".utf8))
    }

    /// Starts a call for each key, in this order.
    private func ask(
        _ merger: RequestMerger<Int, GetNames, String>, _ keys: [Int], after before: Int = 0
    ) async -> [Task<Result<String, APIError>, Never>] {
        var tasks: [Task<Result<String, APIError>, Never>] = []
        for key in keys {
            tasks.append(
                Task { await Self.result(of: key, merger) })
            while !Task.isCancelled, merger.waiterCount < before + tasks.count { await Task.yield() }
        }
        return tasks
    }

    private static func result(
        of key: Int, _ merger: RequestMerger<Int, GetNames, String>
    ) async -> Result<String, APIError> {
        do throws(APIError) {
            return .success(try await merger.value(for: key))
        } catch {
            return .failure(error)
        }
    }

    private func passWindow() async {
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(10))
    }

    @Test("Calls that are asked for within the window become one hit, and each gets its own value", .covers("S3.44"))
    func oneHit() async throws {
        let gate = GateTransport(isOpen: true, server)
        let (merger, _) = merger(gate)
        let tasks = await ask(merger, [1, 2, 3, 2])
        #expect(gate.began.isEmpty)
        await passWindow()
        var names: [String] = []
        for task in tasks { names.append(try await task.value.get()) }
        #expect(names == ["name 1", "name 2", "name 3", "name 2"])
        #expect(gate.requests.map(\.url.query) == ["ids=1-2-3"])
    }

    @Test("What is asked for after the window is another hit")
    func nextWindow() async throws {
        let gate = GateTransport(isOpen: true, server)
        let (merger, _) = merger(gate)
        for key in [1, 2] {
            let tasks = await ask(merger, [key])
            await passWindow()
            #expect(try await tasks[0].value.get() == "name \(key)")
        }
        #expect(gate.requests.map(\.url.query) == ["ids=1", "ids=2"])
    }

    @Test("A full batch does not wait for the window")
    func full() async throws {
        let gate = GateTransport(isOpen: true, server)
        let (merger, _) = merger(gate, limit: 2)
        async let first = merger.value(for: 1)
        async let second = merger.value(for: 2)
        #expect(try await [first, second] == ["name 1", "name 2"])
        #expect(gate.began.count == 1)
    }

    @Test("Unless told otherwise a request has a hundred keys at most")
    func fullByDefault() async throws {
        let gate = GateTransport(isOpen: true, server)
        let client = CallSupport.client(gate) { $0.time = clock.timeSource }
        let merger = RequestMerger<Int, GetNames, String>(client) { ids in
            GetNames(ids: ids.map(String.init).joined(separator: "-"))
        } values: { answer in
            Dictionary(uniqueKeysWithValues: answer.compactMap { key, name in Int(key).map { ($0, name) } })
        }
        let over = Locked(0)
        for key in 100...200 {
            Task {
                _ = await Self.result(of: key, merger)
                over.withLock { $0 += 1 }
            }
        }
        while !Task.isCancelled, gate.requests.isEmpty, merger.waiterCount < 101 { await Task.yield() }
        #expect(gate.requests.first?.url.query?.split(separator: "-").count == 100)
        while !Task.isCancelled, over.withLock({ $0 }) < 101 {
            clock.advance(by: .milliseconds(10))
            await Task.yield()
        }
    }

    @Test("A caller that is cancelled leaves alone, before the request is sent and after")
    func oneLeaves() async throws {
        let gate = GateTransport(server)
        let (merger, _) = merger(gate)
        let tasks = await ask(merger, [1, 2, 3])
        tasks[0].cancel()
        #expect(await tasks[0].value.failure?.kind == .cancelled)
        await passWindow()
        await gate.waitForRequests(1)
        #expect(gate.requests.map(\.url.query) == ["ids=2-3"])
        tasks[1].cancel()
        #expect(await tasks[1].value.failure?.kind == .cancelled)
        #expect(gate.open.count == 1)
        gate.releaseAll()
        #expect(try await tasks[2].value.get() == "name 3")
    }

    @Test("When the last caller has left the request ends; before it was sent, none is")
    func lastLeaves() async throws {
        let gate = GateTransport(server)
        let (merger, client) = merger(gate)
        let early = await ask(merger, [1])
        early[0].cancel()
        #expect(await early[0].value.failure?.kind == .cancelled)
        await passWindow()
        let late = await ask(merger, [2])
        await passWindow()
        await gate.waitForRequests(1)
        #expect(gate.requests.map(\.url.query) == ["ids=2"])
        late[0].cancel()
        _ = await late[0].value
        await gate.waitForOpen(0)
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
    }

    @Test("A failed request fails for all of its callers alike, and a missing value for its own alone")
    func failures() async throws {
        let broken = GateTransport(isOpen: true) { _ throws(TransportError) in HTTPResponse(status: 500) }
        let (failing, _) = merger(broken)
        let tasks = await ask(failing, [1, 2])
        await passWindow()
        for task in tasks { #expect(await task.value.failure?.kind == .httpStatus(500)) }
        #expect(broken.began.count == 1)

        let (merger, _) = merger(GateTransport(isOpen: true, server))
        let others = await ask(merger, [13, 14])
        await passWindow()
        let failure = await others[0].value.failure
        #expect(failure?.kind == .validation(rule: "merging"))
        #expect(failure?.underlying as? MergeError == .noValue)
        #expect(try await others[1].value.get() == "name 14")
    }

    @Test("What was asked for by one user is never sent as another's", .covers("S3.44"))
    func users() async throws {
        let user = Box("alice")
        let gate = GateTransport(isOpen: true, server)
        let (merger, _) = merger(gate) { $0.identity = { user.value } }
        let alice = await ask(merger, [1])
        user.value = "bob"
        let bob = await ask(merger, [2], after: 1)
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(10))
        #expect(await alice[0].value.failure?.kind == .cancelled)
        #expect(try await bob[0].value.get() == "name 2")
        #expect(gate.requests.map(\.url.query) == ["ids=2"])
        #expect(made.withLock { $0 } == [[2]], "nobody is told of what another user has asked for")
    }

    @Test("Cancelling all calls of the client ends what is collected as well")
    func cancelAll() async throws {
        let gate = GateTransport(isOpen: true, server)
        let (merger, client) = merger(gate)
        let tasks = await ask(merger, [1])
        client.cancelAll()
        await passWindow()
        #expect(await tasks[0].value.failure?.kind == .cancelled)
        #expect(gate.began.isEmpty)
    }

    @Test("What is asked for after all calls were cancelled is sent, though a batch from before was still collected")
    func askedAfterCancelAll() async throws {
        let gate = GateTransport(isOpen: true, server)
        let (merger, client) = merger(gate)
        let before = await ask(merger, [1])
        client.cancelAll()
        let after = Task { await Self.result(of: 1, merger) }
        #expect(await before[0].value.failure?.kind == .cancelled)
        let later = await ask(merger, [2], after: 1)
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(10))
        #expect(try await after.valueOfTest.get() == "name 1")
        #expect(try await later[0].value.get() == "name 2")
        #expect(gate.began.count == 1)
    }
}
