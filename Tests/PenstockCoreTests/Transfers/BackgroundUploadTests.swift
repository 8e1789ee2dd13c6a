import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Uploads that are handed over to the system, and the processes that come back to them.
@Suite(.timeLimit(.minutes(5)))
final class BackgroundUploadTests {
    /// What a process has on disk; a copy of it is what the next process finds.
    struct Disk {
        let folder: URL
        var file: URL { folder.appendingPathComponent("clip.mov") }
        var state: URL { folder.appendingPathComponent("clip.mov.upload") }
        var root: URL { folder.appendingPathComponent("background") }

        var kept: [String] {
            let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
            return all.filter { $0.hasSuffix(".part") || $0.hasSuffix(".reply") }
        }

        func copy(to folder: URL) throws -> Disk {
            try FileManager.default.copyItem(at: self.folder, to: folder)
            return Disk(folder: folder)
        }
    }

    let place = FileManager.default.temporaryDirectory.appendingPathComponent("background-\(UUID().uuidString)")
    let disk: Disk
    let content = sampleBytes(seed: 41, count: 300_000)

    init() throws {
        disk = Disk(folder: place.appendingPathComponent("1"))
        try FileManager.default.createDirectory(at: disk.folder, withIntermediateDirectories: true)
        try content.write(to: disk.file)
    }

    deinit {
        try? FileManager.default.removeItem(at: place)
    }

    static let forms: [ResumableUploadProtocol] = [.httpDraft, .tus]
    static let identifier = "com.example.shop.uploads"
    static let date = Date(timeIntervalSince1970: 1_770_000_000)

    /// Waits take no time.
    static let time = TimeSource(now: { .zero }, date: { date }, sleep: { _ in })

