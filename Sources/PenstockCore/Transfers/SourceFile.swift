import Foundation

/// Why a file could not be sent as it was when the request was made.
@nonexhaustive
public enum SourceFileError: Error, Hashable, Sendable {
    /// There is no regular file that can be read; `code` is the system's `errno`, 0 where the file is of another kind.
    case unreadable(URL, code: Int32)
    /// It is another one, or was written to, since the request was made or while it was sent: nobody could tell what the server
    /// has got.
    case changed(URL)
    /// It ended before its length.
    case shrank(URL)
    /// It went on behind its length.
    case grew(URL)
}

/// A regular file that is to be sent, as it was when the request was made: its length, and how a change of it shows.
struct SourceFile: Sendable {
    let url: URL
    let length: Int
    private let mark: Mark

    /// What tells one state of a file from another one.
    private struct Mark: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ facts: stat) {
            device = UInt64(truncatingIfNeeded: facts.st_dev)
            inode = UInt64(truncatingIfNeeded: facts.st_ino)
            // One that is longer than can be counted is found to have grown when it is read.
            size = Int(clamping: facts.st_size)
            (seconds, nanoseconds) = FileFacts.modification(facts)
        }
    }

    /// Looks at the file.
    init(_ url: URL) throws(SourceFileError) {
        let descriptor = try Self.open(url)
        self.init(url, Mark(try descriptor.facts(of: url)))
    }

    private init(_ url: URL, _ mark: Mark) {
        self.url = url
        self.mark = mark
        length = mark.size
    }

    /// Opens it for one sending.
    ///
    /// - Throws: ``SourceFileError/changed(_:)`` where it is not what it was.
    func reader() throws(SourceFileError) -> Reader {
        let descriptor = try Self.open(url)
        guard Mark(try descriptor.facts(of: url)) == mark else { throw .changed(url) }
        return Reader(file: self, descriptor: descriptor)
    }

    private static func open(_ url: URL) throws(SourceFileError) -> FileDescriptor {
        // Without waiting: opening a pipe would last until somebody writes to it.
        let descriptor = Foundation.open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(url, code: errno) }
        return FileDescriptor(descriptor)
    }

    /// Reads the file once, from its beginning or any other place.
    struct Reader: Sendable {
        fileprivate let file: SourceFile
        fileprivate let descriptor: FileDescriptor

        /// The bytes from `offset` on, at most `count`; no bytes at the end of the file, which was looked at once more then.
        func read(_ count: Int, at offset: Int) throws(SourceFileError) -> Data {
            let wanted = min(count, file.length - offset)
            guard wanted > 0 else {
                try check()
                return Data()
            }
            let bytes: Data
            do {
                bytes = try descriptor.read(wanted, at: offset)
            } catch {
                throw .unreadable(file.url, code: error.code)
            }
            guard !bytes.isEmpty else { throw .shrank(file.url) }
            return bytes
        }

        private func check() throws(SourceFileError) {
            let now = Mark(try descriptor.facts(of: file.url))
            if now.size > file.length { throw .grew(file.url) }
            if now.size < file.length { throw .shrank(file.url) }
            guard now == file.mark else { throw .changed(file.url) }
        }
    }
}

extension FileDescriptor {
    /// What the system knows of a regular file.
    fileprivate func facts(of url: URL) throws(SourceFileError) -> stat {
        do {
            let facts = try facts()
            guard FileFacts.isRegular(facts) else { throw SourceFileError.unreadable(url, code: 0) }
            return facts
        } catch let error as SourceFileError {
            throw error
        } catch {
            throw .unreadable(url, code: (error as? SystemError)?.code ?? EIO)
        }
    }
}
