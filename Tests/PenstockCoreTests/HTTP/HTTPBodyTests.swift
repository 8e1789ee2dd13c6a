import Foundation
import PenstockCore
import Testing

@Suite("HTTPBody: length and replay are known before it is sent")
struct HTTPBodyTests {
    @Test("No body has length 0, and empty bytes are still a body")
    func none() {
        #expect(HTTPBody.none.isNone)
        #expect(HTTPBody.none.length == 0)
        #expect(HTTPBody.none.isReplayable)
        let empty = HTTPBody.bytes(Data())
        #expect(!empty.isNone)
        #expect(empty.length == 0)
    }

    @Test("Bytes know their length, also as a slice")
    func bytes() {
        let slice = Data([1, 2, 3, 4])[1...2]
        #expect(HTTPBody.bytes(slice).length == 2)
        #expect(HTTPBody.bytes(slice).isReplayable)
    }

    @Test("A text and JSON say what they are, and JSON has one form for each value")
    func described() {
        let text = HTTPBody.text("caf\u{E9}")
        #expect(text.contentType == "text/plain; charset=utf-8")
        #expect(text.length == 5 && text.isReplayable)
        let json = HTTPBody.json([["b": 1, "a": "x/y"], nil, true])
        #expect(json.contentType == "application/json")
        guard case .bytes(let bytes) = json.source else {
            Issue.record("\(json.source)")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == #"[{"a":"x/y","b":1},null,true]"#)
    }

    private struct Order: Encodable {
        let placedAt: Date
        let note: String?
        let place = "a/b"
    }

    @Test("JSON of variables and of a model is written as parameters are")
    func encoded() {
        let (name, age, note) = ("tea", 3, String?.none)
        let object = HTTPBody.json(["name": name, "age": age, "note": note, "tags": ["b", "a"]])
        #expect(
            object.data.map { String(decoding: $0, as: UTF8.self) }
                == #"{"age":3,"name":"tea","note":null,"tags":["b","a"]}"#)
        let order = Order(placedAt: Date(timeIntervalSince1970: 0), note: nil)
        let model = HTTPBody.json(encoding: order)
        #expect(
            model.data.map { String(decoding: $0, as: UTF8.self) }
                == #"{"place":"a/b","placedAt":"1970-01-01T00:00:00Z"}"#)
        let list = HTTPBody.json(encoding: [order], format: JSONFormat(keys: .snakeCase))
        #expect(
            list.data.map { String(decoding: $0, as: UTF8.self) }
                == #"[{"place":"a/b","placed_at":"1970-01-01T00:00:00Z"}]"#)
        for body in [object, model, list] { #expect(body.contentType == "application/json" && body.isReplayable) }
        #expect(HTTPBody.json(encoding: Double.nan).data == nil)
    }

    @Test("What is in memory can be looked at, and a file or a stream cannot")
    func data() {
        #expect(HTTPBody.none.data == Data())
        #expect(HTTPBody.bytes(Data([1, 2])).data == Data([1, 2]))
        #expect(HTTPBody.file(URL(fileURLWithPath: #filePath)).data == nil)
        #expect(HTTPBody.stream { HTTPBody.Chunks { $0.finish() } }.data == nil)
    }

    @Test("JSON that has no form is no body, and never is sent as another one")
    func unrepresentable() {
        guard case .stream(let open) = HTTPBody.json([.double(.nan)]).source else {
            Issue.record("it has a form")
            return
        }
        #expect(throws: EncodingError.self) { try open() }
    }

    @Test("A regular file knows its length; a folder or a missing file fails when it is to be read, and never is empty")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("body")
        try Data(count: 12345).write(to: file)
        let body = HTTPBody.file(file)
        #expect(body.length == 12345)
        #expect(body.isReplayable)
        for none in [folder, folder.appendingPathComponent("missing")] {
            let body = HTTPBody.file(none)
            #expect(body.length == nil && body.isReplayable && !body.isNone)
            guard case .stream(let open) = body.source else {
                Issue.record("\(body.source)")
                continue
            }
            #expect(throws: CocoaError.self) { try open() }
        }
    }

    @Test("A stream is replayable when it can be opened again, and only then")
    func streams() throws {
        let opened = Counter()
        let again = HTTPBody.stream(length: 3) {
            opened.add()
            return HTTPBody.Chunks { $0.finish() }
        }
        #expect(again.isReplayable)
        #expect(again.length == 3)
        guard case .stream(let open) = again.source else { throw CocoaError(.featureUnsupported) }
        _ = try open()
        _ = try open()
        #expect(opened.count == 2)
        let once = HTTPBody.onceOnly(HTTPBody.Chunks { $0.finish() })
        #expect(!once.isReplayable)
        #expect(once.length == nil)
        #expect(!once.isNone)
    }
}

private final class Counter: Sendable {
    private let value = Locked(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}
