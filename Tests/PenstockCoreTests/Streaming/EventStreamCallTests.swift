import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The events of an endpoint, over as many connections as it takes.
@Suite(.timeLimit(.minutes(5))) struct EventStreamCallTests {
    private let clock = TestClock()

    private func client(_ steps: ScriptedTransport.Step...) -> (ScriptedTransport, APIClient) {
        let script = ScriptedTransport(steps)
        let client = CallSupport.client(script) {
            $0.time = clock.timeSource
            $0.random = RandomSource { .max }
        }
        return (script, client)
    }

    private static func stream(_ text: String..., failure: TransportError? = nil) -> ScriptedTransport.Step {
        let head = HTTPResponse(status: 200, fields: [.contentType: "text/event-stream; charset=utf-8"])
        return .stream(head, text.map { Data($0.utf8) }, failure: failure)
    }

    private static let end = ScriptedTransport.Step.respond(.init(status: 204))

    /// Reads a sequence to its end while the clock goes on by one delay after the other.
    private func read(_ events: ServerSentEvents<Message>, waiting delays: Duration...) async throws
        -> [ServerSentEvent]
    {
        let reader = Task {
            var seen: [ServerSentEvent] = []
            for try await event in events { seen.append(event) }
            return seen
        }
        for delay in delays {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: delay)
        }
        return try await reader.valueOfTest
    }

    @Test("Events are yielded across pieces, and 204 ends the sequence")
    func events() async throws {
        let (script, client) = client(Self.stream("data: 1\n\nda", "ta: 2\nevent: tick\n\n"), Self.end)
        let events = try await read(client.events(of: Hello()), waiting: .seconds(3))
        #expect(events == [ServerSentEvent(data: "1"), ServerSentEvent(name: "tick", data: "2")])
        #expect(script.requests.first?.request.fields[.accept] == "text/event-stream")
        #expect(client.callCount == 0)
    }

    @Test("After an end the stream is asked to go on from the last id, after the delay the server named")
    func reconnects() async throws {
        let lost = TransportError(.connectionLost, sendState: .answered)
        let (script, client) = client(
            Self.stream("retry: 500\nid: a\ndata: 1\n\n"), Self.stream("id: b\ndata: 2\n\ndata: lost", failure: lost),
            Self.stream("data: 3\n\n"), Self.end)
        let events = try await read(
            client.events(of: Hello(), lastEventID: "start"),
            waiting: .milliseconds(500), .seconds(2), .milliseconds(500))
        #expect(events.map(\.data) == ["1", "2", "3"])
        #expect(events.map(\.id) == ["a", "b", "b"])
        #expect(script.requests.map { $0.request.fields["Last-Event-ID"] } == ["start", "a", "b", "b"])
    }

    @Test(
        "What another connection would not mend is thrown",
        arguments: [
            (HTTPResponse(status: 404), APIError.Kind.httpStatus(404)),
            (.init(status: 202), .httpStatus(202)),
            (.init(status: 200, fields: [.contentType: "text/html"]), .transport(.protocolViolation)),
        ])
    func fatal(response: HTTPResponse, kind: APIError.Kind) async throws {
        let (script, client) = client(.respond(response))
        var iterator = client.events(of: Hello()).makeAsyncIterator()
        #expect(await failure { try await iterator.next() }?.kind == kind)
        #expect(script.requests.count == 1)
        #expect(client.callCount == 0)
    }

    @Test("Failures to connect are put up with as often as the app says")
    func givesUp() async throws {
        let refused = ScriptedTransport.Step.fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent))
        let (script, client) = client(refused, refused, refused)
        let error = await failure {
            try await read(
                client.events(of: Hello(), reconnection: .init(maxFailures: 2)), waiting: .seconds(30), .seconds(30))
        }
        #expect(error?.kind == .unreachable(.connectionRefused))
        #expect(script.requests.count == 3)
    }

    @Test("Where nothing may be sent for now, the stream tries again like after a failure to connect")
    func openCircuit() async throws {
        let refused = ScriptedTransport.Step.fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent))
        let script = ScriptedTransport([refused, refused, Self.stream("data: 1\n\n"), Self.end])
        let client = CallSupport.client(script) {
            $0.time = clock.timeSource
            $0.random = RandomSource { .max }
            $0.circuitBreaker = .init(
                window: .seconds(300), minimumAttempts: 2, shortestPause: .seconds(100), longestPause: .seconds(100))
        }
        let other = await failure { try await client.send(Hello()) }
        #expect(other?.kind == .unreachable(.connectionRefused))
        // The second attempt opens the circuit, and three are refused by it.
        let events = try await read(
            client.events(of: Hello()),
            waiting: .seconds(30), .seconds(30), .seconds(30), .seconds(30), .seconds(3))
        #expect(events.map(\.data) == ["1"])
        #expect(script.requests.count == 4)
    }

    @Test(
        "Credentials that cannot be had for now end no stream, and those that are lost do",
        arguments: [
            (APIError.Kind.authentication(.unavailable), true), (.authentication(.vault(.locked)), true),
            (.authentication(.vault(.unavailable)), true), (.unavailable(reason: "left alone"), true),
            (.timeout(.total), false), (.authentication(.lost), false), (.blocked(reason: "no"), false),
        ])
    func withoutCredentials(kind: APIError.Kind, goesOn: Bool) async throws {
        let (script, client) = client(Self.stream("data: 1\n\n"), Self.end)
        let attempts = Box(0)
        let locked = client.with {
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    attempts.update { $0 += 1 }
                    if attempts.value == 1 { throw APIError(kind, stage: .authenticate) }
                    return try await next(request)
                }
            ]
        }
        let events = locked.events(of: Hello())
        if goesOn {
            #expect(try await read(events, waiting: .seconds(30), .seconds(3)).map(\.data) == ["1"])
        } else {
            #expect(await failure { try await read(events) }?.kind == kind)
        }
        #expect(script.requests.count == (goesOn ? 2 : 0))
    }

    @Test("The id goes along where the stream leads to another origin, so that it goes on there")
    func redirected() async throws {
        let away = ScriptedTransport.Step.respond(
            .init(status: 307, fields: [.location: "https://stream.example.com/hello"]))
        let (script, client) = client(away, Self.stream("id: a\ndata: 1\n\n"), away, Self.end)
        let secret = CallOptions.headers(["X-Secret": "1"])
        let events = try await read(client.events(of: Hello(), options: secret), waiting: .seconds(3))
        #expect(events.map(\.data) == ["1"])
        #expect(script.requests.map { $0.request.fields["Last-Event-ID"] } == [nil, nil, "a", "a"])
        #expect(script.requests.map { $0.request.fields["X-Secret"] } == ["1", nil, "1", nil])
    }

    @Test("Cancelling the task ends the wait between two connections", .covers("S0.19"))
    func cancelledBetween() async throws {
        let (_, client) = client(Self.stream("data: 1\n\n"))
        let task = Task {
            for try await _ in client.events(of: Hello()) {}
        }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        #expect(await failure { try await task.valueOfTest }?.kind == .cancelled)
        #expect(client.callCount == 0)
    }

    // MARK: As one call

    /// What ends a stream that waits for its next connection.
    enum End: CaseIterable, Sendable {
        case scope, scopeCancelled, cancelAll, endpoint, signOut
    }

    @Test(
        "Between two connections it is a call like any other, and whatever ends calls ends it", arguments: End.allCases)
    func endedBetween(end: End) async throws {
        let recorder = EventRecorder()
        let (script, client) = client(Self.stream("data: 1\n\n"), Self.stream("data: 2\n\n"))
        let observed = client.with {
            $0.identity = { "alice" }
            $0.sinks = [recorder]
        }
        var scope: CallScope? = CallScope()
        let events = observed.events(of: Hello(), in: scope)
        let reader = Task { await failure { for try await _ in events {} } }
        await clock.waitForSleepers(count: 1)
        #expect(client.callCount == 1)
        #expect(scope?.callCount == 1)
        // The connection that is over names nothing any more.
        let connection = try #require(recorder.calls.first)
        #expect(client.call(connection) == nil)
        client.cancel(connection)
        #expect(client.callCount == 1)
        switch end {
        case .scope: scope = nil
        case .scopeCancelled: scope?.cancelAll()
        case .cancelAll: client.cancelAll()
        case .endpoint: client.cancel(Hello.self)
        case .signOut: await client.signOut("alice")
        }
        #expect(await reader.valueOfTest?.kind == .cancelled)
        #expect(client.callCount == 0)
        #expect(script.requests.count == 1)
        #expect(recorder.grammarViolations == [])
    }

    @Test("It ends with the connection that is cancelled by its number")
    func cancelledByNumber() async throws {
        let recorder = EventRecorder()
        let script = CallSupport.holding()
        let client = CallSupport.client(script) { $0.sinks = [recorder] }
        let events = client.events(of: Hello())
        let reader = Task { await failure { for try await _ in events {} } }
        await script.waitForExchanges(count: 1)
        #expect(client.callCount == 1)
        client.cancel(try #require(recorder.calls.first))
        #expect(await reader.valueOfTest?.kind == .cancelled)
        #expect(client.callCount == 0)
        #expect(script.openExchangeCount == 0)
    }

    @Test("It never goes on for another user, also when it is asked again", .covers("H28"))
    func otherUser() async throws {
        let user = Box("alice")
        let (script, client) = client(Self.stream("id: a\ndata: 1\n\n"), Self.stream("data: 2\n\n"))
        var iterator = client.with { $0.identity = { user.value } }.events(of: Hello()).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "1")
        user.value = "bob"
        async let ended = failure { try await iterator.next() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3))
        #expect(await ended?.kind == .cancelled)
        #expect(script.requests.map(\.isolation.identity) == ["alice"])
        #expect(client.callCount == 0)
    }

    @Test("After a failure it may be asked again, for the same user alone")
    func askedAgain() async throws {
        let user = Box("alice")
        let (script, client) = client(.respond(.init(status: 404)), Self.stream("data: 1\n\n"))
        var iterator = client.with { $0.identity = { user.value } }.events(of: Hello()).makeAsyncIterator()
        #expect(await failure { try await iterator.next() }?.kind == .httpStatus(404))
        user.value = "bob"
        #expect(await failure { try await iterator.next() }?.kind == .cancelled)
        user.value = "alice"
        #expect(try await iterator.next()?.data == "1")
        #expect(script.requests.map(\.isolation.identity) == ["alice", "alice"])
    }

    @Test("A stream that is let go of between two events leaves no call behind")
    func letGo() async throws {
        let (_, client) = client(Self.stream("data: 1\n\ndata: 2\n\n"))
        do {
            var iterator = client.events(of: Hello()).makeAsyncIterator()
            #expect(try await iterator.next()?.data == "1")
            #expect(client.callCount == 1)
        }
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
    }

    @Test("An event that has come together with the one before is for nobody once the client has ended its calls")
    func endedWithinPiece() async throws {
        let (_, client) = client(Self.stream("data: 1\n\ndata: 2\n\n"))
        var iterator = client.events(of: Hello()).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "1")
        client.cancelAll()
        #expect(await failure { try await iterator.next() }?.kind == .cancelled)
        #expect(client.callCount == 0)
    }

    @Test(
        "What is larger than its limit ends the stream with the limit's name, and the wire is let go",
        arguments: [
            ("data:" + String(repeating: "x", count: (1 << 20) + 1) + "\n\n", ResponseLimits.Limit.eventBytes),
            (String(repeating: "data: \(String(repeating: "x", count: 1_000))\n", count: 1_100), .eventBytes),
            (String(repeating: "x", count: (1 << 20) + 7), .lineLength),
        ])
    func endlessEvent(text: String, limit: ResponseLimits.Limit) async throws {
        let (_, client) = client(Self.stream(text))
        var iterator = client.events(of: Hello()).makeAsyncIterator()
        let error = await failure { try await iterator.next() }
        #expect(error?.kind == .limitExceeded(limit))
        #expect(error.map { "\($0)".contains(limit.rawValue) } == true)
        #expect(client.callCount == 0)
    }

    @Test("An event may be larger than a mebibyte where the limits say so, in one line or in several")
    func largeEvents() async throws {
        let (line, count) = (String(repeating: "x", count: 3 << 20), 3 << 20)
        let lines = String(repeating: "data: \(String(repeating: "y", count: 1_023))\n", count: 3 << 10)
        let (_, client) = client(Self.stream("data: \(line)\n\n" + lines + "\n"))
        var iterator = client.events(of: Hello(), maxEventBytes: count).makeAsyncIterator()
        #expect(try await iterator.next()?.data.utf8.count == count)
        #expect(try await iterator.next()?.data.utf8.count == count - 1)
    }

    @Test("The line's limit is its own, however large an event may be")
    func longLine() async throws {
        let (_, client) = client(Self.stream("data: \(String(repeating: "x", count: 100))\n\n"))
        var iterator = client.events(of: Hello(), maxEventBytes: 1 << 30, maxLineLength: 105).makeAsyncIterator()
        #expect(await failure { try await iterator.next() }?.kind == .limitExceeded(.lineLength))
    }

    @Test(
        "Data that cannot be decoded fails with what was asked and answered; who stops at it has a failed call, who goes on has not",
        arguments: [false, true])
    func undecodable(goesOn: Bool) async throws {
        let recorder = EventRecorder()
        let script = ScriptedTransport([Self.stream("data: {}\n\n" + #"data: {"text":"b"}"# + "\n\n", "data: {}\n\n")])
        let client = CallSupport.client(script) { $0.sinks = [recorder] }
        do {
            var iterator = client.events(of: Hello()).values.makeAsyncIterator()
            let error = try #require(await failure { try await iterator.next() })
            guard case .decoding = error.kind else { return #expect(error.kind == .decoding(path: "text", reason: "")) }
            #expect(error.request?.url.path.hasSuffix("/hello") == true && error.response?.status == 200)
            #expect(error.sendState == .answered)
            if goesOn { #expect(try await iterator.next()?.text == "b") }
        }
        var end: Event.Outcome?
        while !Task.isCancelled, end == nil {
            await Task.yield()
            if case .callEnded(let outcome)? = recorder.records.last?.event { end = outcome }
        }
        if goesOn { return #expect(end == .cancelled) }
        guard case .failure(.decoding)? = end else { return #expect(end == .failure(.decoding(path: "", reason: ""))) }
    }

    @Test("The data of an event is decoded like any JSON")
    func decoded() throws {
        #expect(try ServerSentEvent(data: #"{"text":"hi"}"#).value(Message.self) == Message(text: "hi"))
        #expect(throws: APIError.self) { try ServerSentEvent(data: "{").value(Message.self) }
    }
}

/// One value on each line.
@Suite(.timeLimit(.minutes(5))) struct LinesCallTests {
    private func lines(_ text: String...) async throws -> StreamedLines<Message> {
        let step = ScriptedTransport.Step.stream(.init(status: 200), text.map { Data($0.utf8) })
        return try await CallSupport.client(ScriptedTransport([step])).lines(of: Hello(), maxLineLength: 100)
    }

    @Test("Values come one by one, whatever the pieces")
    func values() async throws {
        var seen: [String] = []
        for try await message in try await lines(
            #"{"text":"a"}"# + "\r\n" + #"{"te"#, #"xt":"b"}"# + "\n\n", #"{"text":"c"}"#)
        {
            seen.append(message.text)
        }
        #expect(seen == ["a", "b", "c"])
    }

    @Test("A line that breaks a rule names the stage whose rule that is, as a whole answer does")
    func brokenRule() async throws {
        struct Ruled: Endpoint {
            typealias Output = Message
            var route: Route { .get("/hello") }
            var payloadValidator: Validator<Payload> {
                .rule("has no mark") { try $0.value(String?.self, at: "mark") == nil }
            }
            var validator: Validator<Message> { .rule("is a greeting") { $0.text == "hello" } }
        }
        for (line, stage) in [
            (#"{"text":"hello","mark":"x"}"#, StageName.payloadValidation), (#"{"text":"bye"}"#, .validation),
        ] {
            let step = ScriptedTransport.Step.stream(.init(status: 200), [Data((line + "\n").utf8)])
            var iterator = try await CallSupport.client(ScriptedTransport([step])).lines(of: Ruled())
                .makeAsyncIterator()
            #expect(await failure { try await iterator.next() }?.stage == stage)
        }
    }

    @Test(
        "A call whose reader stops at a line that cannot be decoded has failed of that, and one that is left was cancelled"
    )
    func leftAtLine() async throws {
        let good = #"{"text":"a"}"# + "\n"
        for (text, outcome) in [("{}\n", nil), (good, Event.Outcome.cancelled), ("{}\n" + good, .cancelled)] {
            let recorder = EventRecorder()
            let step = ScriptedTransport.Step.stream(.init(status: 200), [Data(text.utf8), Data("{}\n".utf8)])
            let client = CallSupport.client(ScriptedTransport([step])) { $0.sinks = [recorder] }
            var thrown: APIError?
            do throws(APIError) {
                var iterator = try await client.lines(of: Hello()).makeAsyncIterator()
                if text.hasSuffix(good), text != good { _ = await failure { try await iterator.next() } }
                _ = try await iterator.next()
            } catch {
                thrown = error
            }
            let kind = thrown?.kind ?? .cancelled
            let expected = outcome ?? .failure(kind)
            guard case .callEnded(expected)? = recorder.records.last?.event else {
                Issue.record("\(String(describing: recorder.records.last?.event))")
                return
            }
        }
    }

    @Test("A line that cannot be decoded says which it is, and the next one can still be read")
    func malformedLine() async throws {
        var iterator = try await lines(#"{"text":"a"}"# + "\n{}\n" + #"{"text":"c"}"#).makeAsyncIterator()
        #expect(try await iterator.next()?.text == "a")
        let error = await failure { try await iterator.next() }
        #expect(error?.debugMessage.hasPrefix("line 2: ") == true)
        #expect(try await iterator.next()?.text == "c")
        #expect(try await iterator.next() == nil)
    }

    @Test("A line that has come together with the one before is for nobody once the client has ended its calls")
    func endedWithinPiece() async throws {
        let text = #"{"text":"a"}"# + "\n" + #"{"text":"b"}"# + "\n"
        let step = ScriptedTransport.Step.stream(.init(status: 200), [Data(text.utf8)])
        let client = CallSupport.client(ScriptedTransport([step]))
        var iterator = try await client.lines(of: Hello()).makeAsyncIterator()
        #expect(try await iterator.next()?.text == "a")
        client.cancelAll()
        #expect(await failure { try await iterator.next() }?.kind == .cancelled)
    }

    @Test("A line past its limit ends the stream")
    func longLine() async throws {
        var iterator = try await lines(String(repeating: "x", count: 101)).makeAsyncIterator()
        #expect(await failure { try await iterator.next() }?.kind == .limitExceeded(.lineLength))
        #expect(await failure { try await iterator.next() }?.kind == .limitExceeded(.lineLength))
    }
}