    func client(
        _ server: UploadServer, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: "https://a.example/api"])], build: .debug)
        configuration.time = Self.time
        configuration.circuitBreaker = nil
        change(&configuration)
        return APIClient(configuration, transport: server)
    }

    func transfers(_ session: BackgroundSystem.Process, _ disk: Disk) -> BackgroundTransfers {
        BackgroundTransfers(session, identifier: Self.identifier, root: disk.root)
    }

    func upload(
        _ disk: Disk, _ client: APIClient, _ background: BackgroundTransfers?, by form: ResumableUploadProtocol = .tus,
        options: CallOptions = .init()
    ) -> ResumableUpload {
        client.upload(disk.file, to: "/videos", resumableBy: form, options: options, background: background)
    }

    func failure(_ upload: ResumableUpload) async -> APIError? {
        do throws(APIError) {
            _ = try await upload.value
            return nil
        } catch {
            return error
        }
    }

    /// A process that has handed its upload over, and is killed then.
    ///
    /// - Returns: what the next process finds.
    func killed(
        _ system: BackgroundSystem, _ form: ResumableUploadProtocol,
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) async throws -> Disk {
        let session = system.process()
        let upload = upload(disk, client(system.server, change), transfers(session, disk), by: form)
        await system.hasTasks()
        session.kill()
        let next = try disk.copy(to: place.appendingPathComponent("2"))
        upload.cancel()
        #expect(await failure(upload)?.kind == .cancelled)
        #expect(system.state.withLock(\.tasks).count == 1, "the system goes on")
        return next
    }

    // MARK: One process

    @Test("The bytes of a file are handed over, and the rest is the client's", .covers("X15"), arguments: forms)
    func handedOver(form: ResumableUploadProtocol) async throws {
        let server = UploadServer(form)
        let system = BackgroundSystem(server)
        let receipt = try await upload(disk, client(server), transfers(system.process(), disk), by: form).value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH"])
        #expect(system.state.withLock(\.begun).map(\.request.method) == [.patch])
        #expect(receipt.response?.value == (form == .tus ? Data() : Data("processed".utf8)))
        #expect(receipt.url?.absoluteString == "https://a.example/uploads/1")
        #expect(disk.kept.isEmpty && !FileManager.default.fileExists(atPath: disk.state.path))
    }

    @Test func `what is handed over has gone the way of every request`() async throws {
        struct Mark: Signer {
            func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                var request = request
                request.fields["Signature"] = "of \(request.method)"
                return request
            }
        }
        struct Trace: Interceptor {
            func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
                var request = request
                request.fields["X-Trace"] = "7"
                return try await next(request)
            }
        }
        let server = UploadServer(.tus)
        let events = EventRecorder()
        let system = BackgroundSystem(server)
        let client = client(server) { configuration in
            configuration.services = ServiceRegistry([
                Service(.main, [.development: "https://a.example/api"], signer: Mark())
            ])
            configuration.headers = ["X-App": "shop"]
            configuration.attemptInterceptors = [Trace()]
            configuration.sinks = [events]
        }
        _ = try await upload(disk, client, transfers(system.process(), disk)).value
        let request = try #require(system.state.withLock(\.begun).first?.request)
        #expect(request.fields["Signature"] == "of PATCH" && request.fields["X-Trace"] == "7")
        #expect(request.fields["X-App"] == "shop" && request.fields["Tus-Resumable"] == "1.0.0")
        #expect(request.body.isNone)
        let sent = events.records.compactMap { record in
            if case .requestSent(let request) = record.event { "\(request.method)" } else { nil }
        }
        #expect(sent == ["POST", "PATCH"])
    }

    @Test func `a refused credential is renewed, and the request handed over anew`() async throws {
        let server = UploadServer(.tus)
        server.state.withLock { state in
            state.token = "old"
            state.onRequest = { number in if number == 2 { server.state.withLock { $0.token = "new" } } }
        }
        let system = BackgroundSystem(server)
        let client = bearer(server)
        try await client.signIn(Self.credential("old"), to: .main)
        _ = try await upload(disk, client, transfers(system.process(), disk)).value
        #expect(server.objects == [content] && server.requests == ["POST", "PATCH", "PATCH"])
        let sent = system.state.withLock(\.begun).map { $0.request.fields[.authorization] }
        #expect(sent == ["Bearer old", "Bearer new"])
        #expect(disk.kept.isEmpty)
    }

    static func credential(_ token: String) -> Credential {
        Credential(token, refreshToken: "r", expiresIn: .seconds(3_600), obtained: date)
    }

    func bearer(_ server: UploadServer) -> APIClient {
        client(server) { configuration in
            configuration.vault = MemoryVault()
            configuration.services = ServiceRegistry([
                Service(
                    .main, [.development: "https://a.example/api"],
                    authenticator: BearerAuthenticator { _, _ in Self.credential("new") })
            ])
        }
    }

    @Test(arguments: forms) func `what the system could not send whole goes on from what the server has`(
        form: ResumableUploadProtocol
    ) async throws {
        for faults: [UploadServer.Fault?] in [
            [nil, .cut(after: 150_000)], [nil, .lost], [nil, .unanswered], [nil, .status(503)],
            [nil, .cut(after: 0), .lost],
        ] {
            let server = UploadServer(form, faults: faults)
            let system = BackgroundSystem(server)
            _ = try await upload(disk, client(server), transfers(system.process(), disk), by: form).value
            #expect(server.objects == [content], "\(faults)")
            #expect(server.state.withLock(\.received) == content.count)
            #expect(disk.kept.isEmpty)
        }
    }

    @Test func `a server that takes so much at a time is handed so much`() async throws {
        let server = UploadServer(.httpDraft)
        server.state.withLock { ($0.limit, $0.maximumAppend) = ("max-append-size=100000", 100_000) }
        let system = BackgroundSystem(server)
        _ = try await upload(disk, client(server), transfers(system.process(), disk), by: .httpDraft).value
        #expect(server.objects == [content] && system.state.withLock(\.begun).count == 3)
    }

    @Test func `an empty file has nothing to hand over`() async throws {
        try Data().write(to: disk.file)
        let server = UploadServer(.httpDraft)
        let system = BackgroundSystem(server)
        _ = try await upload(disk, client(server), transfers(system.process(), disk), by: .httpDraft).value
        #expect(server.objects == [Data()] && system.state.withLock(\.begun).isEmpty)
    }

    @Test func `what the system sends is a copy, which a change of the file does not reach`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let sending = upload(disk, client(server), transfers(system.process(), disk))
        await system.hasTasks()
        let copy = try #require(system.state.withLock(\.tasks).first?.file)
        #expect(try Data(contentsOf: copy) == content)
        #expect(try FileManager.default.attributesOfItem(atPath: copy.path)[.posixPermissions] as? Int == 0o600)
        let handle = try FileHandle(forUpdating: disk.file)
        try handle.write(contentsOf: Data("other".utf8))
        await system.send()
        _ = try await sending.value
        #expect(server.objects == [content])
    }

    @Test func `a file that changes before it is handed over is not`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server)
        let file = disk.file
        server.state.withLock { state in
            state.onRequest = { _ in
                guard let handle = try? FileHandle(forUpdating: file) else { return }
                try? handle.write(contentsOf: Data("other".utf8))
            }
        }
        let error = await failure(upload(disk, client(server), transfers(system.process(), disk)))
        #expect(error?.underlying as? ResumableUploadError == .sourceChanged)
        #expect(system.state.withLock(\.begun).isEmpty && server.objects.isEmpty && disk.kept.isEmpty)
    }

    @Test func `a folder that cannot be written to ends the upload with the reason`() async throws {
        try Data("in the way".utf8).write(to: disk.root)
        let server = UploadServer(.tus)
        let error = await failure(
            upload(disk, client(server), transfers(BackgroundSystem(server).process(), disk)))
        guard case .unusableState = error?.underlying as? ResumableUploadError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requests == ["POST"])
    }

    @Test func `what the system does not take is the error of the upload`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server)
        system.state.withLock { $0.refusal = TransportError(.unsupported("this URL"), sendState: .unsent) }
        let error = await failure(upload(disk, client(server), transfers(system.process(), disk)))
        #expect(error?.kind == .unsupported(feature: "this URL") && disk.kept.isEmpty)
    }

    @Test func `what the system gives up by itself is asked for and goes on`() async throws {
        for kind in [TransportError.Kind.cancelled, .connectionLost, .other] {
            let server = UploadServer(.tus)
            let system = BackgroundSystem(server, isEager: false)
            let sending = upload(disk, client(server), transfers(system.process(), disk))
            await system.hasTasks()
            system.giveUp(kind)
            await system.hasTasks()
            await system.send()
            _ = try await sending.value
            #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
        }
    }

    // MARK: The user

    @Test("A cancelled upload ends what the system sends, and another one goes on from there", .covers("X15"))
    func cancelled() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let background = transfers(system.process(), disk)
        let first = upload(disk, client(server), background)
        await system.hasTasks()
        first.cancel()
        #expect(await failure(first)?.kind == .cancelled)
        #expect(system.state.withLock { $0.tasks.isEmpty && $0.cancelled == $0.begun.map(\.key.text) })
        let second = upload(disk, client(server), background)
        await system.hasTasks()
        await system.send()
        _ = try await second.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
        #expect(disk.kept.isEmpty)
    }

    @Test func `a pause ends what the system sends, and the upload goes on from there`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let sending = upload(disk, client(server), transfers(system.process(), disk))
        await system.hasTasks()
        sending.pause()
        await system.hasTasks(0)
        sending.resume()
        await system.hasTasks()
        await system.send()
        _ = try await sending.value
        #expect(server.objects == [content] && server.requests == ["POST", "HEAD", "PATCH"])
    }

    @Test func `the sign-out of its user ends what the system sends`() async throws {
        let server = UploadServer(.tus)
        let system = BackgroundSystem(server, isEager: false)
        let user = Locked("alice")
        let client = client(server) { $0.identity = { user.withLock { $0 } } }
        let sending = upload(disk, client, transfers(system.process(), disk))
        await system.hasTasks()
        user.withLock { $0 = "" }
        _ = await client.signOut("alice")
        #expect(await failure(sending)?.kind == .cancelled)
        #expect(system.state.withLock(\.tasks).isEmpty && server.requests == ["POST"])
    }

    @Test func `each user in each environment has a partition, and all that a user hands over is in it`() async throws {
        var partitions: Set<String> = []
        for (user, environment) in [
            ("", "development"), ("alice", "development"), ("bob", "development"), ("alice", "test"),
        ] {
            for _ in 1...2 {
                let server = UploadServer(.tus)
                let system = BackgroundSystem(server)
                let client = client(server) {
                    $0.identity = { user }
                    $0.services = ServiceRegistry([
                        Service(.main, [.development: "https://a.example/api", .test: "https://a.example/api"])
                    ])
                    $0.environment = environment == "test" ? .test : .development
                }
                _ = try await upload(disk, client, transfers(system.process(), disk)).value
                partitions.formUnion(system.state.withLock(\.begun).map(\.key.partition))
            }
        }
        #expect(partitions.count == 4)
        #expect(partitions.allSatisfy { !$0.contains("alice") && $0.utf8.count == 16 })
    }
}
