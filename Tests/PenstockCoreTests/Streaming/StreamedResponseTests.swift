import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a streamed call is to its caller. That content is received as it is read, the conformance suite shows.
@Suite(.timeLimit(.minutes(5))) struct StreamedResponseTests {
    private let recorder = EventRecorder()
    private let pieces = ["one ", "two ", "three"].map { Data($0.utf8) }

    private func client(
        _ steps: ScriptedTransport.Step..., change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> (ScriptedTransport, APIClient) {
        let script = ScriptedTransport(steps)
        let client = CallSupport.client(script) {
            $0.sinks = [recorder]
            change(&$0)
        }
        return (script, client)
    }

    @Test("The pieces come in order, and the call ends with the last")
    func pieces() async throws {
        let (_, client) = client(.stream(.init(status: 200, fields: ["X-A": "1"]), pieces))
        let response = try await client.stream(Hello())
        #expect(response.http.fields["X-A"] == "1")
        #expect(client.callCount == 1)
        var seen: [Data] = []
        for try await piece in response { seen.append(piece) }
        #expect(seen == pieces)
        #expect(client.callCount == 0)
        #expect(recorder.grammarViolations.isEmpty)
        #expect(recorder.records.last.map { if case .callEnded(.success) = $0.event { true } else { false } } == true)
    }

    @Test("A failure in the middle comes after what came before it, with the attempts, and ends the call once")
    func failureInTheMiddle() async throws {
        let lost = TransportError(.connectionLost, sendState: .answered)
        let (_, client) = client(.stream(.init(status: 200), pieces, failure: lost))
        let response = try await client.stream(Hello())
        var seen = 0
        let error = await failure { for try await _ in response { seen += 1 } }
        #expect(seen == 3)
        #expect(error?.kind == .transport(.connectionLost))
        #expect(error?.sendState == .answered)
        #expect(error?.attempts.count == 1)
        #expect(await failure { try await response.collect() }?.kind == .transport(.connectionLost))
        #expect(client.callCount == 0)
        #expect(recorder.grammarViolations.isEmpty)
    }

    @Test("A status that is no success is thrown with its body, and the call is over")
    func failingStatus() async throws {
        let (_, client) = client(.stream(.init(status: 503), [Data("busy".utf8)]))
        let error = await failure { try await client.stream(Hello()) }
        #expect(error?.kind == .httpStatus(503))
        #expect(error?.response.map { String(decoding: $0.body, as: UTF8.self) } == "busy")
        #expect(client.callCount == 0)
        #expect(recorder.grammarViolations.isEmpty)
    }

    @Test("Letting go of a response before its end cancels the call, and its end is told")
    func abandoned() async throws {
        let (_, client) = client(.stream(.init(status: 200), pieces))
        var response: StreamedResponse? = try await client.stream(Hello())
        for try await _ in try #require(response) { break }
        #expect(client.callCount == 1)
        response = nil
        #expect(client.callCount == 0)
        #expect(recorder.grammarViolations.isEmpty)
        #expect(recorder.records.last.map { if case .callEnded(.cancelled) = $0.event { true } else { false } } == true)
    }

    @Test("After the client or the scope has cancelled, nothing more is read", .covers("S2.26", "S1.17"))
    func cancelled() async throws {
        let (_, client) = client(.stream(.init(status: 200), pieces), .stream(.init(status: 200), pieces))
        let first = try await client.stream(Hello())
        client.cancelAll()
        #expect(await failure { try await first.collect() }?.kind == .cancelled)
        var scope: CallScope? = CallScope()
        let second = try await client.stream(Hello(), in: scope)
        scope = nil
        #expect(await failure { try await second.collect() }?.kind == .cancelled)
        _ = scope
        #expect(recorder.grammarViolations.isEmpty)
    }

    @Test("Collecting has a limit, past which nothing more is read")
    func collecting() async throws {
        let (_, client) = client(.stream(.init(status: 200), pieces), .stream(.init(status: 200), pieces))
        #expect(try await client.stream(Hello()).collect() == Data("one two three".utf8))
        let response = try await client.stream(Hello())
        #expect(await failure { try await response.collect(upTo: 7) }?.kind == .limitExceeded(.bodyBytes))
        #expect(await failure { try await response.collect() }?.kind == .limitExceeded(.bodyBytes))
        #expect(client.callCount == 0)
    }

    @Test("A redirect is followed before a stream is handed over")
    func redirected() async throws {
        let hop = HTTPResponse(status: 302, fields: [.location: "/elsewhere"])
        let (script, client) = client(.stream(hop, [Data("moved".utf8)]), .stream(.init(status: 200), pieces))
        let response = try await client.stream(Hello())
        #expect(try await response.collect() == Data("one two three".utf8))
        #expect(script.requests.map(\.request.url.path) == ["/hello", "/elsewhere"])
        #expect(response.attempts.map(\.status) == [302, 200])
    }

    @Test("An interceptor's own answer is streamed like any other")
    func answeredByInterceptor() async throws {
        let (script, client) = client {
            $0.callInterceptors = [
                Intercepting { request, _, _ in
                    Exchange(
                        request: request, response: .init(status: 200, body: Data("mine".utf8)), source: .interceptor)
                }
            ]
        }
        let response = try await client.stream(Hello())
        #expect(response.source == .interceptor)
        #expect(try await response.collect() == Data("mine".utf8))
        #expect(script.requests.isEmpty)
    }

    @Test("What cannot be streamed is refused before anything is sent")
    func refused() async throws {
        struct Lid: Sealer {
            func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest { request }
            func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse { response }
        }
        let script = ScriptedTransport([.respond(CallSupport.greeting)])
        var service = Service(.main, [.development: "https://api.example.com"])
        service.sealer = Lid()
        let client = APIClient(.init(services: [service], build: .debug), transport: script)
        let error = await failure { try await client.stream(Hello()) }
        #expect(error?.kind == .unsupported(feature: "streaming a sealed response"))
        #expect(script.requests.isEmpty)
        #expect(client.callCount == 0)
    }

    /// What is read part by part.
    enum Parts: CaseIterable {
        case lines, values, reconnection

        /// - Returns: when no more is read; the last waits for its next connection then.
        func drain(_ client: APIClient) async throws {
            switch self {
            case .lines: for try await _ in try await client.lines(of: Hello()) {}
            case .values: for try await _ in client.events(of: Hello()).values {}
            case .reconnection: for try await _ in client.events(of: Hello()) {}
            }
        }
    }

    @Test(
        "What goes wrong between the parts of a stream is mapped as every error of a call is", arguments: Parts.allCases
    )
    func mapped(parts: Parts) async throws {
        let clock = TestClock()
        let transport = StubTransport { request in
            let isEvents = request.fields[.accept] == "text/event-stream"
            let (type, prefix) = isEvents ? ("text/event-stream", "data: ") : ("application/x-ndjson", "")
            return HTTPResponse(
                status: 200, fields: [.contentType: type],
                body: Data("\(prefix){\"text\":\"hello\"}\n\n\(prefix)?\n\n".utf8))
        }
        let client = CallSupport.client(transport) {
            $0.time = clock.timeSource
            $0.errorMapper = ErrorMapper { _ in .init(code: 42, userText: "Broken.") }
        }
        let task = Task { try await parts.drain(client) }
        if parts == .reconnection {
            await clock.waitForSleepers(count: 1)
            task.cancel()
        }
        let error = await withTaskCancellationHandler {
            await #expect(throws: APIError.self) { try await task.value }
        } onCancel: {
            task.cancel()
        }
        #expect(error?.presentation == .init(code: 42, userText: "Broken."))
        if parts == .reconnection { #expect(error?.kind == .cancelled) } else { #expect(error?.kind != .cancelled) }
    }
}
