import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// Processes that put and send, and are killed. `PENSTOCK_SOAK=full` kills five hundred.
@Suite(.timeLimit(.minutes(60)), .serialized, .covers("X9"))
struct OutboxProcessTests {
    private static let kills = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full" ? 520 : 25

    /// A server over real sockets that does each thing once, and loses every fifth answer.
    private final class Scene: Sendable {
        let folder: Folder
        let server: IdempotentServer
        let wire: LoopbackServer
        /// How many requests of each resource are with the server, and whether there were ever two.
        private let open: Locked<(counts: [String: Int], overlaps: Int)>

        init(seed: UInt64) throws {
            folder = try Folder()
            let random = Locked(Seeded(seed: seed))
            let server = IdempotentServer(fate: { _ in
                random.withLock { random in
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: .drop
                    case 1: .commitAndDrop
                    case 2: .process(conflicts: 1)
                    default: .answer
                    }
                }
            })
            let open = Locked((counts: [String: Int](), overlaps: 0))
            wire = try LoopbackServer { request in
                open.withLock { open in
                    open.counts[request.path, default: 0] += 1
                    if open.counts[request.path, default: 0] > 1 { open.overlaps += 1 }
                }
                defer { open.withLock { $0.counts[request.path, default: 1] -= 1 } }
                guard let url = try? HTTPURL("http://127.0.0.1" + request.target) else { return .init(status: 400) }
                let whole = HTTPRequest(
                    method: request.method, url: url, fields: request.fields, body: .bytes(request.body))
                do throws(TransportError) {
                    let response = try server.respond(to: whole) ?? HTTPResponse(status: 500)
                    return .init(status: response.status, fields: response.fields, body: response.body)
                } catch {
                    return .reset
                }
            }
            self.server = server
            self.open = open
        }

        var overlaps: Int { open.withLock { $0.overlaps } }

        /// - Parameter lease: in milliseconds.
        func start(lease: Int, seed: UInt64, first: Int, count: Int) throws -> Writer {
            try Writer([folder.file.path, wire.url.absoluteString, "\(lease)", "\(seed)", "\(first)", "\(count)"])
        }
    }

    /// A process that writes, and what it has said.
    private final class Writer {
        let process = Process()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            guard let program = BuiltProgram.url("outbox-writer") else { throw CocoaError(.fileNoSuchFile) }
            process.executableURL = program
            process.arguments = arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            // The process that would write a crash down holds on to what its end is noticed by.
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            try process.run()
        }

        /// Waits for its end.
        ///
        /// - Returns: the numbers that it said were put, and whether it said that all was delivered.
        func end() -> (put: [Int], isDone: Bool) {
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let lines = text.split(separator: "\n")
            let put = lines.compactMap { $0.hasPrefix("put ") ? Int($0.dropFirst(4)) : nil }
            return (put, lines.last == "done")
        }
    }

    /// Which resource each number of a writer is for.
    private static func resources(seed: UInt64, count: Int) -> [Int] {
        var random = Seeded(seed: seed)
        return (0..<count).map { _ in
            defer { _ = Int.random(in: 0..<3, using: &random) }
            return Int.random(in: 0..<4, using: &random)
        }
    }

    @Test("A process that is killed at any moment loses nothing that it was told is put, and has nothing done twice")
    func kills() async throws {
        var random = Seeded.printed("outbox kill")
        let scene = try Scene(seed: random.next())
        defer { scene.wire.stop() }
        var record = DeliveryRecord()
        // How long a process takes from its start to its first delivery, on this machine and under whatever watches it.
        let begun = ContinuousClock.now
        _ = try scene.start(lease: 60, seed: 0, first: 0, count: 1).end()
        let startUp = ContinuousClock.now - begun
        record.put[0] = (Self.resources(seed: 0, count: 1)[0], true)
        var (first, killed) = (1, 0)
        while killed < Self.kills {
            let seed = random.next() >> 1
            let writer = try scene.start(lease: 60, seed: seed, first: first, count: 300)
            // How far it comes decides nothing but where it is killed.
            try await Task.sleep(for: startUp / 4 + .milliseconds(Int.random(in: 0...400, using: &random)))
            kill(writer.process.processIdentifier, SIGKILL)
            let (put, _) = writer.end()
            if writer.process.terminationStatus == SIGKILL { killed += 1 }
            for (index, resource) in Self.resources(seed: seed, count: 300).enumerated() {
                record.put[first + index] = (resource, put.contains(first + index))
            }
            record.check(scene.server, isOver: false, "after \(killed) kills")
            first += 300
        }
        let (_, isDone) = try scene.start(lease: 60, seed: 1, first: first, count: 0).end()
        #expect(isDone)
        record.check(scene.server, isOver: true, "at the end")
        #expect(scene.server.effects.count > killed, "hardly anything was ever sent")
    }

    @Test("Of three processes that put into one outbox one sends, in the order in which all put")
    func oneSender() async throws {
        let scene = try Scene(seed: 3)
        defer { scene.wire.stop() }
        var record = DeliveryRecord()
        let writers = try (0..<3).map { try scene.start(lease: 3_000, seed: UInt64($0), first: $0 * 1_000, count: 60) }
        for (index, writer) in writers.enumerated() {
            let (put, isDone) = writer.end()
            #expect(isDone && writer.process.terminationStatus == 0)
            #expect(put == Array((index * 1_000)..<(index * 1_000 + 60)))
            for (offset, resource) in Self.resources(seed: UInt64(index), count: 60).enumerated() {
                record.put[index * 1_000 + offset] = (resource, true)
            }
        }
        #expect(scene.overlaps == 0, "two of one resource were under way at once")
        #expect(scene.server.effects.count == 180)
        // Numbers of one process rise in each resource; those of different ones stand between each other.
        for writer in 0..<3 {
            let own = scene.server.effects.filter { effect in
                Int(effect.body.split(separator: UInt8(ascii: ":")).dropFirst().first.flatMap(Self.number) ?? -1)
                    / 1_000
                    == writer
            }
            #expect(own.count == 60, "\(writer)")
        }
    }

    private static func number(_ text: Data) -> Int? {
        Int(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}
