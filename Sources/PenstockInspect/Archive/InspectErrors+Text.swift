import Foundation
import PenstockCore

extension HARError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .foreignFile: "The file holds something else than an archive of Penstock's own."
        case .inUse: "Another recorder has the file."
        case .unusableFile(let reason): "The archive cannot be read or written: \(reason)"
        case .notAnArchive(let reason): "The file is no archive: \(reason)"
        case .full(let count): "The archive is full; \(count) entries were not written."
        case .cutOff(let count, _): "The archive was cut off after \(count) entries."
        case .unreadable(let count): "\(count) entries of the archive cannot be read."
        case .missingContent(let entry): "The archive does not have the content of \(entry)."
        }
    }
}

extension TelemetryProblem: LocalizedError {
    public var errorDescription: String? { asSentence }
}
