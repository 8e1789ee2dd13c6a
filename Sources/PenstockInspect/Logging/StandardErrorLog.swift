import Foundation
import PenstockCore

/// A log on standard error, or in any other open file: one line an entry, with the time of the day in UTC.
public struct StandardErrorLog: LogDestination {
    private let handle: FileHandle

    /// A log on standard error, unless another file is given, which must stay open.
    public init(_ handle: FileHandle = .standardError) {
        self.handle = handle
    }

    /// Writes the line. Nobody can be told when that fails.
    public func write(_ entry: LogEntry) {
        write(Self.line(entry))
    }

    /// Writes a warning that belongs to no call.
    func warn(_ text: String, at date: Date) {
        write(Self.line(date, .warning, LogText.oneLine(text)))
    }

    private func write(_ line: String) {
        // One write a line: lines of two threads do not mix.
        try? handle.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The line for an entry.
    public static func line(_ entry: LogEntry) -> String {
        line(entry.date, entry.level, "\(entry.call)  \(entry.message)")
    }

    private static func line(_ date: Date, _ level: LogLevel, _ text: String) -> String {
        let name = "\(level)".padding(toLength: 7, withPad: " ", startingAt: 0)
        return "\(time(date)) \(name) \(text)"
    }

    /// Hours, minutes, seconds and milliseconds of the day.
    private static func time(_ date: Date) -> String {
        let day = HARDate.milliseconds(date).dividedDown(by: 86_400_000).remainder
        return String(
            format: "%02d:%02d:%02d.%03d", Int(day / 3_600_000), Int(day / 60_000 % 60), Int(day / 1000 % 60),
            Int(day % 1000))
    }
}
