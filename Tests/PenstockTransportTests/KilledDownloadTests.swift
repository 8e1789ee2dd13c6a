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
        /// What is under way when a process is killed while it is served, at most: its pipe, and what Linux lets a socket hold that
        /// is to be sent (`net.ipv4.tcp_wmem`), which a busy machine fills. It is lost with the sockets, whatever the program does;
        /// what the program itself might lose is looked at of each process, and is nothing.
        private static let buffer = 4 << 20
        private static let block = sampleBytes(seed: 16, count: 64 << 10)

        /// What the server gives out.
        private struct Supply {
            /// So many bytes so far, to all processes.
            var served = 0
            /// And no more than that, but for the rest of a piece.
            var limit = Int.max
            /// The process that is served. What an earlier one has asked for is given out no further.
            var process = 0
            /// Where the answers to it began.
            var starts: [Int] = []

            /// Whether a piece may go to a process; `nil` while it must wait.
            mutating func give(_ count: Int, to asker: Int) -> Bool? {
                guard asker == process else { return false }
                guard served < limit else { return nil }
                served += count
                return true
            }
        }

        /// Serves the file in pieces, no faster than they are read, and counts what it gives out.
        private static func server(_ supply: Locked<Supply>, size: Int = Self.size) throws -> LoopbackServer {
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
                let asker = supply.withLock { [from] supply in
                    supply.starts.append(from)
                    return supply.process
                }
                response.body = .produced(pause: .milliseconds(1)) { [from] index in
                    guard let piece = Self.piece(at: from + index * block.count, of: size) else { return nil }
                    while true {
                        if let isGiven = supply.withLock({ $0.give(piece.count, to: asker) }) {
                            return isGiven ? piece : nil
                        }
                        usleep(500)
                    }
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

        /// How much of a file is on the disk, under a name that is not its own yet.
        private static func kept(in folder: URL) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            guard let part = names.first(where: { $0.hasSuffix(".part") }) else { return 0 }
            let facts = try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(part).path)
            return facts?[.size] as? Int ?? 0
        }

        /// Every second process, at random, is served so much and no more, so that all of it comes to the program before it is killed.
        /// All of it has to be on the disk then, and the next process to go on behind it. The others are killed while they are served.
        @Test(.covers("X16"))
        func `killed at random moments, a download loses next to nothing, and the file is the right one`()
            async throws
        {
            let program = try #require(BuiltProgram.url("file-fetcher"))
            var random = Seeded.printed("killed downloads")
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let destination = folder.appendingPathComponent("film.mp4")
            let supply = Locked(Supply())
            let server = try Self.server(supply)
            defer { server.stop() }
            let arguments = [server.url.absoluteString + "film", destination.path]
            var (kills, files, underWay) = (0, 0, 0)
            // What is in the sockets still arrives, so that a file may have come to its end before it was killed often enough.
            while kills < Self.kills {
                while kills < Self.kills, !FileManager.default.fileExists(atPath: destination.path) {
                    let process = Process()
                    process.executableURL = program
                    process.arguments = arguments
                    process.standardOutput = FileHandle.nullDevice
                    let (before, kept) = (supply.withLock(\.served), Self.kept(in: folder))
                    let mark = before + Int.random(in: 0...2_500_000, using: &random)
                    let isHeldBack = Bool.random(using: &random)
                    supply.withLock { supply in
                        supply.process += 1
                        (supply.starts, supply.limit) = ([], isHeldBack ? mark : .max)
                    }
                    try process.run()
                    while !Task.isCancelled, process.isRunning, supply.withLock(\.served) < mark { usleep(500) }
                    if isHeldBack {
                        while !Task.isCancelled, process.isRunning,
                            Self.kept(in: folder) != kept + supply.withLock(\.served) - before
                        { usleep(500) }
                    }
                    usleep(UInt32.random(in: 0...3_000, using: &random))
                    if process.isRunning {
                        kill(process.processIdentifier, SIGKILL)
                        kills += 1
                        if !isHeldBack { underWay += 1 }
                    }
                    process.waitUntilExit()
                    // What the dead have asked for is over before it is asked who went on where.
                    supply.withLock { $0.process += 1 }
                    try await server.waitForOpenConnections(atMost: 0)
                    let starts = supply.withLock(\.starts)
                    // Where all is there, its last byte tells that it is still the same.
                    let next = min(kept, Self.size - 1)
                    #expect(starts.allSatisfy { $0 == next }, "\(kept) bytes were there, asked for from \(starts)")
                    // Never half a file under the final name.
                    if let facts = try? FileManager.default.attributesOfItem(atPath: destination.path) {
                        #expect(facts[.size] as? Int == Self.size)
                    }
                }
                if !FileManager.default.fileExists(atPath: destination.path) {
                    let kept = Self.kept(in: folder)
                    supply.withLock { ($0.starts, $0.limit) = ([], .max) }
                    let last = try await Subprocess.run(program, arguments)
                    #expect(last.status == 0, "\(last.output)")
                    #expect(supply.withLock(\.starts).allSatisfy { $0 == min(kept, Self.size - 1) })
                }
                try Self.check(destination)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
                try FileManager.default.removeItem(at: destination)
                files += 1
            }
            let total = supply.withLock(\.served)
            print("killed \(kills) times in \(files) downloads; \(total) bytes served of \(files * Self.size)")
            #expect(total <= files * (Self.size + Self.size / 20) + underWay * Self.buffer)
        }

        /// `PENSTOCK_SOAK=full` pauses a hundred times within 2 GiB.
        @Test(.covers("X16")) func `a large file is downloaded with many pauses in little memory`() async throws {
            let (pauses, size) = Self.isFull ? (100, 2 << 30) : (10, 64 << 20)
            let program = try #require(BuiltProgram.url("file-fetcher"))
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("film.mp4")
            let server = try Self.server(Locked(Supply()), size: size)
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
