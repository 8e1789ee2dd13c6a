import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// What an archive and a report derive from a message has no more of its secrets than the message itself.
@Suite(.timeLimit(.minutes(5)), .covers("X10")) struct HARSecretTests {
    static let queries: [(query: String, pairs: [[String]])] = [
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dcXX&a=1", [["‹redacted›", ""], ["a", "1"]]),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig", [["‹redacted›", ""]]), ("token%3Dhunter2", [["‹redacted›", ""]]),
        ("token%3Dhunter2=1", [["‹redacted›", "‹redacted›"]]), ("https://bob:hunter2@h/", [["‹redacted›", ""]]),
        ("a;token=hunter2", [["a;token", "‹redacted›"]]), ("Bearer+hunter2secret", [["‹redacted›", ""]]),
        ("token=hunter2&page=2", [["token", "‹redacted›"], ["page", "2"]]), ("a%26b=c+d", [["a&b", "c d"]]),
    ]

    @Test("The pairs of a query show no more than the URL does", arguments: queries)
    func pairs(_ query: String, _ pairs: [[String]]) {
        #expect(HARQuery.pairs(query).map { [$0.name, $0.value] } == pairs)
    }

    static let lines: [(line: String, cookie: [String?])] = [
        (#"a="x; domain=hunter2""#, ["a", nil, nil]),
        (#"a="x; path=/hunter2; b"; domain=d.example"#, ["a", "d.example", nil]),
        (#"a="x"; domain=d.example; path=/p"#, ["a", "d.example", "/p"]), (#"a="; path=hunter2"#, ["a", nil, nil]),
        ("a=x; domain=token=hunter2; path=/;sid=hunter2", ["a", "token=‹redacted›", "/"]),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dcXX=1; path=/eyJhbGciOiJIUzI1NiJ9", ["‹redacted›", nil, "/‹redacted›"]),
    ]

    @Test(
        "A cookie's name, domain and path are redacted, and what stands in a quoted value is no attribute",
        arguments: lines)
    func cookies(_ line: String, _ shown: [String?]) throws {
        let cookie = try #require(HARCookies.received(line))
        #expect([cookie.name, cookie.domain, cookie.path] == shown)
    }

    @Test("A cookie that is sent is named once, whatever its quoted value has in it")
    func sentCookies() {
        #expect(HARCookies.sent(#"a="x; hunter2=y; z"; b=c"#).map(\.name) == ["a", "b"])
    }

    @Test("The types of contents are redacted as the field is")
    func types() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har")
        let recorder = try HARRecorder(file: file, contents: .upTo(bytes: 100))
        let type = "application/json; token=hunter2; boundary=kJ8s9dKf02mXn4LqP7vTzR1bYw"
        let response = HTTPResponse(status: 200, fields: [.contentType: type], body: Data("{}".utf8))
        let client = InspectRig.client(InspectRig.answering(response)) { $0.sinks = [recorder] }
        var request = HTTPRequest(method: .post, url: try InspectRig.url(), body: .bytes(Data("{}".utf8)))
        request.fields[.contentType] = type
        _ = try await client.send(request)
        await recorder.flush()
        let entry = try #require(try HAR(contentsOf: file).log.entries.first)
        let shown = "application/json; token=‹redacted›; boundary=kJ8s9dKf02mXn4LqP7vTzR1bYw"
        #expect(entry.request.postData?.mimeType == shown && entry.response.content?.mimeType == shown)
    }

    /// The archive of a browser, which keeps everything.
    private static let foreign = #"""
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "entries": [{
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {}, "comment": "token=hunter2",
        "request": {"method": "POST", "url": "https://u:hunter2@a.example/x?token=hunter2&page=2", "httpVersion": "HTTP/2",
          "cookies": [{"name": "a", "value": "hunter2"}], "headers": [{"name": "authorization", "value": "hunter2"},
          {"name": "accept", "value": "text/html"}], "queryString": [{"name": "token", "value": "hunter2"}],
          "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "password=hunter2&user=ada"}},
        "response": {"status": 302, "statusText": "", "httpVersion": "HTTP/2", "redirectURL": "/y?code=hunter2",
          "cookies": [{"name": "a", "value": "hunter2", "path": "/;sid=hunter2"}],
          "headers": [{"name": "set-cookie", "value": "hunter2"}],
          "content": {"size": 2, "mimeType": "application/json", "text": "{\"password\":\"hunter2\",\"a\":1}"}}}, {
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {},
        "request": {"method": "GET", "url": "https://a.example/", "httpVersion": "HTTP/2"},
        "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2",
          "content": {"mimeType": "text/plain", "encoding": "base64", "text": "cGFzc3dvcmQ9aHVudGVyMg=="}}}]}}
        """#

    @Test("A report of another program's archive has none of the secrets that are in it")
    func foreignArchive() throws {
        let har = try JSONDecoder().decode(HAR.self, from: Data(Self.foreign.utf8))
        let page = String(decoding: try HTMLReport.page(har), as: UTF8.self)
        #expect(!page.contains("hunter2") && !page.contains("aHVudGVyMg"))
        for text in [
            "page=2", "user=ada", "text/html", #"\"a\":1"#, Data("password=‹redacted›".utf8).base64EncodedString(),
        ] {
            #expect(page.contains(text.replacing("&", with: #"\u0026"#)), "\(text)")
        }
        // Penstock's own has been redacted when it was written.
        var own = har
        own.log.creator = HAR.Creator(name: "Penstock")
        #expect(String(decoding: try HTMLReport.page(own), as: UTF8.self).contains("hunter2"))
    }
}

/// A response whose content breaks off is told with what had come of it.
@Suite(.timeLimit(.minutes(5))) struct BrokenResponseTests {
    private static let broken = TransportError(
        .connectionLost, sendState: .answered,
        connection: ConnectionInfo(bytesReceived: 512),
        partialResponse: HTTPResponse(status: 206, fields: ["X-Trace": "7", "Set-Cookie": "c4n4ry"], version: .http2))

    @Test("The archive has the head of a response that broke off, and why, and is not replayed with it", .covers("X11"))
    func archive() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har")
        let recorder = try HARRecorder(file: file, contents: .upTo(bytes: 100))
        let client = InspectRig.client(ScriptedTransport([.fail(Self.broken)])) { $0.sinks = [recorder] }
        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        await recorder.flush()
        let entry = try #require(try HAR(contentsOf: file).log.entries.first)
        #expect(entry.response.status == 206 && entry.response.httpVersion == "HTTP/2")
        #expect(entry.response.headers?.map(\.value) == ["7", Redaction.mark])
        #expect(entry._call?.outcome == "failure" && entry._call?.attemptError?.contains("connectionLost") == true)
        #expect(entry.response.content?.text == nil)
        #expect(entry.response.content?.comment == "it broke off, 512 bytes were received")
        #expect(entry.response.content?.size == 512 && entry.response.bodySize == 512)
        #expect(try HARAnswers.read(file).isEmpty)
    }

    @Test(
        "The report draws an attempt whose response broke off as failed, and tells the status in its details",
        .covers("X11"))
    func report() async throws {
        var entry = ReportSamples.entry(1, attempt: 1, of: 1, at: 0, took: 50, status: 206)
        entry._call?.outcome = "failure"
        entry._call?.error = "the connection broke"
        entry._call?.attemptError = "the connection broke"
        let har = HAR(log: .init(version: "1.2", creator: .init(name: "Penstock"), entries: [entry]))
        try await ReportBrowser.check(
            har, title: "a",
            [
                .init("Its standing", "one('#row0').textContent.includes('failed')", is: "true"),
                .init("Its bar", "all('#row0 .failed').length > 0", is: "true"),
                .init("It is opened", "one('#row0').click()"),
                .init("Its status", "one('#detail').textContent.includes('206 by HTTP/2')", is: "true"),
            ])
    }

    @Test("Spans and measurements of a response that broke off have its status as well as the failure", .covers("X12"))
    func telemetry() async throws {
        let kept = KeptTelemetry()
        let telemetry = Telemetry("shop", to: kept, time: TestClock().timeSource)
        let client = InspectRig.client(ScriptedTransport([.fail(Self.broken)])) { $0.sinks = [telemetry] }
        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        await telemetry.flush()
        let expected = [
            TelemetryAttribute(.status, 206), TelemetryAttribute(.errorType, "transport"),
            TelemetryAttribute(.protocolVersion, "2"),
        ]
        let span = try #require(kept.spans.last)
        #expect(expected.allSatisfy(span.attributes.contains) && span.isError)
        #expect(kept.durations.keys.contains { key in expected.allSatisfy(key.contains) })
    }

    @Test("The log says that the response is not whole, and knows its status")
    func log() async throws {
        for level in [LogLevel.warning, .debug] {
            let kept = KeptLog()
            let client = InspectRig.client(ScriptedTransport([.fail(Self.broken)])) {
                $0.sinks = [CallLog(level: level, to: kept)]
            }
            await #expect(throws: APIError.self) { try await client.send(Hello()) }
            let line = "GET https://api.example.com/hello?name=world has no whole response: "
            #expect(kept.messages.contains { $0.hasPrefix(line) }, "\(kept.messages)")
            #expect(kept.messages.contains { $0.hasSuffix(" 206 broke off") } == (level == .debug))
            #expect(kept.entries.last?.status == 206)
        }
    }
}
