import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Content whose producer does not return when it is told to, on every transport that reads streams.
@Suite(.timeLimit(.minutes(5)), .covers("H38"))
struct UnendingBodyTests {
    /// What ends the call.
    enum End: CaseIterable {
        case task, scope, cancelAll, total
    }

    private struct Upload: Endpoint {
        typealias Output = Data
        let content: HTTPBody
        var route: Route { .post("/upload") }
        var body: HTTPBody { content }
    }

    /// Gives nothing until a test lets it, cancelled or not.
    private final class Producer: Sendable {
        private struct State {
            var asked = 0
            var isFree = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Locked(State())

        var asked: Int { state.withLock(\.asked) }

        /// Content of which a first piece comes, and the next one never.
        func body(length: Int?, after first: Data) -> HTTPBody {
            let rest = Locked<Data?>(first)
            return .stream(length: length) {
                HTTPBody.Chunks {
                    let piece = rest.withLock { rest in
                        defer { rest = nil }
                        return rest
                    }
                    if let piece, !piece.isEmpty { return piece }
                    await self.wait()
                    return nil
                }
            }
        }

        private func wait() async {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    state.asked += 1
                    if !state.isFree { state.waiting.append(continuation) }
                    return state.isFree
                }
                if isFree { continuation.resume() }
            }
        }

        func free() {
            let waiting = state.withLock { state in
                state.isFree = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    private static let transports = TransportUnderTest.withWire.filter { $0.capabilities.contains(.streamedRequests) }

    @Test(
        "A call ends at once though what produces its content does not return, and so does its transport",
        arguments: transports, End.allCases)
    func producer(transport: TransportUnderTest, end: End) async throws {
        for (length, first) in [(nil, Data()), (6, Data()), (nil, Data("abc".utf8)), (6, Data("abc".utf8))] {
            let producer = Producer()
            // Only when everything is over: until then it holds on to the call's task.
            defer { producer.free() }
            try await Shop.run(transport, answering: { _ in .text("ok") }) { server, client in
                let scope = CallScope()
                let upload = Upload(content: producer.body(length: length, after: first))
                let options = end == .total ? CallOptions.timeout(.seconds(1)) : .init()
                let isOver = Locked(false)
                let task = Task { () async -> APIError? in
                    defer { isOver.withLock { $0 = true } }
                    do throws(APIError) {
                        _ = try await client.send(upload, options: options, in: scope)
                        return nil
                    } catch {
                        return error
                    }
                }
                // On a busy machine the time may be over before anybody has asked.
                while !Task.isCancelled, producer.asked == 0, !isOver.withLock({ $0 }) { await Task.yield() }
                switch end {
                case .task: task.cancel()
                case .scope: scope.cancelAll()
                case .cancelAll: client.cancelAll()
                case .total: break
                }
                #expect(await task.value?.kind == (end == .total ? .timeout(.total) : .cancelled))
                while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
                #expect(producer.asked == 1 || end == .total)
                #expect(server.requestCount == 0)
            }
        }
    }
}
