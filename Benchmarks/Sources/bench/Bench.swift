import EchoServer
import Foundation
import SlowServer

/// One contender in this process, or the driver that starts each in a process of its own.
@main
struct Bench {
    static let usage = """
        usage: bench calls c|penstock|penstock-model|urlsession URL item|mebibyte CALLS INFLIGHT [AUTHORITIES]
               bench waiting c|penstock URL CALLS
               bench growth URL CALLS INFLIGHT
               bench download URL
               bench upload URL FILE
               bench server CALLS
               bench echo-server
               bench echo c|penstock URL MESSAGES
               bench fill c|penstock FILE ENTRIES
               bench disk c|penstock FILE ENTRIES HITS [PAUSE-IN-MICROSECONDS]
               bench memory ENTRIES HITS
               bench cached URL CALLS
               bench run CLEAR-URL SECURE-URL AUTHORITIES GIBIBYTE FOLDER RESULTS [--quick] [--rounds N] [--calls N] [ID...]
        """

    /// The main thread waits: valgrind cannot follow one that an asynchronous `main` gives up.
    static func main() {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await perform()
            done.signal()
        }
        done.wait()
    }

    private static func perform() async {
        do {
            var arguments = Arguments(CommandLine.arguments.dropFirst())
            switch try arguments.text() {
            case "calls": try await calls(&arguments)
            case "waiting": try await waiting(&arguments)
            case "growth": try await growth(&arguments)
            case "download": try await report(TransferContender.download(arguments.text()))
            case "upload": try await report(TransferContender.upload(arguments.text(), arguments.text()))
            case "server": exit(slow_server_run(try arguments.count()))
            case "echo-server": exit(echo_server_run())
            case "echo": try await echo(&arguments)
            case "fill": try await CacheContender.fill(arguments.name(), arguments.text(), arguments.count())
            case "disk": try await disk(&arguments)
            case "memory": try await memory(&arguments)
            case "cached": try await cached(&arguments)
            case "run": try Run(program: CommandLine.arguments[0], &arguments).perform()
            default: throw Failure(usage)
            }
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func calls(_ arguments: inout Arguments) async throws {
        let contender: Contender = try arguments.name()
        let server = try arguments.text()
        let document: Document = try arguments.name()
        let (calls, inFlight) = (try arguments.count(), try arguments.count())
        let target = Target(server: server, document: document, authorities: arguments.next())
        try await report(Measurement(contender.runner(target, inFlight: inFlight), calls: calls, inFlight: inFlight))
    }

    /// Tells its resident memory once it has made some calls, then makes as many at once as it was told.
    private static func waiting(_ arguments: inout Arguments) async throws {
        let (contender, server): (Contender, String) = (try arguments.name(), try arguments.text())
        let calls = try arguments.count()
        let warmUp = try contender.runner(Target(server: server, document: .item), inFlight: 1)
        guard await warmUp(100) == 100 else { throw Failure("a call of the warm-up failed") }
        try report(Memory.resident())
        let run = try contender.runner(Target(server: server, document: .wait), inFlight: calls)
        guard await run(calls) == calls else { throw Failure("a call that waited failed") }
    }

    private static func growth(_ arguments: inout Arguments) async throws {
        let target = Target(server: try arguments.text(), document: .item)
        let (calls, inFlight) = (try arguments.count(), try arguments.count())
        let run = try Contender.penstock.runner(target, inFlight: inFlight)
        let warmUp = max(inFlight, calls / 10)
        guard await run(warmUp) == warmUp else { throw Failure("a call of the warm-up failed") }
        let before = try Growth.Holdings.now()
        guard await run(calls) == calls else { throw Failure("a call failed") }
        try report(Growth.Measurement(before: before, after: .now()))
    }

    private static func echo(_ arguments: inout Arguments) async throws {
        let run = try await EchoContender.runner(arguments.name(), arguments.text())
        try await report(Measurement(run, calls: arguments.count(), inFlight: 1))
    }

    private static func disk(_ arguments: inout Arguments) async throws {
        let (contender, file): (Contender, String) = (try arguments.name(), try arguments.text())
        let (entries, hits) = (try arguments.count(), try arguments.count())
        let run = try CacheContender.disk(contender, file, entries, hits: hits)
        guard let pause = arguments.next().flatMap(UInt32.init) else {
            return try await report(Measurement(run, calls: hits, inFlight: 1))
        }
        try await report(Measurement(lone: run, calls: hits, pause: pause))
    }

    private static func memory(_ arguments: inout Arguments) async throws {
        let (entries, hits) = (try arguments.count(), try arguments.count())
        let run = try await CacheContender.memory(entries, hits: hits)
        try await report(Measurement(run, calls: hits, inFlight: 1))
    }

    private static func cached(_ arguments: inout Arguments) async throws {
        let run = CacheContender.send(try arguments.text())
        try await report(Measurement(run, calls: arguments.count(), inFlight: 1))
    }

    /// Prints one line of JSON, at once.
    private static func report(_ value: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(value) + Data("\n".utf8))
    }
}
