import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is no file, though a server says so, and what is left of none.
@Suite(.timeLimit(.minutes(5))) struct DownloadRefusalTests {
    @Test func `a refusal in the service's envelope is no file, and nothing is left of it`() async throws {
        let refusal = Data(#"{"retcode":1001,"retdesc":"not in your country"}"#.utf8)
        let json: FileServer.Twist = { _, answer in
            (answer.fields[.contentType], answer.fields[.contentLength]) = ("application/json", "\(refusal.count)")
            answer.body = refusal
        }
        try await DownloadTests.run { server, plain, folder in
            let client = plain.with {
                $0.services = ServiceRegistry([
                    Service(.main, "https://films.example.com/api", envelope: .retcode)
                ])
            }
            server.twist(json, json)
            let url = folder.appendingPathComponent("seven.mp4")
            let error = await failure { try await client.download(DownloadTests.Film(), to: .file(url)).value }
            #expect(error?.kind == .business(code: 1001, message: "not in your country"))
            #expect(error?.response?.body == refusal)
            #expect(try DownloadTests.names(in: folder).isEmpty)
            // Where no envelope is declared, it is a file of JSON.
            _ = try await plain.download(DownloadTests.Film(), to: .file(url)).value
            #expect(try Data(contentsOf: url) == refusal)
        }
    }

    /// What a server says in its envelope to a token that is out of date.
    private static func expired(code: Int = 40_101, unless token: String = "new") -> FileServer.Twist {
        { request, answer in
            guard request.fields[.authorization] != "Bearer \(token)" else { return }
            answer.body = Data(#"{"retcode":\#(code),"retdesc":"expired"}"#.utf8)
            answer.fields = [.contentType: "application/json", .contentLength: "\(answer.body.count)"]
        }
    }

    /// A client whose tokens expire by a code, and are renewed by counting them.
    private static func client(
        _ server: FileServer, _ refreshed: Box<Int>, statuses: Set<Int> = [401], fails: Bool = false
    ) async throws -> APIClient {
        let expiry = ExpiryRule(statuses: statuses, codes: [40_101])
        let authenticator = BearerAuthenticator(expiry: expiry) { _, _ in
            refreshed.update { $0 += 1 }
            if fails { throw AuthenticationFailure.rejected }
            return Credential("new", refreshToken: "r2")
        }
        let client = DownloadTests.client(server) { configuration in
            configuration.vault = MemoryVault()
            configuration.services = ServiceRegistry([
                Service(
                    .main, "https://films.example.com/api", envelope: .retcode, authenticator: authenticator)
            ])
        }
        try await client.signIn(Credential("old", refreshToken: "r1", obtained: Date(timeIntervalSinceNow: -3_600)))
        return client
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a refusal whose code says that the token is out of date has it renewed, and the file asked for once more`(
        method: HTTPMethod
    ) async throws {
        try await DownloadTests.run { server, _, folder in
            let refreshed = Box(0)
            let client = try await Self.client(server, refreshed)
            server.twist(Self.expired())
            let url = folder.appendingPathComponent("seven.mp4")
            let digest = SHA256.hex(DownloadTests.content)
            let film = try await client.download(Self.Posted(method: method), to: .file(url), sha256: digest).value
            #expect(film == DownloadedFile(url: url, length: 500_000, wasResumed: false))
            #expect(try Data(contentsOf: url) == DownloadTests.content)
            #expect(try DownloadTests.names(in: folder) == ["seven.mp4"])
            #expect(server.requests.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
            #expect(refreshed.value == 1)
        }
    }

    private struct Posted: Endpoint {
        typealias Output = Data
        let method: HTTPMethod
        var route: Route { Route(method, "/films/7") }
    }

    @Test func `a token is renewed once for a download, and for no other refusal`() async throws {
        // A code that says something else; a token that is refused again; one that was renewed after a 401.
        for (code, statuses, twists, sent) in [
            (1_001, [401], [Self.expired(code: 1_001)], 1),
            (40_101, [401], [Self.expired(), Self.expired(unless: "none")], 2),
            (40_101, [401], [{ $1.status = 401 }, Self.expired(unless: "none")], 2),
        ] as [(Int, Set<Int>, [FileServer.Twist], Int)] {
            try await DownloadTests.run { server, _, folder in
                let refreshed = Box(0)
                let client = try await Self.client(server, refreshed, statuses: statuses)
                for twist in twists { server.twist(twist) }
                let error = await failure { try await client.download(DownloadTests.Film(), to: .folder(folder)).value }
                #expect(error?.kind == .business(code: .int(code), message: "expired") && error?.stage == .file)
                #expect(server.requests.count == sent && refreshed.value == sent - 1)
                #expect(try DownloadTests.names(in: folder).isEmpty)
            }
        }
    }

    @Test func `a download whose token cannot be renewed fails of that, and leaves nothing`() async throws {
        try await DownloadTests.run { server, _, folder in
            let client = try await Self.client(server, Box(0), fails: true)
            server.twist(Self.expired())
            let error = await failure { try await client.download(DownloadTests.Film(), to: .folder(folder)).value }
            #expect(error?.kind == .authentication(.rejected))
            #expect(error?.stage == .file && error?.response?.status == 200)
            #expect(server.requests.count == 1)
            #expect(try DownloadTests.names(in: folder).isEmpty)
        }
    }

    @Test func `a digest that comes with the rest alone is one of the whole, and checked`() async throws {
        try await DownloadTests.run { server, client, folder in
            let wrong = "sha-256=:\(Data(count: 32).base64EncodedString()):"
            let lying: FileServer.Twist = { $1.fields["Repr-Digest"] = wrong }
            server.twist(FileServer.cutting(after: 200_000), lying)
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(folder.appendingPathComponent("a"))).value
            }
            #expect(error?.kind == .validation(rule: "Repr-Digest"))
            let left = try DownloadTests.names(in: folder)
            #expect(left.isEmpty)
            let right = "sha-256=:\(SHA256.bytes(DownloadTests.content).base64EncodedString()):"
            let naming: FileServer.Twist = { $1.fields["Repr-Digest"] = right }
            server.twist(FileServer.cutting(after: 200_000), naming)
            let file = try await client.download(DownloadTests.Film(), to: .folder(folder)).value
            #expect(file.length == 500_000)
        }
    }

    @Test(arguments: [nil, 400, 403, 404, 410, 503])
    func `a file that came is kept, whatever is answered when it is asked whether there is more`(status: Int?)
        async throws
    {
        try await DownloadTests.run { server, client, folder in
            let unframed: FileServer.Twist = { ($1.fields[.contentLength], $1.mayBeCutOff) = (nil, true) }
            server.twist(unframed)
            if let status { server.twist { ($1.status, $1.fields, $1.body) = (status, [:], Data()) } }
            let file = try await client.download(DownloadTests.Film(), to: .folder(folder)).value
            #expect(file.length == 500_000)
            let asked = server.requests.map { $0.fields[.range] }
            #expect(asked.first == .some(nil) && asked.dropFirst().allSatisfy { $0 == "bytes=500000-" })
            // A server that is busy is asked once more, as ever.
            #expect(asked.count == (status == 503 ? 3 : 2))
        }
    }

    @Test func `what was broken off unseen is completed`() async throws {
        try await DownloadTests.run { server, client, folder in
            server.twist {
                ($1.fields[.contentLength], $1.mayBeCutOff, $1.body) = (nil, true, $1.body.prefix(200_000))
            }
            let file = folder.appendingPathComponent("whole")
            _ = try await client.download(DownloadTests.Film(), to: .file(file)).value
            #expect(try Data(contentsOf: file) == DownloadTests.content)
        }
    }

    @Test(arguments: [204, 205]) func `an answer without content is no file, and replaces none`(
        status: Int
    ) async throws {
        try await DownloadTests.run { server, client, folder in
            let file = folder.appendingPathComponent("seven.mp4")
            try Data("good".utf8).write(to: file)
            server.twist { ($1.status, $1.body) = (status, Data()) }
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(file, overwriting: .replace)).value
            }
            #expect(error?.kind == .httpStatus(status))
            #expect(try Data(contentsOf: file) == Data("good".utf8))
        }
    }

    @Test func `a name that no folder holds fails before anything is sent`() async throws {
        try await DownloadTests.run { server, client, folder in
            let name = String(repeating: "ž", count: 128)
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(folder.appendingPathComponent(name))).value
            }
            guard case .storage? = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a description that has lost its part is removed as well, and nothing that only looks like one`()
        async throws
    {
        try await DownloadTests.run { _, _, folder in
            let (digits, other) = (String(repeating: "0a", count: 12), String(repeating: "0b", count: 12))
            let names = [
                ".penstock-\(digits).json", ".penstock-\(other).json.new", ".penstock-app.json", "\(digits).json",
            ]
            for name in names { try Data("{}".utf8).write(to: folder.appendingPathComponent(name)) }
            #expect(await APIClient.removePartialDownloads(in: folder) == 0)
            let old = Date(timeIntervalSinceNow: -604_801)
            for name in names {
                let path = folder.appendingPathComponent(name).path
                try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
            }
            #expect(await APIClient.removePartialDownloads(in: folder) == 2)
            #expect(try DownloadTests.names(in: folder) == [".penstock-app.json", "\(digits).json"])
        }
    }

    @Test("A file that cannot be, or is not what it was to be, is told as a failed call, once")
    func toldFailures() async throws {
        try await MultipartTests.withFolder { folder in
            let server = FileServer(DownloadTests.content, tag: nil)
            let recorder = EventRecorder()
            let client = DownloadTests.client(server) { $0.sinks = [recorder] }
            let taken = folder.appendingPathComponent("taken")
            try Data("old".utf8).write(to: taken)
            let refused = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(taken)).value
            }
            #expect(refused?.kind == .storage(.exists))
            #expect(Self.ends(recorder) == [.failure(.storage(.exists))])
            let wrong = await #expect(throws: APIError.self) {
                let digest = String(repeating: "0", count: 64)
                return try await client.download(DownloadTests.Film(), to: .folder(folder), sha256: digest).value
            }
            #expect(wrong?.kind == .validation(rule: "sha256"))
            let rule = APIError.Kind.validation(rule: "sha256")
            #expect(Self.ends(recorder).suffix(2) == [.success, .failure(rule)])
            let last = try #require(recorder.records.last?.context)
            #expect(last.attempt == 1 && last.progress.url?.path == "/api/films/7" && last.progress.status == 200)
            // What the server has refused was told by the request, and by nobody else.
            server.twist { $1.status = 404 }
            let missing = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .folder(folder)).value
            }
            #expect(missing?.kind == .httpStatus(404))
            #expect(Self.ends(recorder).dropFirst(3) == [.failure(.httpStatus(404))])
            #expect(recorder.grammarViolations.isEmpty)
        }
    }

    private static func ends(_ recorder: EventRecorder) -> [Event.Outcome] {
        recorder.records.compactMap { if case .callEnded(let outcome) = $0.event { outcome } else { nil } }
    }

    @Test func `a volume that has no locks is downloaded to, and only a lock that somebody has is in use`() async throws
    {
        try await MultipartTests.withFolder { folder in
            let key = String(repeating: "a", count: 64)
            for code in [ENOLCK, ENOTSUP, EINVAL, ENOSYS, EWOULDBLOCK, EACCES, EIO] {
                let isLockless = ![EWOULDBLOCK, EACCES, EIO].contains(code)
                let locking: DownloadPlace.Locker = { _ in
                    errno = code
                    return -1
                }
                do throws(SystemError) {
                    let open = try DownloadPlace.open(in: folder, key: key, locking: locking)
                    #expect(isLockless)
                    let second = #expect(throws: SystemError.self) {
                        try DownloadPlace.open(in: folder, key: key, locking: locking)
                    }
                    #expect(second?.code == EWOULDBLOCK, "the place is taken within the process")
                    withExtendedLifetime(open) {}
                } catch {
                    #expect(error.code == code && !isLockless)
                }
            }
        }
    }
}
