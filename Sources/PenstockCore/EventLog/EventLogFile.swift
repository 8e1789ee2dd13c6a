import Foundation

/// Why a log of events cannot be kept, or lost something.
@nonexhaustive
public enum EventLogError: Error, Hashable, Sendable {
    /// A later version of Penstock has written the file. It is left as it is.
    case newerVersion
    /// The file holds something else. It is left as it is.
    case foreignFile
    /// Another process, or another log of this one, has the file.
    case inUse
    /// The file cannot be read or written; what the system says of it.
    case unusableFile(reason: String)
    /// The log was closed before the event was recorded.
    case closed
    /// The log holds as much as the policy allows, so the new event is not kept.
    case full
    /// An event cannot be encoded; what its `encode(to:)` says of it.
    case unencodable(reason: String)
    /// So many lines of the file were damaged; the events in them are lost, all others are kept.
    case damagedLines(Int)
    /// The server will never take a batch, or has refused it until the log was full; so many events were dropped.
    case refused(events: Int, APIError.Kind)
}

/// The file of a log. Everything here waits for the disk, and is called on the log's own queue alone.
final class EventLogFile {
    private let file: PrivateFile
    /// Held, so that no other process opens the log.
    private let lock: FileLock
    private var handle: FileHandle
    /// How many bytes the file has, also those of events that have arrived since.
    private(set) var size: Int

    /// The longest file that is read, in bytes: more than any log of an app, so that what is none is not loaded first.
    private static let longest = 1 << 30

    /// Opens or makes the file. A link in its place is not followed.
    ///
    /// - Returns: also what it holds.
    static func open(_ url: URL) throws(EventLogError) -> (EventLogFile, EventLogFormat.Content) {
        do {
            let file = PrivateFile(url)
            // Nothing is left beside what is somebody else's.
            if !file.hasLock { _ = try EventLogFormat.read(bytes(of: file)) }
            let lock = try FileLock(beside: file)
            let content = try EventLogFormat.read(bytes(of: file))
            let text = EventLogFormat.whole(content.records, content.batches)
            let handle = try file.replace(with: Data(text.utf8))
            return (EventLogFile(file, lock, handle, size: text.utf8.count), content)
        } catch {
            throw EventLogError(error)
        }
    }

    private static func bytes(of file: PrivateFile) throws(PrivateFileError) -> Data {
        try file.contents(limit: longest, .narrows(if: EventLogFormat.isOurs)) ?? Data()
    }

    private init(_ file: PrivateFile, _ lock: FileLock, _ handle: FileHandle, size: Int) {
        self.file = file
        self.lock = lock
        self.handle = handle
        self.size = size
    }

    /// - Parameter isSynced: whether it is to survive a loss of power, not only the end of the process.
    func append(_ text: String, isSynced: Bool) throws(EventLogError) {
        do {
            try handle.write(contentsOf: Data(text.utf8))
            if isSynced { try handle.synchronize() }
            size += text.utf8.count
        } catch {
            // Half a line, as a full disk leaves it, would spoil the line that is written next.
            try? handle.truncate(atOffset: UInt64(size))
            throw EventLogError(error)
        }
    }

    /// Puts a new file in the place of this one, at one moment.
    func replace(with text: String) throws(EventLogError) {
        do {
            handle = try file.replace(with: Data(text.utf8))
            size = text.utf8.count
        } catch {
            throw EventLogError(error)
        }
    }
}

extension EventLogError {
    fileprivate init(_ error: any Error) {
        self =
            switch error {
            case let error as EventLogError: error
            case PrivateFileError.busy: .inUse
            case EventLogFormat.Problem.newerVersion: .newerVersion
            case EventLogFormat.Problem.foreign: .foreignFile
            default: .unusableFile(reason: error.localizedDescription)
            }
    }
}
