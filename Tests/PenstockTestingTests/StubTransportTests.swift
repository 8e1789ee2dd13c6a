import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct StubTransportTests {
    private func exchange(
        _ method: HTTPMethod, _ target: String, control: ExchangeControl = .init()
    ) throws -> TransportRequest {
        let url = try HTTPURL("http://shop.test").resolving(target)
        return TransportRequest(HTTPRequest(method: method, url: url), control: control)
    }

    @Test func `A scripted method and path is answered any number of times, whatever the query`() async throws {
        let stub = StubTransport()
        stub.on(.get, "/products", HTTPResponse(status: 200, body: Data("list".utf8)))
        for target in ["/products", "/products?page=2"] {
            let response = try await stub.perform(exchange(.get, target)).response
            #expect(response.body == Data("list".utf8))
        }
        #expect(stub.requests.map(\.url.target) == ["/products", "/products?page=2"])
        #expect(stub.unscripted.isEmpty)
    }

    @Test(arguments: [(HTTPMethod.post, "/products"), (.get, "/orders")])
    func `What is not scripted fails with its name and is remembered`(method: HTTPMethod, path: String) async throws {
        let stub = StubTransport()
        stub.on(.get, "/products", HTTPResponse(status: 200))
        let name = "\(method) http://shop.test\(path)"
        let error = await #expect(throws: TransportError.self) { try await stub.perform(exchange(method, path)) }
        #expect(error?.kind == .unsupported(name) && error?.sendState == .unsent)
        #expect(stub.unscripted == [name])
    }

    @Test func `Services with the same path are told apart by their hosts, in any case and with or without a port`()
        async throws
    {
        let stub = StubTransport()
        stub.on(.get, "/status", HTTPResponse(status: 200))
        stub.on(.get, "/status", host: "Pay.test", HTTPResponse(status: 201))
        stub.on(.get, "/status", host: "pay.test:8080", HTTPResponse(status: 202))
        stub.on(.get, "/only", host: "pay.test") { _ throws(TransportError) in HTTPResponse(status: 203) }
        var statuses: [Int] = []
        for host in ["shop.test", "pay.test", "PAY.test:80", "pay.test:8080", "pay.test:8081", "pay.test.shop.test"] {
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://\(host)/status"))
            statuses.append(try await stub.perform(TransportRequest(request)).response.status)
        }
        #expect(statuses == [200, 201, 201, 202, 201, 200])
        let only = HTTPRequest(method: .get, url: try HTTPURL("http://pay.test/only"))
        #expect(try await stub.perform(TransportRequest(only)).response.status == 203)
        await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/only")) }
        #expect(stub.unscripted == ["GET http://shop.test/only"])
        stub.on(.get, "/status", host: "pay.test", HTTPResponse(status: 204))
        let again = HTTPRequest(method: .get, url: try HTTPURL("http://pay.test/status"))
        #expect(try await stub.perform(TransportRequest(again)).response.status == 204)
    }

    @Test func `A later script replaces an earlier one, and a closure answers the rest`() async throws {
        let stub = StubTransport { request in HTTPResponse(status: request.method == .post ? 201 : 404) }
        stub.on(.get, "/a", HTTPResponse(status: 500))
        stub.on(.get, "/a") { _ throws(TransportError) in
            throw TransportError(.connectionLost, sendState: .maybeProcessed)
        }
        await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/a")) }
        #expect(try await stub.perform(exchange(.post, "/a")).response.status == 201)
    }

    @Test func `A failure is scripted as an answer is, with a host and a later script in its place`() async throws {
        let stub = StubTransport()
        let lost = TransportError(.connectionLost, sendState: .maybeProcessed)
        stub.on(.get, "/a", failing: lost)
        stub.on(.get, "/b", host: "pay.test", failing: lost)
        stub.on(.get, "/b", HTTPResponse(status: 200))
        let error = await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/a")) }
        #expect(error?.kind == .connectionLost && error?.sendState == .maybeProcessed)
        #expect(try await stub.perform(exchange(.get, "/b")).response.status == 200)
        let other = HTTPRequest(method: .get, url: try HTTPURL("http://pay.test/b"))
        await #expect(throws: TransportError.self) { try await stub.perform(TransportRequest(other)) }
        stub.on(.get, "/a", HTTPResponse(status: 204))
        #expect(try await stub.perform(exchange(.get, "/a")).response.status == 204)
        #expect(stub.requests.count == 4 && stub.unscripted.isEmpty)
    }

    @Test func `An answer comes after its delay and no sooner, by the stub's clock`() async throws {
        let clock = TestClock()
        let stub = StubTransport(time: clock.timeSource)
        stub.on(.get, "/a", after: .seconds(2), HTTPResponse(status: 201))
        stub.on(.get, "/b", after: .seconds(3), failing: TransportError(.connectionLost, sendState: .maybeProcessed))
        let (first, second) = (try exchange(.get, "/a"), try exchange(.get, "/b"))
        async let answer = stub.perform(first)
        async let failure = #expect(throws: TransportError.self) { try await stub.perform(second) }
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(1_999))
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(1))
        #expect(try await answer.response.status == 201)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(await failure?.kind == .connectionLost)
    }

    @Test func `A delay beyond the time-out ends as one, and a cancelled exchange does not wait`() async throws {
        let clock = TestClock()
        let stub = StubTransport(time: clock.timeSource)
        stub.on(.get, "/a", after: .seconds(60), HTTPResponse(status: 200))
        let url = try HTTPURL("http://shop.test/a")
        let late = TransportRequest(
            HTTPRequest(method: .get, url: url), timeouts: Timeouts(firstByte: .seconds(5), idle: nil))
        async let failure = #expect(throws: TransportError.self) { try await stub.perform(late) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        #expect(await failure?.kind == .timeout(.firstByte))
        let control = ExchangeControl()
        let cancelled = try exchange(.get, "/a", control: control)
        async let ended = #expect(throws: TransportError.self) { try await stub.perform(cancelled) }
        await clock.waitForSleepers(count: 1)
        control.cancel()
        #expect(await ended?.kind == .cancelled)
    }

    @Test func `A shutdown ends what waits for its answer, and what comes after`() async throws {
        let clock = TestClock()
        let stub = StubTransport(time: clock.timeSource)
        stub.on(.get, "/a", after: .seconds(60), HTTPResponse(status: 200))
        stub.on(.get, "/b", after: .seconds(1), HTTPResponse(status: 201))
        let over = ExchangeControl()
        let (waiting, whole) = (try exchange(.get, "/a"), try exchange(.get, "/b", control: over))
        async let answer = stub.perform(whole)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await answer.response.status == 201)
        async let ended = #expect(throws: TransportError.self) { try await stub.perform(waiting) }
        await clock.waitForSleepers(count: 1)
        await stub.shutdown()
        #expect(await ended?.kind == .cancelled)
        #expect(!over.isCancelled)
        let late = await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/a")) }
        #expect(late?.kind == .cancelled && clock.sleeperCount == 0)
    }

    @Test func `A broken answer of a server cannot be given without a wire`() async throws {
        let server = try LoopbackServer { _ in .close }
        defer { server.stop() }
        let stub = StubTransport(answeredBy: server)
        let error = await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/")) }
        #expect(error?.kind == .unsupported("a broken answer without a wire"))
    }

    @Test func `After shutdown it refuses`() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        await stub.shutdown()
        let error = await #expect(throws: TransportError.self) { try await stub.perform(exchange(.get, "/")) }
        #expect(error?.kind == .cancelled && error?.sendState == .unsent)
    }

    private func answer(_ stub: StubTransport, _ path: String) async throws -> (HTTPResponse, String) {
        let response = try await stub.perform(exchange(.get, path)).response
        return (response, String(decoding: response.body, as: UTF8.self))
    }

    @Test func `JSON is answered as a text, as a literal and as a model`() async throws {
        struct Tea: Encodable {
            let at: Date
            let id: Int
        }
        let stub = StubTransport()
        stub.on(.get, "/text", .json(#"{ "a" : 1 }"#, status: 410))
        stub.on(.get, "/literal", .json(["b": 1.5, "a": [true, nil, "x"]], fields: ["X-Page": "2"]))
        stub.on(.get, "/number", .json(["n": .double(.infinity)]))
        stub.on(.get, "/model", try .json(encoding: Tea(at: Date(timeIntervalSince1970: 0), id: 7)))
        let (text, textBody) = try await answer(stub, "/text")
        #expect(text.status == 410 && textBody == #"{ "a" : 1 }"#)
        let (literal, literalBody) = try await answer(stub, "/literal")
        #expect(literalBody == #"{"a":[true,null,"x"],"b":1.5}"#)
        #expect(literal.status == 200 && literal.fields["X-Page"] == "2")
        #expect(literal.fields[.contentType] == "application/json")
        let (number, model) = (try await answer(stub, "/number").1, try await answer(stub, "/model").1)
        #expect(number == #"{"n":"Infinity"}"#)
        #expect(model == #"{"at":"1970-01-01T00:00:00Z","id":7}"#)
    }
}
