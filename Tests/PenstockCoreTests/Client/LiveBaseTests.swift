import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A call stays where it began, though its service names another base URL by then: so does all that works for it.
@Suite(.timeLimit(.minutes(5))) struct LiveBaseTests {
    private struct Renew: Endpoint, Encodable {
        typealias Output = Void
        let token: String
        var route: Route { .post("/renew") }
    }

    /// How a server says that a token is out of date.
    enum Refusal: CaseIterable {
        case status, code

        var response: HTTPResponse {
            self == .status ? .unauthorised : .json(#"{"retcode":40101,"retdesc":"expired"}"#)
        }
    }

    /// Renews by what the client sends for it.
    private static let authenticator = BearerAuthenticator(expiry: ExpiryRule(codes: [40_101])) { old, context in
        try await context.client.send(Renew(token: old.refreshToken ?? ""))
        return Credential("new", refreshToken: "r2")
    }

    private static func service(
        _ host: Box<String>, _ authenticator: any Authenticator = authenticator, version: String? = nil
    ) -> Service {
        Service(
            .main, BaseURLs { _ in "https://\(host.value).example.com/api" }, version: version, envelope: .retcode,
            authenticator: authenticator)
    }

    /// A client whose service moves from the host one to the host two when the old token is refused.
    private static func rig(_ refusal: Refusal, _ host: Box<String>) async throws -> Rig {
        let rig = Rig([service(host, version: "v2")]) {
            $0.vault = MemoryVault()
        } answering: { request in
            if request.method == .post || request.fields[.authorization] == "Bearer new" { return .product }
            host.value = "two"
            return refusal.response
        }
        try await rig.client.signIn(Credential("old", refreshToken: "r1"))
        return rig
    }

    private static func lines(_ requests: [HTTPRequest]) -> [String] {
        requests.map { "\($0.method) \($0.url.host)\($0.url.path) \($0.fields[.authorization] ?? "-")" }
    }

    private static let renewed = [
        "GET one.example.com/api/v2/products/7 Bearer old", "POST one.example.com/api/v2/renew -",
        "GET one.example.com/api/v2/products/7 Bearer new",
    ]

    @Test(
        "What renews the credential of a call goes where the call began", .covers("S1.22"), arguments: Refusal.allCases)
    func renewal(refusal: Refusal) async throws {
        let host = Box("one")
        let rig = try await Self.rig(refusal, host)
        #expect(try await rig.client.send(GetProduct(), options: .cache(.networkOnly)).id == 7)
        #expect(Self.lines(rig.sent) == Self.renewed)
        #expect(rig.sent[1].text == #"{"token":"r1"}"#)
        // Elsewhere nobody knows the token.
        _ = await failure { try await rig.client.send(GetProduct(), options: .cache(.networkOnly)) }
        #expect(Self.lines(rig.sent).last == "GET two.example.com/api/v2/products/7 -")
    }

    @Test("A download is asked for again where it began, with what renews its credential", arguments: Refusal.allCases)
    func download(refusal: Refusal) async throws {
        try await MultipartTests.withFolder { folder in
            let host = Box("one")
            let rig = try await Self.rig(refusal, host)
            let file = try await rig.client.download(GetProduct(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == HTTPResponse.product.body)
            #expect(Self.lines(rig.sent) == Self.renewed)
        }
    }

    @Test("A download goes on after a break where it began")
    func resumption() async throws {
        try await MultipartTests.withFolder { folder in
            let (host, server) = (Box("one"), FileServer(DownloadTests.content))
            let client = DownloadTests.client(server) {
                $0.services = [Self.service(host)]
                $0.vault = MemoryVault()
            }
            try await client.signIn(Credential("old"))
            server.twist { _, answer in
                host.value = "two"
                answer.cut = 200_000
            }
            let file = try await client.download(DownloadTests.Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == DownloadTests.content)
            let line = "GET one.example.com/api/films/7 Bearer old"
            #expect(Self.lines(server.requests) == [line, line])
            #expect(DownloadTests.ranges(server) == [nil, "bytes=200000-"])
        }
    }

    @Test("All steps of an upload go where it began, with its credential", arguments: [nil, 2, 3])
    func upload(lost: Int?) async throws {
        try await MultipartTests.withFolder { folder in
            let (host, server) = (Box("one"), UploadServer(.tus, faults: (1..<4).map { $0 == lost ? .lost : nil }))
            server.state.withLock { state in
                state.token = "old"
                state.onRequest = { _ in host.value = "two" }
            }
            let file = folder.appendingPathComponent("clip.mov")
            let content = sampleBytes(seed: 18, count: 30_000)
            try content.write(to: file)
            var configuration = APIClient.Configuration(services: [Self.service(host)])
            configuration.vault = MemoryVault()
            configuration.options.retry = RetryPolicy.none
            configuration.time = TimeSource(now: { .zero }, date: { Date(timeIntervalSince1970: 0) }, sleep: { _ in })
            let client = APIClient(configuration, transport: server)
            try await client.signIn(Credential("old"))
            _ = try await client.upload(file, to: "/videos", resumableBy: .tus).value
            #expect(server.objects == [content])
            let (urls, fields) = server.state.withLock { ($0.urls, $0.fields) }
            #expect(urls.allSatisfy { $0.hasPrefix("https://one.example.com/") }, "\(urls)")
            #expect(fields.allSatisfy { $0[.authorization] == "Bearer old" })
        }
    }

    @Test("What is loaded behind a stored response has the credential of the place that it was asked for")
    func refresh() async throws {
        let (host, clock) = (Box("one"), TestClock())
        let rig = Rig([Self.service(host)]) {
            $0.vault = MemoryVault()
            $0.cache = .store(MemoryCacheStore(time: clock.timeSource))
            $0.time = clock.timeSource
            $0.identity = { "alice" }
            $0.options.cache = .http
            // The request is made by then.
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    host.value = "two"
                    return try await next(request)
                }
            ]
        } answering: { [versions = Box(0)] _ in
            versions.update { $0 += 1 }
            return .tea(versions.value, ["Cache-Control": "max-age=10, stale-while-revalidate=60"])
        }
        try await rig.client.signIn(Credential("old"))
        for _ in 1...2 {
            host.value = "one"
            #expect(try await rig.client.send(Tea()).id == 1)
            clock.advance(by: .seconds(20))
        }
        while !Task.isCancelled, rig.client.callCount > 0 { await Task.yield() }
        #expect(Self.lines(rig.sent) == Array(repeating: "GET one.example.com/api/tea Bearer old", count: 2))
    }
}
