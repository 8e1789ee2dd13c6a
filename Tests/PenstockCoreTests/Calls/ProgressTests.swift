import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Progress is told so often that a view can follow.
@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
    private static func received(_ count: Int, of total: Int? = nil) -> TransferProgress {
        TransferProgress(received: count, expectedToReceive: total)
    }

    /// What a gate tells of a list, each with its moment.
    private static func told(_ list: [(TransferProgress, at: Duration)]) -> [TransferProgress] {
        var gate = ProgressGate()
        return list.filter { gate.take($0.0, at: $0.at) }.map(\.0)
    }

    @Test func `the first, thirty a second, and the last are told`() {
        // Five seconds, a piece each millisecond.
        let told = Self.told((1...5_000).map { (Self.received($0, of: 5_000), at: .milliseconds($0)) }).map(\.received)
        #expect(told.first == 1)
        #expect(told.last == 5_000)
        #expect((140...152).contains(told.count))
        #expect(zip(told, told.dropFirst()).dropLast().allSatisfy { $1 - $0 >= 33 })
    }

    @Test func `what was held back is told at the end, once`() {
        var gate = ProgressGate()
        let told = [gate.take(Self.received(1), at: .zero), gate.take(Self.received(2), at: .milliseconds(33))]
        #expect(told == [true, false])
        #expect(gate.latest == Self.received(2))
        let rests = [gate.rest(), gate.rest()]
        #expect(rests == [Self.received(2), nil])
    }

    @Test func `the end of the upload is told while the response is waited for`() {
        let steps = [
            TransferProgress(sent: 1, expectedToSend: 3), TransferProgress(sent: 2, expectedToSend: 3),
            TransferProgress(sent: 3, expectedToSend: 3), TransferProgress(sent: 3, expectedToSend: 3, received: 1),
        ]
        #expect(Self.told(steps.map { ($0, at: .zero) }).map(\.sent) == [1, 3])
    }

    @Test func `an exchange that begins anew is told from its first bytes`() {
        #expect(Self.told([900, 10, 20].map { (Self.received($0), at: .zero) }).map(\.received) == [900, 10])
    }

    /// Reports a thousand pieces, with a clock that it moves, and answers.
    private struct Pouring: Transport {
        let clock: TestClock
        let start: Latch
        let capabilities = TransportCapabilities.all

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            await start.wait()
            for count in 1...1_000 {
                clock.advance(by: .milliseconds(1))
                request.control.onProgress?(TransferProgress(received: count))
            }
            return TransportResponse(CallSupport.greeting)
        }

        func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
            throw TransportError(.unsupported("streams"), sendState: .unsent)
        }

        func preconnect(_ request: TransportRequest) async throws(TransportError) {}
        func shutdown() async {}
    }

    @Test func `a call tells by the injected clock, never back, and its last progress before its response`()
        async throws
    {
        let clock = TestClock()
        let start = Latch()
        let client = CallSupport.client(Pouring(clock: clock, start: start)) { $0.time = clock.timeSource }
        let updates = client.start(Hello()).updates
        start.open()
        var received: [Int] = []
        var isOver = false
        for try await update in updates {
            switch update {
            case .progress(let progress):
                #expect(!isOver)
                received.append(progress.received)
            case .response: isOver = true
            default: break
            }
        }
        #expect(isOver)
        #expect(received.count <= 32)
        #expect(received.count >= 25)
        #expect(received.last == 1_000)
        #expect(received == received.sorted())
    }

    @MainActor private final class Bar {
        var received: [Int] = []
    }

    @Test func `a closure hears of the progress on the main actor, up to the last`() async throws {
        let clock = TestClock()
        let start = Latch()
        let client = CallSupport.client(Pouring(clock: clock, start: start)) { $0.time = clock.timeSource }
        let (told, continuation) = AsyncStream<Int>.makeStream()
        client.start(Hello()).onProgress { progress in
            MainActor.preconditionIsolated()
            continuation.yield(progress.received)
        }
        start.open()
        var received: [Int] = []
        for await count in told {
            received.append(count)
            if count == 1_000 { break }
        }
        #expect(received.count <= 32)
        #expect(received == received.sorted())
    }

    @Test @MainActor
    func `a main actor that is busy hears of the latest alone, and of nothing once the call is cancelled`()
        async throws
    {
        for isCancelled in [false, true] {
            let clock = TestClock()
            let start = Latch()
            let bar = Bar()
            let client = CallSupport.client(Pouring(clock: clock, start: start)) { $0.time = clock.timeSource }
            let call = client.start(Hello()).onProgress { bar.received.append($0.received) }
            start.open()
            // Busy: nothing here waits until all has come.
            while call.state != .over { usleep(1_000) }
            if isCancelled { call.cancel() }
            _ = await call.result
            await drainMainActor()
            #expect(bar.received == (isCancelled ? [] : [1_000]))
        }
    }

    private static let cancelled = Result<APIResponse<String>, APIError>.failure(
        APIError(.cancelled, stage: .transport))

    @Test func `who waits for the end does not wait for those who look at the progress, who may be busy`() async {
        let feed = CallFeed<String>(time: TestClock().timeSource)
        let busy = Latch()
        feed.watch { _ in Task { await busy.wait() } }
        let refusal = await feed.end(with: Self.cancelled)
        #expect(refusal == nil)
        #expect(feed.isOver)
        busy.open()
    }

    @Test func `who hears of the result hears of it when those who look at the progress have`() async {
        let feed = CallFeed<String>(time: TestClock().timeSource)
        let busy = Latch()
        let heard = Locked<[String]>([])
        feed.watch { _ in
            Task {
                await busy.wait()
                heard.withLock { $0.append("progress") }
            }
        }
        feed.add { _ in
            heard.withLock { $0.append("result") }
            return nil
        }
        async let refusal = feed.end(with: Self.cancelled)
        busy.open()
        #expect(await refusal == nil)
        #expect(heard.withLock { $0 } == ["progress", "result"])
    }

    @Test func `a scope that is gone hears of no progress`() async throws {
        let clock = TestClock()
        let start = Latch()
        let bar = Bar()
        let client = CallSupport.client(Pouring(clock: clock, start: start)) { $0.time = clock.timeSource }
        var scope: CallScope? = CallScope()
        let call = client.start(Hello(), in: scope).onProgress { bar.received.append($0.received) }
        scope = nil
        start.open()
        _ = await call.result
        #expect(await bar.received == [])
    }

    @MainActor private final class Diary: CallDelegate {
        var lines: [String] = []

        func call(_ id: CallID, didFinishWith result: Result<Message, APIError>) { lines.append("delegate") }
    }

    @Test @MainActor
    func `the last progress comes before the result, by a closure and by a delegate, and nothing behind it`()
        async throws
    {
        for _ in 0..<20 {
            let clock = TestClock()
            let start = Latch()
            let diary = Diary()
            let client = CallSupport.client(Pouring(clock: clock, start: start)) { $0.time = clock.timeSource }
            let call = client.start(Hello()).deliver(to: diary)
                .onResult { _ in diary.lines.append("closure") }
                .onProgress { if $0.received == 1_000 { diary.lines.append("all") } }
            start.open()
            // Busy: nothing here waits until all has come.
            while call.state != .over { usleep(100) }
            _ = await call.result
            #expect(diary.lines == ["all", "delegate", "closure"])
            let (heard, continuation) = AsyncStream<Void>.makeStream()
            call.onProgress { _ in diary.lines.append("late") }.onResult { _ in
                diary.lines.append("again")
                continuation.finish()
            }
            for await _ in heard {}
            #expect(diary.lines == ["all", "delegate", "closure", "late", "again"])
        }
    }
}
