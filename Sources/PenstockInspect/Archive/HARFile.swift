import Foundation

/// Why an archive cannot be written or read.
@nonexhaustive
public enum HARError: Error, Hashable, Sendable {
    /// The file holds something else than an archive of Penstock's own. It is left as it is.
    case foreignFile
    /// Another recorder has the file.
    case inUse
    /// The file cannot be read or written; what the system says of it.
    case unusableFile(reason: String)
    /// The file is no archive, or one of another version than 1.2; where it is broken.
    case notAnArchive(reason: String)
    /// The archive has reached its limit; so many entries were not written.
    case full(lostEntries: Int)
    /// The archive was cut off, as its writer has ended in the middle of a write. So many entries are whole, and so many bytes behind
    /// them are none.
    case cutOff(wholeEntries: Int, lostBytes: Int)
    /// So many entries of the archive are none, and are left out.
    case unreadable(entries: Int)
    /// An answer had content that is not in the archive: it was longer than what was kept, or none was. Which one, by method, URL
    /// and number.
    case missingContent(entry: String)
}

/// An archive that grows on disk and is whole after each entry.
///
/// Each entry is a line. The lines that close the archive are written with each entry and overwritten by the next one, so that
/// whenever the process ends, but for the middle of a write, the file is valid JSON. What such a middle leaves is a last line
/// that is none: it is taken away when the file is opened again.
final class HARFile {
    static let footer = "]}}\n"
    static let beginning = #"{"log":{"version":"1.2","creator":{"name":"Penstock","#

    static func header(version: String) -> String { beginning + #""version":"\#(version)"},"entries":["# + "\n" }

    private let handle: FileHandle
    /// `nil` once the file is let go of.
    private var locked: Int32?
    /// Where the footer begins.
    private(set) var end: UInt64
    private var isEmpty: Bool

    /// Opens an archive to add to, or makes one. The user alone may read it, also where others could before. A link is not
    /// followed: somebody else may have put it there.
    ///
    /// - Parameter startsOver: whether an archive that is there is emptied.
    init(_ url: URL, version: String, startsOver: Bool) throws(HARError) {
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .unusableFile(reason: errno == ELOOP ? "it is a symbolic link" : String(cString: strerror(errno)))
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .inUse }
        locked = descriptor
        do {
            let header = Self.header(version: version)
            let isFile = try Self.isFile(descriptor)
            let size = try handle.seekToEnd()
            let isOurs = try Self.isOurs(handle, size)
            // What is a device is everybody's.
            if isFile { try Self.keepPrivate(descriptor) }
            (end, isEmpty) = isOurs && !startsOver ? try Self.repaired(handle, size) : (0, true)
            if end == 0 {
                if isFile { try handle.truncate(atOffset: 0) }
                try handle.seek(toOffset: 0)
                try handle.write(contentsOf: Data((header + Self.footer).utf8))
                (end, isEmpty) = (UInt64(header.utf8.count), true)
            }
        } catch {
            throw HARError(error)
        }
    }

    /// Adds an entry, which is one line of JSON.
    func append(_ line: Data) throws(HARError) {
        do {
            let entry = Data((isEmpty ? " " : ",").utf8) + line + Data("\n".utf8)
            try handle.seek(toOffset: end)
            try handle.write(contentsOf: entry + Data(Self.footer.utf8))
            end += UInt64(entry.count)
            isEmpty = false
        } catch {
            // A full disk leaves the beginning of the entry: the archive is closed again where it ended before.
            try? handle.truncate(atOffset: end)
            try? handle.seek(toOffset: end)
            try? handle.write(contentsOf: Data(Self.footer.utf8))
            throw HARError(error)
        }
    }

    deinit {
        unlock()
    }

    /// Lets go of the file.
    func close() {
        unlock()
        try? handle.close()
    }

    /// A process that another thread starts just now holds the descriptor until it runs its program, and the lock with it unless
    /// it is let go of here.
    private func unlock() {
        if let descriptor = locked { flock(descriptor, LOCK_UN) }
        locked = nil
    }

    /// Has what was written survive a loss of power.
    func synchronize() { try? handle.synchronize() }

    // MARK: Opening what is there

    /// Whether it is a file, and no device such as `/dev/null`.
    private static func isFile(_ descriptor: Int32) throws -> Bool {
        let type = try status(descriptor).st_mode & S_IFMT
        guard type != S_IFIFO else {
            throw HARError.unusableFile(reason: "it is a pipe, in which nothing can be overwritten")
        }
        return type == S_IFREG
    }

