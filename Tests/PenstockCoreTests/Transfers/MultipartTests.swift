import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Forms as they go over the wire (RFC 7578), and what cannot be sent.
@Suite(.timeLimit(.minutes(5))) struct MultipartTests {
    /// All that a body gives, as a transport reads it.
    static func bytes(_ body: HTTPBody) async throws -> Data {
        switch body.source {
        case .none: return Data()
        case .bytes(let data): return data
        case .file(let url): return try Data(contentsOf: url)
        case .stream(let open):
            var all = Data()
            for try await piece in try open() { all.append(piece) }
            return all
        }
    }

    static func text(_ body: HTTPBody) async throws -> String {
        String(decoding: try await bytes(body), as: UTF8.self)
    }

    static func chunks(_ texts: [String]) -> @Sendable () -> HTTPBody.Chunks {
        {
            HTTPBody.Chunks { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
    }

    /// A folder that is gone afterwards.
    static func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    // MARK: The wire

    @Test func `a form is written byte for byte as the standard has it`() async throws {
        let body = HTTPBody.multipart(
            [
                .field("title", "On the beach\n"),
                .data("picture", Data("\u{89}PNG".utf8), fileName: "beach.png"),
                MultipartPart("note", fields: ["Content-Language": "nl"], content: .none),
            ], boundary: "b")
        #expect(body.contentType == "multipart/form-data; boundary=b")
        let expected =
            "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nOn the beach\n\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"beach.png\"\r\n"
            + "Content-Type: image/png\r\n\r\n\u{89}PNG\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"note\"\r\nContent-Language: nl\r\n\r\n\r\n--b--\r\n"
        #expect(try await Self.text(body) == expected)
        #expect(body.length == expected.utf8.count)
        #expect(try await Self.text(.multipart([], boundary: "b")) == "--b--\r\n")
    }

    @Test func `many small fields are a few pieces, with the bytes of each in their order`() async throws {
        let parts = (0..<25_000).map { MultipartPart.field("f", "\($0)") }
        let expected = (0..<25_000).reduce(into: "") { text, number in
            text += "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n\(number)\r\n"
        }
        #expect(try await Self.text(.multipart(parts, boundary: "b")) == expected + "--b--\r\n")
        #expect(try MultipartForm(parts, boundary: "b").segments.count == 2)
    }

    static let names: [(String, String)] = [
        ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("é 日本.png", "é 日本.png"),
        ("100%", "100%"), ("a\\b", "a\\b"), ("a\tb", "a\tb"), ("a~", "a~"), ("À\u{80}", "À\u{80}"),
    ]

    @Test("names are escaped as browsers escape them, so that none ends the quotes or the line", arguments: names)
    func escapes(name: String, expected: String) throws {
        let head = try MultipartForm.head(of: .data(name, Data(), fileName: name, contentType: "a/b"))
        #expect(
            head
                == "Content-Disposition: form-data; name=\"\(expected)\"; filename=\"\(expected)\"\r\nContent-Type: a/b\r\n"
        )
    }

    @Test(
        "The name of a field has whole ends of lines, and the name of a file has its own",
        arguments: [
            ("a\nb", "a%0D%0Ab", "a%0Ab"), ("a\rb", "a%0D%0Ab", "a%0Db"), ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
            ("\n\r", "%0D%0A%0D%0A", "%0A%0D"), ("\r\r\n\n", "%0D%0A%0D%0A%0D%0A", "%0D%0D%0A%0A"),
        ])
    func lineEnds(text: String, name: String, fileName: String) throws {
        let head = try MultipartForm.head(of: .data(text, Data(), fileName: text, contentType: "a/b"))
        #expect(head.hasPrefix("Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\"\r\n"))
    }

    @Test(arguments: ["\u{0}", "a\u{8}", "\u{1F}", "\u{7F}"])
    func `a name with another control character is refused`(name: String) {
        #expect(throws: MultipartError.invalidName(name)) { try MultipartForm.head(of: .field(name, "")) }
        #expect(throws: MultipartError.invalidName(name)) {
            try MultipartForm.head(of: .data("a", Data(), fileName: name))
        }
    }

    @Test(arguments: [
        ("X-A\r\nX-B", "1"), ("X-A", "1\r\n2"), ("Content-Disposition", "form-data"), ("content-length", "7"),
        ("Content-Transfer-Encoding", "base64"), ("Transfer-Encoding", "chunked"),
    ])
    func `a field that breaks the grammar, or is the form's own, is refused`(name: String, value: String) {
        let part = MultipartPart("a", fields: HTTPFields([HTTPField(name: .init(name), value: value)]), content: .none)
        #expect(throws: MultipartError.self) { try MultipartForm.head(of: part) }
        var typed = MultipartPart("a", content: .bytes(Data()))
        typed.content.contentType = "a/b\r\nX: y"
        #expect(throws: MultipartError.invalidField("Content-Type")) { try MultipartForm.head(of: typed) }
    }

    @Test func `of several fields that are wrong the first one is told`() {
        let broken = HTTPFields(["X-A\r\n", "X-B\r\n"].map { HTTPField(name: .init($0), value: "1") })
        let own: HTTPFields = ["Content-Disposition": "form-data", "Transfer-Encoding": "chunked"]
        for (fields, name) in [(broken, broken.rejected.first), (own, "Content-Disposition")] {
            let error = #expect(throws: MultipartError.self) {
                try MultipartForm.head(of: MultipartPart("a", fields: fields, content: .none))
            }
            #expect(error == name.map { .invalidField($0) })
        }
        #expect(broken.rejected.count == 2)
    }

    @Test func `a file has the type of its suffix, or the one that it is given`() {
        let url = URL(fileURLWithPath: "/none/a.png")
        for (part, name, type) in [
            (MultipartPart.file("f", url), "a.png", "image/png"),
            (.file("f", url, fileName: "b.jpg"), "b.jpg", "image/jpeg"),
            (.file("f", url, contentType: "x/y"), "a.png", "x/y"),
            (.data("f", Data(), fileName: "b.jpg"), "b.jpg", "image/jpeg"),
            (.data("f", Data(), fileName: "b.jpg", contentType: "x/y"), "b.jpg", "x/y"),
        ] {
            #expect(part.fileName == name && part.content.contentType == type)
        }
    }

    @Test func `a part's own Content-Type stands once, in place of the one by its suffix`() throws {
        var part = MultipartPart.data("a", Data(), fileName: "a.png")
        part.fields[.contentType] = "image/x"
        #expect(try MultipartForm.head(of: part).hasSuffix("filename=\"a.png\"\r\nContent-Type: image/x\r\n"))
    }

    @Test(arguments: [
        ("a.JPG", "image/jpeg"), ("a.tar.gz", "application/gzip"), ("a", MediaType.bytes), ("a.", MediaType.bytes),
        (".png", "image/png"), ("a.unheard", MediaType.bytes), ("é.Mp4", "video/mp4"),
    ])
    func `the type of a file is that of its suffix`(name: String, type: String) {
        #expect(MediaType.bySuffix(of: name) == type)
    }

    @Test func `a boundary has 128 random bits, as many digits whatever they are, and is another one each time`() {
        var zero = RandomSource { 0 }
        #expect(MultipartForm.boundary(using: &zero) == "penstock-" + String(repeating: "0", count: 32))
        var ones = RandomSource { .max }
        #expect(MultipartForm.boundary(using: &ones) == "penstock-" + String(repeating: "f", count: 32))
        let types = Set((0..<100).map { _ in HTTPBody.multipart([]).contentType })
        #expect(types.count == 100)
    }

    // MARK: Lengths and forms of content

    @Test func `the length is known beforehand, unless a stream does not know its own`() async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 18, count: 200_000).write(to: file)
            let known = HTTPBody.multipart(
                [
                    .field("a", "b"), .file("f", file),
                    MultipartPart("s", content: .stream(length: 5, Self.chunks(["he", "", "llo"]))),
                ])
            #expect(known.isReplayable)
            for _ in 0..<2 { #expect(try await Self.bytes(known).count == known.length) }
            let unknown = HTTPBody.multipart(
                [MultipartPart("s", content: .stream(Self.chunks(["hello"])))], boundary: "b")
            #expect(unknown.length == nil)
            #expect(try await Self.text(unknown).hasSuffix("\r\n\r\nhello\r\n--b--\r\n"))
        }
    }

    @Test func `a form in memory is bytes up to 1 MiB, and a stream of pieces beyond`() async throws {
        let frame = HTTPBody.multipart([MultipartPart("a", content: .bytes(Data()))], boundary: "b").length ?? 0
        for (extra, isBytes) in [(0, true), (1, false)] {
            let data = Data(count: (1 << 20) - frame + extra)
            let body = HTTPBody.multipart([MultipartPart("a", content: .bytes(data))], boundary: "b")
            if case .bytes = body.source { #expect(isBytes) } else { #expect(!isBytes) }
            #expect(body.length == frame + data.count)
            #expect(try await Self.bytes(body).count == body.length)
        }
    }

    @Test func `a file is read 64 KiB at a time, as far as its last byte`() async throws {
        try await Self.withFolder { folder in
            let piece = 64 << 10
            for (count, sizes) in [
                (0, []), (1, [1]), (piece, [piece]), (piece + 1, [piece, 1]), (2 * piece, [piece, piece]),
            ] as [(Int, [Int])] {
                let file = folder.appendingPathComponent("\(count).bin")
                let bytes = sampleBytes(seed: 18, count: count)
                try bytes.write(to: file)
                let form = try MultipartForm([.file("f", file)], boundary: "b")
                let reader = MultipartReader(form.segments)
                var pieces: [Data] = []
                while let piece = try await reader.next() { pieces.append(piece) }
                // Between the part's head and the form's end.
                #expect(pieces.dropFirst().dropLast().map(\.count) == sizes)
                #expect(Data(pieces.dropFirst().dropLast().joined()) == bytes)
            }
        }
    }

    @Test func `a form with a part that can be read once can be sent once`() async throws {
        let body = HTTPBody.multipart([MultipartPart("s", content: .onceOnly(Self.chunks(["x"])()))])
        #expect(!body.isReplayable)
        #expect(try await Self.text(body).contains("\r\n\r\nx\r\n"))
        await #expect(throws: HTTPBody.AlreadyRead.self) { try await Self.bytes(body) }
    }

    @Test func `streams that declare more than any number says have no length together`() {
        let endless = MultipartPart("s", content: .stream(length: .max, Self.chunks(["he"])))
        #expect(HTTPBody.multipart([endless]).length == nil)
        #expect(HTTPBody.multipart([endless, endless]).length == nil)
    }

    @Test(arguments: [4, 6]) func `a stream of another length than it declares is an error`(declared: Int) async {
        let body = HTTPBody.multipart([
            MultipartPart("s", content: .stream(length: declared, Self.chunks(["he", "llo"])))
        ])
        await #expect(throws: MultipartError.wrongLength(declared: declared, given: 5)) { try await Self.bytes(body) }
    }

    @Test func `what has failed is not read on, whatever has failed`() async throws {
        struct Broken: Error {}
        let wrong = { @Sendable (declared: Int) in HTTPBody.stream(length: declared, Self.chunks(["he", "llo"])) }
        let broken = HTTPBody.stream {
            HTTPBody.Chunks { continuation in
                continuation.yield(Data("hello".utf8))
                continuation.finish(throwing: Broken())
            }
        }
        for content in [wrong(4), wrong(6), broken] {
            let form = try MultipartForm([MultipartPart("s", content: content), .field("a", "b")], boundary: "b")
            let reader = MultipartReader(form.segments)
            var errors: Set<String> = []
            for _ in 0..<5 {
                do {
                    let piece = try await reader.next()
                    #expect(errors.isEmpty && piece != nil)
                } catch {
                    errors.insert("\(error)")
                }
            }
            #expect(errors.count == 1)
        }
    }

    @Test func `streams that stand one behind the other are each held to the length of their own`() async throws {
        let parts = [("he", "llo"), ("", "a"), ("wor", "ld")].map { first, second in
            MultipartPart("s", content: .stream(length: (first + second).utf8.count, Self.chunks([first, second])))
        }
        let body = HTTPBody.multipart(parts + [MultipartPart("s", content: .stream(Self.chunks([])))], boundary: "b")
        let text = try await Self.text(body)
        let head = "--b\r\nContent-Disposition: form-data; name=\"s\"\r\n\r\n"
        #expect(text == ["hello", "a", "world", ""].map { head + $0 + "\r\n" }.joined() + "--b--\r\n")
    }

    // MARK: Files that change

    /// What becomes of a file, and the error that tells.
    enum Change: CaseIterable {
        case grows, shrinks, goes, isReplaced, isRewritten

        func apply(to file: URL) throws {
            switch self {
            case .grows:
                let handle = try FileHandle(forWritingTo: file)
                try handle.seekToEnd()
                try handle.write(contentsOf: Data([1]))
                try handle.close()
            case .shrinks: truncate(file.path, 100)
            case .goes: try FileManager.default.removeItem(at: file)
            case .isReplaced:
                let bytes = try Data(contentsOf: file)
                try FileManager.default.removeItem(at: file)
                try Data(bytes.reversed()).write(to: file)
            case .isRewritten:
                let handle = try FileHandle(forWritingTo: file)
                try handle.write(contentsOf: Data([1]))
                try handle.close()
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `a file that changed since the request was made is not sent`(change: Change) async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 18, count: 1_000).write(to: file)
            let body = HTTPBody.multipart([.file("f", file)])
            #expect(try await Self.bytes(body).count == body.length)
            try change.apply(to: file)
            let expected: SourceFileError = change == .goes ? .unreadable(file, code: ENOENT) : .changed(file)
            await #expect(throws: expected) { try await Self.bytes(body) }
        }
    }

    @Test(arguments: [Change.grows, .shrinks, .isRewritten])
    func `a file that changes while it is sent ends the sending before its last byte`(change: Change) async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 18, count: 100_000).write(to: file)
            let form = try MultipartForm([.file("f", file)], boundary: "b")
            let reader = MultipartReader(form.segments)
            var count = try await reader.next()?.count ?? 0
            count += try await reader.next()?.count ?? 0
            try change.apply(to: file)
            let expected: SourceFileError =
                switch change {
                case .grows: .grew(file)
                case .shrinks: .shrank(file)
                default: .changed(file)
                }
            await #expect(throws: expected) {
                while let piece = try await reader.next() { count += piece.count }
            }
            #expect(count < form.length ?? 0)
        }
    }

    @Test func `a file that goes while it is sent has been opened, and is sent whole`() async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 18, count: 200_000).write(to: file)
            let form = try MultipartForm([.file("f", file)], boundary: "b")
            let reader = MultipartReader(form.segments)
            var count = try await reader.next()?.count ?? 0
            count += try await reader.next()?.count ?? 0
            try FileManager.default.removeItem(at: file)
            while let piece = try await reader.next() { count += piece.count }
            #expect(count == form.length)
        }
    }

    @Test func `a folder, a pipe and nothing are no files`() async throws {
        try await Self.withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe")
            mkfifo(pipe.path, 0o600)
            for url in [folder, pipe, folder.appendingPathComponent("none")] {
                let body = HTTPBody.multipart([.file("f", url)])
                #expect(body.defect != nil)
                #expect(throws: SourceFileError.self) { try SourceFile(url) }
            }
        }
    }

    // MARK: A call

    private struct Upload: Endpoint {
        typealias Output = Data
        let parts: [MultipartPart]
        var headers: HeaderEdits = [:]
        var route: Route { .post("/upload") }
        var body: HTTPBody { .multipart(parts) }
    }

    @Test func `the request's Content-Type has the boundary of its body; a header of the endpoint's own stays`()
        async throws
    {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let client = APIClient("https://shop.example.com", transport: stub)
        _ = try await client.send(Upload(parts: [.field("a", "b")]))
        let raw = HTTPRequest(
            method: .post, url: try HTTPURL("https://a.example/"), body: .multipart([.field("a", "b")]))
        _ = try await client.send(raw)
        for request in stub.requests {
            let type = try #require(request.fields[.contentType])
            let boundary = try #require(type.split(separator: "=").last)
            #expect(type.hasPrefix("multipart/form-data; boundary=penstock-"))
            #expect(try await Self.text(request.body).hasPrefix("--\(boundary)\r\n"))
        }
        _ = try await client.send(Upload(parts: [], headers: [.contentType: "multipart/mixed; boundary=x"]))
        #expect(stub.requests.last?.fields[.contentType] == "multipart/mixed; boundary=x")
    }

    @Test func `a form that cannot be sent fails before anything is sent, with its reason`() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let client = APIClient("https://shop.example.com", transport: stub)
        let missing = URL(fileURLWithPath: "/nowhere/at/all.png")
        for part in [MultipartPart.field("a\u{0}", ""), .file("f", missing)] {
            let error = await #expect(throws: APIError.self) { try await client.send(Upload(parts: [part])) }
            #expect(error?.kind == .transport(.requestBody))
            #expect(error?.sendState == .unsent)
            let underlying = try #require(error?.underlying)
            #expect((underlying as? MultipartError == .invalidName("a\u{0}")) == (part.fileName == nil))
            #expect(error?.localizedDescription == "What was to be sent could not be read.")
            // The file by its name, without the folders that lead to it.
            let message = try #require(error?.debugMessage)
            #expect(message.hasPrefix("all.png: ") == (part.fileName != nil))
            #expect(!message.contains("nowhere"))
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a file that changes under a call is told with its typed error`() async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 18, count: 1_000).write(to: file)
            let body = HTTPBody.multipart([.file("f", file)])
            try Change.grows.apply(to: file)
            // The stub reads a body as a transport does where it answers as a server.
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let client = APIClient("https://a.example", transport: StubTransport(answeredBy: server))
            let request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"), body: body)
            let error = await #expect(throws: APIError.self) { try await client.send(request) }
            #expect(error?.kind == .transport(.requestBody))
            let failure = try #require(error?.underlying as? TransportError)
            #expect(failure.kind == .requestBody && failure.underlying as? SourceFileError == .changed(file))
            #expect("\(error as Any)".contains("caused by SourceFileError"))
        }
    }
}
