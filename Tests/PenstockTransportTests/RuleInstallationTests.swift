import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import PenstockURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Rules below sessions of Foundation's that are not Penstock's.
@Suite(.timeLimit(.minutes(5)))
struct RuleInstallationTests {
    private static func echo(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        .text("\(request.method) \(request.target) \(request.fields["X-Mine"] ?? "-") \(request.text)")
    }

    private func rules(_ rules: RequestRules.Rule...) throws -> RequestRules {
        try RequestRules(rules, build: .debug)
    }

    private func request(_ text: String, _ method: String = "GET", body: Data? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: text)))
        request.httpMethod = method
        request.httpBody = body
        return request
    }

    private func load(_ request: URLRequest, by session: URLSession) async throws -> (String, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    static let transports: [@Sendable () -> any Transport] = [{ URLSessionTransport() }, { CurlTransport() }]

    @Test(
        "A session that was handed to us is rerouted to another scheme, host and port, body intact, without recursion",
        .covers("S0.13"), arguments: 0..<2)
    func reroute(transport: Int) async throws {
        let server = try LoopbackServer(handler: Self.echo)
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Mine": "additional"]
        // The rule is for the server as well, where the request goes: a second look would send it there again.
        let installation = try rules(.init("staging", .all, .reroute(to: server.url)))
            .install(in: configuration, transport: Self.transports[transport]())
        let session = URLSession(configuration: configuration)
        let body = Data((0..<200_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let (text, response) = try await load(
            request("https://api.example.test:8443/v1/orders?q=1", "POST", body: body), by: session)
        #expect(text == "POST /v1/orders?q=1 additional " + String(decoding: body, as: UTF8.self))
        #expect(
            response.statusCode == 200 && response.url?.absoluteString == "https://api.example.test:8443/v1/orders?q=1")
        #expect(server.requestCount == 1)
        var streamed = try request("https://api.example.test/s", "POST")
        streamed.httpBodyStream = InputStream(data: body)
        #expect(
            try await load(streamed, by: session).0 == "POST /s additional " + String(decoding: body, as: UTF8.self))
        #expect(server.requestCount == 2)
        installation.uninstall(from: configuration)
        session.invalidateAndCancel()
    }

    #if os(Linux)
        @Test(
            "An upload task that a rule is for fails where its content cannot be seen, and sends nothing",
            .covers("S0.13"),
            arguments: 0..<2)
        func uploadTask(transport: Int) async throws {
            let server = try LoopbackServer(handler: Self.echo)
            defer { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            let installation = try rules(.init("staging", .all, .reroute(to: server.url)))
                .install(in: configuration, transport: Self.transports[transport]())
            let session = URLSession(configuration: configuration)
            let request = try request("https://api.example.test/v1/orders", "POST")
            let error = await #expect(throws: URLError.self) {
                try await session.upload(for: request, from: Data("order".utf8))
            }
            #expect(error?.code == .resourceUnavailable)
            #expect(error?.localizedDescription.contains("the content of an upload task") == true)
            #expect(server.requestCount == 0 && server.connectionCount == 0)
            installation.uninstall(from: configuration)
            session.invalidateAndCancel()
        }
    #endif

    @Test func `a request that is dropped, redirected or answered is so below a session too`() async throws {
        let server = try LoopbackServer(handler: Self.echo)
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        let answer = HTTPResponse(
            status: 401, fields: ["X-Made": "here", "WWW-Authenticate": "Odd"], body: Data("made".utf8))
        let installation = try rules(
            .init("no ads", .host("*.ads.test"), .drop), .init("made", .path("/made"), .respond(answer)),
            .init(
                "mirror", .path("/mirror"),
                .redirect(.init(to: server.url.resolving("/other"), fields: ["X-Mine": "new"])))
        ).install(in: configuration)
        let session = URLSession(configuration: configuration)
        let error = await #expect(throws: URLError.self) {
            try await self.load(self.request("https://x.ads.test/"), by: session)
        }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription == "the rule no ads drops the request")
        let (made, response) = try await load(request("https://a.example.test/made"), by: session)
        #expect(made == "made" && response.statusCode == 401 && response.value(forHTTPHeaderField: "X-Made") == "here")
        #expect(server.requestCount == 0)
        #expect(try await load(request("https://a.example.test/mirror"), by: session).0 == "GET /other new ")
        #expect(server.requestCount == 1)
        installation.uninstall()
        session.invalidateAndCancel()
    }

    @Test(
        "Rules are put before other stubs, which still work; taking them away restores what was there, and release builds refuse them",
        .covers("S0.17"))
    func registration() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let before = [OtherStub.self] + (configuration.protocolClasses ?? [])
        configuration.protocolClasses = before
        let installation = try rules(
            .init("mine", .host("mine.test"), .respond(HTTPResponse(status: 200, body: Data("rule".utf8))))
        ).install(in: configuration)
        #expect(configuration.protocolClasses?.count == before.count + 1)
        #expect(
            configuration.protocolClasses?.dropFirst().map { ObjectIdentifier($0) }
                == before.map { ObjectIdentifier($0) })
        let session = URLSession(configuration: configuration)
        #expect(try await load(request("https://mine.test/"), by: session).0 == "rule")
        #expect(try await load(request("https://other.test/"), by: session).0 == "stub")
        installation.uninstall(from: configuration)
        #expect(configuration.protocolClasses?.map { ObjectIdentifier($0) } == before.map { ObjectIdentifier($0) })
        #expect(try await load(request("https://mine.test/"), by: session).0 == "stub")
        session.invalidateAndCancel()
        #expect(throws: APIError.self) { try RequestRules([], build: .release) }
        #expect(throws: Never.self) { try RequestRules([], allowsRelease: true, build: .release) }
    }

    @Test func `rules of one session are no rules of another, however many there are at a time`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let configuration = URLSessionConfiguration.ephemeral
                    let answer = HTTPResponse(status: 200, body: Data("\(number)".utf8))
                    let installation = try self.rules(.init("it", .all, .respond(answer))).install(in: configuration)
                    let session = URLSession(configuration: configuration)
                    #expect(try await self.load(self.request("https://same.test/"), by: session).0 == "\(number)")
                    installation.rules.rules[0].action = .respond(
                        HTTPResponse(status: 200, body: Data("new \(number)".utf8)))
                    #expect(try await self.load(self.request("https://same.test/"), by: session).0 == "new \(number)")
                    installation.uninstall(from: configuration)
                    session.invalidateAndCancel()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a session that stops a request ends its delay`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let clock = TestClock()
        let installation = try rules(.init("slow", .all, .respond(HTTPResponse(status: 200), after: .seconds(60))))
            .install(in: configuration, time: clock.timeSource)
        let session = URLSession(configuration: configuration)
        let slow = try request("https://a.test/")
        let task = Task { try await session.data(for: slow) }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        await #expect(throws: URLError.self) { try await task.valueOfTest }
        while !Task.isCancelled, clock.sleeperCount > 0 { await Task.yield() }
        installation.uninstall()
        session.invalidateAndCancel()
    }
}

/// Another library's stub, for every host below `test`.
private final class OtherStub: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host?.hasSuffix(".test") ?? false }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("stub".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
