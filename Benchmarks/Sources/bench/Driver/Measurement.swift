import Foundation

/// One round of one contender.
struct Measurement: Codable {
    let requestsPerSecond: Double
    /// User and system time of the process, in microseconds for each call.
    let cpuMicroseconds: Double

    /// Measures calls that follow on others, so that connections and everything else that is made once are there.
    ///
    /// - Throws: ``Failure`` when a call did not bring what it should.
    init(_ run: Contender.Runner, calls: Int, inFlight: Int) async throws {
        let warmUp = max(2 * inFlight, calls / 10)
        guard await run(warmUp) == warmUp else { throw Failure("a call of the warm-up failed") }
        let (begin, cpu) = (ContinuousClock.now, Self.cpuSeconds())
        let good = await run(calls)
        let taken = begin.duration(to: .now) / .seconds(1)
        guard good == calls else { throw Failure("\(calls - good) of \(calls) calls failed") }
        requestsPerSecond = Double(calls) / taken
        cpuMicroseconds = (Self.cpuSeconds() - cpu) * 1_000_000 / Double(calls)
    }

    /// Measures calls that come one by one, each after a pause that is not counted: nothing of the call before is left in the
    /// processor's caches, and the thread may have slept.
    ///
    /// - Parameter pause: in microseconds.
    /// - Throws: ``Failure`` when a call did not bring what it should.
    init(lone run: Contender.Runner, calls: Int, pause: UInt32) async throws {
        guard await run(calls / 10 + 1) == calls / 10 + 1 else { throw Failure("a call of the warm-up failed") }
        var (taken, cpu) = (Duration.zero, 0.0)
        for _ in 0..<calls {
            usleep(pause)
            let (begin, before) = (ContinuousClock.now, Self.cpuSeconds())
            guard await run(1) == 1 else { throw Failure("a call failed") }
            taken += begin.duration(to: .now)
            cpu += Self.cpuSeconds() - before
        }
        requestsPerSecond = Double(calls) / (taken / .seconds(1))
        cpuMicroseconds = cpu * 1_000_000 / Double(calls)
    }

    private static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000 }
    }
}
