import Foundation

/// The file that an upload sends: opened once, locked against another upload of it, and digested again as it is sent.
///
/// The last bytes of the file go out only when the digest of all that was read, in the order in which it was sent, is that of
/// the file as it was when the upload began. So no server ever completes an object of which one part is from before a change
/// and another one from after it.
final class ResumableUploadSource: Sendable {
    /// Read at a time: large enough that a read costs little beside its bytes, small enough to be forgotten.
    private static let pieceBytes = 128 << 10
    /// How many states of the digest are kept. Who goes back reads no more than the part between two of them again.
    private static let maximumCheckpoints = 1_024

    let length: Int
    /// SHA-256 of the file, in hexadecimal.
    let digest: String
    private let spacing: Int
    private let state: SerialState<State>
    private let failure = Locked<ResumableUploadError?>(nil)

    struct State {
        fileprivate let path: String
        /// `nil` once the upload has ended.
        fileprivate var file: FileDescriptor?
        fileprivate var stamp: Stamp
        /// The digest of everything before an offset, by that offset.
        fileprivate var checkpoints: [Int: SHA256.Stream] = [0: SHA256.Stream()]
    }

    /// What changes when somebody writes to the file, or puts another one in its place.
    fileprivate struct Stamp: Equatable {
        var volume: UInt64
        var number: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    // MARK: Opening

    /// Takes the lock of an open file, and returns as `flock` does.
    typealias Locker = @Sendable (Int32) -> Int32

    /// Opens the file, locks it, and reads it once. A volume that has no locks, or none for files that are only read, is no reason
    /// not to upload: two uploads of one file at the same time go unnoticed there.
    ///
    /// - Parameter isWanted: asked before each piece; the file is read no further where it is not.
    static func open(
        _ file: URL, locking: @escaping Locker = { flock($0, LOCK_EX | LOCK_NB) },
        while isWanted: @escaping @Sendable () -> Bool = { true }
    ) async throws(ResumableUploadError) -> ResumableUploadSource {
        try await DiskWork.run { () throws(ResumableUploadError) in
            try ResumableUploadSource(reading: file, locking, while: isWanted)
        }
    }

    private init(
        reading url: URL, _ locking: Locker, while isWanted: () -> Bool
    ) throws(ResumableUploadError) {
        // Without waiting: opening a pipe would last until somebody writes to it.
        let file = try Self.told { () throws(SystemError) in
            try FileDescriptor.open(url.path, O_RDONLY | O_NONBLOCK)
        }
        let stamp = try Self.stamp(of: file)
        do throws(SystemError) {
            _ = try SystemError.check { Int(locking(file.raw)) }
        } catch {
            if error.code == EWOULDBLOCK { throw .inUse }
        }
        length = stamp.size
        spacing = max(1 << 20, length / Self.maximumCheckpoints + 1)
        var state = State(path: url.path, file: file, stamp: stamp)
        digest = try Self.digest(of: &state, upTo: stamp.size, every: spacing, while: isWanted)
        self.state = SerialState(state, label: "penstock.upload")
    }

    /// Lets go of the file and of its lock when the upload ends, so that the next one need not wait for whoever still holds
    /// a body of this one. Such a body gives nothing more, and marks nothing.
    func end() async {
        _ = try? await run { $0.file = nil }
    }

    private static func stamp(of file: FileDescriptor?) throws(ResumableUploadError) -> Stamp {
        guard let file else { throw .sourceUnreadable(reason: "the upload has ended") }
        let facts = try told { () throws(SystemError) in try file.facts() }
        guard FileFacts.isRegular(facts) else { throw .sourceUnreadable(reason: "it is no regular file") }
        guard let size = Int(exactly: facts.st_size) else { throw .sourceUnreadable(reason: "it is too long") }
        let (seconds, nanoseconds) = FileFacts.modification(facts)
        return Stamp(
            volume: UInt64(truncatingIfNeeded: facts.st_dev), number: UInt64(truncatingIfNeeded: facts.st_ino),
            size: size, seconds: seconds, nanoseconds: nanoseconds)
    }

    private static func told<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(ResumableUploadError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .sourceUnreadable(reason: String(cString: strerror(error.code)))
        }
    }

    private static func digest(
        of state: inout State, upTo end: Int, every spacing: Int, while isWanted: () -> Bool = { true }
    ) throws(ResumableUploadError) -> String {
        var cursor = Cursor(position: 0, digest: SHA256.Stream(), end: end)
        while isWanted() {
            guard try read(&state, &cursor, every: spacing) == nil else { continue }
            return cursor.digest.hex()
        }
        throw .sourceUnreadable(reason: "nobody wants it any more")
    }

    // MARK: Reading

