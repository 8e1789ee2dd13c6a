import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Streamed responses and the cache.
@Suite(.timeLimit(.minutes(5))) struct CacheStreamTests {
    private static let head = HTTPResponse(status: 200, fields: ["Cache-Control": "max-age=60"])
    private static let pieces = ["first", "second", "third"].map { Data($0.utf8) }

    private func client(_ steps: [ScriptedTransport.Step], _ store: MemoryCacheStore) -> APIClient {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        configuration.options.cache = .http
        return APIClient(configuration, transport: ScriptedTransport(steps))
    }

    @Test("A response that is read to its end is stored, and streamed from the store", .covers("S3.37"))
    func whole() async throws {
        let store = MemoryCacheStore()
        let client = client([.stream(Self.head, Self.pieces)], store)
        let first = try await client.stream(Leaves())
        #expect(try await first.collect() == Data("firstsecondthird".utf8))
        let second = try await client.stream(Leaves())
        #expect(second.source == .memory)
        #expect(second.cacheStatus?.reason == .fresh)
        #expect(try await second.collect() == Data("firstsecondthird".utf8))
        #expect(client.callCount == 0)
    }

    @Test(
        "What would be refused if it were collected is not stored, and does not take the place of what is stored",
        .covers("S2.13"))
    func refusedIfCollected() async throws {
        let rig = CacheRig()
        _ = try await rig.tea(.reload)
        rig.serves(.json(#"{"retcode":5,"retdesc":"closed"}"#, fields: ["Cache-Control": "max-age=60"]))
        #expect(await failure { try await rig.tea(.reload) }?.kind == .business(code: 5, message: "closed"))
        for _ in 1...2 {
            let stream = try await rig.client.stream(Tea(), options: .cache(.reload))
            #expect(stream.cacheStatus?.isStored == false)
            #expect(try await stream.collect().isEmpty == false)
        }
        #expect(try await rig.tea(.cacheOnly).value.id == 1)
    }

    /// What an endpoint asks of its content, the type of the content, and whether it is stored while it is read.
    static let demands: [(any Endpoint, String, Bool)] = [
        (Leaves(), "application/json", true),
        (Leaves(envelope: .ofService), "application/json", false),
        (Leaves(envelope: .custom(.retcode)), "application/problem+json; charset=utf-8", false),
        // No refusal passes for a picture.
        (Leaves(envelope: .ofService), "image/png", true),
        (Leaves(envelope: .ofService, validator: .rule("any") { _ in true }), "image/png", false),
        (Leaves(payloadValidator: .rule("any") { _ in true }), "image/png", false),
        (Leaves(validator: .rule("any") { _ in true }), "image/png", false),
        (Tea(), "application/json", false),
        (Tea(), "image/png", false),
        (Bare<Product>(), "application/json", false),
        (Bare<String>(), "text/plain", false),
        (Done(), "text/plain", true),
        (Done(envelope: .ofService), "text/plain", false),
    ]

    @Test("What is streamed is stored where nothing would have judged it", .covers("S2.13"), arguments: demands)
    func demanded(of endpoint: any Endpoint, type: String, isStored: Bool) async throws {
        let store = MemoryCacheStore()
        var head = Self.head
        head.fields[.contentType] = type
        let client = client([.stream(head, Self.pieces)], store)
        let stream = try await client.stream(endpoint)
        #expect(stream.cacheStatus?.isStored == isStored)
        #expect(try await stream.collect() == Data("firstsecondthird".utf8))
        #expect(await store.statistics().entries == (isStored ? 1 : 0))
    }

    @Test(
        "What an interceptor answers a stream with is judged by the same rule", .covers("S2.13"),
        arguments: [true, false])
    func intercepted(isJudged: Bool) async throws {
        let store = MemoryCacheStore()
        let client = client([.stream(Self.head, Self.pieces)], store).with {
            $0.attemptInterceptors = [
                .closure { request, _, next in
                    var exchange = try await next(request)
                    exchange.content?.discard()
                    exchange.content = nil
                    exchange.response = .tea(1)
                    return exchange
                }
            ]
        }
        let stream = isJudged ? try await client.stream(Tea()) : try await client.stream(Leaves())
        #expect(try await stream.collect().isEmpty == false)
        #expect(await store.statistics().entries == (isJudged ? 0 : 1))
    }

    @Test("One that broke off, or was not read to its end, is not stored", .covers("S2.13"), arguments: [true, false])
    func broken(breaksOff: Bool) async throws {
        let store = MemoryCacheStore()
        let failure = breaksOff ? TransportError(.connectionLost, sendState: .answered) : nil
        let client = client([.stream(Self.head, Self.pieces, failure: failure)], store)
        do {
            let response = try await client.stream(Leaves())
            var iterator = response.makeAsyncIterator()
            _ = try await iterator.next()
            if breaksOff { while try await iterator.next() != nil {} }
        } catch {
            #expect(breaksOff)
        }
        #expect(await store.statistics().entries == 0)
    }

    @Test(
        "A length that no content has is none", .covers("S3.37"),
        arguments: ["-5", "-9223372036854775808", "9223372036854775807", "99999999999999999999", "+3", "x"])
    func length(text: String) async throws {
        let store = MemoryCacheStore()
        var head = Self.head
        head.fields[HTTPFieldName("Content-Length")] = text
        let client = client([.stream(head, Self.pieces)], store)
        #expect(try await client.stream(Leaves()).collect() == Data("firstsecondthird".utf8))
        let stored = try #require(await store.entries(after: nil, limit: 1).first)
        #expect(stored.response.bodyLength == 16)
    }

    @Test("One that turns out too long to be stored leaves nothing older in its place", .covers("S3.37"))
    func tooLong() async throws {
        let store = MemoryCacheStore(limits: CacheLimits(bytes: 1 << 20, entries: 9, bodyBytes: 15))
        let client = client(
            [.stream(Self.head, [Self.pieces[0]]), .stream(Self.head, Self.pieces), .stream(Self.head, Self.pieces)],
            store)
        #expect(try await client.stream(Leaves()).collect() == Self.pieces[0])
        #expect(await store.statistics().entries == 1)
        #expect(try await client.stream(Leaves(), options: .cache(.reload)).collect() == Data("firstsecondthird".utf8))
        #expect(await store.statistics().entries == 0)
        #expect(try await client.stream(Leaves()).source == .network)
    }

    @Test(
        "Stored content that its store lets go of while it is read is a miss, and no broken connection",
        .covers("S3.37"))
    func replaced() async throws {
        let store = MemoryCacheStore()
        let response = CachedResponse(
            key: CacheKey(url: try HTTPURL("https://a.example/x"), partition: CachePartition()), status: 200,
            fields: [:],
            requestTime: .distantPast, responseTime: .distantPast, bodyLength: 5)
        let stored = try #require(await store.put(response, body: Self.pieces[0]))
        let content = StoredContent(StoredBody(entry: stored.entry, store: store), 0..<5)
        await store.put(response, body: Self.pieces[1])
        let error = await #expect(throws: TransportError.self) { try await content.next() }
        #expect(error?.kind == .other)
        #expect(error?.sendState == .answered)
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/x"))
        let told = try APIError(#require(error), request: request)
        #expect(told.kind == .cacheMiss && told.stage == .cache)
    }

    @Test("What is read of stored content is what was asked for, to its end, and nothing once it is let go of")
    func storedContent() async throws {
        let whole = StoredContent(WholeBody(Self.pieces[0]), 1..<4)
        #expect(try await whole.next() == Data("irs".utf8))
        #expect(try await whole.next() == nil)
        let left = StoredContent(WholeBody(Self.pieces[0]), 1..<4)
        left.discard()
        #expect(try await left.next() == nil)
        let body = WholeBody(Self.pieces[0])
        #expect(body.bytes(from: 4) == Data("t".utf8) && body.bytes(from: 5) == nil && body.bytes(from: -1) == nil)
    }

    @Test("A part is not stored while it is streamed", .covers("S3.37"))
    func part() async throws {
        let store = MemoryCacheStore()
        let head = HTTPResponse(
            status: 206,
            fields: [
                "Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Range": "bytes 0-4/16",
                "Content-Length": "5",
            ])
        let client = client([.stream(head, [Self.pieces[0]])], store)
        let range = CallOptions.headers(["Range": "bytes=0-4"])
        #expect(try await client.stream(Leaves(), options: range).collect() == Self.pieces[0])
        #expect(await store.statistics().entries == 0)
    }

    @Test("A status that is no success is not stored", .covers("S2.13"))
    func refused() async throws {
        let store = MemoryCacheStore()
        let head = HTTPResponse(status: 404, fields: ["Cache-Control": "max-age=60"])
        let client = client([.stream(head, Self.pieces)], store)
        #expect(await failure { try await client.stream(Leaves()).collect() }?.kind == .httpStatus(404))
        #expect(await store.statistics().entries == 0)
    }
}

/// A list without an envelope.
private struct Bare<Output: Decodable & Sendable>: Endpoint {
    var envelope: EnvelopeChoice { .none }
    var route: Route { .get("/tea") }
}

/// A read whose content is not looked at.
private struct Done: Endpoint {
    typealias Output = Void
    var envelope = EnvelopeChoice.none
    var route: Route { .get("/tea") }
}
