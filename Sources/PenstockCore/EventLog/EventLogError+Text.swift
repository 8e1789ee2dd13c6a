import Foundation

extension EventLogError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .newerVersion: "A later version of Penstock has written the log."
        case .foreignFile: "The file of the log holds something else."
        case .inUse: "Another process, or another log of this one, has the file."
        case .unusableFile(let reason): "The file of the log cannot be used: \(reason)"
        case .closed: "The log was closed."
        case .full: "The log is full."
        case .unencodable(let reason): "An event cannot be encoded: \(reason)"
        case .damagedLines(let count): "\(count) lines of the log were damaged."
        case .refused(let events, _): "The server refused \(events) events."
        }
    }
}
