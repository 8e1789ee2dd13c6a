#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// A download in a process that is killed again and again comes to its end, with hardly a byte sent twice.
    ///
    /// Twenty times by default; `PENSTOCK_SOAK=full` kills two hundred times, each file being of 1,200 MiB.
    @Suite(.serialized, .timeLimit(.minutes(30)))
    struct KilledDownloadOwnProcessTests {
        private static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"
        private static let kills = isFull ? 200 : 20
        /// A little more than is served between two kills in the mean, so that they are spread over all of the file. What a program has
        /// read and not written yet, some pieces, is a small part of it.
        private static let share = 6 << 20
        private static let size = kills * share
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

        /// What is in the kernel of a connection with the server: to be sent by it, or to be read by the program. It is lost with the
        /// sockets when the program is killed, whatever that does, and is not counted as what it had.
        private static func onTheWay(_ port: Int) throws -> Int {
            let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            // A local and a remote address with a port each, the state, and both queues, all in hexadecimal.
            return table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
                let cells = line.split(separator: " ")
                guard cells.count > 4 else { return sum }
                let ports = cells[1...2].map { $0.split(separator: ":").last.flatMap { Int($0, radix: 16) } }
                let queues = cells[4].split(separator: ":").map { Int($0, radix: 16) ?? 0 }
                guard ports.contains(port), queues.count == 2, cells[3] != "0A" else { return sum }
                return sum + queues[0] + queues[1]
            }
        }

        /// Lets a program do nothing more, waits until nothing moves, and kills it.
        ///
        /// - Returns: how many of the bytes that were served it had not read.
        private static func kill(_ process: Process, _ supply: Locked<Supply>, _ port: Int) throws -> Int {
            Foundation.kill(process.processIdentifier, SIGSTOP)
            supply.withLock { $0.limit = 0 }
            var (last, since) = (-1, ContinuousClock.now)
            // What the server has in hand goes out as far as there is room, and what has come is acknowledged.
            while !Task.isCancelled, since.duration(to: .now) < .milliseconds(60) {
                let now = try onTheWay(port)
                if now != last { (last, since) = (now, .now) }
                usleep(1_000)
            }
            Foundation.kill(process.processIdentifier, SIGKILL)
            return last
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
            let port = server.url.port
            var (kills, files, unread) = (0, 0, 0)
            // What is in the sockets still arrives, so that a file may have come to its end before it was killed often enough.
            while kills < Self.kills {
                while kills < Self.kills, !FileManager.default.fileExists(atPath: destination.path) {
                    let process = Process()
                    process.executableURL = program
                    process.arguments = arguments
                    process.standardOutput = FileHandle.nullDevice
                    let (before, kept) = (supply.withLock(\.served), Self.kept(in: folder))
                    let mark = before + Int.random(in: 0...Self.share * 15 / 8, using: &random)
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
                        unread += try Self.kill(process, supply, port)
                        kills += 1
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
            let read = total - unread
            print(
                "killed \(kills) times in \(files) downloads; \(total) bytes served, \(read) read of \(files * Self.size)"
            )
            #expect(read <= files * (Self.size + Self.size / 20))
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