    /// Takes the permissions of a file away from others.
    private static func keepPrivate(_ descriptor: Int32) throws {
        guard try status(descriptor).st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor, 0o600) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    private static func status(_ descriptor: Int32) throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return status
    }

    /// Looks at the first line.
    ///
    /// - Returns: whether there is an archive whose header is whole.
    /// - Throws: ``HARError/foreignFile`` for what is neither one nor the beginning of one.
    private static func isOurs(_ handle: FileHandle, _ size: UInt64) throws -> Bool {
        guard size > 0 else { return false }
        let first = try firstLine(handle)
        if first.starts(with: Data(beginning.utf8)), first.last == UInt8(ascii: "\n") { return true }
        // The process may have ended in the middle of the header.
        let isTorn =
            UInt64(first.count) == size && first.last != UInt8(ascii: "\n")
            && (first.starts(with: Data(beginning.utf8)) || Data(beginning.utf8).starts(with: first))
        guard isTorn else { throw HARError.foreignFile }
        return false
    }

    /// Finds the end of the last whole entry, and closes the archive there.
    ///
    /// - Returns: where the footer begins, and whether there is no entry.
    private static func repaired(_ handle: FileHandle, _ size: UInt64) throws -> (UInt64, Bool) {
        var lines = LinesFromBehind(handle, size)
        let first = try firstLine(handle)
        while let (offset, line) = try lines.next(), offset >= UInt64(first.count) {
            guard entry(line) != nil else { continue }
            let end = offset + UInt64(line.count)
            return (try close(handle, at: end, size), false)
        }
        return (try close(handle, at: UInt64(first.count), size), true)
    }

    private static func close(_ handle: FileHandle, at end: UInt64, _ size: UInt64) throws -> UInt64 {
        if size == end + UInt64(footer.utf8.count) {
            try handle.seek(toOffset: end)
            if try handle.readToEnd() == Data(footer.utf8) { return end }
        }
        try handle.truncate(atOffset: end)
        try handle.seek(toOffset: end)
        try handle.write(contentsOf: Data(footer.utf8))
        return end
    }

    /// The entry of a line, with its line feed; `nil` where it is none.
    static func entry(_ line: Data) -> HAR.Entry? {
        guard let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: ","),
            line.last == UInt8(ascii: "\n")
        else { return nil }
        return try? JSONDecoder().decode(HAR.Entry.self, from: line.dropFirst())
    }

    private static func firstLine(_ handle: FileHandle) throws -> Data {
        try handle.seek(toOffset: 0)
        let head = try handle.read(upToCount: 4096) ?? Data()
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")) else { return head }
        return head[...end]
    }
}

/// The lines of a file from its last to its first, with at most a piece and a line of it in memory.
private struct LinesFromBehind {
    private static let piece: UInt64 = 65_536

    private let handle: FileHandle
    /// What has been read and not given, but for ``tail``.
    private var rest = Data()
    /// Where ``rest`` begins.
    private var start: UInt64
    /// The pieces of the line that ends behind ``rest``, the last one first. None of them has a line feed but the line's own: each
    /// byte is looked at once, however long a line is.
    private var tail: [Data] = []

    init(_ handle: FileHandle, _ size: UInt64) {
        self.handle = handle
        start = size
    }

    /// A line with its line feed, if it has one, and where it begins.
    mutating func next() throws -> (UInt64, Data)? {
        while true {
            // The line feed at the very end is that of the line itself.
            let searched = tail.isEmpty ? rest.dropLast() : rest
            if let feed = searched.lastIndex(of: UInt8(ascii: "\n")) {
                let offset = start + UInt64(rest.distance(from: rest.startIndex, to: feed)) + 1
                tail.append(rest[rest.index(after: feed)...])
                rest = rest[...feed]
                return (offset, takeTail())
            }
            if !rest.isEmpty { tail.append(rest) }
            rest = Data()
            guard start > 0 else { return tail.isEmpty ? nil : (0, takeTail()) }
            let length = min(Self.piece, start)
            start -= length
            try handle.seek(toOffset: start)
            rest = try handle.read(upToCount: Int(length)) ?? Data()
        }
    }

    private mutating func takeTail() -> Data {
        defer { tail = [] }
        return tail.reversed().reduce(into: Data()) { $0.append($1) }
    }
}

extension HARError {
    init(_ error: any Error) {
        self = error as? HARError ?? .unusableFile(reason: Words.reason(error))
    }
}
