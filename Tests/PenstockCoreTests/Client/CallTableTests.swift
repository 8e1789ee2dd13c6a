import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(1))) struct CallTableTests {
    private let client = APIClient(.init(services: [.shop()]), transport: StubTransport { _ in .tea(1) })
    private let table = CallTable()

    private func makeCall() -> CallContext {
        client.begin(Tea(), .init(isSilent: true)).context
    }

    @Test func `a call that has gone leaves its place to another, and cannot take that one off`() {
        let (first, second) = (makeCall(), makeCall())
        let place = table.add(first)
        table.remove(first, at: place)
        let same = table.add(second)
        table.remove(first, at: place)
        #expect(table.count == 1)
        table.remove(second, at: same)
        #expect(table.count == 0)
    }

    @Test func `a client's work is waited for as its calls are, and that of others is not`() async {
        let (root, other) = (ClientLineage(.test), ClientLineage(.test))
        let child = ClientLineage(derivedFrom: root, environment: nil)
        @Sendable func isDrained(_ client: ClientLineage) async -> Bool {
            await table.drained(of: client, within: .zero, by: .system)
        }
        let works = [root, child].map { table.beginWork(for: $0) }
        #expect(await isDrained(other))
        #expect(await !isDrained(root))
        table.endWork(works[0])
        #expect(await !isDrained(root))
        #expect(await !isDrained(child))
        // One that waits is told of the end.
        async let drained = table.drained(of: root, within: .seconds(1_000), by: TestClock().timeSource)
        table.endWork(works[1])
        #expect(await drained)
        let later = table.beginWork(for: root)
        #expect(await isDrained(child))
        table.endWork(later)
    }

    @Test func `nobody sleeps until the time is up where nothing is left to wait for`() async {
        let slept = Box(0)
        var time = TimeSource.system
        time.sleep = { _ in slept.update { $0 += 1 } }
        for _ in 0..<20 { #expect(await table.drained(of: ClientLineage(.test), within: .seconds(1), by: time)) }
        for _ in 0..<100 { await Task.yield() }
        #expect(slept.value == 0)
    }

    @Test func `those are cancelled that match and have not gone`() {
        let calls = (0..<5).map { _ in makeCall() }
        let places = calls.map { table.add($0) }
        table.remove(calls[1], at: places[1])
        table.end { $0.id != calls[3].id }
        #expect(calls.map(\.isCancelled) == [true, false, true, false, true])
        #expect(table.count == 4)
    }

    @Test func `a crowd that has gone leaves an empty table, and its places mean nothing any more`() {
        let call = makeCall()
        let places = (0..<2_000).map { _ in table.add(call) }
        for place in places { table.remove(call, at: place) }
        #expect(table.count == 0)
        let last = table.add(call)
        for place in places.dropFirst() { table.remove(call, at: place) }
        #expect(table.count == 1)
        table.remove(call, at: last)
        #expect(table.count == 0)
    }
}