    /// Why the reading of a body has failed.
    var whyItFailed: ResumableUploadError? { failure.withLock { $0 } }

    /// A part of the file, which is read anew each time it is sent.
    ///
    /// - Parameter willEnd: called before the last bytes of the file are handed over, once they are known to be right.
    func body(_ bytes: Range<Int>, willEnd: @escaping @Sendable () throws(ResumableUploadError) -> Void) -> HTTPBody {
        .stream(length: bytes.count) { [self] in
            let reading = Locked<Cursor?>(nil)
            return HTTPBody.Chunks(unfolding: {
                try await self.run { state throws(ResumableUploadError) in
                    let known = reading.withLock { $0 }
                    var cursor: Cursor
                    if let known { cursor = known } else { cursor = try self.cursor(in: &state, at: bytes) }
                    let piece = try self.piece(&state, &cursor, willEnd)
                    reading.withLock { [cursor] in $0 = cursor }
                    return piece
                }
            })
        }
    }

    /// Checks that the file is the one that the upload began with, where all of it was sent.
    func check(willEnd: @escaping @Sendable () throws(ResumableUploadError) -> Void) async throws(ResumableUploadError)
    {
        try await run { state throws(ResumableUploadError) in
            let cursor = try self.cursor(in: &state, at: self.length..<self.length)
            guard cursor.digest.hex() == self.digest else { throw .sourceChanged }
            try willEnd()
        }
    }

    /// Where one reading is.
    private struct Cursor {
        var position: Int
        /// The digest of everything before the position.
        var digest: SHA256.Stream
        var end: Int
    }

    /// Runs what waits for the disk.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (inout State) throws(ResumableUploadError) -> Value
    ) async throws(ResumableUploadError) -> Value {
        let result = await state.result { state in
            Result { () throws(ResumableUploadError) in try body(&state) }
        }
        if case .failure(let error) = result { failure.withLock { $0 = error } }
        return try result.get()
    }

    /// A reading that begins somewhere, with the digest of what is before.
    private func cursor(in state: inout State, at bytes: Range<Int>) throws(ResumableUploadError) -> Cursor {
        try checkStamp(&state)
        let known = state.checkpoints.keys.filter { $0 <= bytes.lowerBound }.max() ?? 0
        var cursor = Cursor(
            position: known, digest: state.checkpoints[known] ?? SHA256.Stream(), end: bytes.lowerBound)
        while try Self.read(&state, &cursor, every: spacing) != nil {}
        guard cursor.position == bytes.lowerBound else { throw .sourceChanged }
        cursor.end = bytes.upperBound
        return cursor
    }

    /// Reads a file that somebody has written to once more: it may have been written as it was. One that has another file in its
    /// place, or none, is not read again: a later upload looks at what is there then.
    private func checkStamp(_ state: inout State) throws(ResumableUploadError) {
        var there = stat()
        guard stat(state.path, &there) == 0, UInt64(truncatingIfNeeded: there.st_dev) == state.stamp.volume,
            UInt64(truncatingIfNeeded: there.st_ino) == state.stamp.number
        else { throw .sourceChanged }
        let stamp = try Self.stamp(of: state.file)
        guard stamp != state.stamp else { return }
        guard stamp.size == length else { throw .sourceChanged }
        let checkpoints = state.checkpoints
        let digest = try Self.digest(of: &state, upTo: length, every: spacing)
        state.checkpoints = checkpoints
        guard digest == self.digest else { throw .sourceChanged }
        state.stamp = stamp
    }

    private func piece(
        _ state: inout State, _ cursor: inout Cursor, _ willEnd: () throws(ResumableUploadError) -> Void
    ) throws(ResumableUploadError) -> Data? {
        guard let piece = try Self.read(&state, &cursor, every: spacing) else {
            guard cursor.position == cursor.end else { throw .sourceChanged }
            return nil
        }
        if cursor.position == length {
            guard cursor.digest.hex() == digest else { throw .sourceChanged }
            try willEnd()
        }
        return piece
    }

    /// - Returns: `nil` at the cursor's end, and where the file has become shorter.
    private static func read(
        _ state: inout State, _ cursor: inout Cursor, every spacing: Int
    ) throws(ResumableUploadError) -> Data? {
        let count = min(pieceBytes, cursor.end - cursor.position, spacing - cursor.position % spacing)
        guard count > 0 else { return nil }
        guard let file = state.file else { throw .sourceUnreadable(reason: "the upload has ended") }
        let piece = try told { () throws(SystemError) in try file.read(count, at: cursor.position) }
        guard !piece.isEmpty else { return nil }
        cursor.digest.update(piece)
        cursor.position += piece.count
        if cursor.position.isMultiple(of: spacing) { state.checkpoints[cursor.position] = cursor.digest }
        return piece
    }
}
