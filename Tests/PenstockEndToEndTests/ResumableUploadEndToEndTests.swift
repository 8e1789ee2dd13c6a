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
        try write(count, to: file)
        let digest = try Programs.run(Programs.openssl, ["dgst", "-sha256", "-r", file.path])
        return try await body(file, String(digest.prefix { $0 != " " }))
    }

    /// Makes a file of any size with the memory of a piece, no two of whose pieces are alike.
    private func write(_ count: Int, to file: URL) throws {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        let block = sampleBytes(seed: 15, count: min(count, 1 << 20))
        var left = count
        while left > 0 {
            var piece = block.prefix(left)
            for (place, byte) in withUnsafeBytes(of: left.littleEndian, Array.init).enumerated().prefix(left) {
                piece[piece.startIndex + place] = byte
            }
            try handle.write(contentsOf: piece)
            left -= piece.count
        }
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
            let upload = client(server).upload(
                file, to: "/\(server.path)", resumableBy: form, policy: .init(patience: 100))
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

    /// Where a program dies: at a request with a method, and how far that has come by then.
    static let moments: [(method: String, moment: String)] = [
        ("POST", "asked"), ("POST", "unheard"), ("POST", "answered"), ("HEAD", "asked"), ("HEAD", "unheard"),
        ("HEAD", "answered"), ("PATCH", "asked"), ("PATCH", "within"), ("PATCH", "last"), ("PATCH", "unheard"),
        ("PATCH", "answered"),
    ]

    @Test(
        "Whatever the moment at which the program is killed, the next one ends the upload: one object, its bytes",
        .covers("X15"), arguments: 0..<2)
    func killedAtEachMoment(number: Int) async throws {
        let (form, start) = Self.servers[number]
        let server = try await start()
        let port = try Loopback.freePorts(1)[0]
        let program = try #require(BuiltProgram.url("upload-writer"))
        for (method, moment) in Self.moments {
            try await withFile(of: 400_000) { file, digest in
                let state = URL(fileURLWithPath: file.path + ".upload")
                let arguments = ["http://127.0.0.1:\(port)", server.path, form.rawValue, file.path]
                let before = try await stats(server).objects.count
                func run(_ method: String, _ moment: String) async throws -> String {
                    try await server.relay(from: port, method, moment, [program.path] + arguments)
                }
                if method == "HEAD" {
                    // An upload asks what is there only when it was begun.
                    let first = try await run("PATCH", "within")
                    #expect(first == "killed\n")
                }
                let end = try await run(method, moment)
                // One that has had its last answer may have ended by itself before it is killed.
                let hadLast = method == "PATCH" && moment == "answered"
                #expect(end == "killed\n" || hadLast && end == "ended 0\n", "\(method) \(moment)")
                if !hadLast {
                    let mode = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
                    #expect(mode == 0o600)
                }
                if FileManager.default.fileExists(atPath: state.path) {
                    let next = try await run("NONE", "asked")
                    #expect(next == "ended 0\n", "\(method) \(moment)")
                }
                #expect(!FileManager.default.fileExists(atPath: state.path))
                let objects = try await stats(server).objects
                #expect(objects.suffix(1) == [digest] && objects.count == before + 1, "\(method) \(moment)")
            }
        }
    }

    private static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"

    /// `PENSTOCK_SOAK=full` kills two hundred times within 256 MiB.
    @Test(
        "A program that is killed at random while it uploads is followed by one that goes on: one object, hardly any byte twice",
        .covers("X15", "X16"), arguments: 0..<2)
    func killed(number: Int) async throws {
        let (kills, size) = Self.isFull ? (200, 256 << 20) : (6, 3_000_000)
        let (form, start) = Self.servers[number]
        let server = try await start()
        let program = try #require(BuiltProgram.url("upload-writer"))
        try await withFile(of: size) { file, digest in
            var random = Seeded.printed("killed uploads")
            var (deaths, uploads) = (0, 0)
            repeat {
                // As much as is sent between two deaths in the mean, so that they are spread over all of the file.
                let share = Int.random(in: 0...(2 * size / (kills + 1)), using: &random)
                let late = UInt32.random(in: 0...3_000, using: &random)
                let isDone = try await run(
                    program, [server.base, server.path, form.rawValue, file.path],
                    killedAfter: deaths < kills ? (share, late) : nil)
                if isDone { uploads += 1 } else { deaths += 1 }
                // What was under way when it died still comes to the server, and is there for the next one to go on behind.
                while !Task.isCancelled, try await stats(server).appending > 0 { await Task.yield() }
                try #require(deaths <= kills, "it has ended without a reason")
            } while deaths < kills || FileManager.default.fileExists(atPath: file.path + ".upload")
            let stats = try await stats(server)
            print(
                "\(form.rawValue): killed \(deaths) times in \(uploads) uploads; \(stats.received) bytes received of \(uploads * size)"
            )
            #expect(stats.objects == Array(repeating: digest, count: uploads))
            // Each byte that came was kept, so nothing of it is sent again, whenever it was that a program died.
            #expect(stats.received == uploads * size)
        }
    }

    /// - Parameter death: after so many bytes of its own and so many microseconds. Never for `nil`.
    /// - Returns: whether it has ended by itself.
    private func run(
        _ program: URL, _ arguments: [String], killedAfter death: (bytes: Int, late: UInt32)?
    ) async throws -> Bool {
        try await inBackground {
            let (process, pipe) = (Process(), Pipe())
            (process.executableURL, process.arguments) = (program, arguments)
            process.standardOutput = pipe
            try process.run()
            var (text, first) = ("", Int?.none)
            while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
                // The last line that has come whole.
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                guard let sent = lines.last(where: { $0.hasPrefix("sent ") }).flatMap({ Int($0.dropFirst(5)) }) else {
                    continue
                }
                text = String(text.suffix(64))
                let start = first ?? sent
                first = start
                guard let death, sent - start >= death.bytes else { continue }
                usleep(death.late)
                kill(process.processIdentifier, SIGKILL)
            }
            process.waitUntilExit()
            return text.hasSuffix("done\n")
        }
    }

    private func inBackground<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// `PENSTOCK_SOAK=full` pauses a hundred times within 2 GiB.
    @Test("A large file is uploaded with many pauses in little memory", .covers("X16"), arguments: 0..<2)
    func memory(number: Int) async throws {
        let (pauses, size) = Self.isFull ? (100, 2 << 30) : (10, 12 << 20)
        let (form, start) = Self.servers[number]
        let server = try await start()
        let program = try #require(BuiltProgram.url("upload-writer"))
        try await withFile(of: size) { file, digest in
            let run = try await Subprocess.run(
                program, [server.base, server.path, form.rawValue, file.path, "\(pauses)"])
            print("\(form.rawValue), \(size) bytes: \(run.output)")
            let lines = run.output.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(lines.first?.last.flatMap { Int($0) } == pauses)
            let held = try #require(lines.dropFirst().first?.last.flatMap { Int($0) })
            #expect(held > 0 && held < 32 << 10, "\(held) KiB")
            #expect(try await stats(server).objects == [digest])
        }
    }
}
