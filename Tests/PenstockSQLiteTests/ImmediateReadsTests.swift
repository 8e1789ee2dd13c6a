#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting
    import Testing

    @testable import PenstockSQLite

    /// Which look-ups stay on the thread that asks.
    @Suite(.timeLimit(.minutes(5)), .covers("H29"))
    struct ImmediateReadsTests {
        @Test("What the system has in memory is read on the thread that asks, and what it has to fetch is not")
        func disk() async throws {
            let rig = try Rig()
            for index in 0..<32 { try await rig.put("/\(index)", seed: UInt64(index), count: 200_000) }
            await rig.store.flush()
            let reader = rig.store.engine.reader
            // Once more from the file, whatever SQLite itself has kept.
            for round in 0..<20 where round == 0 || reader.handedOver == 0 {
                await rig.store.close()
                try Self.evict(rig.folder.file)
                for index in 0..<32 {
                    let seeds = try await rig.seeds("/\(index)")
                    #expect(seeds == [UInt64(index)])
                }
            }
            #expect(reader.handedOver > 0)
            let isTelling = ImmediateReads.run {
                try? SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 0).firstBytes(100)
            }
            guard isTelling.verdict == .immediate else { return }
            let before = reader.handedOver
            for index in 0..<32 {
                let seeds = try await rig.seeds("/\(index)")
                #expect(seeds == [UInt64(index)])
            }
            #expect(reader.handedOver == before)
            await rig.store.close()
        }

        private static func evict(_ file: URL) throws {
            let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            fsync(descriptor)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        }

        @Test("A read that would wait is an error on the thread that said so, and on no other")
        func otherThreads() throws {
            let folder = try Folder()
            let connection = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0, .creating)
            try connection.execute("CREATE TABLE entry (bytes)")
            for _ in 0..<200 { try connection.execute("INSERT INTO entry VALUES (zeroblob(20000))") }
            let expected: Int64? = 200 * 20_000
            let sum = "SELECT sum(length(CAST(bytes AS TEXT)) * 0 + length(bytes)) FROM entry"
            // The system may keep pages all the same.
            var verdict = ImmediateReads.Verdict.immediate
            for _ in 0..<20 where verdict == .immediate {
                try Self.evict(folder.file)
                let other = try SQLiteConnection(path: folder.file.path, vfs: nil, patience: 0)
                let read = ImmediateReads.run { try? other.number(sum) }
                verdict = read.verdict
                #expect(read.output == (verdict == .immediate ? .some(expected) : .some(nil)))
                let again = try other.number(sum)
                #expect(again == expected, "the connection is none the worse for it")
            }
            #expect(verdict != .immediate)
        }
    }
#endif
