import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Calls that need what others bring.
@Suite(.timeLimit(.minutes(5))) struct CallGraphTests {
    private struct Refusal: Error {}

    @Test(
        "A call gets what the one before it brought, is skipped when that fails, and never waits for itself",
        .covers("S3.33"))
    func wholeGraphs() async throws {
        let gate = GateTransport(isOpen: true) { request throws(TransportError) in
            request.url.path == "/bad" ? HTTPResponse(status: 500) : .message("from \(request.url.path.dropFirst())")
        }
        var graph = CallGraph()
        let parent = try graph.add(Fetch("a"), name: "parent")
        let child = try graph.add(after: parent, name: "child") { Fetch($0.text == "from a" ? "b" : "wrong") }
        let bad = try graph.add(Fetch("bad"), name: "bad")
        let orphan = try graph.add(after: bad, child) { _, _ in Fetch("never") }
        #expect(throws: CallGraphError.cycle(["parent", "child", "parent"])) { try graph.order(parent, after: child) }
        let results = await CallSupport.client(gate).run(graph)
        #expect(try results[child].get().text == "from b")
        guard case .skipped(because: "bad", let error) = results[orphan].failure else {
            return #expect(Bool(false), "it was not skipped")
        }
        #expect(error.kind == .httpStatus(500))
        #expect(gate.began.sorted() == ["/a", "/b", "/bad"])
    }

    @Test("A child is made of the typed outputs of its parents, and begins once they are there", .covers("S3.33"))
    func childrenGetOutputs() async throws {
        let gate = GateTransport { request throws(TransportError) in
            request.url.path == "/count" ? HTTPResponse(status: 200, body: Data("7".utf8)) : .message("told")
        }
        var graph = CallGraph()
        let message = try graph.add(Fetch("a"))
        let count = try graph.add(CountLetters())
        let child = try graph.add(after: message, count) { message, count in Fetch("\(message.text)-\(count)") }
        let run = Task { [graph] in await CallSupport.client(gate).run(graph) }
        await gate.waitForRequests(2)
        gate.release("/a")
        await gate.waitForOpen(1)
        #expect(gate.began.sorted() == ["/a", "/count"])
        gate.release("/count")
        await gate.waitForRequests(3)
        #expect(gate.began.last == "/told-7")
        gate.release("/told-7")
        let results = await run.value
        #expect(try results[child].get() == Message(text: "told"))
        #expect(try results[count].get() == 7)
        #expect(results.isSuccess)
    }

    @Test("A failure skips its descendants, which are told why; the other branches go on", .covers("S3.33"))
    func failureSkips() async throws {
        let gate = GateTransport(isOpen: true) { request throws(TransportError) in
            .message("x", status: request.url.path == "/bad" ? 500 : 200)
        }
        var graph = CallGraph()
        let bad = try graph.add(Fetch("bad"), name: "user")
        let child = try graph.add(after: bad, name: "cart") { _ in Fetch("child") }
        let grandchild = try graph.add(after: child) { _ in Touch() }
        let other = try graph.add(Fetch("other"))
        let last = try graph.add(after: other) { Fetch("last-\($0.text)") }
        let results = await CallSupport.client(gate).run(graph)
        #expect(results[bad].failure?.error?.kind == .httpStatus(500))
        guard case .failed = results[bad].failure else { return #expect(Bool(false), "it was sent and failed") }
        for failure in [results[child].failure, results[grandchild].failure] {
            guard case .skipped(let cause, let error) = failure else { return #expect(Bool(false), "not skipped") }
            #expect(cause == "user")
            #expect(error.kind == .httpStatus(500))
        }
        #expect(try results[last].get().text == "x")
        #expect(Set(gate.began) == ["/bad", "/other", "/last-x"])
        #expect(!results.isSuccess)
    }

    @Test("A cycle is refused when it is built, by node and by name, with the calls on the way")
    func cyclesAreRefused() throws {
        var graph = CallGraph()
        let a = try graph.add(Fetch("a"), name: "a")
        let b = try graph.add(after: a, name: "b") { _ in Fetch("b") }
        let c = try graph.add(after: b, name: "c") { _ in Fetch("c") }
        #expect(throws: CallGraphError.cycle(["a", "c", "b", "a"])) { try graph.order(a, after: c) }
        #expect(throws: CallGraphError.cycle(["a", "b", "a"])) { try graph.order("a", after: "b") }
        try graph.order("c", after: "a")
        try graph.order(c, after: b)
        #expect(graph.callNames == ["a", "b", "c"])
        #expect("\(CallGraphError.cycle(["a", "b", "a"]))" == "calls wait for themselves: a after b after a")
    }

    @Test("A call that waits for itself is refused")
    func selfDependency() throws {
        var graph = CallGraph()
        let a = try graph.add(Fetch("a"), name: "a")
        #expect(throws: CallGraphError.cycle(["a", "a"])) { try graph.order(a, after: a) }
        #expect(throws: CallGraphError.cycle(["a", "a"])) { try graph.order("a", after: "a") }
    }

    @Test("What is ordered begins after what it waits for, whose output it does not take")
    func ordered() async throws {
        let gate = GateTransport()
        var graph = CallGraph()
        try graph.add(Fetch("second"), name: "second")
        try graph.add(Fetch("first"), name: "first")
        try graph.order("second", after: "first")
        let run = Task { [graph] in await CallSupport.client(gate).run(graph) }
        await gate.waitForRequests(1)
        #expect(gate.began == ["/first"])
        gate.releaseAll()
        #expect(await run.value.isSuccess)
        #expect(gate.began == ["/first", "/second"])
    }

    @Test("Calls of other graphs, names that none has and names that are taken are refused")
    func badNames() throws {
        var graph = CallGraph()
        var other = CallGraph()
        let a = try graph.add(Fetch("a"), name: "a")
        let foreign = try other.add(Fetch("x"), name: "x")
        #expect(throws: CallGraphError.duplicateName("a")) { try graph.add(Fetch("b"), name: "a") }
        #expect(throws: CallGraphError.unknownCall("a call of another graph")) {
            try graph.add(after: foreign) { _ in Fetch("b") }
        }
        #expect(throws: CallGraphError.unknownCall("a call of another graph")) { try graph.order(a, after: foreign) }
        #expect(throws: CallGraphError.unknownCall("b")) { try graph.order("a", after: "b") }
        #expect(throws: CallGraphError.unknownCall("b")) { try graph.order("b", after: "a") }
        #expect(graph.callNames == ["a"])
    }

    @Test("Calls without a name have that of their type, with a number where it is taken")
    func defaultNames() throws {
        var graph = CallGraph()
        let names = try [graph.add(Fetch("a")), graph.add(Fetch("b")), graph.add(Fetch("c"))].map(\.name)
        #expect(names == ["Fetch", "Fetch 2", "Fetch 3"])
        try graph.add(Fetch("d"), name: "Fetch 4")
        #expect(try graph.add(Fetch("e")).name == "Fetch 5")
    }

    @Test("A node that a copy of the graph was given later is not in the first one's results")
    func copies() async throws {
        let client = CallSupport.client(GateTransport(isOpen: true))
        var graph = CallGraph()
        let common = try graph.add(Fetch("a"))
        var copy = graph
        let later = try copy.add(Fetch("b"))
        let results = await client.run(graph)
        #expect(results[common].failure == nil)
        guard case .notInGraph = results[later].failure else { return #expect(Bool(false), "it was not in the graph") }
        #expect(results[later].failure?.error == nil)
        #expect(try await client.run(copy)[later].get().text == "/b")
    }

    @Test("What the making of a child throws, the child fails of, and nothing is sent")
    func throwingChildren() async throws {
        let gate = GateTransport(isOpen: true)
        var graph = CallGraph()
        let parent = try graph.add(Fetch("a"))
        let child = try graph.add(after: parent) { _ -> Fetch in throw Refusal() }
        let results = await CallSupport.client(gate).run(graph)
        #expect(results[child].failure?.error?.underlying is Refusal)
        #expect(gate.began == ["/a"])
    }

    @Test("Cancelling the task ends all calls of a graph at once")
    func cancelled() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        var graph = CallGraph()
        let first = try graph.add(Fetch("a"))
        let second = try graph.add(Fetch("b"))
        let child = try graph.add(after: first) { _ in Fetch("c") }
        let run = Task { [graph] in await client.run(graph, limit: 1) }
        await gate.waitForRequests(1)
        run.cancel()
        let results = await run.value
        #expect(results[first].failure?.error?.kind == .cancelled)
        #expect(results[second].failure?.error?.kind == .cancelled)
        #expect(results[child].failure?.error?.kind == .cancelled)
        #expect(gate.began == ["/a"])
        #expect(gate.open.isEmpty)
    }

    @Test("A graph is a value: it may be run again, and each run has results of its own")
    func runsAgain() async throws {
        let gate = GateTransport(isOpen: true)
        let client = CallSupport.client(gate)
        var graph = CallGraph()
        let first = try graph.add(Fetch("a"))
        try graph.add(after: first) { _ in Fetch("b") }
        #expect(await client.run(graph).isSuccess)
        #expect(await client.run(graph).isSuccess)
        #expect(gate.began == ["/a", "/b", "/a", "/b"])
    }

    @MainActor
    @Test("One callback brings the results of a graph on the main actor; none when the scope is gone")
    func callback() async throws {
        let gate = GateTransport()
        let client = CallSupport.client(gate)
        var graph = CallGraph()
        try graph.add(Fetch("a"))
        let told = Mailbox<Bool>()
        var scope: CallScope? = CallScope()
        let orphaned = client.start(graph, in: scope) { told.put($0.isSuccess) }
        await gate.waitForRequests(1)
        scope = nil
        await orphaned.wait()
        #expect(told.values.isEmpty)
        gate.releaseAll()
        await client.start(graph) { told.put($0.isSuccess) }.wait()
        #expect(told.values == [true])
    }

    @Test("A chain of ten thousand calls is named, ordered and skipped without a deep stack")
    func longChains() async throws {
        let gate = GateTransport(isOpen: true) { _ throws(TransportError) in HTTPResponse(status: 500) }
        var graph = CallGraph()
        let first = try graph.add(Fetch("0"))
        var last = first
        for number in 1..<10_000 { last = try graph.add(after: last) { _ in Fetch(number: number) } }
        #expect(last.name == "Fetch 10000")
        #expect(throws: CallGraphError.self) { try graph.order(first, after: last) }
        let results = await CallSupport.client(gate).run(graph)
        guard case .skipped(because: "Fetch", _) = results[last].failure else {
            return #expect(Bool(false), "it was not skipped")
        }
        #expect(gate.began == ["/0"])
    }
}
