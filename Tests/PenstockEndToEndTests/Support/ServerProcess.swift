import Foundation

/// A server that lives at most as long as this test process.
///
/// A watcher beside the server reads a pipe whose other end only this process holds. However this process ends, the
/// pipe ends with it, and the watcher stops the server and removes its folder.
struct ServerProcess {
    /// How to start a server, and how to tell that it is the one that answers.
    typealias Launch = (arguments: [String], isReady: () -> Bool)

    private let process = Process()
    private let log: URL
    private let lifeline: Int32

    /// Starts `program` as `prepare` says, until it answers. Tries again, with a new folder and new ports, where the
    /// server ends before it answers.
    static func start(
        _ program: URL, ports count: Int, prepare: (_ folder: URL, _ ports: [UInt16]) throws -> Launch
    ) throws -> [UInt16] {
        var failure = HarnessError("never started")
        for _ in 1...5 {
            let folder = try makeFolder()
            let ports = try Loopback.freePorts(count)
            let (launch, server) = try removingOnFailure(folder) {
                let launch = try prepare(folder, ports)
                return (launch, try ServerProcess(program, launch.arguments, folder: folder))
            }
            if server.becomesReady(launch.isReady) { return ports }
            failure = HarnessError("\(program.lastPathComponent) did not start: \(server.logText)")
            close(server.lifeline)
        }
        throw failure
    }

    /// Until there is a watcher, nobody else removes the folder.
    private static func removingOnFailure<Result>(_ folder: URL, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    private init(_ program: URL, _ arguments: [String], folder: URL) throws {
        log = folder.appendingPathComponent("output.log")
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw HarnessError("cannot write \(log.path)")
        }
        let output = try FileHandle(forWritingTo: log)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HarnessError("pipe: error \(errno)") }
        lifeline = ends[1]
        _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC)
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.watchedStart, "sh", folder.path, program.path] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    /// The shell becomes the server; the watcher is its child. nginx and gunicorn both take INT for: stop at once.
    private static let watchedStart = """
        folder=$1; shift
        exec 3<&0
        {
            read -r _ <&3
            kill -INT $$
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
                kill -0 $$ 2>/dev/null || break
                sleep 0.1
            done
            kill -KILL $$ 2>/dev/null
            rm -rf -- "$folder"
        } &
        exec 3<&-
        exec "$@" </dev/null
        """

    private func becomesReady(_ isReady: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 20)
        while process.isRunning, Date() < deadline {
            if isReady() { return true }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return false
    }

    private var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "no output" }

    private static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
        let ownerOnly: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: ownerOnly)
        return folder
    }
}
