import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What is told of a call while it happens.
@Suite(.timeLimit(.minutes(5))) struct EventTests {
    @Test("The trace of a call is the request path, in order and nested", .covers("S0.22", "S3.1"))
    func traceIsThePath() async throws {
        let recorder = EventRecorder()
        let client = full(recorder)
        let response = try await client.response(for: Full(name: "world"))
        #expect(response.value == Message(text: "hello"))
        let call = try #require(recorder.calls.first)
        #expect(
            recorder.trace(of: call) == [
                "parameters", "/parameters", "commonParameters", "/commonParameters", "prepare", "/prepare",
                "callInterception", "redirect", "cache", "retry", "admission", "attemptInterception", "cookies", "seal",
                "sign", "transport", "/transport", "/sign", "/seal", "/cookies", "/attemptInterception", "/admission",
                "/retry", "/cache", "/redirect", "/callInterception", "status", "/status", "envelope", "/envelope",
                "payloadValidation",
                "/payloadValidation", "decoding", "/decoding", "validation", "/validation", "delivery", "/delivery",
            ])
        #expect(recorder.grammarViolations == [])
    }

    @Test("The events of calls that fail at any stage keep the grammar")
    func failuresKeepTheGrammar() async throws {
        let recorder = EventRecorder()
        let responses = [
            HTTPResponse(status: 500), HTTPResponse(status: 200), HTTPResponse(status: 200, body: Data("[1]".utf8)),
            HTTPResponse(status: 302, fields: ["Location": "file:///etc/passwd"]),
        ]
        for response in responses {
            let client = full(recorder, StubTransport { _ throws(TransportError) in response })
            await #expect(throws: APIError.self) { try await client.send(Full(name: "world")) }
            await #expect(throws: APIError.self) { try await client.send(Full(name: "")) }
        }
        let cancelled = full(recorder, CallSupport.holding()).start(Hello())
        cancelled.cancel()
        _ = await cancelled.result
        #expect(recorder.calls.count == 9)
        #expect(recorder.grammarViolations == [])
    }

    @Test("Each attempt is told with its number, its date, its response, or why there is none", .covers("S0.22"))
    func attempts() async throws {
        let (recorder, clock) = (EventRecorder(), TestClock())
        let refused = TransportError(.unreachable(.connectionRefused), sendState: .unsent)
        let script = ScriptedTransport([
            .respond(.init(status: 302, fields: [.location: "/there"])), .fail(refused),
        ])
        let client = CallSupport.client(script) {
            $0.sinks = [recorder]
            $0.time = clock.timeSource
        }
        clock.advance(by: .seconds(5))
        let error = await failure { try await client.send(Hello()) }
        let told = recorder.records.compactMap { record -> String? in
            let place = "\(record.context.attempt) \(Int(record.context.date.timeIntervalSince1970) - 1_000_000_000)"
            switch record.event {
            case .requestSent(let request): return "\(place) > \(request.url.path)"
            case .responseReceived(let response, _, _):
                return "\(place) < \(response.status) \(response.fields[.location] ?? "")"
            case .requestFailed(let kind, let sendState, _, _): return "\(place) ! \(kind.name) \(sendState)"
            default: return nil
            }
        }
        #expect(told == ["1 5 > /hello", "1 5 < 302 /there", "2 5 > /there", "2 5 ! unreachable unsent"])
        #expect(recorder.records.first?.context.attempt == 0)
        let attempts = try #require(error?.attempts)
        #expect(attempts.map(\.outcome) == [.success, .failure(.unreachable(.connectionRefused))])
        #expect(attempts.map(\.sendState) == [.answered, .unsent])
        #expect(attempts.map(\.started) == [clock.timeSource.date(), clock.timeSource.date()])
    }

    @Test("Every sink is told everything, each in its turn")
    func severalSinks() async throws {
        let order = Box<[Int]>([])
        let recorders = [EventRecorder(), EventRecorder()]
        let first = NotingSink { order.update { $0.append(1) } }
        let last = NotingSink { order.update { $0.append(2) } }
        let client = CallSupport.client(CallSupport.answering()) { $0.sinks = [first] + recorders + [last] }
        _ = try await client.send(Hello())
        let traces = try recorders.map { try $0.trace(of: #require($0.calls.first)) }
        #expect(traces[0] == traces[1] && !traces[0].isEmpty)
        #expect(order.value.enumerated().allSatisfy { $0.element == $0.offset % 2 + 1 })
    }

    @Test("What the stages brought is told before it is judged, with where it came from", .covers("S0.22"))
    func answers() async throws {
        let recorder = EventRecorder()
        let made = Intercepting { request, _, _ in
            Exchange(request: request, response: HTTPResponse(status: 500))
        }
        let client = CallSupport.client(CallSupport.answering()) { $0.sinks = [recorder] }
        _ = try await client.send(Hello())
        await #expect(throws: APIError.self) {
            try await client.with { $0.callInterceptors = [made] }.send(Hello())
        }
        let told = recorder.records.compactMap { record -> String? in
            guard case .answered(let answer) = record.event else { return nil }
            let flags = "\(answer.isJoined) \(answer.isStale)"
            return "\(answer.request.method) \(answer.response.status) \(answer.source) \(flags)"
        }
        #expect(told == ["GET 200 network false false", "GET 500 interceptor false false"])
        #expect(recorder.grammarViolations == [])
    }

    @Test("The end of streamed content is told once, before the call's, with its bytes, however it ends")
    func streamedContent() async throws {
        let recorder = EventRecorder()
        let client = CallSupport.client(CallSupport.answering()) { $0.sinks = [recorder] }
        _ = try await client.stream(Hello()).collect()
        var dropped: StreamedResponse? = try await client.stream(Hello())
        #expect(dropped?.http.status == 200)
        dropped = nil
        await #expect(throws: APIError.self) { try await client.stream(Hello()).collect(upTo: 3) }
        let ends = recorder.calls.map { call in
            recorder.events(of: call).suffix(3).map { event in
                switch event {
                case .contentEnded(let bytes, _): "content \(bytes)"
                case .stageEnded(.delivery, _): "delivery"
                case .callEnded: "end"
                default: "other"
                }
            }
        }
        #expect(ends == ["content 16", "content 0", "content 16"].map { [$0, "delivery", "end"] })
        #expect(recorder.grammarViolations == [])
    }

    @Test("A sink can be tried with a context made by hand")
    func contextByHand() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let context = EventContext(
            call: client.start(Hello()).id, attempt: 2, date: Date(timeIntervalSince1970: 7), elapsed: .seconds(1))
        let recorder = EventRecorder()
        recorder.receive(.callEnded(.success), context)
        #expect(recorder.records.first?.context == context)
    }

    @Test("What goes on after the end of its call is not told any more")
    func nothingFollowsTheEnd() async throws {
        let (recorder, release, sent) = (EventRecorder(), Latch(), Latch())
        let straying = Intercepting { request, _, next in
            let exchange = try await next(request)
            Task {
                await release.wait()
                _ = try? await next(request)
                sent.open()
            }
            return exchange
        }
        let stub = CallSupport.answering()
        let client = CallSupport.client(stub) {
            $0.callInterceptors = [straying]
            $0.sinks = [recorder]
        }
        _ = try await client.send(Hello())
        release.open()
        await sent.wait()
        #expect(stub.requests.count == 1)
        #expect(recorder.grammarViolations == [])
    }

    @Test("The grammar check finds each kind of broken stream")
    func grammarCheckFindsFaults() {
        let start = Event.callStarted(.init(endpoint: "E", service: .main, environment: .test))
        let end = Event.callEnded(.success)
        let (begun, done) = (Event.stageStarted(.delivery), Event.stageEnded(.delivery, .success))
        let broken: [[Event]] = [
            [], [start], [end], [start, start, end], [start, end, end], [start, .stageStarted(.sign), end],
            [start, .stageEnded(.sign, .success), end],
            [
                start, .stageStarted(.seal), .stageStarted(.sign), .stageEnded(.seal, .success),
                .stageEnded(.sign, .success), end,
            ],
            [start, begun, end, done, done], [start, begun, done, begun, done, end], [start, end, begun, done],
            [start, begun, end, .stageEnded(.sign, .success)], [start, begun, end, .hedged, done],
            [start, .stageStarted(.sign), begun, end, done],
        ]
        for events in broken { #expect(!EventGrammar.violations(in: events).isEmpty) }
        let whole: [[Event]] = [
            [start, .stageStarted(.sign), .stageEnded(.sign, .success), end], [start, begun, done, end],
            [start, begun, end, done], [start, begun, end],
        ]
        for events in whole { #expect(EventGrammar.violations(in: events).isEmpty) }
    }

    @Test("Nothing that an event prints holds the value of a credential")
    func eventsPrintNoSecret() async throws {
        let recorder = EventRecorder()
        let client = full(recorder).with { $0.headers = ["Authorization": "Bearer s3cr3t", "Cookie": "a=s3cr3t"] }
        _ = try await client.send(Full(name: "world"))
        var text = ""
        for record in recorder.records {
            text += "\(record.event)" + String(reflecting: record.event)
            dump(record.event, to: &text)
        }
        #expect(text.contains("requestSent"))
        #expect(!text.contains("s3cr3t"))
    }

    /// An API that has every optional part.
    private struct Full: Endpoint, Encodable {
        typealias Output = Message
        var name: String
        var route: Route { .post("/hello") }
        var payloadValidator: Validator<Payload> {
            .rule("has a text") { try !$0.value(String.self, at: "text").isEmpty }
        }
        var validator: Validator<Message> { .rule("is a greeting") { $0.text == "hello" } }
        var callInterceptors: [any Interceptor] { [Passing()] }
        var attemptInterceptors: [any Interceptor] { [Passing()] }
        static var parameterRules: ParameterRules<Full> { [.notEmpty("name", \.name)] }
    }

    private func full(_ recorder: EventRecorder, _ transport: (any Transport)? = nil) -> APIClient {
        let service = Service(
            .main, [.development: "https://api.example.com"], envelope: .retcode,
            parameters: CommonParameters { ["v": 1] },
            sealer: Reversed(), signer: Constant())
        let sealed = HTTPResponse(
            status: 200, body: Data(#"{"retcode":0,"data":{"text":"hello"}}"#.utf8.reversed()))
        return CallSupport.client(transport ?? StubTransport { _ throws(TransportError) in sealed }) {
            $0.services = ServiceRegistry([service])
            $0.cookies = MemoryCookieStore()
            $0.sinks = [recorder]
        }
    }

    private struct NotingSink: EventSink {
        let note: @Sendable () -> Void

        init(_ note: @escaping @Sendable () -> Void) {
            self.note = note
        }

        func receive(_ event: Event, _ context: EventContext) { note() }
    }

    private struct Passing: Interceptor {
        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            try await next(request)
        }
    }

    private struct Reversed: Sealer {
        func seal(_ request: HTTPRequest, call: CallContext) -> HTTPRequest { request }

        func open(_ response: HTTPResponse, call: CallContext) -> HTTPResponse {
            var response = response
            response.body.reverse()
            return response
        }
    }

    private struct Constant: Signer {
        func sign(_ request: HTTPRequest, call: CallContext) -> HTTPRequest { request }
    }
}
