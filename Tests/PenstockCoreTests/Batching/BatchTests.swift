import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Several calls as one.
@Suite(.timeLimit(.minutes(5))) struct BatchTests {
    private func error<Value>(_ body: () async throws(BatchError) -> Value) async -> BatchError? {
        do throws(BatchError) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    private func failing(_ paths: Set<String>) -> GateTransport {
        GateTransport { request throws(TransportError) in
            .message(request.url.path, status: paths.contains(request.url.path) ? 500 : 200)
        }
    }

    @Test(
        "One failure ends a batch or leaves the others alone, as the app says; outputs keep their order and types",
        .covers("S3.32"))
    func wholeBatches() async throws {
        let gate = GateTransport(isOpen: true) { request throws(TransportError) in
            switch request.url.path {
            case "/count": HTTPResponse(status: 200, body: Data("7".utf8))
            case "/bad": HTTPResponse(status: 404)
            default: .message(request.url.path)
            }
        }
        let client = CallSupport.client(gate)
        let (message, count): (Message, Int) = try await client.batch(Fetch("a"), CountLetters())
        #expect(message.text == "/a" && count == 7)
        #expect(try await client.batch([Fetch("c"), Fetch("b"), Fetch("a")]).map(\.text) == ["/c", "/b", "/a"])
        let before = gate.began.count
        let list = [Fetch("a"), Fetch("bad"), Fetch("b")]
        let failure = await error { () async throws(BatchError) in try await client.batch(list, limit: 1) }
        #expect(failure?.index == 1 && failure?.kind == .httpStatus(404))
        #expect(gate.began.dropFirst(before) == ["/a", "/bad"])
        let results = await client.batchResults(list, limit: 1)
        #expect(results.map { try? $0.get().text } == ["/a", nil, "/b"])
        let (bad, number) = await client.batchResults(Fetch("bad"), CountLetters())
        #expect(bad.failure?.kind == .httpStatus(404))
        #expect(try number.get() == 7)
        let told = Mailbox<String>()
        await client.startBatch(Fetch("a"), CountLetters()) { told.put("\((try? $0.get())?.1 ?? 0)") }.wait()
        #expect(await told.values == ["7"])
    }

    @Test("Endpoints of different types go out together and come back typed, in their places")
    func heterogeneous() async throws {
        let gate = GateTransport { request throws(TransportError) in
            request.url.path == "/count" ? HTTPResponse(status: 200, body: Data("7".utf8)) : .message("hello")
        }
        let client = CallSupport.client(gate)
        async let answer = client.batch(Fetch("a"), CountLetters(), Touch())
        await gate.waitForRequests(3)
        for path in ["/touch", "/count", "/a"] { gate.release(path) }
        let (message, count, nothing): (Message, Int, Void) = try await answer
        #expect(message == Message(text: "hello"))
        #expect(count == 7)
        #expect(nothing == ())
    }

    @Test(
        "The outputs of a list are in the order of its endpoints, in whatever order the answers come",
        .covers("S3.32"))
    func orderIsKept() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        async let answer = client.batch((0..<4).map(Fetch.init(number:)))
        await gate.waitForRequests(4)
        for number in (0..<4).reversed() {
            gate.release("/\(number)")
            await gate.waitForOpen(number)
        }
        #expect(try await answer.map(\.text) == ["/0", "/1", "/2", "/3"])
    }

    @Test(
        "Never more of a list are under way than its limit allows, and never fewer while some wait",
        arguments: [1, 3, 6])
    func limited(limit: Int) async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        async let answer = client.batchResults((0..<8).map(Fetch.init(number:)), limit: limit)
        for done in 0..<8 {
            await gate.waitForRequests(min(done + limit, 8))
            await gate.waitForOpen(min(limit, 8 - done))
            gate.release(gate.open[0])
        }
        #expect(await answer.count == 8)
        #expect(gate.mostOpen == limit)
    }

    @Test("The first failure ends a batch: it says which call failed, and the others are cancelled", .covers("S3.32"))
    func failsFast() async throws {
        let gate = failing(["/1"])
        let client = CallSupport.client(gate)
        async let failure = error { () async throws(BatchError) in
            try await client.batch((0..<5).map(Fetch.init(number:)), limit: 3)
        }
        await gate.waitForRequests(3)
        gate.release("/1")
        let error = await failure
        #expect(error?.index == 1)
        #expect(error?.endpoint == "Fetch")
        #expect(error?.kind == .httpStatus(500))
        #expect(gate.open.isEmpty)
        #expect(gate.began.count == 3)
        #expect(client.callCount == 0)
    }

    @Test("A batch of different types fails fast as well, and names the type", .covers("S3.32"))
    func heterogeneousFailsFast() async throws {
        let gate = failing(["/count"])
        let client = CallSupport.client(gate)
        async let failure = error { () async throws(BatchError) in
            try await client.batch(Fetch("a"), CountLetters(), Touch())
        }
        await gate.waitForRequests(3)
        gate.release("/count")
        let error = await failure
        #expect(error?.index == 1)
        #expect(error?.endpoint == "CountLetters")
        #expect(error.map { "\($0)" }?.hasPrefix("call 2 of the batch, CountLetters: ") == true)
        #expect(gate.open.isEmpty)
    }

    @Test("Collecting all gives a result for each call, in order, whatever the others come to")
    func collectsAll() async throws {
        let gate = failing(["/0", "/2"])
        gate.releaseAll()
        let client = CallSupport.client(gate)
        let results = await client.batchResults((0..<4).map(Fetch.init(number:)), limit: 1)
        #expect(results.map { $0.failure?.kind } == [.httpStatus(500), nil, .httpStatus(500), nil])
        #expect(results.compactMap { try? $0.get().text } == ["/1", "/3"])
        #expect(gate.began == ["/0", "/1", "/2", "/3"])
    }

    @Test("Collecting all of different types gives a typed result for each")
    func collectsDifferentTypes() async throws {
        let gate = failing(["/count"])
        gate.releaseAll()
        let (message, count) = await CallSupport.client(gate).batchResults(Fetch("a"), CountLetters())
        #expect(try message.get() == Message(text: "/a"))
        #expect(count.failure?.kind == .httpStatus(500))
    }

    @Test("Cancelling the task of a batch ends all its calls at once and begins no other")
    func cancelledByTask() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        let task = Task {
            await error { () async throws(BatchError) in
                try await client.batch((0..<5).map(Fetch.init(number:)), limit: 2)
            }
        }
        await gate.waitForRequests(2)
        task.cancel()
        let failure = await task.value
        #expect(failure?.index == nil)
        #expect(failure?.kind == .cancelled)
        #expect(failure.map { "\($0)" } == "the batch was cancelled")
        #expect(gate.open.isEmpty)
        #expect(gate.began.count == 2)
    }

    enum Ending: CaseIterable {
        case client, scope, task
    }

    @Test("Whoever ends everything ends the calls of a list that have not begun as well", arguments: Ending.allCases)
    func endedFromOutside(ending: Ending) async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        let scope = CallScope()
        let task = Task {
            await client.with { _ in }.batchResults((0..<5).map(Fetch.init(number:)), limit: 2, in: scope)
        }
        await gate.waitForRequests(2)
        switch ending {
        case .client: client.cancelAll()
        case .scope: scope.cancelAll()
        case .task: task.cancel()
        }
        let results = await task.value
        #expect(results.map { $0.failure?.kind } == Array(repeating: .cancelled, count: 5))
        #expect(gate.began.count == 2)
    }

    @Test("One call of a list that is cancelled by its number is a failure of its own", arguments: [true, false])
    func cancelledByNumber(failsFast: Bool) async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        let endpoints = (0..<3).map(Fetch.init(number:))
        let fast = Task { await error { () async throws(BatchError) in try await client.batch(endpoints) } }
        defer { fast.cancel() }
        await gate.waitForRequests(3)
        guard failsFast else { return try await cancelOneOfAll(client, gate) }
        try #require(client.calls.first).id.cancel(in: client)
        let failure = await fast.value
        #expect(failure?.kind == .cancelled)
        #expect(failure?.index != nil)
    }

    private func cancelOneOfAll(_ client: APIClient, _ gate: GateTransport) async throws {
        client.cancelAll()
        await gate.waitForOpen(0)
        let task = Task { await client.batchResults((10..<13).map(Fetch.init(number:)), limit: 2) }
        await gate.waitForOpen(2)
        try #require(client.calls.first).id.cancel(in: client)
        gate.releaseAll()
        let results = await task.value
        #expect(results.filter { $0.failure?.kind == .cancelled }.count == 1)
        #expect(results.filter { $0.failure == nil }.count == 2)
    }

    @Test("No calls are no failure")
    func empty() async throws {
        let client = CallSupport.client(GateTransport())
        #expect(try await client.batch([Fetch]()).isEmpty)
        #expect(await client.batchResults([Fetch]()).isEmpty)
    }

    @Test("The options of a batch are those of each call")
    func optionsReachAll() async throws {
        let gate = GateTransport(isOpen: true)
        let client = CallSupport.client(gate)
        _ = try await client.batch([Fetch("a"), Fetch("b")], options: .headers(["X-Batch": "1"]))
        _ = try await client.batch(Fetch("c"), Touch(), options: .headers(["X-Batch": "1"]))
        #expect(gate.requests.map { $0.fields["X-Batch"] } == Array(repeating: "1", count: 4))
    }
}

