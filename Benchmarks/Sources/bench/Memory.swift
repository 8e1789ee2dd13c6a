import Foundation

/// What processes hold in memory, in bytes, as the kernel counts it.
enum Memory {
    /// Resident memory of a process; of this one by default.
    static func resident(of process: Int32? = nil) throws -> Int {
        let path = "/proc/\(process.map(String.init) ?? "self")/statm"
        let words = try String(contentsOfFile: path, encoding: .ascii).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { throw Failure("\(path) cannot be read") }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The highest that the resident memory of this process has been.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let words = status.first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace) ?? []
        guard words.count > 1, let kibibytes = Int(words[1]) else {
            throw Failure("the kernel does not tell the peak")
        }
        return kibibytes << 10
    }

    static func mebibytes(_ bytes: Int) -> Double {
        Double(bytes) / 1_048_576
    }
}
