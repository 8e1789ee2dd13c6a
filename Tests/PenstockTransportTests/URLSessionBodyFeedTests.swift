import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@testable import PenstockURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What feeds a streamed body to a session.
@Suite(.timeLimit(.minutes(1)))
struct URLSessionBodyFeedTests {
    private struct Broken: Error {}

    private struct Seen: Sendable {
        var written = ""
        var isClosed = false
        var isDropped = false
        var failures = 0
        /// Whether the session reads no more.
        var hasLeft = false
        var refusedWrites = 0
    }

    /// A feed, and what its session and its exchange see of it.
    private final class Rig: Sendable {
        let seen = Monitor(Seen())
        let body: AsyncThrowingStream<Data, any Error>.Continuation
        let feed: URLSessionBodyFeed

        init() {
            let (stream, body) = AsyncThrowingStream<Data, any Error>.makeStream()
            self.body = body
            let seen = seen
            let sink = URLSessionBodyFeed.Sink(
                write: { chunk in
                    let isRefused = seen.withLock { seen in
                        if seen.hasLeft {
                            seen.refusedWrites += 1
                        } else {
                            seen.written += String(decoding: chunk, as: UTF8.self)
                        }
                        return seen.hasLeft
                    }
                    if isRefused { throw Broken() }
                },
                close: { seen.withLock { $0.isClosed = true } }, drop: { seen.withLock { $0.isDropped = true } })
            feed = URLSessionBodyFeed({ stream }, into: sink) { seen.withLock { $0.failures += 1 } }
        }

        func wait(_ condition: @escaping @Sendable (Seen) -> Bool) async {
            await seen.waitUnlessCancelled(until: condition)
        }
    }

    @Test("A body that came to its end ends what the session reads")
    func complete() async {
        let rig = Rig()
        for text in ["a", "b"] { rig.body.yield(Data(text.utf8)) }
        rig.body.finish()
        await rig.wait(\.isClosed)
        let seen = rig.seen.withLock(\.self)
        #expect(seen.written == "ab" && seen.failures == 0 && !seen.isDropped)
    }

    @Test("A body that failed has no end before the session reads no more of it")
    func failure() async {
        let rig = Rig()
        rig.body.yield(Data("a".utf8))
        rig.body.finish(throwing: Broken())
        await rig.wait { $0.failures == 1 }
        rig.feed.cancel()
        #expect(!rig.seen.withLock(\.isClosed))
        rig.feed.end()
        await rig.wait(\.isClosed)
        #expect(rig.seen.withLock { $0.isDropped && $0.failures == 1 })
    }

    @Test("A body whose stream ends because it is cancelled is not whole")
    func cancellation() async {
        let rig = Rig()
        rig.body.yield(Data("a".utf8))
        await rig.wait { $0.written == "a" }
        let ended = Monitor(false)
        rig.body.onTermination = { _ in ended.withLock { $0 = true } }
        rig.feed.cancel()
        await ended.waitUnlessCancelled { $0 }
        #expect(!rig.seen.withLock(\.isClosed), "its sequence is asked for no more, and the session sees no end")
        rig.feed.end()
        await rig.wait(\.isClosed)
    }

    @Test("That a session reads no more is no failure of the body")
    func sessionLeft() async {
        let rig = Rig()
        rig.seen.withLock { $0.hasLeft = true }
        rig.body.yield(Data("a".utf8))
        await rig.wait { $0.refusedWrites == 1 }
        rig.feed.end()
        await rig.wait(\.isClosed)
        #expect(rig.seen.withLock(\.failures) == 0)
    }

    @Test("A superseded body fails nothing, and the exchange keeps the last one until its task has ended")
    func superseded() async throws {
        let request = HTTPRequest(method: .post, url: try HTTPURL("http://a.test/"))
        let exchange = URLSessionExchange(TransportRequest(request))
        let (first, second, late) = (Rig(), Rig(), Rig())
        exchange.feed(by: first.feed)
        exchange.feed(by: second.feed)
        #expect(first.seen.withLock(\.isDropped) && !second.seen.withLock(\.isDropped))
        first.body.finish(throwing: Broken())
        await first.wait(\.isClosed)
        #expect(first.seen.withLock(\.failures) == 0)
        exchange.cancel()
        #expect(!second.seen.withLock(\.isDropped))
        exchange.feed(by: late.feed)
        #expect(late.seen.withLock(\.isDropped), "it came after the exchange was over")
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://a.test/"))
        exchange.didComplete(session.dataTask(with: url), error: URLError(.cancelled))
        #expect(second.seen.withLock(\.isDropped))
        for rig in [second, late] { await rig.wait(\.isClosed) }
    }
}