extension CallID {
    fileprivate func cancel(in client: APIClient) { client.cancel(self) }
}

/// One callback for all calls of a batch.
@Suite(.timeLimit(.minutes(5))) @MainActor struct BatchCallbackTests {
    @Test("One callback brings everything on the main actor, once", .covers("S3.32"))
    func callback() async throws {
        let gate = GateTransport(isOpen: true) { request throws(TransportError) in
            switch request.url.path {
            case "/count": HTTPResponse(status: 200, body: Data("7".utf8))
            case "/bad": HTTPResponse(status: 404)
            default: .message(request.url.path)
            }
        }
        let client = CallSupport.client(gate)
        let told = Mailbox<String>()
        await client.startBatch(Fetch("a"), CountLetters()) { result in
            let value = try? result.get()
            told.put("\(value?.0.text ?? "") \(value?.1 ?? 0)")
        }.wait()
        await client.startBatch([Fetch("a"), Fetch("bad")]) { told.put("failed \($0.failure?.index ?? -1)") }.wait()
        await client.startBatchResults(Fetch("bad"), CountLetters()) { message, count in
            told.put("\(message.failure != nil) \((try? count.get()) ?? 0)")
        }.wait()
        await client.startBatchResults([Fetch("a"), Fetch("bad")]) { told.put("\($0.map { $0.failure == nil })") }
            .wait()
        #expect(told.values == ["/a 7", "failed 1", "true 7", "[true, false]"])
    }

    @Test("When the scope goes the calls end, no other begins, and nobody is told")
    func scopeGoes() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        let told = Mailbox<Int>()
        var scope: CallScope? = CallScope()
        let group = client.startBatch((0..<4).map(Fetch.init(number:)), limit: 2, in: scope) { _ in told.put(1) }
        let other = client.startBatchResults((4..<8).map(Fetch.init(number:)), limit: 2, in: scope) { _ in told.put(2) }
        await gate.waitForRequests(4)
        scope = nil
        await group.wait()
        await other.wait()
        #expect(told.values.isEmpty)
        #expect(gate.open.isEmpty)
        #expect(gate.began.count == 4)
    }

    @Test("Cancelling the group ends its calls and tells of it once")
    func cancelled() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        let told = Mailbox<APIError.Kind?>()
        let group = client.startBatch(Fetch("a"), Touch()) { told.put($0.failure?.kind) }
        await gate.waitForRequests(2)
        group.cancel()
        await group.wait()
        group.cancel()
        #expect(told.values == [.cancelled])
        #expect(gate.open.isEmpty)
    }
}
