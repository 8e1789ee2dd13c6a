import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Downloads to files: never half a file, and nothing that a server, a disk or another program does makes another one of it.
@Suite(.timeLimit(.minutes(5))) struct DownloadTests {
    struct Film: Endpoint {
        typealias Output = Data
        @PathArgument var id = 7
        var route: Route { .get("/films/\(id)") }
    }

    static let content = sampleBytes(seed: 28, count: 500_000)

    static func client(_ server: FileServer, _ change: (inout APIClient.Configuration) -> Void = { _ in }) -> APIClient
    {
        var configuration = APIClient.Configuration("https://films.example.com/api")
        configuration.options.retry = RetryPolicy(limit: 2, backoff: Backoff(base: .zero, cap: .zero))
        change(&configuration)
        return APIClient(configuration, transport: server)
    }

    /// What is in a folder, hidden files too.
    static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    static func ranges(_ server: FileServer) -> [String?] { server.requests.map { $0.fields[.range] } }

    /// A client, its server and a folder.
    static func run(
        tag: String? = "\"v1\"", _ body: (FileServer, APIClient, URL) async throws -> Void
    ) async throws {
        try await MultipartTests.withFolder { folder in
            let server = FileServer(content, tag: tag)
            try await body(server, client(server), folder)
        }
    }

    /// Has a download fail after so many bytes, as one does whose process goes.
    static func interrupt(
        _ server: FileServer, _ client: APIClient, _ destination: DownloadDestination, after count: Int = 200_000
    ) async throws {
        server.twist(FileServer.cutting(after: count))
        let error = await #expect(throws: APIError.self) {
            try await client.download(Film(), to: destination, options: .retry(.none)).value
        }
        #expect(error?.kind == .transport(.connectionLost))
    }

    // MARK: Whole files

    @Test func `a file comes under the name that the app gave, and nothing is left beside it`() async throws {
        try await Self.run { server, client, folder in
            let url = folder.appendingPathComponent("seven.mp4")
            let call = client.download(Film(), to: .file(url))
            let response = try await call.response
            #expect(response.value == DownloadedFile(url: url, length: 500_000, wasResumed: false))
            #expect(response.http.fields[.contentType] == "video/mp4")
            #expect(response.attempts.count == 1)
            #expect(response.source == .network)
            #expect(try Data(contentsOf: url) == Self.content)
            #expect(try Self.names(in: folder) == ["seven.mp4"])
            #expect(server.requests.first?.fields[.acceptEncoding] == "identity")
            #expect(client.callCount == 0)
        }
    }

    @Test func `the progress rises from nothing to 1, in bytes of the file`() async throws {
        try await Self.run { _, client, folder in
            var told: [TransferProgress] = []
            let call = client.download(Film(), to: .folder(folder))
            for try await case .progress(let progress) in call.updates { told.append(progress) }
            #expect(told.last?.received == 500_000)
            #expect(told.last?.expectedToReceive == 500_000)
            let fractions = told.map { $0.fraction ?? 0 }
            #expect(fractions == fractions.sorted())
            #expect(fractions.last == 1)
            #expect(fractions.dropLast().allSatisfy { $0 < 1 })
        }
    }

    @Test func `the server's name is made harmless, and the app may choose another one when the response is there`()
        async throws
    {
        try await Self.run { server, client, folder in
            let evil: FileServer.Twist = {
                $1.fields[.contentDisposition] = "attachment; filename=\"../../.evil\u{202E}.mp4\""
            }
            server.twist(evil, evil)
            let first = try await client.download(Film(), to: .folder(folder)).value
            #expect(first.url.path == folder.appendingPathComponent("evil.mp4").path)
            let second = try await client.download(
                Film(), to: .folder(folder) { response, name in "../\(response.status) \(name)" }
            ).value
            #expect(second.url.lastPathComponent == "200 evil.mp4")
            let third = try await client.download(Film(), to: .folder(folder)).value
            #expect(third.url.lastPathComponent == "7")
            #expect(try Self.names(in: folder) == ["200 evil.mp4", "7", "evil.mp4"])
        }
    }

    @Test func `a request of no service is downloaded, and what is no success is no file`() async throws {
        try await Self.run { server, client, folder in
            let request = HTTPRequest(method: .get, url: try HTTPURL("https://elsewhere.example/a.bin"))
            #expect(try await client.download(request, to: .folder(folder)).value.url.lastPathComponent == "a.bin")
            server.twist { $1.status = 404 }
            let error = await #expect(throws: APIError.self) {
                try await client.download(request, to: .folder(folder)).value
            }
            #expect(error?.kind == .httpStatus(404))
            #expect(try Self.names(in: folder) == ["a.bin"])
        }
    }

    // MARK: Names that are taken

    @Test func `a name that is taken fails before anything is sent, is replaced, or gets a number`() async throws {
        try await Self.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            try Data("old".utf8).write(to: url)
            let error = await #expect(throws: APIError.self) { try await client.download(Film(), to: .file(url)).value }
            #expect(error?.kind == .storage(.exists))
            #expect(server.requests.isEmpty)
            #expect(try Data(contentsOf: url) == Data("old".utf8))
            let numbered = try await client.download(Film(), to: .file(url, overwriting: .numbered)).value
            #expect(numbered.url.lastPathComponent == "a 2.mp4")
            let replaced = try await client.download(Film(), to: .file(url, overwriting: .replace)).value
            #expect(replaced.url.lastPathComponent == "a.mp4")
            #expect(try Data(contentsOf: url) == Self.content)
            #expect(try Self.names(in: folder) == ["a 2.mp4", "a.mp4"])
        }
    }

    @Test func `a name that is taken while the file comes is not overwritten`() async throws {
        try await Self.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            server.twist { _, _ in try? Data("other".utf8).write(to: url) }
            let error = await #expect(throws: APIError.self) { try await client.download(Film(), to: .file(url)).value }
            #expect(error?.kind == .storage(.exists))
            #expect(try Data(contentsOf: url) == Data("other".utf8))
            // Everything has come: its last byte tells that it is still the same.
            let file = try await client.download(Film(), to: .file(url, overwriting: .replace)).value
            #expect((file.length, file.wasResumed) == (500_000, true))
            #expect(Self.ranges(server) == [nil, "bytes=499999-"])
        }
    }

    @Test func `twenty downloads to one name get twenty names`() async throws {
        try await Self.run { _, client, folder in
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await client.download(Film(), to: .folder(folder) { _, _ in "a.mp4" }, id: "\(number)")
                            .value.url.lastPathComponent
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(names == Set(["a.mp4"] + (2...20).map { "a \($0).mp4" }))
        }
    }

    @Test func `a link at the destination is replaced or kept, and never followed`() async throws {
        try await Self.run { _, client, folder in
            let target = folder.appendingPathComponent("target")
            let link = folder.appendingPathComponent("link")
            try Data("target".utf8).write(to: target)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .file(link)).value
            }
            #expect(error?.kind == .storage(.exists))
            _ = try await client.download(Film(), to: .file(link, overwriting: .replace)).value
            #expect(try Data(contentsOf: target) == Data("target".utf8))
            #expect(try Data(contentsOf: link) == Self.content)
            let dangling = folder.appendingPathComponent("dangling")
            try FileManager.default.createSymbolicLink(
                at: dangling, withDestinationURL: folder.appendingPathComponent("none"))
            let numbered = try await client.download(Film(), to: .file(dangling, overwriting: .numbered)).value
            #expect(numbered.url.lastPathComponent == "dangling 2")
            let names = try Self.names(in: folder)
            #expect(!names.contains("none"))
        }
    }

    @Test func `a folder at the destination, and no folder to write into, are told as such`() async throws {
        try await Self.run { server, client, folder in
            let taken = folder.appendingPathComponent("taken")
            try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: false)
            for (destination, fault) in [
                (DownloadDestination.file(taken, overwriting: .replace), APIError.StorageFault.isFolder),
                (.file(folder.appendingPathComponent("none/a")), .noFolder),
                (.folder(folder.appendingPathComponent("none")), .noFolder),
            ] {
                let error = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: destination).value
                }
                #expect(error?.kind == .storage(fault))
            }
            let remote = DownloadDestination.folder(try #require(URL(string: "https://a.example/")))
            let error = await #expect(throws: APIError.self) { try await client.download(Film(), to: remote).value }
            #expect(error?.kind == .invalidParameter(field: "destination", reason: "is no file URL"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the system's codes have their names`() {
        let table: [(Int32, APIError.StorageFault)] = [
            (EEXIST, .exists), (ENOTEMPTY, .exists), (EISDIR, .isFolder), (ENOENT, .noFolder), (ENOTDIR, .noFolder),
            (EACCES, .notWritable),
            (EPERM, .notWritable), (EROFS, .notWritable), (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EWOULDBLOCK, .inUse),
            (EIO, .failed),
        ]
        for (code, fault) in table { #expect(APIError.StorageFault(code) == fault) }
        let error = APIError(SystemError(code: ENOSPC))
        #expect((error.underlying as? POSIXError)?.code == .ENOSPC)
        #expect(error.stage == .file)
        #expect((error as NSError).code == 5001)
    }

    // MARK: Resuming

    @Test func `a connection that is lost is gone on from where it was, within the call`() async throws {
        try await Self.run { server, client, folder in
            server.twist(FileServer.cutting(after: 200_000), FileServer.cutting(after: 150_000))
            let response = try await client.download(Film(), to: .folder(folder)).response
            #expect(try Data(contentsOf: response.value.url) == Self.content)
            #expect(Self.ranges(server) == [nil, "bytes=200000-", "bytes=350000-"])
            #expect(server.requests.dropFirst().map { $0.fields[.ifRange] == "\"v1\"" } == [true, true])
            #expect(server.bytes == 500_000)
            #expect(response.attempts.count == 3)
            #expect(!response.value.wasResumed)
        }
    }

    @Test func `what an interrupted download has left is gone on with by the next one, also of another client`()
        async throws
    {
        try await Self.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            try await Self.interrupt(server, client, .file(url))
            #expect(!FileManager.default.fileExists(atPath: url.path))
            #expect(try Self.names(in: folder).count == 2)
            var first: TransferProgress?
            let call = Self.client(server).download(Film(), to: .file(url))
            for try await case .progress(let progress) in call.updates where first == nil { first = progress }
            #expect(first?.received == 200_000)
            let response = try await call.response
            #expect(response.value.wasResumed)
            #expect(response.source == .revalidated)
            #expect(try Data(contentsOf: url) == Self.content)
            #expect(Self.ranges(server) == [nil, "bytes=200000-"])
            #expect(try Self.names(in: folder) == ["a.mp4"])
        }
    }

    @Test func `another file, another place, another user and another id know nothing of a part`() async throws {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let other = Self.client(server) { $0.identity = { "bob" } }
            _ = try await client.download(Film(id: 8), to: .folder(folder)).value
            _ = try await client.download(Film(), to: .file(folder.appendingPathComponent("x"))).value
            _ = try await other.download(Film(), to: .folder(folder)).value
            _ = try await client.download(Film(), to: .folder(folder), id: "seven").value
            #expect(Self.ranges(server) == [nil, nil, nil, nil, nil])
            _ = try await client.download(Film(), to: .folder(folder)).value
            #expect(Self.ranges(server).last == "bytes=200000-")
        }
    }

    @Test func `an id finds the part of a request whose URL has changed`() async throws {
        try await Self.run { server, client, folder in
            server.twist(FileServer.cutting(after: 200_000))
            for number in 0..<2 {
                let options = CallOptions.retry(.none).with { $0.parameters = ["time": number] }
                _ = try? await client.download(Film(), to: .folder(folder), id: "seven", options: options).value
            }
            #expect(Self.ranges(server) == [nil, "bytes=200000-"])
        }
    }

    /// What a server does with the request for the rest, and whether the part was of use.
    static let twists: [(name: String, FileServer.Twist, requests: Int)] = [
        ("206 of other bytes", { $1.fields[.contentRange] = "bytes 100000-499999/500000" }, 3),
        ("206 without a range", { $1.fields[.contentRange] = nil }, 3),
        ("206 with a range that is none", { $1.fields[.contentRange] = "bytes 200000-100000/500000" }, 3),
        ("206 of another version", { $1.fields[.eTag] = "\"v2\"" }, 3),
        ("206 of another length", { $1.fields[.contentRange] = "bytes 200000-499999/600000" }, 3),
        ("206 in a coding", { $1.fields[.contentEncoding] = "gzip" }, 3),
        ("416 for no reason", { ($1.status, $1.body) = (416, Data()) }, 3),
        (
            "200: ranges are ignored",
            { answer in
                { _, answer in (answer.status, answer.body, answer.fields[.contentRange]) = (200, content, nil) }
            }(0), 2
        ),
        ("206 of the rest", { _, _ in }, 2),
        (
            "206 of some of the rest",
            {
                $1.fields[.contentRange] = "bytes 200000-299999/500000"; $1.body = Data($1.body.prefix(100_000))
            }, 3
        ),
    ]

    @Test("whatever the server makes of a range, the file is the right one", arguments: twists.indices)
    func oddAnswers(index: Int) async throws {
        let (name, twist, requests) = Self.twists[index]
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            server.twist(twist)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == Self.content, "\(name)")
            #expect(server.requests.count == requests, "\(name)")
            #expect(try Self.names(in: folder) == ["7"])
        }
    }

    @Test func `a file that has changed on the server is loaded anew, and never mixed`() async throws {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let new = sampleBytes(seed: 29, count: 300_000)
            server.replace(new, tag: "\"v2\"")
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == new)
            #expect(!file.wasResumed)
            #expect(Self.ranges(server) == [nil, "bytes=200000-"])
        }
    }

    @Test(arguments: ["W/\"v1\"", nil]) func `without a strong validator nothing is kept, and all is loaded anew`(
        tag: String?
    ) async throws {
        try await Self.run(tag: tag) { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let left = try Self.names(in: folder)
            #expect(left.isEmpty)
            server.twist(FileServer.cutting(after: 300_000))
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(Self.ranges(server) == [nil, nil, nil])
        }
    }

    @Test func `a length that was never told is told by 416 at the end`() async throws {
        try await Self.run { server, client, folder in
            server.twist { _, answer in
                answer.fields[.contentLength] = nil
                answer.cut = Self.content.count
            }
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(Self.ranges(server) == [nil, "bytes=500000-"])
            #expect(try Data(contentsOf: file.url) == Self.content)
        }
    }

    @Test func `content in a coding is asked for in one that is removed, and is not gone on with`() async throws {
        try await Self.run { server, client, folder in
            let coded: FileServer.Twist = { $1.fields[.contentEncoding] = "gzip" }
            server.twist(coded, coded)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(server.requests.map { $0.fields[.acceptEncoding] } == ["identity", nil])
            #expect(try Data(contentsOf: file.url) == Self.content)
        }
    }

    @Test func `a range goes along with a redirect to another host, whose answer is joined`() async throws {
        try await Self.run { server, client, folder in
            let away: FileServer.Twist = {
                ($1.status, $1.body, $1.fields) = (
                    302, Data(), ["Location": "https://cdn.example/f?signature=\($0.fields[.range] ?? "")"]
                )
            }
            server.twist(away, FileServer.cutting(after: 200_000), away)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(Self.ranges(server) == [nil, nil, "bytes=200000-", "bytes=200000-"])
            #expect(
                server.requests.map(\.url.host) == [
                    "films.example.com", "cdn.example", "films.example.com", "cdn.example",
                ])
            #expect(file.url.lastPathComponent == "f")
        }
    }

    @Test func `a server that contradicts itself for ever ends the download`() async throws {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let lying: FileServer.Twist = { $1.fields[.contentRange] = nil }
            for _ in 0..<3 { server.twist(lying, FileServer.cutting(after: 200_000)) }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .transport(.protocolViolation))
        }
    }

    @Test func `more than was said is an error, and nothing of it is kept`() async throws {
        try await Self.run { server, client, folder in
            server.twist { $1.fields[.contentLength] = "499999" }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .transport(.protocolViolation))
            let left = try Self.names(in: folder)
            #expect(left.isEmpty)
        }
    }

    // MARK: Digests

    @Test func `a file with the digest that was named passes, also one that came in parts`() async throws {
        try await Self.run { server, client, folder in
            let digest = SHA256.bytes(Self.content)
            let naming: FileServer.Twist = {
                $1.fields["Repr-Digest"] = "sha-256=:\(digest.base64EncodedString()):"
                $1.cut = 200_000
            }
            server.twist(naming)
            let file = try await client.download(
                Film(), to: .folder(folder), sha256: SHA256.hex(Self.content).uppercased()
            ).value
            #expect(try Data(contentsOf: file.url) == Self.content)
        }
    }

    @Test func `a SHA-512 that the server names is checked`() async throws {
        try await Self.run { server, client, folder in
            var digest = SHA512.Stream()
            digest.update(Self.content)
            let good = try #require(Self.bytes(ofHex: digest.hex())).base64EncodedString()
            let wrong = Data(count: 64).base64EncodedString()
            server.twist(
                { $1.fields["Repr-Digest"] = "sha-512=:\(good):" }, { $1.fields["Repr-Digest"] = "sha-512=:\(wrong):" })
            let file = try await client.download(Film(), to: .folder(folder), sha256: SHA256.hex(Self.content)).value
            #expect(try Data(contentsOf: file.url) == Self.content)
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .validation(rule: "Repr-Digest"))
            #expect(try Self.names(in: folder) == [file.url.lastPathComponent])
        }
    }

    private static func bytes(ofHex text: String) -> Data? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    @Test func `a folder that cannot be written to fails before anything is sent`() async throws {
        try await Self.run { server, client, folder in
            // Root may write to any folder but those that the kernel makes up.
            let readOnly = URL(fileURLWithPath: geteuid() == 0 ? "/sys/kernel" : folder.path)
            guard geteuid() != 0 || FileManager.default.fileExists(atPath: readOnly.path) else { return }
            if geteuid() != 0 {
                try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
            }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(readOnly)).value
            }
            #expect(error?.kind == .storage(.notWritable))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `without hard links a name that is taken stays taken`() async throws {
        try await MultipartTests.withFolder { folder in
            let part = folder.appendingPathComponent("part").path
            let path = folder.appendingPathComponent("film").path
            let linkless: @Sendable (String, String) -> Int32 = { _, _ in
                errno = EPERM
                return -1
            }
            let placeholders = Locked(0)
            let renaming = DownloadPlace.Ways(link: linkless)
            let neither = DownloadPlace.Ways(link: linkless) { _, _ in
                placeholders.withLock { $0 += 1 }
                errno = EINVAL
                return -1
            }
            for (number, ways) in [renaming, neither].enumerated() {
                try Data("new \(number)".utf8).write(to: URL(fileURLWithPath: part))
                try DownloadPlace.move(part, ifFree: path, by: ways)
                #expect(try Self.names(in: folder) == ["film"])
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "new \(number)")
                try Data("another".utf8).write(to: URL(fileURLWithPath: part))
                let error = #expect(throws: SystemError.self) {
                    try DownloadPlace.move(part, ifFree: path, by: ways)
                }
                #expect(error?.code == EEXIST)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "new \(number)")
                try FileManager.default.removeItem(atPath: path)
            }
            // Where the system can rename without replacing, nobody ever sees an empty file under the name.
            #expect(placeholders.withLock { $0 } == 2)
        }
    }

    @Test func `a file with another digest is no file, and nothing of it is kept`() async throws {
        try await Self.run { server, client, folder in
            let wrong = SHA256.bytes(Data()).base64EncodedString()
            server.twist { $1.fields["Repr-Digest"] = "sha-256=:\(wrong):" }
            for (digest, rule) in [(nil, "Repr-Digest"), (String(repeating: "0", count: 64), "sha256")] {
                let error = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: .folder(folder), sha256: digest).value
                }
                #expect(error?.kind == .validation(rule: rule))
                let left = try Self.names(in: folder)
                #expect(left.isEmpty)
            }
            for text in ["", String(repeating: "0", count: 63), String(repeating: "g", count: 64)] {
                let error = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: .folder(folder), sha256: text).value
                }
                #expect(error?.kind == .invalidParameter(field: "sha256", reason: "is not 64 hexadecimal digits"))
            }
        }
    }

    @Test func `a digest that was named at the beginning counts at the end, also for another process`() async throws {
        try await Self.run { server, client, folder in
            let wrong = SHA256.bytes(Data()).base64EncodedString()
            server.twist {
                $1.fields["Repr-Digest"] = "sha-256=:\(wrong):"
                $1.cut = 200_000
            }
            _ = try? await client.download(Film(), to: .folder(folder), options: .retry(.none)).value
            let error = await #expect(throws: APIError.self) {
                try await Self.client(server).download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .validation(rule: "Repr-Digest"))
        }
    }

    // MARK: The part on the disk

    /// The names of the part and its description.
    private static func parts(in folder: URL) throws -> (part: URL, description: URL) {
        let names = try names(in: folder)
        let part = try #require(names.first { $0.hasSuffix(".part") })
        let description = try #require(names.first { $0.hasSuffix(".json") })
        return (folder.appendingPathComponent(part), folder.appendingPathComponent(description))
    }

    /// What becomes of the part or its description while nobody has them.
    enum Damage: CaseIterable {
        case noDescription, brokenDescription, longDescription, otherVersion, otherKey, longPart, linkedPart,
            linkedDescription, hardLink, pipe

        func apply(_ part: URL, _ description: URL, in folder: URL) throws {
            let text = try String(contentsOf: description, encoding: .utf8)
            let other = folder.appendingPathComponent("other")
            switch self {
            case .noDescription: try FileManager.default.removeItem(at: description)
            case .brokenDescription: try Data(text.utf8.dropLast()).write(to: description)
            case .longDescription:
                try Data((String(repeating: " ", count: 65_536) + text).utf8).write(to: description)
            case .otherVersion:
                try Data(text.replacing("\"version\":1", with: "\"version\":2").utf8).write(to: description)
            case .otherKey: try Data(text.replacing("\"key\":\"", with: "\"key\":\"0").utf8).write(to: description)
            case .longPart: try Data(count: 600_000).write(to: part)
            case .linkedPart:
                try FileManager.default.moveItem(at: part, to: other)
                try FileManager.default.createSymbolicLink(at: part, withDestinationURL: other)
            case .linkedDescription:
                try FileManager.default.moveItem(at: description, to: other)
                try FileManager.default.createSymbolicLink(at: description, withDestinationURL: other)
            case .hardLink: try FileManager.default.linkItem(at: part, to: other)
            case .pipe:
                try FileManager.default.removeItem(at: part)
                mkfifo(part.path, 0o600)
            }
        }
    }

    @Test("Nobody but its owner reads a part; the whole file has the permissions of any new one")
    func permissions() async throws {
        try await Self.run { server, client, folder in
            for mode in [0o644, 0o644] {
                try await Self.interrupt(server, client, .folder(folder))
                let part = try Self.parts(in: folder).part
                #expect(FileFacts.at(part.path).map { $0.st_mode & 0o777 } == 0o600)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: part.path)
            }
            let (file, other) = (
                try await client.download(Film(), to: .folder(folder)).value, folder.appending(path: "o")
            )
            try Data().write(to: other)
            let modes = Set([file.url, other].map { FileFacts.at($0.path)?.st_mode })
            #expect(modes.count == 1)
        }
    }

    @Test("a part that is not what was written is no part", arguments: Damage.allCases)
    func damage(damage: Damage) async throws {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let (part, description) = try Self.parts(in: folder)
            try damage.apply(part, description, in: folder)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(Self.ranges(server) == [nil, nil])
            let other = folder.appendingPathComponent("other")
            if damage == .linkedPart || damage == .hardLink {
                #expect(try Data(contentsOf: other) == Self.content.prefix(200_000))
            }
        }
    }

    @Test func `a part that was written before the machine started anew counts as far as it was synchronized`()
        async throws
    {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let (_, description) = try Self.parts(in: folder)
            let id = try #require(MachineStart.id)
            let text = try String(contentsOf: description, encoding: .utf8)
            let changed = text.replacing(id, with: "earlier").replacing("\"synced\":0", with: "\"synced\":100000")
            try Data(changed.utf8).write(to: description)
            _ = try await client.download(Film(), to: .folder(folder)).value
            #expect(Self.ranges(server) == [nil, "bytes=100000-"])
        }
    }

    @Test func `the description holds no URL and nothing of the user`() async throws {
        try await Self.run { server, client, folder in
            server.twist {
                $1.fields[.setCookie] = "session=canary"
                $1.cut = 200_000
            }
            let options = CallOptions.retry(.none).with { $0.parameters = ["token": "canary"] }
            _ = try? await client.download(Film(), to: .folder(folder), options: options).value
            let text = try String(contentsOf: try Self.parts(in: folder).description, encoding: .utf8)
            #expect(!text.contains("canary") && !text.contains("films"))
            #expect(text.contains("v1"))
        }
    }

    @Test func `two downloads of the same to the same place do not write into one another`() async throws {
        try await Self.run { server, client, folder in
            let first = client.download(Film(), to: .folder(folder))
            first.suspend()
            while !Task.isCancelled, try Self.names(in: folder).isEmpty { await Task.yield() }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .storage(.inUse))
            first.resume()
            #expect(try Data(contentsOf: await first.value.url) == Self.content)
        }
    }

    @Test func `what nobody will go on with is removed after its time`() async throws {
        try await Self.run { server, client, folder in
            try await Self.interrupt(server, client, .folder(folder))
            let (part, _) = try Self.parts(in: folder)
            #expect(await APIClient.removePartialDownloads(in: folder) == 0)
            let old = Date(timeIntervalSinceNow: -604_801)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: part.path)
            try Data().write(to: folder.appendingPathComponent("other.part"))
            #expect(await APIClient.removePartialDownloads(in: folder) == 1)
            #expect(try Self.names(in: folder) == ["other.part"])
        }
    }

    // MARK: Ending it

    @Test func `a download that is cancelled keeps its part, and the next one goes on`() async throws {
        try await Self.run { server, client, folder in
            server.twist { $1.meanwhile = { client.cancelAll() } }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .folder(folder)).value
            }
            #expect(error?.kind == .cancelled)
            #expect(client.callCount == 0)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(Self.ranges(server) == [nil, "bytes=20000-"])
            #expect(file.wasResumed)
            #expect(try Data(contentsOf: file.url) == Self.content)
        }
    }

    @Test func `a scope that goes ends the download`() async throws {
        try await Self.run { _, client, folder in
            var scope: CallScope? = CallScope()
            let call = client.download(Film(), to: .folder(folder), in: scope)
            call.suspend()
            #expect(scope?.callCount == 1)
            scope = nil
            await #expect(throws: APIError.self) { try await call.value }
            let names = try Self.names(in: folder)
            #expect(names.allSatisfy { $0.hasPrefix(".penstock-") })
        }
    }
}
