import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// The archive: what stands in it, that it is whole whenever it is looked at, and that others read it.
@Suite(.timeLimit(.minutes(5))) struct HARTests {
    /// Runs calls that write an archive, and reads it.
    private func archive(
        _ transport: any Transport, contents: HARRecorder.Contents = .none,
        _ change: (inout APIClient.Configuration) -> Void = { _ in },
        calls: (APIClient) async throws -> Void
    ) async throws -> (har: HAR, text: String) {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har")
        let recorder = try HARRecorder(file: file, contents: contents)
        let client = InspectRig.client(transport) {
            $0.sinks = [recorder]
            $0.random = RandomSource { 0 }
            change(&$0)
        }
        try await calls(client)
        await recorder.flush()
        let data = try Data(contentsOf: file)
        return (try JSONDecoder().decode(HAR.self, from: data), String(decoding: data, as: UTF8.self))
    }

    @Test("Each attempt is an entry, and the last one tells what was decided about the call", .covers("X11"))
    func attemptsAndDecisions() async throws {
        let script = ScriptedTransport([
            .fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent)), .respond(.init(status: 503)),
            .respond(InspectRig.greeting),
        ])
        let (har, _) = try await archive(
            script,
            {
                $0.options.retry = .limit(2)
                $0.retryBudget = .init(refill: nil)
            }
        ) { _ = try await $0.send(Hello()) }
        let entries = har.log.entries
        #expect(har.log.version == "1.2" && har.log.creator?.name == "Penstock")
        #expect(entries.map(\.response.status) == [0, 503, 200])
        #expect(entries.map { $0._call?.attempt } == [1, 2, 3])
        #expect(entries.allSatisfy { $0._call?.attempts == 3 && $0._call?.outcome == "success" })
        #expect(entries.map { $0._call?.sendState } == ["unsent", "answered", "answered"])
        #expect(entries.first?._call?.attemptError?.contains("unreachable") == true)
        #expect(entries[0]._call?.decisions == nil && entries[1]._call?.decisions == nil)
        let texts = entries[2]._call?.decisions?.map(\.text) ?? []
        #expect(
            texts.contains { $0.hasPrefix("retried after") && $0.hasSuffix(": 503; the origin's budget has 8 left") })
    }

    @Test("The time of an entry is the sum of its timings, each phase as the transport told it", .covers("X11"))
    func timings() async throws {
        let timings = Timings(
            nameLookup: .milliseconds(5), connected: .milliseconds(12), secured: .milliseconds(30),
            requestStart: .milliseconds(31), responseStart: .milliseconds(81), total: .microseconds(90_500))
        let recorder = EventRecorder()
        _ = try await InspectRig.client { $0.sinks = [recorder] }.send(Hello())
        let events = recorder.records.map { record -> (Event, EventContext) in
            guard case .responseReceived(let response, _, _) = record.event else {
                return (record.event, record.context)
            }
            let wire = ConnectionInfo(isReused: false, remoteAddress: "192.0.2.7", bytesSent: 0, bytesReceived: 9)
            return (.responseReceived(response, timings: timings, connection: wire), record.context)
        }
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har")
        let sink = try HARRecorder(file: file)
        for (event, context) in events { sink.receive(event, context) }
        await sink.flush()
        let entry = try #require(try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file)).log.entries.first)
        let found = entry.timings
        #expect(found.dns == 5 && found.connect == 25 && found.ssl == 18 && found.blocked == 1)
        #expect(found.send == 0 && found.wait == 50 && found.receive == 9.5)
        let sum = [found.blocked, found.dns, found.connect, found.send, found.wait, found.receive]
            .compactMap(\.self).filter { $0 >= 0 }.reduce(0, +)
        #expect(abs(sum - entry.time) < 0.000_001 && entry.time == 90.5)
        #expect(entry.serverIPAddress == "192.0.2.7")
        #expect(
            entry.response.bodySize == 9 && entry.response.content?.size == 16
                && entry.response.content?.compression == 7)
    }

    @Test("Query and cookies are filled in, their secrets are not, and content stands there only where it is asked for")
    func fields() async throws {
        let response = HTTPResponse(
            status: 302,
            fields: [
                .location: "/next?token=c4n4ry", .contentType: "application/json",
                .setCookie:
                    "sid=c4n4ry; Path=/a; Domain=example.com; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; Secure",
            ], body: Data(#"{"password":"c4n4ry","a":1}"#.utf8))
        func calls(_ client: APIClient) async throws {
            var request = HTTPRequest(
                method: .post, url: try HTTPURL("https://api.example.com/x?q=a%20b+c&token=c4n4ry&empty"),
                body: .bytes(Data(#"{"password":"c4n4ry","quantity":2}"#.utf8)))
            request.fields = [.cookie: "a=c4n4ry; b=c4n4ry; c4n4ry", .contentType: "application/json"]
            _ = try? await client.send(request, options: .with { $0.redirects = .never })
        }
        let (har, text) = try await archive(InspectRig.answering(response), calls: calls)
        let entry = try #require(har.log.entries.first)
        #expect(!text.contains("c4n4ry"))
        #expect(entry.request.queryString?.map(\.name) == ["q", "token", "empty"])
        #expect(entry.request.queryString?.map(\.value) == ["a b c", Redaction.mark, ""])
        #expect(entry.request.cookies?.map(\.name) == ["a", "b", ""], "what has no name is a value")
        let cookie = try #require(entry.response.cookies?.first)
        #expect(cookie.name == "sid" && cookie.path == "/a" && cookie.domain == "example.com")
        #expect(cookie.httpOnly == true && cookie.secure == true && cookie.expires == "2026-10-21T07:28:00.000Z")
        #expect(entry.request.postData?.text == "" && entry.request.postData?.comment == "34 bytes, not kept")
        #expect(entry.request.bodySize == 34 && entry.response.content?.text == nil)
        #expect(entry.response.content?.size == 27 && entry.response.redirectURL?.hasPrefix("/next?token=") == true)

        let (whole, shown) = try await archive(InspectRig.answering(response), contents: .upTo(bytes: 34), calls: calls)
        let full = try #require(whole.log.entries.first)
        #expect(!shown.contains("c4n4ry"))
        #expect(full.request.postData?.text?.contains("quantity") == true)
        #expect(full.response.content?.text?.contains(Redaction.mark) == true)
        let (short, _) = try await archive(InspectRig.answering(response), contents: .upTo(bytes: 33), calls: calls)
        #expect(short.log.entries.first?.request.postData?.text == "")
        #expect(short.log.entries.first?.response.content?.text != nil)
    }

    @Test(
        "Of content with a coding, which nobody can redact, the archive has the size and the coding alone",
        .covers("X10"))
    func codedContent() async throws {
        let (sent, got) = (Data("c4n4ry".utf8), Data("c4n4ry, too".utf8))
        let response = HTTPResponse(status: 200, fields: ["Content-Encoding": "x-own"], body: got)
        let (har, text) = try await archive(InspectRig.answering(response), contents: .upTo(bytes: 100)) { client in
            var request = HTTPRequest(method: .post, url: try InspectRig.url(), body: .bytes(sent))
            request.fields["Content-Encoding"] = "br"
            _ = try? await client.send(request)
        }
        let entry = try #require(har.log.entries.first)
        #expect(!text.contains("c4n4ry") && !text.contains(sent.base64EncodedString()))
        #expect(
            entry.request.postData?.text == ""
                && entry.request.postData?.comment == "6 bytes, not kept: its coding is br")
        #expect(entry.response.content?.text == nil && entry.response.content?.size == 11)
        #expect(entry.response.content?.comment == "11 bytes, not kept: its coding is x-own")
    }

    @Test("A form has no secret parts in the archive, and what is no form as it says is not kept", .covers("X10"))
    func forms() async throws {
        let part = "--b\r\nContent-Disposition: form-data; name="
        let form = "\(part)pin\r\n\r\nc4n4ry\r\n\(part)title\r\n\r\nsea\r\n--b--\r\n"
        let (har, text) = try await archive(InspectRig.answering(), contents: .upTo(bytes: 200)) { client in
            for body in [form, "no form, but c4n4ry"] {
                var request = HTTPRequest(method: .post, url: try InspectRig.url(), body: .bytes(Data(body.utf8)))
                request.fields[.contentType] = "multipart/form-data; boundary=b"
                _ = try? await client.send(request)
            }
        }
        let sent = har.log.entries.map(\.request.postData)
        #expect(!text.contains("c4n4ry") && sent.count == 2)
        #expect(sent.first??.text == form.replacing("c4n4ry", with: Redaction.mark))
        #expect(sent.last??.comment == "19 bytes, not kept: it is not the form that its type says")
    }

    @Test("Content that is no text is base64, and a call that sent nothing is an entry all the same")
    func unusual() async throws {
        let bytes = Data([0xFF, 0xFE, 0])
        let response = HTTPResponse(status: 200, fields: [.contentType: "image/x"], body: bytes)
        let (har, _) = try await archive(InspectRig.answering(response), contents: .upTo(bytes: 100)) { client in
            _ = try? await client.send(HTTPRequest(method: .get, url: InspectRig.url()))
            _ = try? await client.send(HTTPRequest(method: .get, url: try HTTPURL("http://plain.example/")))
        }
        #expect(har.log.entries.first?.response.content?.encoding == "base64")
        #expect(har.log.entries.first?.response.content?.text.flatMap { Data(base64Encoded: $0) } == bytes)
        let blocked = try #require(har.log.entries.last)
        #expect(blocked.request.url.hasPrefix("penstock:call/") && blocked._call?.attempt == 0)
        #expect(blocked._call?.outcome == "failure" && blocked._call?.error?.contains("blocked") == true)
    }

    @Test("Content that begins with a mark of byte order stands there with it")
    func byteOrderMark() async throws {
        let text = "\u{FEFF}a"
        let answer = HTTPResponse(status: 200, fields: [.contentType: "text/plain"], body: Data(text.utf8))
        let (har, _) = try await archive(InspectRig.answering(answer), contents: .upTo(bytes: 100)) { client in
            let body = HTTPBody.bytes(Data(text.utf8))
            _ = try await client.send(HTTPRequest(method: .post, url: InspectRig.url(), body: body))
        }
        let entry = try #require(har.log.entries.first)
        for shown in [entry.request.postData?.text, entry.response.content?.text] {
            #expect(shown?.utf8.elementsEqual(text.utf8) == true)
        }
    }

    @Test("Each phase is as long as from the end of the one before it to its own, in microseconds")
    func phases() {
        let timings = Timings(
            nameLookup: .microseconds(1), connected: .microseconds(3), secured: .microseconds(6),
            requestStart: .microseconds(10), responseStart: .microseconds(15), total: .microseconds(21))
        let all = Phases(timings, isReused: false, total: .microseconds(21))
        #expect(all.nameLookup == 1 && all.connect == 5 && all.secure == 3)
        #expect(all.blocked == 4 && all.wait == 5 && all.receive == 6 && all.total == 21)
        let reused = Phases(timings, isReused: true, total: .microseconds(21))
        #expect(reused.nameLookup == nil && reused.connect == nil && reused.secure == nil)
        #expect(reused.blocked == 10 && reused.wait == 5 && reused.receive == 6 && reused.total == 21)
        let secured = Phases(
            Timings(secured: .microseconds(2)), isReused: false, total: .microseconds(2))
        #expect(secured.connect == 2 && secured.secure == 2 && secured.wait == 0)
        let silent = Phases(Timings(requestStart: .microseconds(4)), isReused: false, total: .microseconds(9))
        #expect(silent.connect == nil && silent.blocked == 4 && silent.wait == 5 && silent.receive == 0)
    }

    @Test("A phase never ends before the one before it, nor after the whole, whatever a transport tells")
    func strangeTimings() {
        let odd = Timings(
            nameLookup: .milliseconds(50), connected: .milliseconds(20), secured: nil, requestStart: .milliseconds(-3),
            responseStart: .seconds(9))
        let phases = Phases(odd, isReused: false, total: .milliseconds(60))
        #expect(phases.nameLookup == 50_000 && phases.connect == 0 && phases.wait == 10_000 && phases.receive == 0)
        #expect(phases.total == 60_000)
        let unknown = Phases(Timings(), isReused: true, total: .milliseconds(7))
        #expect(unknown.total == 7_000 && unknown.wait == 7_000 && unknown.connect == nil)
        let reused = Phases(
            Timings(connected: .milliseconds(1)), isReused: true, total: .milliseconds(3))
        #expect(reused.connect == nil && reused.total == 3_000)
        #expect(Phases(Timings(), isReused: true, total: .seconds(-1)).total == 0)
        #expect((Duration.seconds(3) + .microseconds(5)).microseconds == 3_000_005)
        #expect(Duration.seconds(Int64.max).microseconds == .max)
    }

    @Test("An attempt that was given up lasted as long as the call saw it, whatever the transport told", .covers("X11"))
    func attemptsGivenUp() throws {
        let url = try InspectRig.url()
        func attempt(_ change: (inout AttemptRecord) -> Void) -> Duration {
            var attempt = AttemptRecord(
                number: 1, date: Date(), started: .seconds(1), request: HTTPRequest(method: .get, url: url),
                requestSize: 0)
            attempt.ended = .seconds(6)
            attempt.timings.total = .milliseconds(250)
            change(&attempt)
            return attempt.length
        }
        #expect(attempt { $0.failure = .cancelled } == .seconds(5))
        #expect(attempt { $0.isContentLeft = true } == .seconds(5))
        #expect(attempt { _ in } == .milliseconds(250))
        #expect(
            attempt {
                $0.failure = .cancelled
                $0.timings.total = .seconds(7)
            } == .seconds(7))
        #expect(attempt { $0.timings.total = nil } == .seconds(5))
        #expect(attempt { $0.timings.total = .seconds(-1) } == .zero)
    }

    /// Reads an archive of another program's whose entries have these bodies.
    private func foreign(_ responses: [String]) throws -> (texts: [String?], problems: [HARError], page: String) {
        let entries = responses.map {
            #"""
            {"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {}, "request": {"method": "GET", "url":
            "https://a.example/x", "httpVersion": "HTTP/2"}, "response": {"statusText": "", "httpVersion": "HTTP/2", \#($0)}}
            """#
        }
        let text =
            #"{"log": {"version": "1.2", "creator": {"name": "b"}, "entries": [\#(entries.joined(separator: ","))]}}"#
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.har")
        // A Latin letter of one byte is no UTF-8.
        try Data(text.utf8.map { $0 == UInt8(ascii: "^") ? 0xE9 : $0 }).write(to: file)
        var problems: [HARError] = []
        let har = try HAR(contentsOf: file) { problems.append($0) }
        let page = String(decoding: try HTMLReport.page(har), as: UTF8.self)
        return (har.log.entries.map { $0.response.content?.text }, problems, page)
    }

    private static func good(_ text: String) -> String { #""status": 200, "content": {"text": "\#(text)"}"# }

    @Test("An entry that is none is left out and counted, and the others are read")
    func unreadable() throws {
        let bad = [#""status": "x""#, #""status": null"#, #""status": 200, "content": {"text": 5}"#]
        let read = try foreign([Self.good("a"), bad[0], Self.good("b"), bad[1], bad[2]])
        #expect(read.texts == ["a", "b"])
        #expect(read.problems == [.unreadable(entries: 3)])
        #expect(read.page.contains("Left out: 3 entries of the archive that cannot be read."))
        let whole = try foreign([Self.good("a")])
        #expect(whole.problems.isEmpty && !whole.page.contains("Left out:"))
        #expect(throws: HARError.notAnArchive(reason: "at log.entries.Index 0.response.status")) { try foreign(bad) }
        #expect(try foreign([]).texts == [])
    }

    static let texts: [(json: String, text: String)] = [
        (#"\ud83d"#, "\u{FFFD}"), (#"a\uDE00b"#, "a\u{FFFD}b"), (#"\ud83d\ude00"#, "😀"),
        (#"\uD83D\ud83d\ude00"#, "\u{FFFD}😀"),
        (#"\ud83dx\u0041"#, "\u{FFFD}xA"),
        (#"\\ud83d\udfff"#, "\\ud83d\u{FFFD}"), ("caf^", "caf\u{FFFD}"),
        (#"\udbff\udc00\ud800\udfff"#, "\u{10FC00}\u{103FF}"),
    ]

    @Test("Half of a pair of surrogates, and what is no UTF-8, stands as U+FFFD", arguments: texts)
    func loneSurrogates(json: String, text: String) throws {
        let read = try foreign([Self.good(json)])
        #expect(read.texts.map { $0.map { Array($0.unicodeScalars) } } == [Array(text.unicodeScalars)])
        #expect(read.problems.isEmpty)
    }

    @Test("An archive without such texts is not written anew, also where it ends in the middle of an escape")
    func nothingToMend() {
        for text in ["", "a", #"\"#, #"\\"#, #"\ud83d\ude00"#, #"\n\u0041\ud8"#, #"{"a": "\\ud83d"}"#] {
            #expect(HARText.mended(Data(text.utf8)) == nil, "\(text)")
        }
        #expect(HARText.mended(Data(#"\ud83d\"#.utf8)) == Data(#"\ufffd\"#.utf8))
        #expect(HARText.mended(Data(#"\ud83d\ud83d"#.utf8)) == Data(#"\ufffd\ufffd"#.utf8))
    }

    @Test("A size with a fraction is a size, and what is none is nobody's")
    func sizes() throws {
        for (json, size) in [("5.5", 6), ("-1.0", -1), ("1e300", nil), ("null", nil), ("7", 7)] as [(String, Int?)] {
            let read = try JSONDecoder().decode(HAR.Content.self, from: Data(#"{"size": \#(json)}"#.utf8))
            #expect(read.size == size, "\(json)")
        }
    }

    @Test("Dates are ISO 8601 in UTC, to the millisecond, on leap days and before 1970")
    func dates() {
        let samples: [(Double, String)] = [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199.999, "2024-02-29T23:59:59.999Z"), (-0.5, "1969-12-31T23:59:59.500Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ]
        for (seconds, text) in samples { #expect(HARDate.text(Date(timeIntervalSince1970: seconds)) == text) }
    }
}
