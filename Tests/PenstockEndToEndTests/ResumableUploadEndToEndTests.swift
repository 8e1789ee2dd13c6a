import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Resumable uploads to servers in other processes, from this one and from programs that are killed.
@Suite(.timeLimit(.minutes(20)), .serialized, .needsServers)
struct ResumableUploadEndToEndTests {
    private func client(_ server: UploadServers) -> APIClient {
        var configuration = APIClient.Configuration(services: [Service(.main, [.development: server.base])])
        configuration.environment = .development
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        return APIClient(configuration)
    }

    private func stats(_ server: UploadServers) async throws -> UploadServers.Stats {
        try await client(server).get("/stats")
    }

    /// A file of its own folder, which is gone afterwards.
    private func withFile<Output>(
        of count: Int, _ body: (URL, String) async throws -> Output
    ) async throws -> Output {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("clip.bin")
        try sampleBytes(seed: 15, count: count).write(to: file)
        let digest = try Programs.run(Programs.openssl, ["dgst", "-sha256", "-r", file.path])
        return try await body(file, String(digest.prefix { $0 != " " }))
    }

    static let servers: [(ResumableUploadProtocol, @Sendable () async throws -> UploadServers)] = [
        (.tus, UploadServers.tus), (.httpDraft, UploadServers.draft),
    ]

    @Test("A file arrives whole at a server that others wrote", .covers("X15"), arguments: 0..<2)
    func whole(number: Int) async throws {
        let (form, start) = Self.servers[number]
        let server = try await start()
        for count in [1, 1_000_000] {
            try await withFile(of: count) { file, digest in
                let upload = client(server).upload(file, to: "/\(server.path)", resumableBy: form)
                var last = 0.0
                for await progress in upload.progress {
                    let fraction = progress.fraction ?? 0
                    #expect(fraction >= last)
                    last = fraction
                }
                #expect(last == 1)
                _ = try await upload.value
                let objects = try await stats(server).objects
                #expect(objects.last == digest)
            }
        }
        #expect(try await stats(server).objects.count == 2)
    }

    @Test("A file whose upload is paused again and again arrives whole, once", .covers("X15"), arguments: 0..<2)
    func pauses(number: Int) async throws {
        let (form, start) = Self.servers[number]
        let server = try await start()
        try await withFile(of: 4_000_000) { file, digest in
            let upload = client(server).upload(file, to: "/\(server.path)", resumableBy: form, patience: 100)
            var pauses = 0
            for await progress in upload.progress where pauses < 5 && progress.sent > pauses * 500_000 {
                pauses += 1
                upload.pause()
                upload.resume()
            }
            _ = try await upload.value
            #expect(try await stats(server).objects == [digest])
        }
    }

    // MARK: Deaths

    /// How many deaths: `PENSTOCK_KILLS`. Few by default; 200 and a file of 256 MiB are what the requirement asks for.
    private static let kills = ProcessInfo.processInfo.environment["PENSTOCK_KILLS"].flatMap { Int($0) } ?? 6
    private static let size =
        ProcessInfo.processInfo.environment["PENSTOCK_KILL_BYTES"].flatMap { Int($0) } ?? 3_000_000

    @Test(
        "A program that is killed while it uploads is followed by one that goes on: one object, its bytes, hardly any twice",
        .covers("X15", "X16"), arguments: 0..<2)
    func killed(number: Int) async throws {
        let (form, start) = Self.servers[number]
        let server = try await start()
        guard let program = BuiltProgram.url("upload-writer") else { throw CocoaError(.fileNoSuchFile) }
        try await withFile(of: Self.size) { file, digest in
            var random = SystemRandomNumberGenerator()
            var (deaths, isDone) = (0, false)
            while !isDone {
                // It dies after it has said that many words: somewhere between its first request and its last.
                let words = deaths < Self.kills ? Int.random(in: 1...6, using: &random) : .max
                isDone = try await run(
                    program, [server.base, server.path, form.rawValue, file.path], killedAfter: words)
                if !isDone { deaths += 1 }
                try #require(deaths <= Self.kills, "it has ended without a reason")
            }
            let stats = try await stats(server)
            #expect(stats.objects == [digest])
            let bound = Double(Self.size) * 1.05 + Double((deaths + 1) * (1 << 20))
            #expect(Double(stats.received) <= bound, "\(stats.received) bytes for \(deaths) deaths")
        }
    }

    /// - Returns: whether it has ended by itself.
    private func run(_ program: URL, _ arguments: [String], killedAfter words: Int) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let (process, pipe) = (Process(), Pipe())
                        (process.executableURL, process.arguments) = (program, arguments)
                        process.standardOutput = pipe
                        try process.run()
                        var (text, heard) = (Data(), 0)
                        while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                            text += data
                            heard += data.count { $0 == UInt8(ascii: "\n") }
                            if heard >= words { kill(process.processIdentifier, SIGKILL) }
                        }
                        process.waitUntilExit()
                        return String(decoding: text, as: UTF8.self).hasSuffix("done\n")
                    })
            }
        }
    }
}
