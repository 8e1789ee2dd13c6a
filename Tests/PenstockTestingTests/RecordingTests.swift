import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Exchanges are recorded, kept in a file, and played.
@Suite(.timeLimit(.minutes(5)))
struct RecordingTests {
    private func exchange(
        _ url: String, _ method: HTTPMethod = .get, fields: HTTPFields = [:], body: HTTPBody = .none
    ) throws -> TransportRequest {
        TransportRequest(HTTPRequest(method: method, url: try HTTPURL(url), fields: fields, body: body))
    }

    private func file() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString).json")
    }

    @Test func `A recording that was kept in a file plays what was seen`() async throws {
        let lost = TransportError(.timeout(.firstByte), sendState: .maybeProcessed, message: "late")
        let script = ScriptedTransport([
            .respond(.init(status: 201, fields: ["X-A": "1", "x-a": "2"], body: Data("hello".utf8), version: .http2)),
            .respond(.init(status: 200, body: Data([0xFF, 0x00]))), .fail(lost),
        ])
        let recorder = RecordingTransport(script)
        let requests = try [
            exchange("https://a.test/1", .post, body: .bytes(Data("x".utf8))), exchange("https://a.test/2?q=1"),
            exchange("https://a.test/3"),
        ]
        for request in requests { _ = try? await recorder.perform(request) }
        let file = file()
        defer { try? FileManager.default.removeItem(at: file) }
        try recorder.recording.write(to: file)
        #expect(try Recording(contentsOf: file) == recorder.recording)

        let replay = ReplayTransport(try Recording(contentsOf: file))
        let first = try await replay.perform(requests[0]).response
        #expect(first.status == 201 && first.fields.values(of: "X-A") == ["1", "2"] && first.version == .http2)
        #expect(first.body == Data("hello".utf8))
        #expect(try await replay.perform(requests[1]).response.body == Data([0xFF, 0x00]))
        let error = await #expect(throws: TransportError.self) { try await replay.perform(requests[2]) }
        #expect(error?.kind == .timeout(.firstByte) && error?.sendState == .maybeProcessed && error?.message == "late")
        #expect(replay.remaining.isEmpty && replay.unknown.isEmpty)
    }

    @Test func `The user alone may read a recording, also where others could before, and a link is not followed`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("of/today.json")
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        try Recording().write(to: file)
        #expect(try mode(file) == 0o600 && mode(file.deletingLastPathComponent()) == 0o700 && mode(folder) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let one = Recording([.init(.init(method: "GET", url: "https://a.test/"), .response(.init(status: 200)))])
        try one.write(to: file)
        #expect(try mode(file) == 0o600 && Recording(contentsOf: file) == one)
        let link = folder.appendingPathComponent("link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        try Recording().write(to: link)
        #expect(try Recording(contentsOf: file) == one && Recording(contentsOf: link) == Recording())
        // The file is written anew, and not over: whoever reads the old one reads all of it.
        let reader = try FileHandle(forReadingFrom: file)
        try Recording().write(to: file)
        #expect(try JSONDecoder().decode(Recording.self, from: reader.readToEnd() ?? Data()) == one)
        try #expect(
            FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path) == ["today.json"])
        #expect(throws: (any Error).self) { try one.write(to: file.appendingPathComponent("none.json")) }
    }

    @Test(arguments: [
        TransportError.Kind.unreachable(.connectionRefused), .timeout(.idle), .cancelled, .tls(.expired),
        .connectionLost,
        .protocolViolation, .limitExceeded(.bodyBytes), .requestBody, .unsupported("a:b"), .other,
    ])
    func `Each kind of failure is played as it was`(kind: TransportError.Kind) async throws {
        let request = try exchange("https://a.test/")
        let recorder = RecordingTransport(ScriptedTransport([.fail(.init(kind, sendState: .unsent))]))
        _ = try? await recorder.perform(request)
        let data = try JSONEncoder().encode(recorder.recording)
        let replay = ReplayTransport(try JSONDecoder().decode(Recording.self, from: data))
        let error = await #expect(throws: TransportError.self) { try await replay.perform(request) }
        #expect(error?.kind == kind && error?.sendState == .unsent)
    }

    @Test func `A kind that is not known is played as some other failure`() async throws {
        let request = try exchange("https://a.test/")
        let failure = Recording.Failure(kind: "volcano:large", sendState: "unsent", message: "")
        let asked = Recording.Request(method: "GET", url: "https://a.test/")
        let replay = ReplayTransport(Recording([.init(asked, .failure(failure))]))
        let error = await #expect(throws: TransportError.self) { try await replay.perform(request) }
        #expect(error?.kind == .other)
    }

    @Test func `Nothing secret is recorded, and a request is known without it`() async throws {
        let canary = "canary-7f3a"
        let answer = HTTPResponse(
            status: 200, fields: ["Set-Cookie": "s=\(canary)", "Content-Type": "application/json"],
            body: Data(
                #"{"code":"0","session":{"id":"\#(canary)","level":77},"list":[{"accessToken":"\#(canary)"}]}"#.utf8))
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in answer }) { exchange in
            exchange.request.fields.removeAll { $0.name == "X-House" }
        }
        let fields: HTTPFields = ["Authorization": "Bearer \(canary)", "X-House": canary, "Accept": "text/plain"]
        let form: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        let requests = try [
            exchange("https://a.test/?token=\(canary)&page=2", fields: fields),
            exchange("https://a.test/", .post, body: .bytes(Data(#"{"password":"\#(canary)"}"#.utf8))),
            exchange("https://a.test/", .post, fields: form, body: .bytes(Data("a=1&pwd=\(canary)".utf8))),
        ]
        for request in requests { _ = try await recorder.perform(request) }
        let text = String(decoding: try JSONEncoder().encode(recorder.recording), as: UTF8.self)
        #expect(!text.contains("canary"))
        #expect(text.contains("page=2") && text.contains("text") && text.contains("a=1&pwd="))
        guard case .response(let kept) = recorder.recording.exchanges.first?.outcome else { throw Missing() }
        let json = try JSONDecoder().decode(JSONValue.self, from: kept.content.data)
        #expect(json["code"]?.string == "0" && json["session"]?["level"] == .int(0))

        let replay = ReplayTransport(recorder.recording)
        let another = try exchange("https://a.test/?token=another&page=2")
        #expect(try await replay.perform(another).response.status == 200)
    }

    private struct Missing: Error {}

    @Test(
        "Of content with a coding its size and its coding are recorded, and nothing else", .covers("X10"),
        arguments: ["gzip", "deflate", "br", "zstd", "GZIP, identity", "identity, x-own"])
    func codedRequests(_ coding: String) async throws {
        let coded = Data("canary-7f3a".utf8)
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in .init(status: 204) })
        let request = try exchange("https://a.test/", .post, fields: ["Content-Encoding": coding], body: .bytes(coded))
        _ = try await recorder.perform(request)
        let text = String(decoding: try JSONEncoder().encode(recorder.recording), as: UTF8.self)
        #expect(!text.contains("canary") && !text.contains(coded.base64EncodedString()))
        let kept = try #require(recorder.recording.exchanges.first).request
        let names = coding.lowercased().replacing(", identity", with: "").replacing("identity, ", with: "")
        #expect(kept.content == nil && kept.withheld == .init(bytes: coded.count, reason: "its coding is \(names)"))
        // What was not kept is not compared.
        let replay = ReplayTransport(recorder.recording, comparing: .content)
        #expect(try await replay.perform(request).response.status == 204)
    }

    @Test("A form is recorded without its secret parts, and known by its content whatever its boundary", .covers("X10"))
    func forms() async throws {
        func upload(_ title: String) throws -> TransportRequest {
            let body = HTTPBody.multipart([.field("password", "canary-7f3a"), .field("title", title)])
            let fields: HTTPFields = ["Content-Type": body.contentType ?? ""]
            return try exchange("https://a.test/", .post, fields: fields, body: body)
        }
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in .init(status: 204) })
        _ = try await recorder.perform(upload("sea"))
        let text = String(decoding: try JSONEncoder().encode(recorder.recording), as: UTF8.self)
        #expect(!text.contains("canary") && text.contains("sea"))
        let replay = ReplayTransport(recorder.recording)
        await #expect(throws: TransportError.self) { try await replay.perform(upload("lake")) }
        #expect(try await replay.perform(upload("sea")).response.status == 204)
    }

    @Test func `Content without a coding is recorded, and of a file or a stream its length`() async throws {
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in .init(status: 204) })
        let stream = HTTPBody.stream(length: 3) { HTTPBody.Chunks { $0.finish() } }
        let plain = HTTPBody.bytes(Data("a".utf8))
        let cases: [(HTTPFields, HTTPBody)] = [(["Content-Encoding": "identity"], plain), ([:], stream)]
        for (fields, body) in cases {
            _ = try await recorder.perform(try exchange("https://a.test/", .post, fields: fields, body: body))
        }
        let requests = recorder.recording.exchanges.map(\.request)
        #expect(requests.map(\.content) == [.text("a"), nil])
        #expect(requests.map(\.withheld) == [nil, .init(bytes: 3, reason: "it is a stream")])
    }

    @Test func `What begins with a mark of byte order is recorded and played with it`() async throws {
        let body = Data("\u{FEFF}a".utf8)
        let recorder = RecordingTransport(
            StubTransport { _ throws(TransportError) in .init(status: 200, body: body) })
        let request = try exchange("https://a.test/", .post, body: .bytes(body))
        _ = try await recorder.perform(request)
        let file = file()
        defer { try? FileManager.default.removeItem(at: file) }
        try recorder.recording.write(to: file)
        let read = try Recording(contentsOf: file)
        #expect(read.exchanges.first?.request.content?.data == body)
        #expect(try await ReplayTransport(read).perform(request).response.body == body)
    }

    static let codings: [(coding: String, asked: String?, body: Data, isKept: Bool)] = [
        ("gzip", nil, Data([0x1F, 0x8B, 0x08]), true), ("gzip", nil, Data("plain".utf8), true),
        ("gzip", "gzip", Data([0x1F, 0x8B, 0x08]), false), ("gzip", "gzip", Data("plain".utf8), true),
        ("x-own", nil, Data("canary-7f3a".utf8), false), ("gzip, x-own", nil, Data("canary-7f3a".utf8), false),
    ]

    @Test(
        "A response whose coding was not removed is recorded without its content, and not played as if it were empty",
        .covers("X10"), arguments: codings)
    func codedResponses(_ coding: String, _ asked: String?, _ body: Data, _ isKept: Bool) async throws {
        let answer = HTTPResponse(status: 200, fields: ["Content-Encoding": coding], body: body)
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in answer })
        let fields: HTTPFields = asked.map { ["Accept-Encoding": $0] } ?? [:]
        let request = try exchange("https://a.test/", fields: fields)
        _ = try await recorder.perform(request)
        let stream = try await recorder.open(request)
        while try await stream.content.next() != nil {}
        let replay = ReplayTransport(recorder.recording)
        for exchange in recorder.recording.exchanges {
            guard case .response(let kept) = exchange.outcome else { throw Missing() }
            #expect(kept.content.data == (isKept ? body : Data()))
            guard !isKept else { continue }
            #expect(kept.withheld?.bytes == body.count && kept.withheld?.reason.contains(coding) == true)
            let error = await #expect(throws: TransportError.self) { try await replay.perform(request) }
            #expect(error?.kind == .unsupported("GET https://a.test/") && error?.message.contains(coding) == true)
        }
    }

    @Test func `A request out of order fails when the order is strict, and names what was expected`() async throws {
        let recording = Recording(
            ["/1", "/2"].map { path in
                let request = Recording.Request(method: "GET", url: "https://a.test\(path)")
                let content = Recording.Content.text(path)
                return .init(request, .response(.init(status: 200, content: content)))
            })
        let strict = ReplayTransport(recording)
        let error = await #expect(throws: TransportError.self) {
            try await strict.perform(try exchange("https://a.test/2"))
        }
        #expect(error?.kind == .unsupported("GET https://a.test/2") && error?.sendState == .unsent)
        #expect(error?.message.contains("its next one is for GET https://a.test/1") == true)
        #expect(strict.remaining.count == 2 && strict.unknown == ["GET https://a.test/2"])

        let loose = ReplayTransport(recording, order: .any)
        #expect(try await loose.perform(try exchange("https://a.test/2")).response.body == Data("/2".utf8))
        #expect(try await loose.perform(try exchange("https://a.test/1")).response.body == Data("/1".utf8))
        await #expect(throws: TransportError.self) { try await loose.perform(try exchange("https://a.test/1")) }
        await #expect(throws: TransportError.self) { try await loose.perform(try exchange("https://a.test/1", .post)) }
    }

    @Test(
        "A request whose content has drifted fails with the lines that differ, and is not played", .covers("X13"))
    func drift() async throws {
        func request(_ text: String) throws -> HTTPRequest {
            HTTPRequest(method: .post, url: try HTTPURL("https://a.example/x"), body: .bytes(Data(text.utf8)))
        }
        let recorded = Recording.Exchange(
            .init(
                method: "POST", url: "https://a.example/x", content: .text(#"{"a":1,"b":2,"password":"‹redacted›"}"#)),
            .response(.init(status: 204)))
        let replay = ReplayTransport(Recording([recorded]), comparing: .content)
        let drifted = TransportRequest(try request(#"{"a":1,"b":3,"password":"x"}"#))
        do throws(TransportError) {
            _ = try await replay.perform(drifted)
            Issue.record("drifted content was played")
        } catch {
            #expect(error.message.hasSuffix("-   \"b\" : 2,\n+   \"b\" : 3,"), "\(error.message)")
        }
        #expect(replay.remaining.count == 1 && replay.unknown == ["POST https://a.example/x"])
        let same = try await replay.perform(TransportRequest(try request(#"{ "b": 2, "password": "y", "a": 1 }"#)))
        #expect(same.response.status == 204 && replay.remaining.isEmpty)
        let usual = ReplayTransport(Recording([recorded]))
        await #expect(throws: TransportError.self) { try await usual.perform(drifted) }
        let lax = ReplayTransport(Recording([recorded]), comparing: .address)
        #expect(try await lax.perform(TransportRequest(try request("other"))).response.status == 204)
    }

    @Test func `What was recorded with a redaction of the app's own is played with the same one`() async throws {
        let redact = { @Sendable (exchange: inout Recording.Exchange) in
            exchange.request.url = String(exchange.request.url.prefix { $0 != "?" })
            if case .text(let text) = exchange.request.content {
                exchange.request.content = .text(String(text.prefix { $0 != "@" }))
            }
        }
        func visit(_ number: Int) throws -> TransportRequest {
            try exchange("https://a.test/?visit=\(number)", .post, body: .bytes(Data("alice@\(number)".utf8)))
        }
        let recorder = RecordingTransport(
            StubTransport { _ throws(TransportError) in .init(status: 204) }, redact: redact)
        _ = try await recorder.perform(visit(1))
        let replay = ReplayTransport(recorder.recording, redact: redact)
        #expect(try await replay.perform(visit(2)).response.status == 204)
        try replay.finish()
        let other = ReplayTransport(recorder.recording)
        await #expect(throws: TransportError.self) { try await other.perform(visit(2)) }
    }

    @Test func `What was recorded by default is played by default, whatever is secret in it`() async throws {
        func order(_ token: String) throws -> TransportRequest {
            let json = HTTPBody.bytes(Data(#"{"quantity":2,"token":"\#(token)"}"#.utf8))
            return try exchange("https://a.test/?token=\(token)", .post, fields: ["Authorization": token], body: json)
        }
        let recorder = RecordingTransport(StubTransport { _ throws(TransportError) in .init(status: 204) })
        _ = try await recorder.perform(order("first"))
        let replay = ReplayTransport(recorder.recording)
        #expect(try await replay.perform(order("second")).response.status == 204)
        try replay.finish()
    }

    /// Records what expires a minute later, and plays it a year later.
    private func replayAfterAYear(_ dates: ReplayTransport.Dates) async throws -> (ReplayTransport, TestClock) {
        let fields: HTTPFields = [
            "Date": "Sun, 09 Sep 2001 01:46:30 GMT", "Expires": "Sun, 09 Sep 2001 01:47:30 GMT",
            "Last-Modified": "Sat, 08 Sep 2001 00:00:00 GMT", "Cache-Control": "public",
        ]
        let stub = StubTransport { _ throws(TransportError) in .init(status: 200, fields: fields) }
        let recorder = RecordingTransport(stub, time: TestClock().timeSource)
        _ = try await recorder.perform(try exchange("https://a.test/x"))
        #expect(recorder.recording.exchanges.first?.date == "Sun, 09 Sep 2001 01:46:40 GMT")
        let later = TestClock()
        later.advance(by: .seconds(365 * 86_400))
        return (ReplayTransport(recorder.recording, dates: dates, time: later.timeSource), later)
    }

    @Test func `A replay moves the dates of responses to the present, and what they count from stays`() async throws {
        let request = try exchange("https://a.test/x")
        let moved = try await replayAfterAYear(.shifted).0.perform(request).response.fields
        #expect(moved["Date"] == "Mon, 09 Sep 2002 01:46:30 GMT" && moved["Expires"] == "Mon, 09 Sep 2002 01:47:30 GMT")
        #expect(moved["Last-Modified"] == "Sat, 08 Sep 2001 00:00:00 GMT")
        let kept = try await replayAfterAYear(.asRecorded).0.perform(request).response.fields
        #expect(kept["Date"] == "Sun, 09 Sep 2001 01:46:30 GMT" && kept["Expires"] == "Sun, 09 Sep 2001 01:47:30 GMT")
    }

    @Test(arguments: [ReplayTransport.Dates.shifted, .asRecorded])
    func `What was fresh when it was recorded is fresh when it is played, unless dates stay`(
        dates: ReplayTransport.Dates
    ) async throws {
        let (replay, clock) = try await replayAfterAYear(dates)
        var configuration = APIClient.Configuration(BaseURLs("https://a.test"))
        configuration.time = clock.timeSource
        let client = APIClient(configuration, transport: replay)
        try await client.get("/x", options: .cache(.http))
        do throws(APIError) {
            try await client.get("/x", options: .cache(.http))
            #expect(dates == .shifted)
        } catch {
            #expect(dates == .asRecorded && !replay.unknown.isEmpty, "\(error)")
        }
    }

    @Test func `Where a recording does not say when it was made, its Date field does, and without one nothing moves`()
        async throws
    {
        func fields(_ date: String?) async throws -> HTTPFields {
            let expires = Recording.Field(name: "Expires", value: "Sun, 09 Sep 2001 01:46:41 GMT")
            let more = date.map { [Recording.Field(name: "Date", value: $0)] } ?? []
            let asked = Recording.Request(method: "GET", url: "https://a.test/")
            let recording = Recording([.init(asked, .response(.init(status: 200, fields: [expires] + more)))])
            let clock = TestClock()
            clock.advance(by: .seconds(86_400))
            let replay = ReplayTransport(recording, time: clock.timeSource)
            return try await replay.perform(try exchange("https://a.test/")).response.fields
        }
        #expect(try await fields("Sun, 09 Sep 2001 01:46:40 GMT")["Expires"] == "Mon, 10 Sep 2001 01:46:41 GMT")
        #expect(try await fields(nil)["Expires"] == "Sun, 09 Sep 2001 01:46:41 GMT")
    }

    @Test func `The end of a replay tells what was never asked for, and what was asked and is not there`() async throws
    {
        let asked = ["/1", "/2"].map { Recording.Request(method: "GET", url: "https://a.test\($0)") }
        let exchanges = asked.map { Recording.Exchange($0, .response(.init(status: 200))) }
        let replay = ReplayTransport(Recording(exchanges))
        _ = try await replay.perform(try exchange("https://a.test/1"))
        let early = #expect(throws: ReplayDrift.self) { try replay.finish() }
        #expect(early?.remaining == [exchanges[1]] && early?.unknown == [])
        _ = try? await replay.perform(try exchange("https://a.test/3"))
        let drift = #expect(throws: ReplayDrift.self) { try replay.finish() }
        #expect(drift?.unknown == ["GET https://a.test/3"])
        #expect(
            drift?.description
                == "never asked for: GET https://a.test/2; not recorded so: GET https://a.test/3")
        _ = try await replay.perform(try exchange("https://a.test/2"))
        #expect(throws: ReplayDrift.self) { try replay.finish() }
    }

    @Test func `A response that is read as a stream is recorded as far as it was read`() async throws {
        let lost = TransportError(.connectionLost, sendState: .answered)
        var whole = HTTPResponse(status: 200, body: Data("whole".utf8))
        whole.trailers["X-Sum"] = "5"
        let recorder = RecordingTransport(
            ScriptedTransport([.respond(whole), .respond(whole), .respond(whole), .fail(lost)]))
        let request = try exchange("https://a.test/")
        let read = try await recorder.open(request)
        #expect(try await read.content.next() == Data("whole".utf8))
        #expect(recorder.recording.exchanges.isEmpty)
        #expect(try await read.content.next() == nil)
        try await recorder.open(request).content.discard()
        _ = try await recorder.open(request)
        await #expect(throws: TransportError.self) { _ = try await recorder.open(request) }

        let replay = ReplayTransport(recorder.recording)
        let stream = try await replay.open(request)
        #expect(try await stream.content.next() == Data("whole".utf8))
        #expect(stream.content.completion.trailers["X-Sum"] == "5")
        for _ in 0..<2 { #expect(try await replay.perform(request).response.body.isEmpty) }
        let error = await #expect(throws: TransportError.self) { try await replay.perform(request) }
        #expect(error?.kind == .connectionLost && replay.remaining.isEmpty)
    }

    @Test func `A replay keeps the limits of a call, and ends when it is told to`() async throws {
        let recorder = RecordingTransport(
            StubTransport { _ throws(TransportError) in .init(status: 200, body: Data("abc".utf8)) })
        let request = try exchange("https://a.test/")
        _ = try await recorder.perform(request)
        let replay = ReplayTransport(recorder.recording)
        var limited = request
        limited.limits.bodyBytes = 2
        await expect(.limitExceeded(.bodyBytes), of: limited, by: replay)
        await replay.shutdown()
        await expect(.cancelled, of: request, by: replay)
    }

    private func expect(_ kind: TransportError.Kind, of request: TransportRequest, by replay: ReplayTransport) async {
        let error = await #expect(throws: TransportError.self) { try await replay.perform(request) }
        #expect(error?.kind == kind)
    }
}
