import Foundation

/// What the memory of this process is, in KiB, where the system tells it in `/proc`; 0 elsewhere.
public enum ProcessMemory {
    /// What is resident now.
    public static var now: Int { value("VmRSS:") }
    /// The most that was resident since the process began, or since ``forgetPeak()``.
    public static var peak: Int { value("VmHWM:") }

    public static func forgetPeak() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    private static func value(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
