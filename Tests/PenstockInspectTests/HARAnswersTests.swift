import Foundation
import PenstockCore
import PenstockTesting
import Testing

@testable import PenstockInspect

/// What an archive can answer with, and what it says where it cannot.
@Suite(.timeLimit(.minutes(5))) struct HARAnswersTests {
    /// Reads an archive of one answer, given as members of JSON.
    private func answer(_ method: String, _ response: String, by creator: String = "b") throws -> HARAnswers.Answer {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.har")
        let archive = #"""
            {"log": {"version": "1.2", "creator": {"name": "\#(creator)"}, "entries": [{"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {},
            "request": {"method": "\#(method)", "url": "https://a.example/x?token=c4n4ry", "httpVersion": "HTTP/2"},
            "response": {"statusText": "", "httpVersion": "HTTP/2", \#(response)}}]}}
            """#
        try Data(archive.utf8).write(to: file)
        return try #require(try HARAnswers.read(file).first)
    }

    static let location = #""headers": [{"name": "location", "value": "/y"}]"#

    static let whole: [(method: String, response: String, content: String)] = [
        ("GET", #""status": 200, "content": {"size": 2, "text": "ab"}, "bodySize": 2"#, "ab"),
        ("GET", #""status": 200, "content": {"size": 2, "text": "YWI=", "encoding": "base64"}"#, "ab"),
        ("GET", #""status": 200, "content": {"size": 0, "text": ""}, "bodySize": 20"#, ""),
        ("GET", #""status": 200, "content": {"size": 0}, "bodySize": 0"#, ""),
        ("GET", #""status": 200, "content": {"size": 0}, "bodySize": -1"#, ""), ("GET", #""status": 200"#, ""),
        ("HEAD", #""status": 200, "content": {"size": 2}, "bodySize": 2"#, ""),
        ("GET", #""status": 204, "content": {"size": 2}"#, ""), ("GET", #""status": 304, "content": {"size": 2}"#, ""),
        ("GET", #""status": 302, \#(location), "content": {"size": 2}, "bodySize": 2"#, ""),
    ]

    @Test func `an archive that is not there is named, for code and for people`() {
        let file = URL(fileURLWithPath: "/nowhere/a.har")
        let error = #expect(throws: HARError.self) { try HARAnswers.read(file) }
        guard case .unusableFile(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("/nowhere/a.har: "))
        #expect(reason.count > "/nowhere/a.har: ".count)
    }

    @Test("An answer that is whole in the archive is given, and one that had no content is empty", arguments: whole)
    func given(_ method: String, _ response: String, _ content: String) throws {
        #expect(try answer(method, response).response.body == Data(content.utf8))
    }

    static let charsets: [(type: String, content: String, served: String)] = [
        ("text/html; charset=ISO-8859-1", #""text": "café""#, "text/html; charset=utf-8"),
        (
            #"text/plain;Charset=\"latin1\"; format=flowed"#, #""text": "é""#,
            "text/plain; format=flowed; charset=utf-8"
        ),
        ("text/html", #""text": "é""#, "text/html; charset=utf-8"),
        ("application/xml; charset=utf-16", #""text": "é""#, "application/xml; charset=utf-8"),
        ("application/json", #""text": "é""#, "application/json"),
        ("text/html; charset=ISO-8859-1", #""text": "cafe""#, "text/html; charset=ISO-8859-1"),
        ("text/html; charset=ISO-8859-1", #""text": "6Q==", "encoding": "base64""#, "text/html; charset=ISO-8859-1"),
    ]

    @Test("A text of another program's archive, which has it in UTF-8, is given as UTF-8", arguments: charsets)
    func charset(_ type: String, _ content: String, _ served: String) throws {
        let recorded = #"""
            "status": 200, "headers": [{"name": "Content-Type", "value": "\#(type)"}], "content": {\#(content)}
            """#
        #expect(try answer("GET", recorded).response.fields[.contentType] == served)
        let own = type.replacing("\\", with: "")
        #expect(try answer("GET", recorded, by: "Penstock").response.fields[.contentType] == own)
    }

    @Test("Dates of an answer are moved by what has passed since it came")
    func dates() throws {
        let headers = #"""
            "status": 200, "headers": [{"name": "Date", "value": "Thu, 01 Jan 2026 00:00:00 GMT"},
            {"name": "Expires", "value": "Thu, 01 Jan 2026 00:01:00 GMT"}]
            """#
        let found = try answer("GET", headers)
        let came = try #require(found.date).timeIntervalSince1970
        #expect(abs(came - 1_767_225_600.001) < 0.000_01)
        let later = try found.response(at: Date(timeIntervalSince1970: 1_767_225_600.9 + 86_400))
        #expect(later.fields["Date"] == "Fri, 02 Jan 2026 00:00:00 GMT")
        #expect(later.fields["Expires"] == "Fri, 02 Jan 2026 00:01:00 GMT")
        #expect(try found.response.fields["Expires"] == "Thu, 01 Jan 2026 00:01:00 GMT")
    }

    @Test("Dates of archives are read with any zone and any number of decimals")
    func readDates() {
        let samples: [(String, Double?)] = [
            ("2026-01-01T00:00:00.000Z", 1_767_225_600), ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2026-01-01T02:00:00.25+02:00", 1_767_225_600.25), ("2026-01-01T00:00:00.123456Z", 1_767_225_600.123456),
            ("2026-01-01", nil), ("", nil), (".", nil), ("now", nil),
        ]
        for (text, seconds) in samples {
            let found = HARDate.date(text)?.timeIntervalSince1970
            #expect((found == nil) == (seconds == nil) && abs((found ?? 0) - (seconds ?? 0)) < 0.000_01, "\(text)")
        }
    }

    static let missing = [
        #""status": 200, "content": {"size": 2}, "bodySize": 2"#, #""status": 200, "content": {"size": 2}"#,
        #""status": 200, "bodySize": 2"#, #""status": 404, "content": {"size": 0}, "bodySize": 2"#,
        #""status": 300, "content": {"size": 2}"#,
        #""status": 200, "content": {"size": 2, "text": "?", "encoding": "base64"}"#,
    ]

    @Test(
        "An answer whose content is not in the archive is refused by its name, and not given empty", arguments: missing)
    func refused(_ response: String) throws {
        let entry = "GET https://a.example/x?token=\(Redaction.mark), entry 1"
        #expect(throws: HARError.missingContent(entry: entry)) { _ = try answer("GET", response).response }
    }

    private struct Stream: Endpoint {
        typealias Output = Data
        var route: Route { .get("/hello") }
    }

    /// What is recorded of a stream that is read to its end, or cancelled before its first byte.
    private func streamed(_ step: ScriptedTransport.Step, cancelled: Bool = false) async throws -> (
        entry: HAR.Entry, answers: [HARAnswers.Answer]
    ) {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.har")
        let recorder = try HARRecorder(file: file, contents: .upTo(bytes: 1_000))
        let client = InspectRig.client(ScriptedTransport([step])) {
            $0.sinks = [recorder]
            $0.cache = .none
        }
        let stream = try await client.stream(Stream())
        if cancelled { stream.cancel() }
        _ = try? await stream.collect()
        await recorder.close()
        return (try #require(try HAR(contentsOf: file).log.entries.first), try HARAnswers.read(file))
    }

    @Test("A stream that broke off is no answer, before its first byte and behind it", arguments: [0, 2])
    func brokenStream(pieces: Int) async throws {
        let lost = TransportError(.connectionLost, sendState: .answered)
        let content = Array(repeating: Data("hello".utf8), count: pieces)
        let (entry, answers) = try await streamed(.stream(HTTPResponse(status: 200), content, failure: lost))
        #expect(entry.response.status == 200 && entry.response.content?.text == nil)
        #expect(entry._call?.attemptError == "transport: connectionLost")
        #expect(entry.response.content?.comment == "it broke off, \(5 * pieces) bytes were received")
        #expect(answers.isEmpty)
    }

    @Test("A stream that was left has content that nobody knows, and one that was read to its end is what it is")
    func leftStream() async throws {
        let left = try await streamed(.stream(HTTPResponse(status: 200), []), cancelled: true)
        #expect(left.entry._call?.attemptError == nil && left.entry._call?.outcome == "cancelled")
        #expect(throws: HARError.self) { _ = try left.answers.first?.response }
        let whole = try await streamed(.stream(HTTPResponse(status: 200), []))
        #expect(whole.entry._call?.attemptError == nil && whole.entry.response.content?.text == "")
        #expect(try whole.answers.first?.response.body == Data())
    }

    @Test("What was recorded without content is refused when it is replayed, and what had none is answered")
    func recorded() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for contents in [HARRecorder.Contents.none, .upTo(bytes: 16), .upTo(bytes: 15)] {
            let file = folder.appendingPathComponent("a.har")
            let recorder = try HARRecorder(file: file, contents: contents, startsOver: true)
            let script = ScriptedTransport([.respond(InspectRig.greeting), .respond(.init(status: 500))])
            let client = InspectRig.client(script) { $0.sinks = [recorder] }
            for _ in 0..<2 { _ = try? await client.send(HTTPRequest(method: .get, url: InspectRig.url())) }
            await recorder.close()
            let answers = try HARAnswers.read(file)
            #expect(answers.count == 2)
            if contents == .upTo(bytes: 16) {
                #expect(try answers[0].response.body == InspectRig.greeting.body)
            } else {
                #expect(throws: HARError.self) { _ = try answers[0].response }
                let entry = try #require(try HAR(contentsOf: file).log.entries.first)
                #expect(entry.response.content?.comment == "16 bytes, not kept")
            }
            #expect(try answers[1].response.status == 500)
        }
    }
}
