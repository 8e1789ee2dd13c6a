import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import PenstockURLSession
import Testing

/// What must have a process to itself, because it measures what the process holds.
///
/// Run apart from all other tests: whoever waits for such a process blocks the threads that every task needs.
/// What is measured stands in `/proc`, so the suite is skipped, and says so, where there is none.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: Resources.areKnown, "there is no /proc to measure by"))
struct OwnProcessTests {
    @Test("Headers without end take no memory from libcurl", .covers("H7"))
    func headersTakeNoMemory() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.takeHeaders(["/long", "/many"], with: CurlTransport())
        }
    }

    /// What limit it meets first, and on which number of fields, is Foundation's business.
    @Test("Headers without end take no memory from URLSession", .covers("H7"))
    func headersTakeNoMemoryFromTheSystem() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.takeHeaders(["/long"], with: URLSessionTransport())
        }
    }

    private static func takeHeaders(_ paths: [String], with transport: any Transport) async throws {
        let server = try LoopbackServer { request in
            let line = Data("X-Field: \(String(repeating: "v", count: request.path == "/long" ? 8_000 : 10))\r\n".utf8)
            return .raw(Data("HTTP/1.1 200 OK\r\n".utf8), ending: .hold).followed { _ in line }
        }
        defer { server.stop() }
        for round in 0..<40 {
            let url = try server.url.resolving(paths[round % paths.count])
            await #expect(throws: TransportError.self) {
                try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: url)))
            }
            if round == 9 { try Resources.shared.note() }
        }
        #expect(try Resources.shared.grownMemory < 2 << 20)
        await transport.shutdown()
    }

    @Test("Servers that stop leave no descriptor and no thread behind", .covers("H13"))
    func stallsLeaveNothing() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.meetStalls { CurlTransport() }
            #expect(try Resources.shared.grownThreads <= 4, "what Foundation and the tasks' own pool keep")
        }
    }

    /// Its threads are the platform's business.
    @Test("Servers that stop leave no descriptor of URLSession's behind", .covers("H13"))
    func stallsLeaveNothingOfTheSystem() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.meetStalls { URLSessionTransport() }
        }
    }

    /// Each way to stop, and a handshake that stops, several times.
    private static func meetStalls(_ make: @escaping @Sendable () -> any Transport) async throws {
        let capabilities = make().capabilities
        let rules = TransportConformance.stalls.filter { $0.applies(to: capabilities) }
        for round in 0..<3 {
            await withTaskGroup(of: Void.self) { group in
                for rule in rules {
                    group.addTask { await #expect(throws: Never.self) { try await rule.run { _ in make() } } }
                }
                for trigger in [LoopbackServer.ConnectionFault.Trigger.accept, .firstBytes] {
                    group.addTask {
                        await #expect(throws: Never.self) { try await stallHandshake(at: trigger, of: make()) }
                    }
                }
            }
            if round == 0 { try Resources.shared.note() }
        }
        try await Resources.shared.settle()
        #expect(try Resources.shared.grownDescriptors <= 0)
    }

    private static func stallHandshake(
        at trigger: LoopbackServer.ConnectionFault.Trigger, of transport: any Transport
    ) async throws {
        let authority = try TestCertificateAuthority()
        let server = try LoopbackServer(
            .init(tls: .init(try authority.issue())), onConnect: { _ in .init(.stall, at: trigger) }
        ) { _ in .text("ok") }
        let timeouts = Timeouts(
            connect: .milliseconds(300), firstByte: .milliseconds(300), idle: nil, total: .seconds(30))
        let exchange = TransportRequest(HTTPRequest(method: .get, url: server.url), timeouts: timeouts)
        let error = await #expect(throws: TransportError.self) { try await transport.perform(exchange) }
        let tellsPhases = transport.capabilities.contains(.connectTimeout)
        #expect(error?.kind == .timeout(tellsPhases ? .connect : .firstByte))
        await transport.shutdown()
        try await server.waitForOpenConnections(atMost: 0)
        server.stop()
    }

    /// URLSession's threads are the platform's business.
    @Test("A thousand calls that wait grow no threads", .covers("S3.39"))
    func waitingCostsNoThread() async throws {
        await #expect(processExitsWith: .success) {
            let transport = TransportUnderTest("libcurl") { _ in CurlTransport() }
            try await Shop.run(transport, answering: { _ in .hold }) { server, client in
                client.start(Held())
                try await server.waitForRequests(count: 1)
                let before = try Self.clientThreads(server)
                let calls = (0..<1_000).map { _ in client.start(Held()) }
                try await server.waitForRequests(count: 1_001, limit: .seconds(30))
                let grown = try Self.clientThreads(server) - before
                #expect(grown <= 4, "two for the cores, and what Foundation keeps for itself")
                client.cancelAll()
                for call in calls { _ = await call.result }
            }
        }
    }

    #if os(Linux)
        @Test("The secrets of TLS are written to no file that the environment names")
        func keyLog() async throws {
            await #expect(processExitsWith: .success) {
                let log = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: log) }
                setenv("SSLKEYLOGFILE", log.path, 1)
                let authority = try TestCertificateAuthority()
                let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
                let transport = CurlTransport()
                let exchange = TransportRequest(
                    HTTPRequest(method: .get, url: server.url),
                    isolation: IsolationKey(trust: .authorities(authority.file)))
                #expect(try await transport.perform(exchange).response.status == 200)
                try await transport.connect(exchange, speaking: .http1).close()
                await transport.shutdown()
                server.stop()
                #expect(try !FileManager.default.fileExists(atPath: log.path) || Data(contentsOf: log).isEmpty)
            }
        }

        @Test(
            "The passwords in the user's .netrc are nobody's but the user's, and no request takes one", .covers("H21"))
        func netrc() async throws {
            await #expect(processExitsWith: .success) {
                let home = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: home) }
                let entries = "machine 127.0.0.1 login anna password secret\ndefault login anna password secret\n"
                try Data(entries.utf8).write(to: home.appendingPathComponent(".netrc"))
                setenv("HOME", home.path, 1)
                let server = try LoopbackServer { .text($0.fields[.authorization] ?? "none") }
                let transport = CurlTransport()
                let exchange = TransportRequest(HTTPRequest(method: .get, url: server.url))
                #expect(try await transport.perform(exchange).response.body == Data("none".utf8))
                await transport.shutdown()
                server.stop()
            }
        }

        /// Zeros in gzip (RFC 1952), 13 bytes for each 2,064, without an end.
        private static func bomb(_ count: Int) -> Data {
            // A block with fixed codes, its first literal, and matches of 258 bytes one byte back (RFC 1951 §3.2.6).
            let match: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
            let bits = [0, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0] + Array(repeating: match, count: 16).joined()
            let bytes = stride(from: 0, to: 120, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
            }
            var bomb = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bytes.prefix(2))
            let unit = Data(bytes.dropFirst(2))
            while bomb.count < count { bomb.append(unit) }
            return bomb
        }

        @Test(
            "Content that expands to 1.5 GB is stopped by its ratio or its size, in memory of URLSession's that is bounded",
            .covers("H9"), arguments: [true, false])
        func bombs(hasLength: Bool) async throws {
            await #expect(processExitsWith: .success) { [hasLength] in
                let bomb = Self.bomb(10_000_000)
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                let length = hasLength ? "Content-Length: \(bomb.count)\r\n" : ""
                let server = try LoopbackServer { _ in .raw(Data("\(head)\(length)\r\n".utf8) + bomb) }
                let transport = URLSessionTransport()
                var exchange = TransportRequest(HTTPRequest(method: .get, url: server.url))
                // It is what the length allows that is limited: 20 MB.
                exchange.limits.expansionRatio = 2
                try Resources.shared.note()
                for _ in 1...2 {
                    let error = await #expect(throws: TransportError.self) { try await transport.perform(exchange) }
                    #expect(error?.kind == .limitExceeded(hasLength ? .expansionRatio : .bodyBytes))
                }
                let grown = try Resources.shared.grownPeak
                #expect(grown < 256 << 20, "\(grown) bytes")
                await transport.shutdown()
                server.stop()
            }
        }

        /// Foundation ends the process at trailers, so the response must be given up before they come.
        @Test("A response that announces trailers is refused by its head, before they end the process")
        func announcedTrailers() async throws {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in
                    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n"
                    return .raw(Data(head.utf8), ending: .hold).followed { index in
                        if index == 0 { Thread.sleep(forTimeInterval: 2) }
                        return index == 0 ? Data("0\r\nX-Sum: 1\r\n\r\n".utf8) : nil
                    }
                }
                let transport = URLSessionTransport()
                let exchange = TransportRequest(HTTPRequest(method: .get, url: server.url))
                let error = await #expect(throws: TransportError.self) { try await transport.perform(exchange) }
                #expect(error?.message.contains("trailers") == true)
                #expect(error?.sendState == .answered)
                try await server.waitForAborts(count: 1)
                await transport.shutdown()
                server.stop()
            }
        }
    #endif

    /// Threads of this process that are not the server's, which has one for each connection.
    private static func clientThreads(_ server: LoopbackServer) throws -> Int {
        try Resources.count("task") - server.openConnectionCount
    }

    private struct Held: Endpoint {
        typealias Output = Data
        var route: Route { .get("/held") }
    }
}

/// What this process holds, against an earlier moment.
private final class Resources: Sendable {
    static let shared = Resources()

    static let areKnown = FileManager.default.fileExists(atPath: "/proc/self/task")

    private let noted = Locked((memory: 0, descriptors: 0, threads: 0))

    func note() throws {
        let now = (memory: try Self.memory, descriptors: try Self.count("fd"), threads: try Self.count("task"))
        noted.withLock { $0 = now }
    }

    /// Gives what is about to be closed the time to be.
    func settle() async throws {
        let end = ContinuousClock.now + .seconds(10)
        while try grownDescriptors > 0 || grownThreads > 4, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Resident, in bytes.
    var grownMemory: Int { get throws { try Self.memory - noted.withLock(\.memory) } }
    /// The most that there was.
    var grownPeak: Int { get throws { try Self.peak - noted.withLock(\.memory) } }
    var grownDescriptors: Int { get throws { try Self.count("fd") - noted.withLock(\.descriptors) } }
    var grownThreads: Int { get throws { try Self.count("task") - noted.withLock(\.threads) } }

    static func count(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
    }

    private static var peak: Int {
        get throws {
            let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }) << 10
        }
    }

    private static var memory: Int {
        get throws {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            return pages * 4_096
        }
    }
}
