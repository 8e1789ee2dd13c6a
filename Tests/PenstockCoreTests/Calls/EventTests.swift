import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What is told of a call while it happens.
@Suite(.timeLimit(.minutes(1))) struct EventTests {
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
                "callInterception", "redirect", "cache", "attemptInterception", "cookies", "seal", "sign", "transport",
                "/transport", "/sign", "/seal", "/cookies", "/attemptInterception", "/cache", "/redirect",
                "/callInterception", "status", "/status", "envelope", "/envelope", "payloadValidation",
                "/payloadValidation", "decoding", "/decoding", "validation", "/validation",
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

    @Test("The grammar check finds each kind of broken stream")
    func grammarCheckFindsFaults() {
        let start = Event.callStarted(.init(endpoint: "E", service: .main, environment: .test))
        let end = Event.callEnded(.success)
        let broken: [[Event]] = [
            [], [start], [end], [start, start, end], [start, end, end], [start, .stageStarted(.sign), end],
            [start, .stageEnded(.sign, .success), end],
            [
                start, .stageStarted(.seal), .stageStarted(.sign), .stageEnded(.seal, .success),
                .stageEnded(.sign, .success), end,
            ],
        ]
        for events in broken { #expect(!EventGrammar.violations(in: events).isEmpty) }
        #expect(EventGrammar.violations(in: [start, .stageStarted(.sign), .stageEnded(.sign, .success), end]).isEmpty)
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
        var payloadValidator: Validator<Payload>? {
            .rule("has a text") { try !$0.value(String.self, at: "text").isEmpty }
        }
        var validator: Validator<Message>? { .rule("is a greeting") { $0.text == "hello" } }
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
            $0.events = recorder
        }
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
