import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RuleTransportTests {
    let stub = StubTransport { _ in HTTPResponse(status: 200, body: Data("real".utf8)) }
    let clock = TestClock()

    private func transport(_ action: RequestRules.Action, _ match: RequestRules.Match = .all) throws -> RuleTransport {
        RuleTransport(
            stub, rules: try RequestRules([.init("it", match, action)], build: .debug), time: clock.timeSource)
    }

    private func exchange(
        _ method: HTTPMethod = .get, _ url: String = "https://a.example/x", timeouts: Timeouts = .init(),
        control: ExchangeControl = .init()
    ) throws -> TransportRequest {
        TransportRequest(HTTPRequest(method: method, url: try HTTPURL(url)), timeouts: timeouts, control: control)
    }

    private func failure(_ transport: RuleTransport, _ request: TransportRequest) async -> TransportError? {
        do throws(TransportError) {
            _ = try await transport.perform(request)
            return nil
        } catch {
            return error
        }
    }

    @Test func `what no rule is for is sent as it is, and what one has rerouted is not rerouted again`() async throws {
        let rerouting = try transport(.reroute(to: HTTPURL("https://b.example")), .path("/x"))
        #expect(try await rerouting.perform(exchange()).response.status == 200)
        _ = try await rerouting.perform(exchange(.get, "https://a.example/y"))
        let opened = try await rerouting.open(exchange())
        #expect(try await opened.content.next() == Data("real".utf8))
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                "https://b.example/x", "https://a.example/y", "https://b.example/x",
            ])
        #expect(rerouting.capabilities == stub.capabilities)
    }

    @Test func `rules change for exchanges that begin later`() async throws {
        let changing = try transport(.drop)
        #expect(await failure(changing, try exchange())?.kind == .blocked(reason: "the rule it drops the request"))
        changing.rules.rules = []
        #expect(await failure(changing, try exchange()) == nil)
        #expect(stub.requests.count == 1)
    }

    @Test func `a dropped request is not sent, nor a connection made for it`() async throws {
        let dropping = try transport(.drop)
        let error = await failure(dropping, try exchange())
        #expect(error?.sendState == .unsent && error?.message == "the rule it drops the request")
        await #expect(throws: TransportError.self) { try await dropping.open(exchange()) }
        await #expect(throws: TransportError.self) { try await dropping.preconnect(exchange()) }
        #expect(stub.requests.isEmpty)
    }

    // MARK: Responses

    static let answer = HTTPResponse(status: 201, fields: ["X-Made": "here"], body: Data("made".utf8))

    @Test func `a response is that of the rule, as a stream too, and nothing is sent`() async throws {
        let responding = try transport(.respond(Self.answer))
        let response = try await responding.perform(exchange()).response
        #expect(response.status == 201 && response.fields["X-Made"] == "here" && response.body == Data("made".utf8))
        let stream = try await responding.open(exchange())
        #expect(stream.response.status == 201 && stream.response.body.isEmpty)
        #expect(try await stream.content.next() == Data("made".utf8))
        #expect(try await stream.content.next() == nil)
        try await responding.preconnect(exchange())
        #expect(stub.requests.isEmpty)
    }

    @Test(arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 304)])
    func `a response that has no content by HTTP has none`(method: HTTPMethod, status: Int) async throws {
        var response = Self.answer
        response.status = status
        #expect(try await transport(.respond(response)).perform(exchange(method)).response.body.isEmpty)
    }

    @Test func `a response keeps the limits of the exchange`() async throws {
        let responding = try transport(.respond(Self.answer))
        var limited = try exchange()
        limited.limits.bodyBytes = 4
        #expect(await failure(responding, limited) == nil)
        limited.limits.bodyBytes = 3
        #expect(await failure(responding, limited)?.kind == .limitExceeded(.bodyBytes))
        limited.limits = .init(headerBytes: 14)
        #expect(await failure(responding, limited) == nil)
        limited.limits = .init(headerBytes: 13)
        #expect(await failure(responding, limited)?.kind == .limitExceeded(.headerBytes))
        limited.limits = .init(headerCount: 1)
        #expect(await failure(responding, limited) == nil)
        limited.limits = .init(headerCount: 0)
        #expect(await failure(responding, limited)?.kind == .limitExceeded(.headerCount))
    }

    @Test func `a response comes after its delay`() async throws {
        let responding = try transport(.respond(Self.answer, after: .seconds(2)))
        async let response = responding.perform(exchange()).response
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await response.status == 201)
    }

    @Test func `cancellation ends the delay`() async throws {
        let responding = try transport(.respond(Self.answer, after: .seconds(2)))
        let control = ExchangeControl()
        async let error = failure(responding, try exchange(control: control))
        await clock.waitForSleepers(count: 1)
        control.cancel()
        #expect(try await error?.kind == .cancelled)
        #expect(await failure(responding, try exchange(control: control))?.kind == .cancelled)
    }

    /// The time-outs, and which of them ends a delay of two seconds.
    static let timeouts: [(firstByte: Duration?, total: Duration?, TimeoutPhase?)] = [
        (.seconds(1), nil, .firstByte), (.seconds(2), nil, nil), (.seconds(3), .seconds(1), .total),
        (.seconds(1), .seconds(3), .firstByte), (nil, .seconds(1), .total), (nil, .seconds(2), nil), (nil, nil, nil),
        (.seconds(1), .seconds(1), .total),
    ]

    @Test(arguments: timeouts) func `a delay is held to the time-outs`(
        firstByte: Duration?, total: Duration?, phase: TimeoutPhase?
    ) async throws {
        let responding = try transport(.respond(Self.answer, after: .seconds(2)))
        let timeouts = Timeouts(firstByte: firstByte, total: total)
        async let error = failure(responding, try exchange(timeouts: timeouts))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(phase == nil ? 2 : 1))
        #expect(try await error?.kind == phase.map { .timeout($0) })
    }

    @Test func `what is suspended waits before its delay`() async throws {
        let responding = try transport(.respond(Self.answer, after: .seconds(2)))
        let control = ExchangeControl()
        control.suspend()
        async let error = failure(responding, try exchange(control: control))
        control.resume()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        #expect(try await error == nil)
    }

    @Test func `a channel goes to the other transport, and one that a rule is for to none`() async throws {
        let channels = Channels()
        let rules = try RequestRules(
            [
                .init("away", .path("/moved"), .reroute(to: HTTPURL("https://b.example"))),
                .init("stub", .path("/stub"), .respond(HTTPResponse(status: 200))),
                .init("it", .path("/dropped"), .drop),
            ], build: .debug)
        let ruled = RuleTransport(channels, rules: rules)
        func kinds(_ path: String) async throws -> [TransportError.Kind?] {
            let exchange = try exchange(.get, "https://a.example\(path)")
            var kinds: [TransportError.Kind?] = []
            do { _ = try await ruled.connect(exchange, speaking: .http1) } catch { kinds.append(error.kind) }
            do { _ = try await ruled.datagrams(exchange) } catch { kinds.append(error.kind) }
            return kinds
        }
        #expect(try await kinds("/x") == [.connectionLost, .cancelled])
        #expect(channels.asked.withLock { $0 } == ["wire /x", "socket /x"])
        let blocked = TransportError.Kind.blocked(reason: "the rule it drops the request")
        #expect(try await kinds("/dropped") == [blocked, blocked])
        for path in ["/moved", "/stub"] {
            #expect(try await kinds(path) == [.unsupported("channels"), .unsupported("channels")])
        }
        #expect(channels.asked.withLock(\.count) == 2)
    }

    @Test func `what a transport can do beside sending is not lost below rules`() throws {
        let ruled = RuleTransport(Channels(), rules: try RequestRules([], build: .debug))
        #expect(ruled.encoded(Data("abc".utf8), in: "gzip") == Data("gzip of 3".utf8))
        #expect(ruled.messageCompression is NoCompression)
        #expect(RecordingTransport(Channels()).encoded(Data("ab".utf8), in: "zstd") == Data("zstd of 2".utf8))
    }
}

/// A transport that has been asked for channels, and has none.
private final class Channels: Transport {
    let asked = Locked<[String]>([])
    let capabilities = TransportCapabilities.all
    var messageCompression: (any WebSocketCompression)? { NoCompression() }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.protocolViolation, sendState: .unsent)
    }

    func connect(
        _ exchange: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        asked.withLock { $0.append("wire \(exchange.request.url.path)") }
        throw TransportError(.connectionLost, sendState: .unsent)
    }

    func datagrams(_ exchange: TransportRequest) async throws(TransportError) -> any DatagramWire {
        asked.withLock { $0.append("socket \(exchange.request.url.path)") }
        throw TransportError(.cancelled, sendState: .unsent)
    }

    func encoded(_ content: Data, in coding: String) -> Data? { Data("\(coding) of \(content.count)".utf8) }

    func shutdown() async {}
}

private struct NoCompression: WebSocketCompression {
    func deflater(windowBits: Int) -> (any MessageDeflater)? { nil }
    func inflater(windowBits: Int) -> (any MessageInflater)? { nil }
}
