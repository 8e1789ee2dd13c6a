import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Which event streams are asked for again, and when a row of failures ends.
@Suite(.timeLimit(.minutes(5))) struct EventStreamRepetitionTests {
    private struct Ask: Endpoint, Encodable {
        typealias Output = Message
        var method = HTTPMethod.post
        var question = "why"
        var route: Route { Route(method, "/ask") }

        enum CodingKeys: CodingKey { case question }
    }

    /// Cuts an answer off after its head.
    private static let lost = TransportError(.connectionLost, sendState: .answered)
    private static let refused = TransportError(.unreachable(.connectionRefused), sendState: .unsent)
    private static let leftOut = TransportError(.connectionLost, sendState: .unprocessed)
    private static let unknown = TransportError(.connectionLost, sendState: .maybeProcessed)

    private static func stream(_ text: String, failure: TransportError? = nil) -> ScriptedTransport.Step {
        let head = HTTPResponse(status: 200, fields: [.contentType: "text/event-stream"])
        return .stream(head, [Data(text.utf8)], failure: failure)
    }

    /// Never the same number twice.
    private static func random() -> RandomSource {
        let next = Locked(UInt64.max)
        return RandomSource {
            next.withLock { next in
                defer { next -= 1 << 20 | 1 }
                return next
            }
        }
    }

    private struct Outcome {
        var data: [String] = []
        var error: APIError?
    }

    /// Reads a sequence to its end, which has so many waits before it.
    private func read(
        _ script: ScriptedTransport, _ endpoint: some Endpoint = Ask(), _ options: CallOptions = .init(),
        _ reconnection: EventStreamReconnection = .init(), waits: Int = 0
    ) async -> Outcome {
        let clock = TestClock()
        let client = CallSupport.client(script) {
            $0.time = clock.timeSource
            $0.random = Self.random()
            $0.circuitBreaker = nil
        }
        return await read(client, clock, endpoint, options, reconnection, waits: waits)
    }

    private func read(
        _ client: APIClient, _ clock: TestClock, _ endpoint: some Endpoint, _ options: CallOptions = .init(),
        _ reconnection: EventStreamReconnection = .init(), waits: Int = 0
    ) async -> Outcome {
        let reader = Task {
            var outcome = Outcome()
            do throws(APIError) {
                for try await event in client.events(of: endpoint, options: options, reconnection: reconnection) {
                    outcome.data.append(event.data)
                }
            } catch {
                outcome.error = error
            }
            return outcome
        }
        for _ in 0..<waits {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(30))
        }
        return await reader.valueOfTest
    }

    @Test(
        "A request that is not safe is made once where its answer is complete, however it is declared",
        arguments: [HTTPMethod.post, .patch, .put, .delete], [Idempotency.byMethod, .declared, .key])
    func completed(method: HTTPMethod, idempotency: Idempotency) async {
        let script = ScriptedTransport([Self.stream("data: 1\n\ndata: 2\n\n")])
        let outcome = await read(script, Ask(method: method), .idempotency(idempotency))
        #expect(outcome.data == ["1", "2"] && outcome.error == nil)
        #expect(script.requests.count == 1)
    }

    @Test(
        "A break of an answer that may not be asked for twice is thrown behind what came", arguments: [lost, unknown])
    func broken(failure: TransportError) async {
        let isAnswered = failure.sendState == .answered
        let script = ScriptedTransport([isAnswered ? Self.stream("data: 1\n\n", failure: failure) : .fail(failure)])
        let outcome = await read(script)
        #expect(outcome.data == (isAnswered ? ["1"] : []))
        #expect(outcome.error?.kind == .transport(.connectionLost) && outcome.error?.sendState == failure.sendState)
        #expect(script.requests.count == 1)
    }

    @Test("A request that was provably not processed is made again", arguments: [refused, leftOut])
    func unprocessed(failure: TransportError) async {
        let script = ScriptedTransport([.fail(failure), Self.stream("data: 1\n\n")])
        let outcome = await read(script, waits: 1)
        #expect(outcome.data == ["1"] && outcome.error == nil)
        #expect(script.requests.count == 2)
    }

    @Test("Behind a redirect it counts how far any request has come, not the last alone")
    func redirected() async {
        let away = ScriptedTransport.Step.respond(
            .init(status: 303, fields: [.location: "https://api.example.com/answer"]))
        let script = ScriptedTransport([away, .fail(Self.refused), Self.stream("data: 1\n\n")])
        let outcome = await read(script)
        #expect(outcome.error?.kind == .unreachable(.connectionRefused))
        #expect(script.requests.count == 2)
    }

    @Test("A request that may be sent twice goes on after a break; its key is one for all connections")
    func repeated() async throws {
        for idempotency in [Idempotency.declared, .key, .keyed(try #require(IdempotencyKey("own")))] {
            let script = ScriptedTransport([
                Self.stream("id: a\ndata: 1\n\n", failure: Self.lost), .fail(Self.unknown),
                Self.stream("data: 2\n\n"),
            ])
            let outcome = await read(script, Ask(), .idempotency(idempotency), waits: 2)
            #expect(outcome.data == ["1", "2"] && outcome.error == nil)
            let fields = script.requests.map(\.request.fields)
            #expect(fields.map { $0["Last-Event-ID"] } == [nil, "a", "a"])
            let keys = Set(fields.map { $0[IdempotencyKey.field] })
            #expect(fields.count == 3 && keys.count == 1)
            #expect((keys.first.flatMap { $0 } == nil) == (idempotency == .declared))
        }
    }

    /// Its headers have another key each time that they are asked for.
    private struct AskWithKey: Endpoint {
        typealias Output = Message
        let count = Box(0)
        var route: Route { .post("/ask") }
        var headers: HeaderEdits {
            count.update { $0 += 1 }
            return ["Idempotency-Key": "\"\(count.value)\""]
        }
    }

    @Test("A key of the app's own makes a request one that may be sent twice, and is one for all connections")
    func ownKey() async {
        func isRepeated(_ endpoint: some Endpoint, _ options: CallOptions = .init()) async {
            let script = ScriptedTransport([
                Self.stream("data: 1\n\n", failure: Self.lost), .fail(Self.unknown), Self.stream("data: 2\n\n"),
            ])
            let outcome = await read(script, endpoint, options, waits: 2)
            #expect(outcome.data == ["1", "2"] && outcome.error == nil)
            let keys = script.requests.map { $0.request.fields[IdempotencyKey.field] }
            #expect(keys.count == 3 && Set(keys).count == 1 && keys.first != .some(nil))
        }
        await isRepeated(Ask(), .headers(["Idempotency-Key": "own"]))
        await isRepeated(AskWithKey())
    }

    @Test(
        "What was refused for its credential alone is asked for again where that could not be renewed for a moment",
        arguments: [401, 419])
    func refusedCredential(status: Int) async throws {
        let (clock, tries) = (TestClock(), Box(0))
        let authenticator = BearerAuthenticator(expiry: ExpiryRule(statuses: [419])) { _, context in
            tries.update { $0 += 1 }
            if tries.value == 1 { throw APIError(.unreachable(.connectionRefused), stage: .transport) }
            return Credential("new", refreshToken: "r2", obtained: context.time.date())
        }
        let transport = StubTransport { request in
            guard request.fields[.authorization] == "Bearer new" else { return HTTPResponse(status: status) }
            return HTTPResponse(
                status: 200, fields: [.contentType: "text/event-stream"], body: Data("data: 1\n\n".utf8))
        }
        let client = CallSupport.client(transport) {
            $0.time = clock.timeSource
            $0.services = [Service(.main, "https://api.example.com", authenticator: authenticator)]
        }
        try await client.signIn(Credential("old", refreshToken: "r1", obtained: clock.timeSource.date() - 3_600))
        // What the rule does not name is an answer like any other.
        let outcome = await clock.ticking { await read(client, clock, Ask()) }
        #expect(outcome.data == (status == 419 ? ["1"] : []))
        #expect(outcome.error?.kind == (status == 419 ? nil : .httpStatus(401)))
        #expect(tries.value == (status == 419 ? 2 : 0))
    }

    @Test("Each sequence has a key of its own, and what is safe has none")
    func keys() async {
        let script = ScriptedTransport([Self.stream(""), Self.stream(""), .respond(.init(status: 204))])
        let client = CallSupport.client(script) { $0.random = Self.random() }
        for method in [HTTPMethod.post, .post, .get] {
            var iterator = client.events(of: Ask(method: method), options: .idempotency(.key)).makeAsyncIterator()
            _ = try? await iterator.next()
        }
        let keys = script.requests.map { $0.request.fields[IdempotencyKey.field] }
        #expect(keys.count == 3 && keys.last == .some(nil))
        #expect(Set(keys).count == 3)
    }

    @Test("A method that is idempotent goes on after a break by itself", arguments: [HTTPMethod.put, .delete, .get])
    func idempotent(method: HTTPMethod) async {
        let script = ScriptedTransport([Self.stream("data: 1\n\n", failure: Self.lost), .respond(.init(status: 204))])
        let outcome = await read(script, Ask(method: method), waits: 1)
        #expect(outcome.data == ["1"] && outcome.error == nil)
        #expect(script.requests.count == 2)
    }

    @Test("Who wants one connection gets its end, or what broke it", arguments: [nil, lost, refused])
    func never(failure: TransportError?) async {
        let isRefused = failure?.sendState == .unsent
        let script = ScriptedTransport([isRefused ? .fail(Self.refused) : Self.stream("data: 1\n\n", failure: failure)])
        let outcome = await read(script, Ask(method: .get), .init(), .never)
        #expect(outcome.data == (isRefused ? [] : ["1"]))
        #expect((outcome.error?.underlying as? TransportError)?.kind == failure?.kind)
        #expect(script.requests.count == 1)
    }

    // MARK: A row of failures

    @Test(
        "Connections that are accepted and break before an event or a comment are failures in a row",
        arguments: [
            ("", 3), ("retry: 50\n\n", 3), ("id: 1\n\n", 3), ("data: half", 3), ("data: 1\n\n", 6), (": here\n", 6),
            (":", 3),
        ])
    func row(text: String, count: Int) async {
        let broken = Self.stream(text, failure: Self.lost)
        let script = ScriptedTransport(Array(repeating: broken, count: 5) + [.respond(.init(status: 204))])
        let outcome = await read(script, Ask(method: .get), .init(), .init(maxFailures: 2), waits: count - 1)
        #expect((outcome.error == nil) == (count == 6))
        #expect(script.requests.count == count)
    }

    @Test("A connection that came to its end ends the row, also where nothing came over it")
    func emptyEnd() async {
        let broken = Self.stream("", failure: Self.lost)
        let script = ScriptedTransport([broken, Self.stream(""), broken, Self.stream(""), .respond(.init(status: 204))])
        let outcome = await read(script, Ask(method: .get), .init(), .init(maxFailures: 1), waits: 4)
        #expect(outcome.error == nil)
        #expect(script.requests.count == 5)
    }

    @Test("The wait grows with each connection that is accepted and breaks at once")
    func growingWait() async throws {
        let clock = TestClock()
        let broken = Self.stream("", failure: Self.lost)
        let script = ScriptedTransport([broken, broken, broken, .respond(.init(status: 204))])
        let client = CallSupport.client(script) {
            $0.time = clock.timeSource
            $0.random = RandomSource { .max }
            $0.circuitBreaker = nil
        }
        let reader = Task { for try await _ in client.events(of: Ask(method: .get)) {} }
        for seconds in [6, 12, 24] {
            await clock.waitForSleepers(count: 1)
            let before = script.requests.count
            clock.advance(by: .seconds(seconds) - .milliseconds(1))
            #expect(script.requests.count == before)
            clock.advance(by: .milliseconds(1))
        }
        try await reader.valueOfTest
        #expect(script.requests.count == 4)
    }
}
