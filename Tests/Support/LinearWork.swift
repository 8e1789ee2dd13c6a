import Foundation
import Testing

/// How the processor time of some work grows with its input: for tests that a parser cannot be kept busy by what it reads.
///
/// Only this thread's own time counts, so other tests and a busy machine do not.
public enum LinearWork {
    /// The unit from which inputs are made. Each is chosen to make a careless parser look at the same bytes again and
    /// again: quotes that never close, escapes, separators with nothing between them, white space without end.
    public static let units = [
        "\"", "\\\"", "\"\\", "\",", ",\"", "=\"", "a=\"b,", "W/\"", ",", ", ", ",a", ";", "; ", ";a=", ";\"", "=", " ",
        "\t",
        " a", "a ", "-", ":", "/", "%", "%2", "&", "&a=", "<", "<,>;", "*", "0", "9,", "a", "é", ".", "..", "/..",
        "../", "a.",
        "[", "{\"", "a=b; ", "[0]",
    ]

    /// Fails unless twice the input costs less than three times the time, at a size where the time can be measured.
    ///
    /// - Parameters:
    ///   - name: of the work, for the message.
    ///   - unit: what the input is made of, again and again, after `head`.
    ///   - limit: seconds of processor time that an input of 100,000 bytes may take.
    public static func expect(
        _ name: String, head: String = "", unit: String, limit: Double,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ work: (String) throws -> Void
    ) rethrows {
        func input(_ size: Int) -> String {
            head + String(repeating: unit, count: max(1, size / unit.utf8.count))
        }
        var size = 100_000
        var time = try cost(input(size), work)
        #expect(time < limit, "\(name) of \(unit.debugDescription)", sourceLocation: sourceLocation)
        guard time < limit else { return }
        while time < measurable, size < 1_600_000 {
            size *= 2
            time = try cost(input(size), work)
        }
        // What is too quick to be measured at this size is no danger at any that is received.
        guard time >= measurable else { return }
        var ratio = 3.0
        for _ in 0..<5 where ratio >= 3 {
            ratio = try min(ratio, cost(input(size * 2), work) / cost(input(size), work))
        }
        #expect(ratio < 3, "\(name) of \(unit.debugDescription), \(size) bytes", sourceLocation: sourceLocation)
    }

    /// Below this the clock and the caches decide, not the work.
    private static let measurable = 0.001

    /// The least of two goes, in seconds of this thread's processor time.
    private static func cost(_ input: String, _ work: (String) throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<2 {
            let start = processorTime()
            try work(input)
            least = min(least, processorTime() - start)
        }
        return least
    }

    private static func processorTime() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
