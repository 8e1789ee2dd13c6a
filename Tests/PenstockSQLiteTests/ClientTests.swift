import Foundation
import PenstockCore
import PenstockSQLite
import PenstockTestSupport
import PenstockTesting
import Testing

/// A client over the cache on disk.
@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    private struct News: Endpoint {
        typealias Output = Data
        var route: Route { .get("/news") }
    }

    /// One run of an app: its client, and how often it asked the server.
    private struct Run: Sendable {
        let stub: StubTransport
        let store: TieredCacheStore
        let events = EventRecorder()
        let client: APIClient

        init(
            _ folder: Folder, identity: String = "alice", token: String? = nil,
            answering respond: @escaping StubTransport.Responder = { _ in .news }
        ) {
            stub = StubTransport(respond)
            // Nobody else has the file, so that the store need not look for changes however slow the machine is.
            store = TieredCacheStore(
                over: SQLiteCacheStore(.init(file: folder.url.appendingPathComponent("http.sqlite"))),
                coherence: .seconds(3_600))
            var configuration = APIClient.Configuration(services: [
                Service(.main, [.production: "https://news.example"])
            ])
            configuration.environment = .production
            configuration.sinks = [events]
            configuration.cache = .store(store)
            configuration.options.cache = .http
            configuration.identity = { identity }
            if let token { configuration.headers = ["Authorization": token] }
            client = APIClient(configuration, transport: stub)
        }
    }

    @Test("What one run of an app stored, the next one finds on disk, and then in memory", .covers("S2.14", "S3.10"))
    func restart() async throws {
        let folder = try Folder()
        let first = Run(folder)
        #expect(try await first.client.response(for: News()).source == .network)
        #expect(try await first.client.response(for: News()).source == .memory)
        await first.store.close()
        let second = Run(folder)
        #expect(try await second.client.response(for: News()).source == .disk)
        #expect(try await second.client.response(for: News()).source == .memory)
        #expect(second.stub.requests.isEmpty)
        await second.store.close()
    }

    @Test("Without an identity a later run finds what its token has brought, and nothing of another's", .covers("H34"))
    func tokens() async throws {
        let folder = try Folder()
        // `Basic` of a short password: a plain digest of it could be guessed.
        let tokens = ["Basic YWxpY2U6cGFzcw==", "Basic Ym9iOnBhc3M="]
        for token in tokens {
            let run = Run(folder, identity: "", token: token)
            #expect(try await run.client.response(for: News()).source == .network)
            await run.store.close()
        }
        for token in tokens {
            let run = Run(folder, identity: "", token: token)
            #expect(try await run.client.response(for: News()).source == .disk)
            #expect(try await run.client.response(for: News()).source == .memory)
            #expect(run.stub.requests.isEmpty)
            await run.store.close()
        }
        let nobody = Run(folder, identity: "")
        #expect(try await nobody.client.response(for: News()).source == .network)
        await nobody.store.close()
        #expect(try folder.holds("the news of alice"))
        for token in tokens {
            #expect(try !folder.holds(token))
            let digest = try Self.digest(token)
            #expect(try !folder.holds(digest))
        }
    }

    /// The digest that anyone can make of a text, in hexadecimal digits, by the program that every system has.
    private static func digest(_ text: String) throws -> String {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl", "dgst", "-sha256", "-r"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let digits = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).prefix(64)
        process.waitUntilExit()
        #expect(digits.count == 64)
        return String(digits)
    }

    @Test("One call crosses requests, responses and the store on disk, and is seen to", .covers("S4.1"))
    func layers() async throws {
        let folder = try Folder()
        let first = Run(folder)
        #expect(try await first.client.response(for: News()).value == Data("the news of alice".utf8))
        await first.store.close()
        #expect(try folder.holds("the news of alice"))
        let second = Run(folder)
        let response = try await second.client.response(for: News())
        #expect(response.value == Data("the news of alice".utf8))
        #expect(response.cacheStatus?.description.contains("hit") == true)
        let stages: [[StageName]] = [first, second].map { run in
            run.events.records.compactMap { if case .stageStarted(let stage) = $0.event { stage } else { nil } }
        }
        // Both are prepared and decoded; only the first one is sent.
        #expect(stages[0].contains(.transport) && !stages[1].contains(.transport))
        let belowCache: [StageName] = [.retry, .admission, .cookies, .transport]
        #expect(stages[1] == stages[0].filter { !belowCache.contains($0) })
        for stage in [StageName.prepare, .status, .decoding] { #expect(stages[1].contains(stage)) }
        let reasons: [CacheReason] = [first, second].flatMap { run in
            run.events.records.compactMap { if case .cacheDecided(let reason, _) = $0.event { reason } else { nil } }
        }
        #expect(reasons == [.uriMiss, .fresh])
        await second.store.close()
    }

    @Test("What may not be stored leaves no byte in any file", .covers("H28"), arguments: [true, false])
    func noStore(isAsked: Bool) async throws {
        let folder = try Folder()
        let run = Run(folder) { _ in
            let control = isAsked ? "max-age=600" : "no-store, max-age=600"
            return HTTPResponse(status: 200, fields: ["Cache-Control": control], body: Data("a secret".utf8))
        }
        let options = isAsked ? CallOptions.headers(["Cache-Control": "no-store"]) : CallOptions()
        #expect(try await run.client.send(News(), options: options) == Data("a secret".utf8))
        var size = 0
        for try await piece in try await run.client.stream(News(), options: options) { size += piece.count }
        #expect(size == 8)
        await run.store.flush()
        #expect(await run.store.statistics().entries == 0)
        #expect(try !folder.holds("a secret"))
        await run.store.close()
        #expect(try !folder.holds("a secret"))
    }

    @Test("What was cleared is gone after a restart too", .covers("S2.18"))
    func cleared() async throws {
        let folder = try Folder()
        let first = Run(folder)
        _ = try await first.client.send(News())
        #expect(await first.client.clearCache(.all))
        await first.store.close()
        let second = Run(folder)
        #expect(try await second.client.response(for: News()).source == .network)
        await second.store.close()
    }

    @Test("After signing out no byte of what was loaded is in any file", .covers("H28", "S4.13"))
    func forgotten() async throws {
        let folder = try Folder()
        let run = Run(folder)
        _ = try await run.client.send(News())
        await run.store.flush()
        #expect(try folder.holds("the news of alice"))
        #expect(await run.client.signOut("alice"))
        #expect(try !folder.holds("the news of alice"))
        await run.store.close()
        let again = Run(folder)
        #expect(try await again.client.response(for: News()).source == .network)
        await again.store.close()
    }
}

extension HTTPResponse {
    fileprivate static let news = HTTPResponse(
        status: 200, fields: ["Cache-Control": "max-age=600"], body: Data("the news of alice".utf8))
}

extension Folder {
    /// Whether a text stands in one of its files.
    fileprivate func holds(_ text: String) throws -> Bool {
        try bytes.range(of: Data(text.utf8)) != nil
    }
}
