import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is kept of a write, and the request that is made of it.
@Suite(.timeLimit(.minutes(5))) struct OutboxContentTests {
    private struct Note: OutboxEndpoint {
        typealias Output = Void
        var text = ""
        var route: Route { .post("/notes") }
        var parameters: NoParameters { NoParameters() }
        var options: CallOptions { .headers(["X-Option": "1"]) }
        var headers: HeaderEdits { ["X-Own": "2"] }
        var body: HTTPBody { .bytes(Data(text.utf8)) }
    }

    private static func content(fields: [[String]] = [], body: Data = Data()) -> OutboxContent {
        let head = OutboxContent.Head(
            name: "n", lane: "l", fold: nil, service: "main", method: "POST", url: "https://api.example.com/notes",
            fields: fields, endpoint: Data("{}".utf8), numberField: "X-Number", terms: nil)
        return OutboxContent(head: head, body: body)
    }

    @Test("What is kept comes back as it was, with a body and without; cut short, or with a wrong length, it does not")
    func bytes() throws {
        for body in [Data(), Data("text".utf8)] {
            let content = Self.content(fields: [["A", "b"]], body: body)
            let data = try content.encoded()
            let read = try OutboxContent(data)
            #expect(read.body == body && read.head.fields == [["A", "b"]] && read.head.url == content.head.url)
            // A slice counts from elsewhere.
            #expect(try OutboxContent((Data([7, 7]) + data).dropFirst(2)).body == body)
            for count in 0..<(data.count - body.count) {
                #expect(throws: (any Error).self, "\(count)") { try OutboxContent(data.prefix(count)) }
            }
            for offset in 0..<4 {
                var wrong = data
                wrong[offset] ^= 0x40
                #expect(throws: (any Error).self, "\(offset)") { try OutboxContent(wrong) }
            }
        }
    }

    @Test("What an earlier version kept, with the endpoint within the head, is read as well")
    func earlierBytes() throws {
        let content = Self.content(fields: [["A", "b"]], body: Data("text".utf8))
        let json = try JSONEncoder().encode(content.head)
        let length = withUnsafeBytes(of: UInt32(json.count).littleEndian) { Data($0) }
        let read = try OutboxContent(length + json + content.body)
        #expect(read.body == content.body && read.head.endpoint == Data("{}".utf8) && read.head.fields == [["A", "b"]])
    }

    private struct Picture: OutboxEndpoint {
        typealias Output = Void
        var bytes: Data
        var route: Route { .put("/picture") }
        var parameters: NoParameters { NoParameters() }
        var body: HTTPBody { .bytes(bytes) }
    }

    private struct Essay: OutboxEndpoint {
        typealias Output = Void
        var text: String
        var route: Route { .post("/essays") }
    }

    @Test("A body of as many bytes as may be has room in a row with its endpoint, whether that holds a text or bytes")
    func largest() async throws {
        let rig = OutboxRig(StubTransport(), types: [Picture.self, Essay.self])
        let limit = Outbox.Configuration(endpoints: []).bodyBytes
        _ = try await rig.outbox.put(Picture(bytes: Data((0..<limit).map { UInt8(truncatingIfNeeded: $0 &* 31) })))
        _ = try await rig.outbox.put(Essay(text: String(repeating: "x", count: limit - 11)))
        #expect(try await rig.outbox.counts().pending == 2)
        let error = await #expect(throws: OutboxError.self) {
            try await rig.outbox.put(Essay(text: String(repeating: "x", count: limit)))
        }
        #expect(error.map { "\($0)" }?.contains("too large") == true)
    }

    private struct Tidy: OutboxEndpoint, Hashable {
        typealias Output = Void
        @PathArgument var room: Int
        @PathArgument var shelf: String?
        var isTidy = true
        var route: Route { .put("/rooms/\(room)/\(shelf ?? "floor")") }
    }

    @Test("A property of the path is kept with its endpoint, and is no parameter", arguments: ["a", nil])
    func pathArguments(shelf: String?) async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 403) }
        let rig = OutboxRig(stub, types: [Tidy.self])
        let write = Tidy(room: 7, shelf: shelf)
        let receipt = try await rig.outbox.put(write)
        #expect(try await rig.outbox.pending().first?.endpoint(as: Tidy.self) == write)
        rig.outbox.start()
        await rig.advance(until: receipt)
        #expect(stub.requests.map(\.text) == [#"{"isTidy":true}"#])
        #expect(stub.requests.map(\.url.path) == ["/rooms/7/\(shelf ?? "floor")"])
        #expect(String(decoding: try JSONEncoder().encode(write), as: UTF8.self) == #"{"isTidy":true}"#)
        await rig.outbox.close()
    }

    @Test("A request has a body where bytes were kept, or their type")
    func requestBody() throws {
        let type = [["Content-Type", "text/plain"]]
        for (fields, text, isNone) in [([], "", true), (type, "", false), ([], "x", false), (type, "x", false)]
            as [([[String]], String, Bool)]
        {
            let request = try Self.content(fields: fields, body: Data(text.utf8)).request(key: "k", number: nil)
            #expect(request.body.isNone == isNone, "\(fields) \(text)")
            #expect(isNone || request.text == text)
        }
    }

    @Test("The key and the number of the lane stand in their fields, and what is no field is unreadable")
    func requestFields() throws {
        let request = try Self.content(fields: [["A", "b"]]).request(key: "k", number: 7)
        #expect(request.fields == ["A": "b", "Idempotency-Key": "\"k\"", "X-Number": "7"])
        #expect(try Self.content().request(key: "k", number: nil).fields == ["Idempotency-Key": "\"k\""])
        for field in [[], ["A"], ["A", "b", "c"]] {
            #expect(throws: OutboxContent.Unreadable.self) {
                try Self.content(fields: [field]).request(key: "k", number: nil)
            }
        }
    }

    @Test(
        "The headers of the options and of the endpoint are kept, the endpoint's last, and nothing is told of the making"
    )
    func kept() async throws {
        let recorder = EventRecorder()
        let rig = OutboxRig(StubTransport(), types: [Note.self]) { $0.sinks = [recorder] }
        let (content, _, _) = try rig.client.frozen(
            Note(text: "hello"), limit: 5, OutboxOwners(), isSealed: false)
        #expect(content.body == Data("hello".utf8))
        #expect(content.head.fields.filter { $0[0].hasPrefix("X-") } == [["X-Option", "1"], ["X-Own", "2"]])
        #expect(recorder.records.isEmpty && rig.client.callCount == 0)
    }

    @Test("Of several headers that are none, the first is named")
    func rejectedHeaders() throws {
        struct Broken: OutboxEndpoint {
            typealias Output = Void
            var route: Route { .post("/notes") }
            var options: CallOptions { .headers(["Not One": "1"]) }
            var headers: HeaderEdits { ["Nor This": "2"] }
        }
        let rig = OutboxRig(StubTransport(), types: [Broken.self])
        let error = #expect(throws: OutboxError.self) {
            _ = try rig.client.frozen(Broken(), limit: 5, OutboxOwners(), isSealed: false)
        }
        guard case .request(let refusal)? = error else { return #expect(error == nil) }
        #expect("\(refusal.kind)" == #"invalidParameter "Not One": is no field of HTTP"#)
    }

    @Test("A body may have as many bytes as the store takes, in memory and in a file, and not one more")
    func limit() throws {
        struct Upload: OutboxEndpoint {
            typealias Output = Void
            var file: URL?
            var route: Route { .put("/file") }
            var parameters: NoParameters { NoParameters() }
            var body: HTTPBody { file.map { .file($0) } ?? .bytes(Data(count: 10)) }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
        try Data(count: 10).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let rig = OutboxRig(StubTransport(), types: [Upload.self])
        for upload in [Upload(), Upload(file: file)] {
            let kept = try rig.client.frozen(upload, limit: 10, OutboxOwners(), isSealed: false)
            #expect(kept.content.body.count == 10)
            #expect {
                _ = try rig.client.frozen(upload, limit: 9, OutboxOwners(), isSealed: false)
            } throws: { error in
                if case .store(.tooLarge(bytes: 10, limit: 9))? = error as? OutboxError { true } else { false }
            }
        }
    }
}
