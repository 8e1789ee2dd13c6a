import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// What a collector is sent has no secrets in it, by the rule that everything goes by (`Redaction`).
@Suite(.timeLimit(.minutes(5))) struct TelemetrySecretTests {
    private static let scan = CanaryScan(CanaryScan.planted)
    private static func planted(_ place: String) -> String { CanaryScan.planted[place] ?? "" }

    /// The seven that OpenTelemetry's conventions have redacted in `url.full`, and some of those that apps have.
    private static let names = [
        "AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature", "X-Amz-Credential",
        "X-Amz-Security-Token", "access_token", "password", "api_key", "code", "sid",
    ]

    /// What the collector is sent of one call.
    private func exported(
        _ request: HTTPRequest, to transport: any Transport = InspectRig.answering()
    ) async throws -> Data {
        let collector = InspectRig.answering(HTTPResponse(status: 200))
        let exporter = OTLPExporter("http://127.0.0.1:4318", by: InspectRig.client(collector))
        let telemetry = Telemetry("shop", to: exporter, propagatesTo: ["https://api.example.com"])
        let client = InspectRig.client(transport) {
            $0.sinks = [telemetry]
            $0.attemptInterceptors = [telemetry]
            $0.headers = ["X-Api-Key": Self.planted("header")]
        }
        do { _ = try await client.send(request) } catch {}
        await telemetry.shutdown()
        #expect(telemetry.lostCount == 0)
        return content(collector.requests)
    }

    private func content(_ requests: [HTTPRequest]) -> Data {
        requests.reduce(into: Data()) { all, request in
            guard case .bytes(let data) = request.body.source else { return }
            all += data
        }
    }

    @Test(
        "The value of a secret query item is not in url.full, its name and all others are", .covers("X10", "X12"),
        arguments: names)
    func queryItems(_ name: String) async throws {
        let url = try HTTPURL("https://api.example.com/hello?a=1&\(name)=\(Self.planted("query"))&b=2")
        let data = try await exported(HTTPRequest(method: .get, url: url))
        #expect(Self.scan.found(in: data).isEmpty)
        let shown = "https://api.example.com/hello?a=1&\(name)=\(Redaction.mark)&b=2"
        #expect(String(decoding: data, as: UTF8.self).contains("{\"stringValue\":\"\(shown)\"}"))
    }

    @Test(
        "Nothing that a server says, and nothing of a request but its URL, is in a span or a measurement",
        .covers("X10"))
    func others() async throws {
        let answers = [
            HTTPResponse(
                status: 302,
                fields: [
                    "Location": "/there?token=\(Self.planted("location"))",
                    "Set-Cookie": "sid=\(Self.planted("cookie"))",
                ]),
            HTTPResponse(
                status: 302, fields: ["Location": "https://alice:\(Self.planted("userinfo"))@api.example.com/"],
                body: Data("{\"token\":\"\(Self.planted("reply"))\"}".utf8)),
        ]
        let request = HTTPRequest(
            method: .get, url: try InspectRig.url(),
            fields: [.authorization: "Bearer \(Self.planted("token"))", "tracestate": "vendor=songbirdsings"],
            body: .bytes(Data(Self.planted("json").utf8)))
        let data = try await exported(request, to: ScriptedTransport(answers.map { .respond($0) }))
        #expect(Self.scan.found(in: data).isEmpty)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("penstock.redirect") && text.contains("/there?token=\(Redaction.mark)"))
        #expect(text.contains(SemanticName.requestDuration))
    }

    @Test("An exporter prints its collector without secrets")
    func printed() {
        let exporter = OTLPExporter(
            "https://u:hunter2x@collector.example/v1?api-key=hunter2x", headers: ["X-Api-Key": "hunter2x"],
            by: InspectRig.client(InspectRig.answering()))
        let forms = PrintedForms.texts(of: exporter)
        #expect(forms.filter { $0.contains("hunter2x") }.isEmpty)
        #expect(forms.allSatisfy { $0.contains("collector.example") })
    }

    @Test("A secret in any part of a span is found in what the collector is sent", arguments: 0..<5)
    func leaks(_ part: Int) async throws {
        let leak = Self.planted("query")
        func leaked(_ number: Int, _ otherwise: String) -> String { number == part ? leak : otherwise }
        let decision = CallRecord.Decision(kind: leaked(3, "retry"), at: .zero, attempt: 1, text: leaked(2, "retried"))
        let span = Span(
            traceID: String(repeating: "1", count: 32), spanID: String(repeating: "1", count: 16), parentID: nil,
            traceState: leaked(4, "vendor=a"), name: leaked(1, "GET"), kind: .client,
            start: Date(timeIntervalSince1970: 1), duration: .zero,
            attributes: [TelemetryAttribute(.urlFull, "https://api.example.com/?q=\(leaked(0, "a"))")], isError: false,
            events: [SpanEvent(decision, since: Date(timeIntervalSince1970: 1))])
        let collector = InspectRig.answering(HTTPResponse(status: 200))
        try await OTLPExporter("http://127.0.0.1:4318", by: InspectRig.client(collector)).export([span], of: [])
        #expect(Self.scan.found(in: content(collector.requests)) == ["query"])
    }

    @Test("An exporter prints where it sends to, without what lets it in", .covers("X10"))
    func exporter() throws {
        let exporter = OTLPExporter(
            "https://alice:\(Self.planted("userinfo"))@collector.example.com/a",
            headers: [.authorization: "Bearer \(Self.planted("collector"))"],
            by: InspectRig.client(InspectRig.answering()))
        for text in PrintedForms.texts(of: exporter) {
            #expect(Self.scan.found(in: Data(text.utf8)).isEmpty, "\(text)")
            #expect(text.contains("https://\(Redaction.mark)@collector.example.com/a"), "\(text)")
        }
    }
}
