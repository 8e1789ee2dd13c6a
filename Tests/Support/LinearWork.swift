import Foundation
import Testing

/// How the processor time of some work grows with its input: for tests that a parser cannot be kept busy by what it reads.
///
/// Only this thread's own time counts, so that neither other tests nor a busy machine make a difference.
public enum LinearWork {
    /// The units from which inputs are made. Each is chosen to make a careless parser look at the same bytes again and
    /// again: quotes that never close, escapes, separators with nothing between them, white space without end.
    public static let units = [
        "\"", "\\\"", "\"\\", "\",", "=\"", "a=\"b,", "W/\"", ",", ", a", ";a=", " ;", "=", " ", "\t", "-", ":", "/",
        "//", "%",
        "%25", "&a=", "<", "<,>;", "0", "a", "A1", "é", "/..", "a.", "[", "{\"", "?#",
    ]

    /// Marks that Swift brings into another order, one by one, before it compares what they are in with anything.
    public static let marks = "\u{301}\u{323}"

    /// Seconds. Work of less is no danger, and is too short for its growth to be told from chance.
    private static let measurable = 0.01

    /// Fails unless `work` is quick, and four times the input costs it less than eight times the time: what is quadratic
    /// takes sixteen times as long, and a busy cache or a page that was not there yet does not make the double of four.
    ///
    /// - Parameters:
    ///   - name: of the work, for the message.
    ///   - head: what the input begins with, before `unit` again and again.
    ///   - limit: seconds of processor time that an input of 100,000 bytes may take.
    ///   - size: the bytes that are looked at first. For 4,000, the default, a quadratic parser takes some hundred million steps.
    public static func expect(
        _ name: String, head: String = "", unit: String, limit: Double, from size: Int = 4_000,
        sourceLocation: SourceLocation = #_sourceLocation, _ work: (String) throws -> Void
    ) rethrows {
        func time(_ size: Int) throws -> Double {
            let input = head + String(repeating: unit, count: size / unit.utf8.count)
            let start = processorTime()
            try work(input)
            return processorTime() - start
        }
        // Never less than a third of the limit: what does not grow with the input costs something as well.
        let allowed = limit * max(Double(size) / 100_000, 0.3)
        var least = try time(size)
        // Once more, as the first time may have been that of something made once.
        if least > allowed { least = try time(size) }
        #expect(least < allowed, "\(name) of \(unit.debugDescription)", sourceLocation: sourceLocation)
        guard least < allowed, least > measurable else { return }
        var most = Double.infinity
        for _ in 0..<5 where most >= 8 * least {
            least = try min(least, time(size))
            most = try min(most, time(4 * size))
        }
        let ratio = most / least
        #expect(ratio < 8, "\(name) of \(unit.debugDescription)", sourceLocation: sourceLocation)
    }

    private static func processorTime() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
