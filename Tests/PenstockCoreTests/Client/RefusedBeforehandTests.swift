import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is asked for and cannot be kept is refused before anything is sent, and never left out in silence.
@Suite(.timeLimit(.minutes(5))) struct RefusedBeforehandTests {
    struct Shout: Endpoint, Encodable {
        typealias Output = Payload
        var text = "hi"
        var route: Route = .post("/shout")
        var placement: ParameterPlacement = .automatic
        var body: HTTPBody { .none }
        enum CodingKeys: String, CodingKey { case text }
    }

    struct Bodied: Endpoint {
        typealias Output = Payload
        var route: Route { .get("/chat") }
        var body: HTTPBody { .text("hi") }
    }

    /// A file in a folder that is gone afterwards.
    private func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("refused-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("file")
        try Data("content".utf8).write(to: file)
        try await body(file)
    }

    private func reason(_ error: APIError?) -> String {
        switch error?.kind {
        case .invalidConfiguration(let reason): reason
        case .invalidParameter(let field, let reason): "\(field) \(reason)"
        default: String(describing: error?.kind)
        }
    }

    // MARK: cacheOnly

    @Test(.covers("S2.9"), arguments: [true, false])
    func `a call that is to be answered by the cache alone sends nothing, whether there is a cache or none`(
        hasCache: Bool
    ) async throws {
        let rig = Rig { if !hasCache { $0.cache = .none } }
        let only = CallOptions.cache(.cacheOnly)
        let raw = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"))
        var errors = [
            await failure { try await rig.client.send(GetProduct(), options: only) },
            await failure { try await rig.client.send(Shout(), options: only) },
            await failure { try await rig.client.send(raw, options: only) },
            await failure { try await rig.client.stream(GetProduct(), options: only) },
            await failure {
                try await rig.client.send(
                    GetProduct(), options: .cache(CachePolicy(.cacheOnly, ttl: .zero)))
            },
        ]
        errors.append(
            await failure {
                for try await _ in rig.client.responses(to: GetProduct(), options: only) {}
            })
        try await withFile { file in
            let folder = DownloadDestination.folder(file.deletingLastPathComponent())
            errors.append(
                await failure { try await rig.client.download(GetProduct(), to: folder, options: only).value })
            errors.append(await failure { try await rig.client.upload(file, to: "/videos", options: only).value })
        }
        #expect(errors.map { $0?.kind } == Array(repeating: .cacheMiss, count: 8))
        #expect(rig.sent.isEmpty)
    }

    // MARK: waitsForConnectivity

    @Test func `a wait for connectivity fails in words where nothing tells the client of the network`() async throws {
        let rig = Rig()
        let error = await failure { try await rig.client.send(GetProduct(), options: .waitsForConnectivity(.yes)) }
        #expect(reason(error).contains("configuration.reachability"))
        #expect(rig.sent.isEmpty)
        let watching = rig.client.with { $0.reachability = Reachability() }
        _ = try await watching.send(GetProduct(), options: .waitsForConnectivity(.yes))
        #expect(rig.sent.count == 1)
    }

    // MARK: Services

    @Test(arguments: ["/v2/", "v2/beta", "", ".."])
    func `a version that is no path segment is refused by its name`(version: String) async {
        let rig = Rig([.shop { $0.version = version }])
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(reason(error).contains("version"), "\(reason(error))")
        #expect(rig.sent.isEmpty)
    }

    // MARK: WebSockets

    @Test func `an endpoint with another verb or with content is no WebSocket`() async {
        let rig = Rig()
        let sockets = [
            ("its route is no GET", rig.client.webSocket(Shout())),
            ("it has a body", rig.client.webSocket(Bodied())),
            (
                "its parameters go into a body",
                rig.client.webSocket(Shout(route: .get("/shout"), placement: .json))
            ),
        ]
        for (words, socket) in sockets {
            let error = await failure { try await socket.open() }
            #expect(reason(error).hasSuffix("cannot be a WebSocket: \(words)"), "\(reason(error))")
        }
        #expect(rig.sent.isEmpty)
    }

    // MARK: Uploads and requests of no service

    @Test func `an upload takes no verb that sends nothing, and with the draft no metadata`() async throws {
        let rig = Rig()
        try await withFile { file in
            let read = await failure { try await rig.client.upload(file, to: "/v", method: .get).value }
            #expect(reason(read).hasPrefix("method is GET"))
            let told = await failure { try await rig.client.upload(file, to: "/v", metadata: ["a": "b"]).value }
            #expect(reason(told).hasPrefix("metadata is for servers of tus"))
        }
        #expect(rig.sent.isEmpty)
    }

    @Test func `a request of no service goes to its own URL, and takes no other one`() async throws {
        let rig = Rig()
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
        let error = await failure {
            try await rig.client.send(request, options: .at(try HTTPURL("https://b.example/")))
        }
        #expect(reason(error).contains(".at(url)"))
        #expect(rig.sent.isEmpty)
    }
}
