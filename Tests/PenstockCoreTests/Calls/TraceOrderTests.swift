import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The one data flow of a call, as an observer sees it, with what is done in each of its steps.
@Suite(.timeLimit(.minutes(5))) struct TraceOrderTests {
    @Test(
        "A sealed and signed call is one flow, from the check of its parameters to the delivery, and each step is seen",
        .covers("S0.22"))
    @MainActor func order() async throws {
        let (result, lines, _) = await Self.call(telling: [Watcher()])
        #expect(try result.get().value == Message(text: "hello"))
        #expect(
            lines == [
                "parameters", "a rule is checked", "/parameters",
                "commonParameters", "the common parameters are read", "/commonParameters",
                "callInterception", "the call is intercepted",
                "attemptInterception", "the attempt is intercepted",
                "seal", "the request is encrypted",
                "sign", "the request is signed",
                "transport", "the request is sent", "/transport",
                "/sign",
                "the response is decrypted", "/seal",
                "/attemptInterception", "/callInterception",
                "envelope", "/envelope",
                "payloadValidation", "the payload is validated", "/payloadValidation",
                "decoding", "/decoding",
                "validation", "the model is validated", "/validation",
                "delivery", "callEnded", "the result is delivered", "/delivery",
            ])
    }

    /// Where a call fails, in the order of the path.
    enum Refusal: String, CaseIterable {
        case parameters, prepare, callInterception, attemptInterception, seal, sign, transport
        case decryption, envelope, payloadValidation, decoding, validation

        /// As the events name it.
        var step: String { self == .decryption ? "seal" : rawValue }
        /// The steps that begin after it.
        var later: [String] { Self.allCases.drop { $0 != self }.dropFirst().map(\.rawValue) }
    }

    @Test(
        "Wherever a call fails, that step is seen to fail, no later one is seen, and the error is delivered, which names it",
        .covers("S0.22"), arguments: Refusal.allCases)
    @MainActor func failure(_ refusal: Refusal) async throws {
        let (result, lines, recorder) = await Self.call(failingAt: refusal)
        #expect(result.failure?.stage.rawValue == refusal.step)
        let call = try #require(recorder.calls.first)
        let failed = recorder.events(of: call).compactMap { event -> String? in
            guard case .stageEnded(let stage, .failure) = event else { return nil }
            return stage.rawValue
        }
        #expect(failed.first == refusal.step)
        #expect(lines.last == "the result is delivered")
        let trace = recorder.trace(of: call)
        #expect(trace.suffix(2) == ["delivery", "/delivery"])
        #expect(!trace.contains(where: refusal.later.contains))
    }

    // MARK: A call with every step

    /// Makes the call, whose events keep the grammar.
    ///
    /// - Returns: what came of it, what those who took part wrote down, and its events.
    @MainActor private static func call(
        failingAt refusal: Refusal? = nil, telling sinks: [any EventSink] = []
    ) async -> (result: Result<APIResponse<Message>, APIError>, lines: [String], recorder: EventRecorder) {
        let (recorder, notebook) = (EventRecorder(), Notebook())
        let client = client(failingAt: refusal) { $0.sinks = sinks + [recorder] }
        let endpoint = Traced(name: refusal == .parameters ? "" : "world")
        let result = await Notebook.$current.withValue(notebook) {
            await client.start(endpoint) { _ in notebook.note("the result is delivered") }.result
        }
        #expect(recorder.grammarViolations == [])
        return (result, notebook.lines, recorder)
    }

    /// Where those who take part in the call write what they do.
    private final class Notebook: Sendable {
        @TaskLocal static var current: Notebook?

        private let notes = Box<[String]>([])

        var lines: [String] { notes.value }

        func note(_ line: String) {
            notes.update { $0.append(line) }
        }

        static func note(_ line: String) {
            current?.note(line)
        }
    }

    /// Writes down the steps that the requirement names, and the end of the call.
    private struct Watcher: EventSink {
        private static let steps: Set<StageName> = [
            .parameters, .commonParameters, .callInterception, .attemptInterception, .seal, .sign, .transport,
            .envelope,
            .payloadValidation, .decoding, .validation, .delivery,
        ]

        func receive(_ event: Event, _ context: EventContext) {
            switch event {
            case .stageStarted(let stage) where Self.steps.contains(stage): Notebook.note(stage.rawValue)
            case .stageEnded(let stage, _) where Self.steps.contains(stage): Notebook.note("/" + stage.rawValue)
            case .callEnded: Notebook.note("callEnded")
            default: break
            }
        }
    }

    private struct Traced: Endpoint, Encodable {
        typealias Output = Message
        var name = "world"
        var route: Route { .post("/hello") }

        static var parameterRules: ParameterRules<Traced> {
            [
                .custom("name", "must not be empty") {
                    Notebook.note("a rule is checked")
                    return !$0.name.isEmpty
                }
            ]
        }

        var payloadValidator: Validator<Payload> {
            .rule("has no mark") {
                Notebook.note("the payload is validated")
                return try $0.value(String?.self, at: "mark") == nil
            }
        }

        var validator: Validator<Message> {
            .rule("is a greeting") {
                Notebook.note("the model is validated")
                return $0.text == "hello"
            }
        }
    }

    private static func client(
        failingAt refusal: Refusal? = nil, _ change: (inout APIClient.Configuration) -> Void
    ) -> APIClient {
        let service = Service(
            .main, [.development: "https://api.example.com"], envelope: .retcode,
            parameters: CommonParameters {
                Notebook.note("the common parameters are read")
                return refusal == .prepare ? ["v": Double.nan] : ["v": 1]
            },
            sealer: Reversing(refusal: refusal), signer: Marking(refusal: refusal))
        let stub = StubTransport { _ throws(TransportError) in
            Notebook.note("the request is sent")
            if refusal == .transport { throw TransportError(.connectionLost, sendState: .maybeProcessed) }
            return HTTPResponse(status: 200, body: Data(content(refusal).utf8.reversed()))
        }
        return CallSupport.client(stub) {
            $0.services = ServiceRegistry([service])
            $0.callInterceptors = [intercepting("the call", refuses: refusal == .callInterception)]
            $0.attemptInterceptors = [intercepting("the attempt", refuses: refusal == .attemptInterception)]
            change(&$0)
        }
    }

    private static func content(_ refusal: Refusal?) -> String {
        switch refusal {
        case .envelope: #"{"retcode":7,"retdesc":"no"}"#
        case .payloadValidation: #"{"retcode":0,"data":{"text":"hello","mark":"x"}}"#
        case .decoding: #"{"retcode":0,"data":{"text":[]}}"#
        case .validation: #"{"retcode":0,"data":{"text":"bye"}}"#
        default: #"{"retcode":0,"data":{"text":"hello"}}"#
        }
    }

    private static func intercepting(_ what: String, refuses: Bool) -> any Interceptor {
        Intercepting { request, _, next in
            Notebook.note("\(what) is intercepted")
            if refuses { throw Refused() }
            return try await next(request)
        }
    }

    private struct Refused: Error {}

    /// The content backwards, in both directions.
    private struct Reversing: Sealer {
        let refusal: Refusal?

        func seal(_ request: HTTPRequest, call: CallContext) throws -> HTTPRequest {
            Notebook.note("the request is encrypted")
            if refusal == .seal { throw Refused() }
            var request = request
            if case .bytes(let data) = request.body.source { request.body = .bytes(Data(data.reversed())) }
            return request
        }

        func open(_ response: HTTPResponse, call: CallContext) throws -> HTTPResponse {
            Notebook.note("the response is decrypted")
            if refusal == .decryption { throw APIError(.decryption, stage: .seal) }
            var response = response
            response.body.reverse()
            return response
        }
    }

    private struct Marking: Signer {
        let refusal: Refusal?

        func sign(_ request: HTTPRequest, call: CallContext) throws -> HTTPRequest {
            Notebook.note("the request is signed")
            if refusal == .sign { throw Refused() }
            var request = request
            request.fields["X-Signed"] = "yes"
            return request
        }
    }
}
