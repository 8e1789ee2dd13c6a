import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// Keeps what it is given.
final class KeptTelemetry: TelemetryExporter {
    private let state = Locked<(spans: [Span], durations: [[TelemetryAttribute]: DurationHistogram])>(([], [:]))

    var spans: [Span] { state.withLock { $0.spans } }
    var durations: [[TelemetryAttribute]: DurationHistogram] { state.withLock { $0.durations } }

    func export(_ spans: [Span], of resource: [TelemetryAttribute]) async throws {
        state.withLock { $0.spans += spans }
    }

    func export(
        _ durations: [[TelemetryAttribute]: DurationHistogram], since start: Date, of resource: [TelemetryAttribute]
    ) async throws {
        state.withLock { $0.durations = durations }
    }
}

/// Traces and metrics by OpenTelemetry's conventions.
@Suite(.timeLimit(.minutes(5))) struct TelemetryTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func rig(
        _ transport: any Transport = InspectRig.answering(), origins: [String] = ["https://api.example.com"],
        samples: Double = 1, retries: Int = 0
    ) -> (client: APIClient, telemetry: Telemetry, kept: KeptTelemetry) {
        let kept = KeptTelemetry()
        let telemetry = Telemetry(
            "shop", version: "1.2", to: kept, propagatesTo: origins, samples: samples, time: TestClock().timeSource)
        let client = InspectRig.client(transport) {
            $0.sinks = [telemetry]
            $0.attemptInterceptors = [telemetry]
            $0.options.retry = .limit(retries)
            $0.random = RandomSource { 0 }
        }
        return (client, telemetry, kept)
    }

    private func attributes(_ span: Span) -> [String: TelemetryAttribute.Value] {
        Dictionary(uniqueKeysWithValues: span.attributes.map { ($0.name, $0.value) })
    }

    @Test("Each attempt is a span in that of its call, by the conventions' names and values", .covers("X12"))
    func attempts() async throws {
        let script = ScriptedTransport([.respond(.init(status: 503)), .respond(InspectRig.greeting)])
        let (client, telemetry, kept) = rig(script, retries: 1)
        _ = try await client.send(Hello())
        await telemetry.flush()
        #expect(kept.spans.map(\.kind) == [.internal, .client, .client])
        #expect(kept.spans.map(\.name) == ["Hello", "GET", "GET"] && Set(kept.spans.map(\.traceID)).count == 1)
        let call = try #require(kept.spans.first)
        #expect(kept.spans.dropFirst().allSatisfy { $0.parentID == call.spanID } && call.parentID == nil)
        #expect(kept.spans.map(\.isError) == [false, true, false])
        #expect(call.events.map(\.name) == ["penstock.cache", "penstock.retry"])
        #expect(
            attributes(kept.spans[1]) == [
                "http.request.method": .string("GET"), "server.address": .string("api.example.com"),
                "server.port": .int(443), "url.scheme": .string("https"), "http.response.status_code": .int(503),
                "error.type": .string("503"), "network.protocol.name": .string("http"),
                "network.protocol.version": .string("1.1"),
                "url.full": .string("https://api.example.com/hello?name=world"),
            ])
        let second = attributes(kept.spans[2])
        #expect(second["http.request.resend_count"] == .int(1) && second["error.type"] == nil)
        #expect(second["http.response.status_code"] == .int(200))
    }

    @Test(
        "A failure has its kind, an unknown method is _OTHER, the peer is named, and no secret is in it", .covers("X12")
    )
    func failuresAndMethods() async throws {
        let refused = TransportError(
            .unreachable(.connectionRefused), sendState: .unsent,
            connection: ConnectionInfo(remoteAddress: "192.0.2.1", remotePort: 8443))
        let (client, telemetry, kept) = rig(ScriptedTransport([.fail(refused)]))
        let method = try #require(HTTPMethod(rawValue: "BREW"))
        let url = try HTTPURL("https://api.example.com/x?token=c4n4ry")
        await #expect(throws: APIError.self) { try await client.send(HTTPRequest(method: method, url: url)) }
        await telemetry.flush()
        let span = attributes(try #require(kept.spans.last))
        #expect(
            span["http.request.method"] == .string("_OTHER") && span["http.request.method_original"] == .string("BREW"))
        #expect(span["error.type"] == .string("unreachable") && span["http.response.status_code"] == nil)
        #expect(span["network.peer.address"] == .string("192.0.2.1") && span["network.peer.port"] == .int(8443))
        #expect(kept.spans.last?.name == "HTTP" && kept.spans.allSatisfy(\.isError))
        #expect(!"\(kept.spans) \(kept.durations)".contains("c4n4ry"))
    }

    @Test("What was decided about a call are events of its span, by names of our own, without secrets", .covers("X12"))
    func decisions() async throws {
        let clock = TestClock()
        let refusal = HTTPResponse(status: 503, fields: ["Retry-After": "4"])
        let moved = HTTPResponse(status: 302, fields: ["Location": "/there?token=c4n4ry"])
        let script = ScriptedTransport([.respond(refusal), .respond(moved), .respond(InspectRig.greeting)])
        let kept = KeptTelemetry()
        let telemetry = Telemetry("shop", to: kept, time: TestClock().timeSource)
        let client = InspectRig.client(script) {
            $0.sinks = [telemetry]
            $0.options.retry = .limit(1)
            $0.cache = .none
            $0.time = clock.timeSource
        }
        let call = client.start(Hello())
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(4))
        _ = try await call.value
        await telemetry.flush()
        let span = try #require(kept.spans.first)
        #expect(span.events.map(\.name) == ["penstock.retry", "penstock.redirect"])
        #expect(span.events.map { $0.time.timeIntervalSince(span.start) } == [0, 4])
        let words = span.events.map(\.attributes).map { $0.first?.value }
        #expect(
            words == [
                .string("retried after 4000 ms: 503; the origin's budget has 9.5 left"),
                .string(
                    "redirected by 302 from https://api.example.com/hello?name=world to https://api.example.com/there?token=\(Redaction.mark)"
                ),
            ])
        #expect(
            span.events.map { $0.attributes.map(\.name) }.allSatisfy {
                $0 == ["penstock.decision", "penstock.attempt"]
            })
        #expect(span.events.map { $0.attributes.last?.value } == [.int(1), .int(2)])
        #expect(kept.spans.count == 4 && kept.spans.dropFirst().allSatisfy(\.events.isEmpty))
    }

    @Test(
        "What a retry leaves of the budget is told in tenths, rounded down; of a budget without an end nothing is told",
        arguments: [
            (9, "; the origin's budget has 9 left"), (0, "; the origin's budget has 0 left"),
            (0.96, "; the origin's budget has 0.9 left"), (0.1 + 0.2, "; the origin's budget has 0.3 left"),
            (9.799999999, "; the origin's budget has 9.8 left"),
            (1_234_567.5, "; the origin's budget has 1234567.5 left"),
            (.infinity, ""),
        ])
    func budget(_ left: Double, _ told: String) {
        let event = Event.retried(after: .seconds(4), reason: .status(503), budgetLeft: left)
        #expect(Words.decision(event) == "retried after 4000 ms: 503\(told)")
    }

    @Test("Every decision that has words has a kind, and nothing else has one")
    func kinds() throws {
        for event in try InspectRig.oneOfEach() {
            #expect((Words.kind(event) == nil) == (Words.decision(event) == nil), "\(event)")
        }
        let kinds = try Set(InspectRig.oneOfEach().compactMap(Words.kind))
        #expect(
            kinds == [
                "cache", "redirect", "replay", "retry", "hedge", "circuit_breaker", "admission", "in_flight",
                "credential", "default",
            ])
    }

    @Test("A server that may know the trace is told its span, which is the one that is recorded", .covers("X12"))
    func propagation() async throws {
        let stub = InspectRig.answering()
        let (client, telemetry, kept) = rig(stub)
        _ = try await client.send(Hello())
        await telemetry.flush()
        let told = try #require(stub.requests.first?.fields["traceparent"].flatMap { TraceContext(parent: $0) })
        let span = try #require(kept.spans.last)
        #expect(told.traceID == span.traceID && told.spanID == span.spanID && told.isSampled)
        #expect(span.parentID == kept.spans.first?.spanID)
    }

    @Test("A trace of the app's own goes on, its tracestate with it; other origins are told of neither", .covers("X12"))
    func incomingTrace() async throws {
        for (origins, isTold) in [(["https://api.example.com"], true), (["https://other.example"], false), ([], false)]
        {
            let stub = InspectRig.answering()
            let (client, telemetry, kept) = rig(stub, origins: origins)
            var request = HTTPRequest(method: .get, url: try InspectRig.url())
            request.fields = ["traceparent": Self.parent]
            request.fields.append("vendor=a", for: "tracestate")
            request.fields.append("other=b", for: "tracestate")
            _ = try await client.send(request)
            await telemetry.flush()
            let sent = try #require(stub.requests.first?.fields)
            #expect(sent.contains("traceparent") == isTold && sent.contains("tracestate") == isTold)
            if isTold {
                #expect(sent["tracestate"] == "vendor=a,other=b")
                #expect(sent["traceparent"]?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
                #expect(sent["traceparent"] != Self.parent)
            }
            #expect(kept.spans.allSatisfy { $0.traceID == "0af7651916cd43dd8448eb211c80319c" })
            #expect(kept.spans.first?.parentID == "b7ad6b7169203331" && kept.spans.count == 2)
        }
    }

    @Test(
        "A trace of the app's own goes on where the cache answers, also one that says it is not recorded",
        .covers("X12"))
    func incomingTraceOfHits() async throws {
        var fresh = InspectRig.greeting
        fresh.fields["Cache-Control"] = "max-age=600"
        let stub = InspectRig.answering(fresh)
        let (client, telemetry, kept) = rig(stub)
        var request = HTTPRequest(method: .get, url: try InspectRig.url())
        _ = try await client.send(request, options: .cache(.http))
        await telemetry.flush()
        #expect(kept.spans.count == 2)
        request.fields = ["traceparent": Self.parent, "tracestate": "vendor=a"]
        _ = try await client.send(request, options: .cache(.http))
        await telemetry.flush()
        let span = try #require(kept.spans.last)
        #expect(kept.spans.count == 3 && stub.requests.count == 1 && span.kind == .internal)
        #expect(span.traceID == "0af7651916cd43dd8448eb211c80319c" && span.parentID == "b7ad6b7169203331")
        #expect(span.traceState == "vendor=a" && span.spanID != span.parentID)
        request.fields["traceparent"] = "\(Self.parent.dropLast(2))00"
        _ = try await client.send(request, options: .cache(.http))
        await telemetry.flush()
        #expect(kept.spans.count == 3 && stub.requests.count == 1)
    }

    @Test("A trace that is not recorded is passed on as such, and measured all the same", .covers("X12"))
    func sampling() async throws {
        let stub = InspectRig.answering()
        let (client, telemetry, kept) = rig(stub, samples: 0)
        _ = try await client.send(Hello())
        await telemetry.flush()
        #expect(kept.spans.isEmpty && stub.requests.first?.fields["traceparent"]?.hasSuffix("-00") == true)
        #expect(kept.durations.values.map(\.count) == [1])
    }

    @Test("Durations are counted in the advised buckets, whose upper ends belong to them", .covers("X12"))
    func buckets() {
        #expect(
            DurationHistogram.bounds == [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10])
        var histogram = DurationHistogram()
        for duration in [
            Duration.milliseconds(5), .microseconds(5001), .seconds(10), .milliseconds(10_001), .seconds(-1),
        ] {
            histogram.record(duration)
        }
        #expect(histogram.counts == [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1] && histogram.count == 5)
        #expect(abs(histogram.sum - 20.011_001) < 0.000_001)
    }

    @Test("2,000 series are kept at most, of which the last is that of all others and says so", .covers("X12"))
    func series() throws {
        func attributes(_ number: Int) -> [TelemetryAttribute] { [TelemetryAttribute(.serverPort, number)] }
        var metric = DurationMetric()
        for number in 0..<1_999 { metric.record(.seconds(1), attributes(number)) }
        #expect(metric.series.count == 1_999)
        for number in 1_999..<2_010 { metric.record(.seconds(1), attributes(number)) }
        metric.record(.seconds(1), attributes(1_998))
        #expect(metric.series.count == 2_000)
        #expect(metric.series[[.overflow]]?.count == 11)
        #expect(TelemetryAttribute.overflow.name == "otel.metric.overflow")
        let sent = OTLP.metrics(
            [[.overflow]: DurationHistogram()], since: Date(timeIntervalSince1970: 1),
            at: Date(timeIntervalSince1970: 2), of: [])
        let text = String(decoding: try JSONEncoder().encode(sent), as: UTF8.self)
        #expect(text.contains(#""value":{"boolValue":true}"#) && !text.contains("_OTHER"))
        #expect(metric.series[attributes(1_998)]?.count == 2 && metric.series[attributes(1_999)] == nil)
    }

    @Test("An answer from 400 on is an error, each version of HTTP has its number, and known methods their names")
    func semantics() throws {
        func attempt(_ method: String = "GET", _ response: HTTPResponse? = nil, number: Int = 1) throws -> AttemptRecord
        {
            let request = HTTPRequest(method: try #require(HTTPMethod(rawValue: method)), url: try InspectRig.url())
            var attempt = AttemptRecord(
                number: number, date: Date(), started: .zero, request: request, requestSize: nil)
            attempt.response = response
            return attempt
        }
        for (status, error) in [(200, nil), (399, nil), (400, "400"), (500, "500")] {
            #expect(HTTPSemantics.errorType(of: try attempt("GET", HTTPResponse(status: status))) == error)
        }
        let versions: [(HTTPVersion, String?)] = [
            (.http10, "1.0"), (.http11, "1.1"), (.http2, "2"), (.http3, "3"), (HTTPVersion(rawValue: "HTTP/4"), nil),
        ]
        for (version, text) in versions {
            let answered = try attempt("GET", HTTPResponse(status: 200, version: version))
            let found = HTTPSemantics.common(answered).first { $0.name == "network.protocol.version" }
            #expect(found?.value == text.map { TelemetryAttribute.Value.string($0) })
        }
        for method in ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"] {
            #expect(HTTPSemantics.name(of: try attempt(method)) == method)
        }
        #expect(HTTPSemantics.name(of: try attempt("get")) == "HTTP")
        for (number, count) in [(1, nil), (2, 1), (3, 2)] as [(Int, Int?)] {
            let found = HTTPSemantics.ofSpan(try attempt(number: number)).first {
                $0.name == "http.request.resend_count"
            }
            #expect(found?.value == count.map { TelemetryAttribute.Value.int($0) })
        }
    }

    @Test("The app's list of known methods takes the place of that of the conventions, and so does the environment's")
    func knownMethods() async throws {
        let variable = "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"
        #expect(HTTPSemantics.methods(nil, [variable: "GET, brew,,"]) == ["GET", "brew"])
        #expect(HTTPSemantics.methods([.put], [variable: "GET"]) == ["PUT"])
        #expect(HTTPSemantics.methods([], [variable: "GET"]).isEmpty)
        for unset in [[:], [variable: ""], [variable: " , "]] as [[String: String]] {
            #expect(HTTPSemantics.methods(nil, unset) == HTTPSemantics.knownMethods)
        }
        let (brew, kept) = (try #require(HTTPMethod(rawValue: "BREW")), KeptTelemetry())
        let telemetry = Telemetry("shop", to: kept, knownMethods: [brew], time: TestClock().timeSource)
        let client = InspectRig.client { $0.sinks = [telemetry] }
        for method in [brew, .get] { _ = try await client.send(HTTPRequest(method: method, url: InspectRig.url())) }
        await telemetry.flush()
        let attempts = kept.spans.filter { $0.kind == .client }
        #expect(attempts.map(\.name) == ["BREW", "HTTP"])
        #expect(attempts.map { attributes($0)["http.request.method"] } == [.string("BREW"), .string("_OTHER")])
        #expect(attempts.map { attributes($0)["http.request.method_original"] } == [nil, .string("GET")])
        let measured = Set(kept.durations.keys.joined().filter { $0.name == "http.request.method" }.map(\.value))
        #expect(measured == [.string("BREW"), .string("_OTHER")])
    }

    @Test(
        "A server that may know the trace is named by its origin, without a scheme as https, and what is none is told")
    func origins() {
        let found = Telemetry.parsed([
            "https://a.example", "b.example", "c.example:8443", "http://d.example/x", "", "e example",
            "ftp://f.example",
        ])
        #expect(
            found.origins == [
                "https://a.example", "https://b.example", "https://c.example:8443", "http://d.example",
            ])
        #expect(found.unusable == ["", "e example", "ftp://f.example"])
    }

    @Test("What the collector calls passing is sent again, and nothing else")
    func retryable() async throws {
        for (status, requests) in [(429, 2), (502, 2), (503, 2), (504, 2), (500, 1), (400, 1)] {
            let script = ScriptedTransport([.respond(.init(status: status)), .respond(.init(status: 200))])
            let client = InspectRig.client(script) { $0.random = RandomSource { 0 } }
            let exporter = OTLPExporter("http://127.0.0.1:4318", by: client)
            let isTaken: Bool
            do {
                try await exporter.export([Span](), of: [])
                isTaken = true
            } catch { isTaken = false }
            #expect(isTaken == (requests == 2), "\(status)")
            #expect(script.requests.count == requests, "\(status)")
        }
    }

    @Test("Of an export that was taken in part those that were rejected are counted and told, with the reason")
    func partialSuccess() async throws {
        let answers = [
            #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#,
            #"{"partialSuccess":{"rejectedSpans":1}}"#, #"{"partialSuccess":{"rejectedSpans":"9"}}"#,
            #"{"partialSuccess":{"errorMessage":"slow down"}}"#, #"{"partialSuccess":{}}"#, "{}", "", "[]",
        ]
        var lost: [Int] = []
        var reasons: [String] = []
        for answer in answers {
            let collector = InspectRig.answering(HTTPResponse(status: 200, body: Data(answer.utf8)))
            let told = Locked<[TelemetryProblem]>([])
            let telemetry = Telemetry(
                "shop", to: OTLPExporter("http://127.0.0.1:4318", by: InspectRig.client(collector)),
                time: TestClock().timeSource
            ) { problem in told.withLock { $0.append(problem) } }
            _ = try await InspectRig.client { $0.sinks = [telemetry] }.send(Hello())
            await telemetry.shutdown()
            lost.append(telemetry.lostCount)
            reasons += told.withLock { $0 }.map { "\($0)" }
        }
        #expect(lost == [1, 1, 2, 0, 0, 0, 0, 0])
        let words = "spans were lost because the export failed: the collector has rejected"
        #expect(reasons == ["1 \(words) 1 of 2: too old", "1 \(words) 1 of 2", "2 \(words) 2 of 2"])
    }

    @Test(
        "Measurements that did not arrive are told with the reason, at once, then once a minute at most, and at the end"
    )
    func lostMeasurements() async throws {
        let answers = [
            (404, ""), (200, #"{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"too old"}}"#), (200, "{}"),
        ]
        var told: [[TelemetryProblem]] = []
        for (status, answer) in answers {
            let problems = Locked<[TelemetryProblem]>([])
            let collector = StubTransport { request throws(TransportError) in
                let isMetrics = request.url.path.hasSuffix("metrics")
                return HTTPResponse(status: isMetrics ? status : 200, body: Data((isMetrics ? answer : "{}").utf8))
            }
            let telemetry = Telemetry(
                "shop", to: OTLPExporter("http://127.0.0.1:4318", by: InspectRig.client(collector)),
                time: TestClock().timeSource
            ) { problem in problems.withLock { $0.append(problem) } }
            _ = try await InspectRig.client { $0.sinks = [telemetry] }.send(Hello())
            await telemetry.flush()
            #expect(problems.withLock(\.count) == (answer == "{}" ? 0 : 1))
            await telemetry.flush()
            #expect(problems.withLock(\.count) == (answer == "{}" ? 0 : 1))
            await telemetry.shutdown()
            told.append(problems.withLock { $0 })
            #expect(telemetry.lostCount == 0)
        }
        let lost = told.map { problems in
            problems.map { if case .metricsFailed(let series, _) = $0 { series } else { 0 } }
        }
        #expect(lost == [[1, 2], [1, 2], []])
        #expect(
            "\(told[0])".contains("1 measurements did not arrive because the export failed: ")
                && "\(told[0])".contains("404"))
        #expect("\(told[1])".contains("the collector has rejected 1 of 1: too old"))
    }

    @Test("A draw below the ratio is recorded, and no id is all zeros", .covers("X12"))
    func draws() async throws {
        let half = UInt64(1) << 63
        let draws: [(UInt64, Double, Bool)] = [
            (half, 0.5, false), (half - 2_048, 0.5, true), (0, 0, false), (.max, 1, true), (0, 0.1, true),
        ]
        for (drawn, ratio, isSampled) in draws {
            let kept = KeptTelemetry()
            let telemetry = Telemetry(
                "shop", to: kept, samples: ratio, time: TestClock().timeSource, random: RandomSource { drawn })
            let client = InspectRig.client(InspectRig.answering()) {
                $0.sinks = [telemetry]
                $0.attemptInterceptors = [telemetry]
            }
            _ = try await client.send(Hello())
            await telemetry.flush()
            #expect(kept.spans.isEmpty == !isSampled, "\(drawn)")
            let digits = String(repeating: "0", count: 15) + "1"
            if drawn == 0 { #expect(kept.spans.allSatisfy { $0.spanID == digits && $0.traceID == digits + digits }) }
        }
    }

    @Test(
        "The collector is sent nothing that goes with the app's own calls, plain, and may be where the client allows plain http"
    )
    func foreignCollector() async throws {
        let collector = InspectRig.answering(HTTPResponse(status: 200, body: Data("{}".utf8)))
        let client = InspectRig.client(collector).with { configuration in
            configuration.headers = ["X-Api-Key": "canary"]
            configuration.options.headers = ["Authorization": "Bearer canary"]
            configuration.options.cleartext = .hosts(["collector.example"])
            configuration.options.sealing = .sealed
        }
        try await OTLPExporter("http://collector.example:4318", headers: ["X-Collector": "a"], by: client).export(
            [], of: [])
        let request = try #require(collector.requests.first)
        #expect(request.fields["X-Collector"] == "a")
        #expect(!"\(request.fields.map(\.value))".contains("canary"))
        #expect(
            request.fields["X-Api-Key"] == nil && request.fields["Authorization"] == nil
                && request.fields["Cookie"] == nil)
    }

    @Test(
        "Each message is sent, past the cache and whatever else the app has said of its calls, at the client's own time"
    )
    func ownTerms() async throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=600"]
        let collector = InspectRig.answering(HTTPResponse(status: 200, fields: fields, body: Data("{}".utf8)))
        let clock = TestClock()
        clock.advance(by: .seconds(5))
        let client = InspectRig.client(collector) {
            $0.options.cache = CachePolicy(.http, ttl: .seconds(600), isRead: true)
            $0.options.inFlight = .throttle(.seconds(600))
            $0.time = clock.timeSource
        }
        let exporter = OTLPExporter("http://127.0.0.1:4318", by: client)
        let durations = [[TelemetryAttribute(.method, "GET")]: DurationHistogram()]
        let start = Date(timeIntervalSince1970: 1)
        for _ in 0..<2 { try await exporter.export(durations, since: start, of: []) }
        #expect(collector.requests.count == 2)
        for request in collector.requests {
            guard case .bytes(let data) = request.body.source else { continue }
            #expect(String(decoding: data, as: UTF8.self).contains(#""timeUnixNano":"1000000005000000000""#))
        }
    }

    @Test(
        "Every name is one of OpenTelemetry's, and what is sent is read by the published protobuf definitions",
        .covers("X12"))
    func protocolBuffers() async throws {
        let script = ScriptedTransport([.respond(.init(status: 503)), .respond(InspectRig.greeting)])
        let (client, telemetry, kept) = rig(script, retries: 1)
        _ = try await client.send(Hello())
        await telemetry.flush()
        let collector = InspectRig.answering(HTTPResponse(status: 200, body: Data("{}".utf8)))
        let exporter = OTLPExporter(
            "http://127.0.0.1:4318/", headers: ["X-Collector": "a"], by: InspectRig.client(collector))
        let resource = [TelemetryAttribute]()
        try await exporter.export(kept.spans, of: resource)
        try await exporter.export(kept.durations, since: Date(timeIntervalSince1970: 1), of: resource)
        #expect(
            collector.requests.map { "\($0.url)" } == [
                "http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/v1/metrics",
            ])
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var arguments = ["-c", Self.reader, SemanticName.requestDuration]
        for (index, request) in collector.requests.enumerated() {
            guard case .bytes(let data) = request.body.source else { continue }
            let file = folder.appendingPathComponent("\(index).json")
            try data.write(to: file)
            arguments.append(file.path)
        }
        arguments += SemanticName.allCases.map(\.rawValue)
        let result = try await Subprocess.run(try Python.executable(), arguments)
        #expect(
            result.status == 0 && result.output == "3 spans [1, 3, 3] [0, 2, 0] 2 points 15 [] [] events\n",
            "\(result.output)"
        )
    }

    /// Reads both messages with the published definitions, and looks every name up among the published ones.
    private static let reader = """
        import base64, importlib, json, pkgutil, sys
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
        import opentelemetry.semconv.attributes, opentelemetry.semconv.metrics.http_metrics as metrics
        known = set()
        for package in [opentelemetry.semconv.attributes]:
            for module in pkgutil.iter_modules(package.__path__):
                found = importlib.import_module(package.__name__ + '.' + module.name)
                known |= {value for value in vars(found).values() if isinstance(value, str)}
        metric, traces, points, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
        def bytes_of(value):
            if isinstance(value, dict):
                return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ('traceId', 'spanId', 'parentSpanId') else bytes_of(v) for k, v in value.items()}
            return [bytes_of(v) for v in value] if isinstance(value, list) else value
        trace = json_format.ParseDict(bytes_of(json.load(open(traces))), ExportTraceServiceRequest())
        spans = trace.resource_spans[0].scope_spans[0].spans
        data = json_format.ParseDict(json.load(open(points)), ExportMetricsServiceRequest())
        found = data.resource_metrics[0].scope_metrics[0].metrics[0]
        assert found.name == metric == metrics.HTTP_CLIENT_REQUEST_DURATION and found.unit == 's'
        assert found.histogram.aggregation_temporality == 2
        for point in found.histogram.data_points:
            assert point.count == sum(point.bucket_counts) and len(point.bucket_counts) == len(point.explicit_bounds) + 1
            used = {a.key for a in point.attributes}
            assert used <= set(names), used
        for span in spans:
            assert len(span.trace_id) == 16 and len(span.span_id) == 8 and span.end_time_unix_nano >= span.start_time_unix_nano
        used = {a.key for span in spans for a in span.attributes}
        print(len(spans), 'spans', [s.kind for s in spans], [s.status.code for s in spans],
            len(found.histogram.data_points), 'points', len(found.histogram.data_points[0].bucket_counts),
            sorted(set(names) - known), sorted(used - set(names)), 'events')
        events = [event for span in spans for event in span.events]
        assert events and all(e.name.startswith('penstock.') and e.attributes for e in events), events
        assert all(a.key.startswith('penstock.') for e in events for a in e.attributes)
        assert all(spans[0].start_time_unix_nano <= e.time_unix_nano <= spans[0].end_time_unix_nano for e in events)
        """
}
