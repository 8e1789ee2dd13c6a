import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a client tells beside the errors of its calls, as the app wants it to be seen.
@Suite(.timeLimit(.minutes(5))) struct PresentedErrorTests {
    private struct Bad: Error {}

    private struct GetNames: Endpoint {
        typealias Output = [String]
        var route: Route { .get("/names") }
    }

    private let user = Locked("anna")
    private let clock = TestClock()

    /// One whose service has a word for what was not begun, and who says 2 of everything else.
    private func client(_ change: (inout APIClient.Configuration) -> Void = { _ in }) -> APIClient {
        let stub = StubTransport { request throws(TransportError) in
            request.url.path == "/names" ? .json(#"["a"]"#) : .message("hello")
        }
        return CallSupport.client(stub) { configuration in
            configuration.time = clock.timeSource
            configuration.identity = { [user] in user.withLock { $0 } }
            configuration.services = [
                Service(
                    .main, "https://api.example.com",
                    errorMapper: ErrorMapper { $0.kind == .cancelled ? .init(code: 1) : nil })
            ]
            configuration.errorMapper = ErrorMapper { _ in .init(code: 2) }
            change(&configuration)
        }
    }

    private func merger(
        _ client: APIClient, values: @escaping @Sendable ([String]) throws -> [Int: String] = { _ in [:] }
    ) -> RequestMerger<Int, GetNames, String> {
        RequestMerger(client, limit: 1) { _ in
            GetNames()
        } values: {
            try values($0)
        }
    }

    @Test("A merger presents that a value is missing, and what its closure throws")
    func mergers() async throws {
        let client = client()
        let missing = await #expect(throws: APIError.self) { try await merger(client).value(for: 1) }
        #expect(missing?.kind == .validation(rule: "merging") && missing?.presentation?.code == 2)
        let thrown = await #expect(throws: APIError.self) {
            try await merger(client) { _ in throw Bad() }.value(for: 1)
        }
        #expect(thrown?.underlying is Bad && thrown?.presentation?.code == 2)
    }

    @Test("A merger presents that a request was not begun for another user, by the service of its last request")
    func mergerOfAnother() async throws {
        let client = client()
        let slow = RequestMerger<Int, GetNames, String>(client) { _ in
            GetNames()
        } values: { _ in
            [1: "a"]
        }
        async let first = slow.value(for: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(10))
        #expect(try await first == "a")
        async let late = slow.value(for: 1)
        await clock.waitForSleepers(count: 1)
        user.withLock { $0 = "ben" }
        clock.advance(by: .milliseconds(10))
        do {
            _ = try await late
            Issue.record("it was sent for another user")
        } catch {
            let error = error as? APIError
            #expect(error?.kind == .cancelled)
            #expect(error?.presentation?.code == 1, "the mapper of the last request's service")
        }
    }

    @Test("A batch and a graph present what was not begun, and what made no endpoint")
    func batches() async throws {
        let client = client()
        let whole = await Task { () -> BatchError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(BatchError) {
                _ = try await client.batch([Fetch("a"), Fetch("b")], limit: 1)
                return nil
            } catch {
                return error
            }
        }.valueOfTest
        #expect(whole?.index == nil && whole?.kind == .cancelled)
        #expect(whole?.error.presentation?.code == 2)
        let results = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.batchResults([Fetch("a"), Fetch("b")], limit: 1)
        }.valueOfTest
        #expect(results.map { $0.failure?.presentation?.code } == [1, 1])
        var graph = CallGraph()
        let first = try graph.add(Fetch("a"))
        let broken = try graph.add(after: first) { _ throws -> Fetch in throw Bad() }
        let built = graph
        let brought = await client.run(built)
        #expect(brought[broken].failure?.error?.presentation?.code == 2)
        let unbegun = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.run(built)
        }.valueOfTest
        #expect(unbegun[first].failure?.error?.presentation != nil)
        #expect(unbegun[broken].failure?.error?.presentation != nil)
    }

    @Test("A switch of the environment that is refused is presented", arguments: [true, false])
    func switches(isAllowed: Bool) {
        let client = client {
            $0.services = [Service(.main, [.development: "https://api.example.com"])]
            $0.allowsEnvironmentSwitch = isAllowed
        }
        let error = #expect(throws: APIError.self) { try client.switchEnvironment(to: .custom("nowhere")) }
        #expect(error?.presentation?.code == 2)
    }
}
