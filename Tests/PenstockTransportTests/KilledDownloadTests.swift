#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// A download in a process that is killed again and again comes to its end, with hardly a byte sent twice.
    ///
    /// Twenty times by default; `PENSTOCK_SOAK=full` kills two hundred times, each file being of 256 MiB.
    @Suite(.serialized, .timeLimit(.minutes(30)))
    struct KilledDownloadOwnProcessTests {
        private static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"
        private static let kills = isFull ? 200 : 20
        /// As much as is served between two kills in the mean, so that they are spread over all of the file.
        private static let size = kills * 1_342_177
        /// What is under way when a process is killed, at most: its pipe, and what Linux lets a socket hold that is to be sent
        /// (`net.ipv4.tcp_wmem`), which a busy machine fills. Who began anew each time would have half of the file served more.
        private static let buffer = 4 << 20
        private static let block = sampleBytes(seed: 16, count: 64 << 10)

        /// Serves the file in pieces, no faster than they are read, and counts what it gives out.
        private static func server(_ served: Locked<Int>, size: Int = Self.size) throws -> LoopbackServer {
            try LoopbackServer { request in
                var fields: HTTPFields = ["ETag": "\"v1\""]
                var from = 0
                var response = LoopbackServer.Response(status: 200)
                if request.fields["If-Range"] == "\"v1\"", let range = request.fields["Range"],
                    let first = Int(range.dropFirst(6).dropLast())
                {
                    from = first
                    guard first < size else { return .init(status: 416, fields: ["Content-Range": "bytes */\(size)"]) }
                    fields["Content-Range"] = "bytes \(first)-\(size - 1)/\(size)"
                    response.status = 206
                }
                fields["Content-Length"] = "\(size - from)"
                response.fields = fields
                response.body = .produced(pause: .milliseconds(1)) { [from] index in
                    let piece = Self.piece(at: from + index * block.count, of: size)
                    if let piece { served.withLock { $0 += piece.count } }
                    return piece
                }
                return response
            }
        }

        /// The bytes of the file from there on; `nil` at its end.
        private static func piece(at offset: Int, of size: Int = Self.size) -> Data? {
            guard offset < size else { return nil }
            let start = offset % block.count
            let turned = block[start...] + block[..<start]
            return Data(turned.prefix(size - offset))
        }

        @Test(.covers("X16"))
        func `killed at random moments, a download loses next to nothing, and the file is the right one`()
            async throws
        {
            let program = try #require(BuiltProgram.url("file-fetcher"))
            let seed =
                ProcessInfo.processInfo.environment["PENSTOCK_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...(.max))
            print("seed \(seed)")
            var random = Seeded(seed: seed)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let destination = folder.appendingPathComponent("film.mp4")
            let served = Locked(0)
            let server = try Self.server(served)
            defer { server.stop() }
            let arguments = [server.url.absoluteString + "film", destination.path]
            var (kills, files) = (0, 0)
            // What is in the sockets still arrives, so that a file may have come to its end before it was killed often enough.
            while kills < Self.kills {
                while kills < Self.kills, !FileManager.default.fileExists(atPath: destination.path) {
                    let process = Process()
                    process.executableURL = program
                    process.arguments = arguments
                    process.standardOutput = FileHandle.nullDevice
                    try process.run()
                    let mark = served.withLock { $0 } + Int.random(in: 0...2_500_000, using: &random)
                    while process.isRunning, served.withLock({ $0 }) < mark { usleep(500) }
                    usleep(UInt32.random(in: 0...3_000, using: &random))
                    if process.isRunning {
                        kill(process.processIdentifier, SIGKILL)
                        kills += 1
                    }
                    process.waitUntilExit()
                    // Never half a file under the final name.
                    if let facts = try? FileManager.default.attributesOfItem(atPath: destination.path) {
                        #expect(facts[.size] as? Int == Self.size)
                    }
                }
                if !FileManager.default.fileExists(atPath: destination.path) {
                    let last = try await Subprocess.run(program, arguments)
                    #expect(last.status == 0, "\(last.output)")
                }
                try Self.check(destination)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
                try FileManager.default.removeItem(at: destination)
                files += 1
            }
            let total = served.withLock { $0 }
            print("killed \(kills) times in \(files) downloads; \(total) bytes served of \(files * Self.size)")
            #expect(total <= files * (Self.size + Self.size / 20) + kills * Self.buffer)
        }

        /// `PENSTOCK_SOAK=full` pauses a hundred times within 2 GiB.
        @Test(.covers("X16")) func `a large file is downloaded with many pauses in little memory`() async throws {
            let (pauses, size) = Self.isFull ? (100, 2 << 30) : (10, 64 << 20)
            let program = try #require(BuiltProgram.url("file-fetcher"))
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("film.mp4")
            let server = try Self.server(Locked(0), size: size)
            defer { server.stop() }
            let run = try await Subprocess.run(
                program, [server.url.absoluteString + "film", file.path, "\(pauses)"])
            print("\(size) bytes: \(run.output)")
            let lines = run.output.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(lines.first?.last.flatMap { Int($0) } == pauses)
            let held = try #require(lines.dropFirst().first?.last.flatMap { Int($0) })
            #expect(held > 0 && held < 32 << 10, "\(held) KiB")
            try Self.check(file, size: size)
        }

        private static func check(_ file: URL, size: Int = Self.size) throws {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            var offset = 0
            while let expected = piece(at: offset, of: size) {
                let bytes = try handle.read(upToCount: expected.count)
                guard bytes == expected else {
                    Issue.record("the file differs within 64 KiB of \(offset)")
                    return
                }
                offset += expected.count
            }
            #expect(try handle.read(upToCount: 1) ?? Data() == Data())
            #expect(offset == size)
        }
    }
#endif
