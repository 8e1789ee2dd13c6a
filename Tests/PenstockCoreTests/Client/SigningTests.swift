import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// When and for whom the stage has a request signed.
@Suite(.timeLimit(.minutes(5))) struct SigningTests {
    /// Numbers its signatures, and says when it made them.
    private final class Counter: Signer {
        let isTimed: Bool
        let trustedOrigins: Set<HTTPURL.Origin>
        private let count = Locked(0)

        init(isTimed: Bool = false, trusting origins: Set<HTTPURL.Origin> = []) {
            self.isTimed = isTimed
            trustedOrigins = origins
        }

        func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
            var signed = request
            let number = count.withLock { count in
                count += 1
                return count
            }
            signed.fields.append("\(number)", for: "X-Signed")
            signed.fields["X-Time"] = "\(Int(call.serverDate(of: request.url.origin).timeIntervalSince1970))"
            return signed
        }
    }

    private static func rig(
        _ signer: Counter, _ change: (inout APIClient.Configuration) -> Void = { _ in },
        answering respond: @escaping StubTransport.Responder
    ) -> Rig {
        let service = Service(.main, [.development: "https://a.example/api"], envelope: .retcode, signer: signer)
        return Rig([service], change, answering: respond)
    }

    private static func signatures(_ rig: Rig) -> [[String]] { rig.sent.map { $0.fields.values(of: "X-Signed") } }

    // MARK: What is signed

    @Test(.timeLimit(.minutes(1))) func `every attempt is signed anew`() async throws {
        let failures = Box(2)
        let clock = TestClock()
        let rig = Self.rig(Counter()) {
            $0.time = clock.timeSource
        } answering: { _ in
            failures.update { left in
                left -= 1
                return left >= 0
            } ? HTTPResponse(status: 503) : .product
        }
        let call = rig.client.start(GetProduct())
        for _ in 0..<2 {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(20))
        }
        _ = try await call.value
        #expect(Self.signatures(rig) == [["1"], ["2"], ["3"]])
    }

    @Test func `a redirect within the origin is signed anew, and one to another origin goes unsigned`() async throws {
        let rig = Self.rig(Counter()) { request in
            switch request.url.absoluteString {
            case "https://a.example/api/products/7": .redirect(to: "/next")
            case "https://a.example/next": .redirect(to: "https://b.example/")
            case "https://b.example/": .redirect(to: "https://a.example:8443/")
            case "https://a.example:8443/": .redirect(to: "https://a.example/back")
            default: .product
            }
        }
        _ = try await rig.client.send(GetProduct())
        #expect(Self.signatures(rig) == [["1"], ["2"], [], [], ["3"]])
    }

    @Test func `an origin that the signer trusts is signed for as well`() async throws {
        let trusted = URLSet.url("https://b.example/").origin
        let rig = Self.rig(Counter(trusting: [trusted])) { request in
            request.url.host == "b.example" ? .product : .redirect(to: "https://b.example/")
        }
        _ = try await rig.client.send(GetProduct())
        #expect(Self.signatures(rig) == [["1"], ["2"]])
    }

    @Test(arguments: [ServerEnvironment.development, .test])
    func `a call with a base URL of its own goes unsigned, also where the service has no address`(
        environment: ServerEnvironment
    ) async throws {
        let rig = Self.rig(Counter()) {
            $0.environment = environment
        } answering: { _ in
            .product
        }
        _ = try await rig.client.send(GetProduct(), options: .with { $0.baseURL = "https://b.example" })
        #expect(rig.hosts == ["b.example"])
        #expect(Self.signatures(rig) == [[]])
    }

    // MARK: The server's clock

    private static func dated(_ response: HTTPResponse, _ date: Date, age: String? = nil) -> HTTPResponse {
        var response = response
        response.fields["Date"] = HTTPDate.format(date)
        response.fields["Age"] = age
        return response
    }

    /// What is sent, as the time in it counted from now, for a server whose clock is ahead and that refuses the first request.
    private static func times(
        ahead: Double, status: Int = 401, isTimed: Bool = true, age: String? = nil,
        options: CallOptions = .init(), body: HTTPBody? = nil
    ) async -> [Int] {
        let clock = TestClock()
        let now = clock.timeSource.date()
        let isFirst = Box(true)
        let rig = Self.rig(Counter(isTimed: isTimed)) {
            $0.time = clock.timeSource
            $0.options.retry = RetryPolicy(limit: 0)
        } answering: { _ in
            let first = isFirst.update { first in
                defer { first = false }
                return first
            }
            return dated(first ? HTTPResponse(status: status) : .product, now.addingTimeInterval(ahead), age: age)
        }
        if let body {
            _ = try? await rig.client.send(Upload(body: body))
        } else {
            _ = try? await rig.client.send(GetProduct(), options: options)
        }
        let start = Int(now.timeIntervalSince1970)
        return rig.sent.compactMap { $0.fields["X-Time"].flatMap { Int($0) }.map { $0 - start } }
    }

    private struct Upload: Endpoint {
        typealias Output = Product
        let body: HTTPBody
        var route: Route { .post("/upload") }
    }

    @Test(arguments: [400, 401, 403]) func `what is refused for its time is signed once more, by the server's clock`(
        status: Int
    ) async {
        #expect(await Self.times(ahead: 86_400, status: status) == [0, 86_400])
        #expect(await Self.times(ahead: -86_400, status: status) == [0, -86_400])
    }

    @Test func `a refusal for something else is final`() async {
        for status in [402, 404, 500] { #expect(await Self.times(ahead: 86_400, status: status) == [0]) }
        #expect(await Self.times(ahead: 86_400, isTimed: false) == [0])
        #expect(await Self.times(ahead: 0) == [0])
        // Half a minute is where it begins.
        #expect(await Self.times(ahead: 30) == [0, 30])
        #expect(await Self.times(ahead: 29) == [0])
        #expect(await Self.times(ahead: -30) == [0])
        #expect(await Self.times(ahead: -31) == [0, -31])
        // Stored on the way, so the time is that of another moment.
        #expect(await Self.times(ahead: 86_400, age: "5") == [0])
    }

    @Test(.covers("S1.12")) func `a body that can be read only once is not sent again`() async {
        let chunks = HTTPBody.Chunks { $0.finish() }
        #expect(await Self.times(ahead: 86_400, body: .onceOnly(chunks)) == [0])
        #expect(await Self.times(ahead: 86_400, body: .bytes(Data([1]))) == [0, 86_400])
        // What the call fails of is what the server has said.
        let clock = TestClock()
        let ahead = clock.timeSource.date().addingTimeInterval(86_400)
        let rig = Self.rig(Counter(isTimed: true)) {
            $0.time = clock.timeSource
        } answering: { _ in
            Self.dated(HTTPResponse(status: 403), ahead)
        }
        let error = await failure { try await rig.client.send(Upload(body: .onceOnly(chunks))) }
        #expect(error?.kind == .httpStatus(403))
    }

    @Test func `a refusal that stays one is not repeated for ever, and clocks are kept apart by origin`() async throws {
        let clock = TestClock()
        let now = clock.timeSource.date()
        let rig = Self.rig(Counter(isTimed: true)) {
            $0.time = clock.timeSource
        } answering: { _ in
            Self.dated(HTTPResponse(status: 401), now.addingTimeInterval(600))
        }
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(rig.sent.count == 2)
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(rig.sent.count == 3)
        let clocks = ServerClocks()
        let (a, b) = (URLSet.url("https://a.example/").origin, URLSet.url("https://b.example/").origin)
        let response = Self.dated(.product, now.addingTimeInterval(600))
        #expect(clocks.learn(from: response, of: a, sent: now, received: now) > .zero)
        #expect(clocks.date(of: a, at: now) > now)
        #expect(clocks.date(of: b, at: now) == now)
        #expect(clocks.learn(from: .product, of: b, sent: now, received: now) == .zero)
        #expect(ServerClocks.mostOrigins == 64)
        for number in 0..<ServerClocks.mostOrigins {
            let origin = URLSet.url("https://h\(number).example/").origin
            _ = clocks.learn(from: response, of: origin, sent: now, received: now)
        }
        #expect(clocks.date(of: a, at: now) == now)
    }

    // MARK: What a response tells of the clock

    @Test func `a response tells an interval, and what lies in it is left as it is`() {
        let zero = Date(timeIntervalSince1970: 1_000_000)
        func learnt(_ known: Double?, date: Double, sent: Double, received: Double) -> (offset: Double, error: Double) {
            var skew = ClockSkew()
            if let known { skew.learn(zero + known - 0.5, sent: zero, received: zero) }
            let error = skew.learn(zero + date, sent: zero + sent, received: zero + received)
            return (skew.offset / .seconds(1), error / .seconds(1))
        }
        // The interval is from `date - received` to `date + 1 - sent`.
        #expect(learnt(nil, date: 0, sent: 0, received: 0) == (0, 0))
        #expect(learnt(nil, date: -1, sent: 0, received: 0) == (0, 0))
        #expect(learnt(nil, date: -2, sent: 0, received: 0) == (-1.5, 1))
        #expect(learnt(nil, date: 1, sent: 0, received: 0) == (1.5, 1))
        #expect(learnt(nil, date: 4, sent: 0, received: 4) == (0, 0))
        #expect(learnt(nil, date: 6, sent: 0, received: 4) == (4.5, 2))
        #expect(learnt(100, date: 100, sent: 0, received: 0) == (100, 0))
        #expect(learnt(100, date: 99, sent: 0, received: 0) == (100, 0))
        #expect(learnt(100, date: 98, sent: 0, received: 0) == (98.5, 1))
        #expect(learnt(100, date: 0, sent: 0, received: 0) == (0.5, 99))
        // The clock was set while the request was under way.
        #expect(learnt(nil, date: 500, sent: 10, received: 9) == (0, 0))
    }
}
