import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Content that is compressed where the app asks for it, and the way back where a server will not have it.
@Suite(.timeLimit(.minutes(5))) struct RequestCompressionTests {
    struct Report: Endpoint, Encodable {
        typealias Output = Data
        var text = String(repeating: "a", count: 2_000)
        var route: Route { .post("/reports") }
        var options: CallOptions { .requestCompression(RequestCompressionTests.halving) }
    }

    /// Half of the content, marked.
    static let halving = RequestCompression("half") { Data("half:".utf8) + $0.prefix($0.count / 2) }

    private static func client(_ respond: @escaping StubTransport.Responder) -> (StubTransport, APIClient) {
        let stub = StubTransport(respond)
        return (stub, APIClient("https://shop.example.com", transport: stub))
    }

    private static func isCompressed(_ request: HTTPRequest) -> Bool { request.fields[.contentEncoding] == "half" }

    @Test(.covers("S3.30")) func `only a call whose options say so is compressed, and its Content-Encoding says so`()
        async throws
    {
        struct Plain: Endpoint, Encodable {
            typealias Output = Data
            var text = String(repeating: "a", count: 2_000)
            var route: Route { .post("/reports") }
        }
        let (stub, client) = Self.client { _ in HTTPResponse(status: 200) }
        _ = try await client.send(Plain())
        _ = try await client.send(Report())
        #expect(stub.requests.map { $0.fields[.contentEncoding] } == [nil, "half"])
        let plain = try #require(stub.requests.first?.text)
        #expect(stub.requests.last?.text == "half:" + plain.prefix(plain.utf8.count / 2))
        #expect(stub.requests.last?.fields[.contentType] == "application/json")
    }

    static let worth: [(Int, String?, Int, Bool)] = [
        (1_024, "application/json", 1_024, true), (1_023, "application/json", 1_024, false),
        (0, "text/plain", 0, false),
        (5_000, nil, 1_024, true), (5_000, "image/png", 1_024, false), (5_000, "IMAGE/PNG; q=1", 1_024, false),
        (5_000, "image/svg+xml", 1_024, true), (5_000, "application/zip", 1_024, false),
        (5_000, "application/pdf", 1_024, false),
        (5_000, "video/mp4", 1_024, false), (5_000, "text/csv; charset=utf-8", 1_024, true), (1, "text/plain", 1, true),
        (5_000, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 1_024, false),
    ]

    @Test("what is short, or compressed already, is not compressed", arguments: worth)
    func worthwhile(length: Int, type: String?, minimum: Int, expected: Bool) {
        #expect(Self.halving.above(minimum).isWorthwhile(length, ofType: type) == expected)
    }

    static let compressed = [
        "application/zip", "application/gzip", "application/zstd", "application/x-brotli", "application/x-bzip2",
        "application/x-xz", "application/x-7z-compressed", "application/vnd.rar", "application/pdf",
        "application/epub+zip", "image/jpeg", "audio/mpeg", "video/webm", "font/woff", "font/woff2",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document", " Application/ZIP ;q=1",
    ]
    static let plain = [
        "", "text/html", "application/json", "image/svg+xml", "image/bmp", "audio/wav", "font/ttf", "Image/BMP; x",
        "application/zipped", "application/vnd.openxmlformats",
    ]

    @Test func `each type that is compressed by itself is known, and those that only look like it are not`() {
        for type in Self.compressed { #expect(RequestCompression.isCompressed(type), "\(type)") }
        for type in Self.plain { #expect(!RequestCompression.isCompressed(type), "\(type)") }
    }

    @Test func `by default what is shorter than 1 KiB is not compressed`() {
        #expect(Self.halving.minimumLength == 1_024)
        #expect(RequestCompression.gzip.minimumLength == 1_024)
        #expect(RequestCompression.zstd.minimumLength == 1_024)
    }

    @Test func `what is not a tenth shorter is sent as it is`() {
        #expect(RequestCompression.saves(900, of: 1_000))
        #expect(!RequestCompression.saves(901, of: 1_000))
        #expect(RequestCompression.saves(5, of: 5))
    }

    @Test func `content that says its own coding, is a stream, or fails to compress is sent as it is`() async throws {
        struct Failing: Error {}
        let (stub, client) = Self.client { _ in HTTPResponse(status: 200) }
        let url = try HTTPURL("https://shop.example.com/")
        let data = Data(count: 5_000)
        let option = CallOptions.requestCompression(Self.halving)
        _ = try await client.send(
            HTTPRequest(method: .post, url: url, fields: ["Content-Encoding": "br"], body: .bytes(data)),
            options: option)
        let stream = HTTPBody.stream(length: 0) { HTTPBody.Chunks { $0.finish() } }
        _ = try await client.send(HTTPRequest(method: .post, url: url, body: stream), options: option)
        let failing = RequestCompression("half") { _ in throw Failing() }
        _ = try await client.send(
            HTTPRequest(method: .post, url: url, body: .bytes(data)), options: .requestCompression(failing))
        // The stub writes no coding.
        _ = try await client.send(
            HTTPRequest(method: .post, url: url, body: .bytes(data)), options: .requestCompression(.gzip))
        #expect(stub.requests.map { $0.fields[.contentEncoding] } == ["br", nil, nil, nil])
    }

    @Test(.covers("S3.30"))
    func `415 has the request sent as it was, once, and is remembered for the origin and the coding`()
        async throws
    {
        let (stub, client) = Self.client { HTTPResponse(status: Self.isCompressed($0) ? 415 : 200) }
        _ = try await client.send(Report())
        _ = try await client.with { $0.headers = [:] }.send(Report())
        #expect(stub.requests.map(Self.isCompressed) == [true, false, false])
        let elsewhere = HTTPRequest(
            method: .post, url: try HTTPURL("https://other.example.com/"), body: .bytes(Data(count: 5_000)))
        _ = try await client.send(elsewhere, options: .requestCompression(Self.halving))
        #expect(stub.requests.map(Self.isCompressed) == [true, false, false, true, false])
    }

    @Test func `415 to the plain request as well was not about the coding, and is the answer`() async throws {
        let (stub, client) = Self.client { _ in HTTPResponse(status: 415) }
        for _ in 0..<2 {
            let error = await #expect(throws: APIError.self) { try await client.send(Report()) }
            #expect(error?.kind == .httpStatus(415))
        }
        #expect(stub.requests.map(Self.isCompressed) == [true, false, true, false])
    }

    @Test func `sending again after 415 is paid for and told of; without budget the refusal is the answer`()
        async throws
    {
        for reserve in [0.5, 1, 2] {
            let recorder = EventRecorder()
            let stub = StubTransport { HTTPResponse(status: Self.isCompressed($0) ? 415 : 200) }
            var configuration = APIClient.Configuration(services: [Service(.main, "https://shop.example.com")])
            configuration.retryBudget = .init(ratio: 0, reserve: reserve, refill: nil)
            configuration.sinks = [recorder]
            let client = APIClient(configuration, transport: stub)
            let error = await failure { try await client.send(Report()) }
            #expect(error?.kind == (reserve < 1 ? .httpStatus(415) : nil))
            #expect(stub.requests.map(Self.isCompressed) == (reserve < 1 ? [true] : [true, false]))
            let told = recorder.records.compactMap { record in
                switch record.event {
                case .retried(let wait, let reason, let left): "\(wait) \(reason) \(left)"
                case .notRetried(let refusal): "\(refusal)"
                default: nil
                }
            }
            #expect(
                told
                    == (reserve < 1
                        ? ["\(RetryRefusal.budgetUsedUp)"]
                        : ["\(Duration.zero) \(RetryReason.status(415)) \(reserve - 1)"]))
            // The next call goes plain, and costs nothing.
            _ = try await client.send(Report())
            #expect(stub.requests.last.map(Self.isCompressed) == false)
            let origin = try HTTPURL("https://shop.example.com").origin
            #expect(client.state.origins.withdraw(.failure, for: origin) == (reserve == 2))
        }
    }

    static let refusals: [(Int, String?, Bool)] = [
        (415, nil, true), (415, "", true), (415, "gzip", true), (415, "gzip, HALF", false), (415, "half;q=0", true),
        (415, "half;q=0.0", true), (415, "half; q=0.5", false), (415, "*", false), (415, "*;q=0", true),
        (400, nil, false),
        (415, "half;q=1", false), (414, nil, false), (416, nil, false), (415, "half;q=0.1", false),
        (415, "half;q=0.9", false), (415, "half;q=0.001", false), (415, "half;q=0.000", true),
        (415, "gzip, *;q=0", true),
        (415, "br;q=0, half", false),
    ]

    @Test("415 that welcomes the coding is about something else", arguments: refusals)
    func refusal(status: Int, welcome: String?, isRefused: Bool) {
        var response = HTTPResponse(status: status)
        response.fields[.acceptEncoding] = welcome
        #expect(Self.halving.isRefused(by: response) == isRefused)
    }

    @Test func `a signature covers the compressed bytes, and a seal is below the coding`() async throws {
        struct Marking: Signer {
            func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                var request = request
                request.fields["X-Signed"] = "\(request.body.length ?? -1) \(request.fields[.contentEncoding] ?? "")"
                return request
            }
        }
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        var service = Service(.main, "https://shop.example.com")
        service.signer = Marking()
        let client = APIClient(.init(services: [service]), transport: stub)
        _ = try await client.send(Report())
        let request = try #require(stub.requests.first)
        #expect(request.fields["X-Signed"] == "\(request.body.length ?? 0) half")
    }

    private static let content = Data(repeating: 0x61, count: 2_000)
    private static let coded = Data("half:".utf8) + content.prefix(1_000)

    private static func structured(_ data: Data, _ algorithms: DigestAlgorithm...) -> String {
        algorithms.map { "\($0.rawValue)=:\($0.digest(data).base64EncodedString()):" }.joined(separator: ", ")
    }

    private static func listed(_ data: Data, _ algorithms: (String, DigestAlgorithm)...) -> String {
        algorithms.map { "\($0)=\($1.digest(data).base64EncodedString())" }.joined(separator: ", ")
    }

    static let renewed: [(HTTPFieldName, String, String)] = [
        ("Content-Digest", structured(content, .sha256), structured(coded, .sha256)),
        ("Content-Digest", structured(content, .sha512, .sha256), structured(coded, .sha512, .sha256)),
        ("Repr-Digest", structured(content, .sha512), structured(coded, .sha512)),
        ("Digest", listed(content, ("SHA-256", .sha256)), listed(coded, ("SHA-256", .sha256))),
        (
            "Digest", listed(content, ("sha-256", .sha256), ("SHA-512", .sha512)),
            listed(coded, ("sha-256", .sha256), ("SHA-512", .sha512))
        ),
    ]

    @Test("a digest of the content becomes that of the compressed content", arguments: renewed)
    func digests(name: HTTPFieldName, plain: String, expected: String) async throws {
        let (stub, client) = Self.client { HTTPResponse(status: Self.isCompressed($0) ? 415 : 200) }
        let request = HTTPRequest(
            method: .post, url: try HTTPURL("https://shop.example.com/"), fields: [name: plain],
            body: .bytes(Self.content))
        _ = try await client.send(request, options: .requestCompression(Self.halving))
        #expect(stub.requests.map { $0.fields.values(of: name) } == [[expected], [plain]])
        #expect(stub.requests.map { $0.fields[.contentEncoding] } == ["half", nil])
    }

    static let kept: [HTTPFields] = [
        ["Content-MD5": "Q2hlY2sgSW50ZWdyaXR5IQ=="], ["Content-Digest": "md5=:Q2hlY2sgSW50ZWdyaXR5IQ==:"],
        ["Content-Digest": structured(content, .sha256) + ", md5=:Q2hlY2sgSW50ZWdyaXR5IQ==:"],
        ["Content-Digest": structured(coded, .sha256)], ["Content-Digest": ""], ["Content-Digest": "sha-256"],
        ["Content-Digest": "sha-256=:!:"], ["Content-Digest": structured(content, .sha256) + ";a=1"],
        ["Repr-Digest": structured(content, .sha256) + ", sha-512=:AA==:"],
        ["Content-Digest": structured(content, .sha256), "Repr-Digest": "unixsum=:AA==:"],
        ["Digest": "MD5=Q2hlY2sgSW50ZWdyaXR5IQ=="], ["Digest": "SHA-256"], ["Digest": "="],
        ["Digest": listed(coded, ("SHA-256", .sha256))],
        [
            "Content-Digest": structured(content, .sha256), "Signature-Input": #"a=("content-digest")"#,
            "Signature": "a=:AA==:",
        ],
    ]

    @Test("content whose digest cannot be made anew, or is wrong, is sent as it is", arguments: kept)
    func foreignDigests(fields: HTTPFields) async throws {
        let (stub, client) = Self.client { _ in HTTPResponse(status: 200) }
        let request = HTTPRequest(
            method: .post, url: try HTTPURL("https://shop.example.com/"), fields: fields, body: .bytes(Self.content))
        _ = try await client.send(request, options: .requestCompression(Self.halving))
        let sent = try #require(stub.requests.first)
        #expect(sent.fields[.contentEncoding] == nil)
        for field in fields { #expect(sent.fields[field.name] == field.value) }
    }

    @Test func `no more than 256 refusals are remembered`() throws {
        let refused = RefusedCodings()
        for number in 0..<300 { refused.add("gzip", at: try HTTPURL("https://h\(number).example/").origin) }
        let known = try (0..<300).filter { refused.contains("gzip", at: try HTTPURL("https://h\($0).example/").origin) }
        #expect(known.count == 256)
        #expect(!refused.contains("br", at: try HTTPURL("https://h0.example/").origin))
    }
}
