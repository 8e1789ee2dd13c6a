#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// A regular file. A disk that hangs holds up its transfer and no other: what the system has in memory is read as libcurl asks for
    /// it, and for all else there is a disk's thread.
    ///
    /// Where the system has nothing in memory, the thread reads the next piece while the present one is sent, and no more is kept: two
    /// pieces take turns, as fresh memory costs more than what is read into it.
    final class CurlFileSource: CurlBodySource {
        enum Event: Sendable {
            /// What the file has from an offset on.
            case piece(CurlFilePiece, offset: Int)
            case failure(String)
        }

        private static let longestRun = 16

        private let declared: Int
        private let file: CurlFile
        private let report: @Sendable (Event) -> Void
        /// Where what is handed out next begins.
        private var offset = 0
        private var present: CurlFilePiece?
        private var used = 0
        private var next: CurlFilePiece?
        /// What was sent, to be read into again.
        private var spare: CurlFilePiece?
        private var isReading = false
        /// How many pieces are read before they are asked for, until it is seen once more what the system has in memory; the more of
        /// them, the more often it had nothing.
        private var piecesAhead = 0
        private var run = 1
        private(set) var isOpen = false
        /// Why nothing more can be read.
        private(set) var refusal: String?

        /// Opens the file, and reads the first piece.
        ///
        /// - Parameter report: carries what was read to the loop's thread.
        init(_ url: URL, length: Int, report: @escaping @Sendable (Event) -> Void) {
            declared = length
            file = CurlFile(url.path, pieces: min(length, CurlUploadPace.most))
            self.report = report
            read()
        }

        deinit {
            close()
        }

        var length: Int? { declared }
        var isFinished: Bool { offset == declared }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            guard offset < declared else { return .end }
            if used == (present?.count ?? 0), let next {
                (present, spare, used, self.next) = (next, present ?? spare, 0, nil)
                if piecesAhead > 0 { readAhead() }
                piecesAhead = max(0, piecesAhead - 1)
            }
            guard let present, used < present.count else { return readOn(into: buffer) }
            let count = min(buffer.count, present.count - used)
            buffer.baseAddress?.copyMemory(from: present.memory + used, byteCount: count)
            used += count
            return handedOut(count)
        }

        private func readOn(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            if let refusal { return .failed(refusal) }
            guard !isReading else { return .later }
            let place = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(declared - offset))
            if let count = file.readFromMemory(into: place, at: offset) {
                (spare, present, used, run) = (present ?? spare, nil, 0, 1)
                return handedOut(count)
            }
            (piecesAhead, run) = (run, min(run * 2, Self.longestRun))
            readAhead()
            return .later
        }

        private func handedOut(_ count: Int) -> CurlBodyRead {
            offset += count
            if isFinished { (present, spare, used) = (nil, nil, 0) }
            return .bytes(count)
        }

        /// Takes what was read.
        func receive(_ event: Event) {
            (isReading, isOpen) = (false, true)
            switch event {
            case .failure(let reason): refusal = reason
            // What was being read when it went back is not what comes next.
            case .piece(let piece, let offset):
                guard offset != end else { return next = piece }
                spare = piece
                readAhead()
            }
        }

        func rewind() -> Bool {
            guard offset > 0 else { return true }
            (offset, spare, present, used, next) = (0, present ?? spare, nil, 0, nil)
            readAhead()
            return true
        }

        func close() {
            file.close()
        }

        /// Where what is read next begins.
        private var end: Int { offset + (present?.count ?? 0) - used + (next?.count ?? 0) }

        private func readAhead() {
            if !isReading, next == nil, refusal == nil, end < declared { read() }
        }

        private func read() {
            isReading = true
            file.read(min(declared - end, CurlUploadPace.most), at: end, into: spare, report)
            spare = nil
        }
    }

    /// A file that threads of the disk's open, read and close.
    private final class CurlFile: Sendable {
        private struct State: Sendable {
            var descriptor: Int32?
            /// Whether a thread is reading, which then closes it.
            var isBusy = false
            var isClosed = false
        }

        private let path: String
        private let pieceSize: Int
        private let state = Locked(State())

        /// - Parameter size: of the largest piece.
        init(_ path: String, pieces size: Int) {
            self.path = path
            pieceSize = max(1, size)
        }

        /// One at a time.
        func read(
            _ count: Int, at offset: Int, into spare: CurlFilePiece?,
            _ report: @escaping @Sendable (CurlFileSource.Event) -> Void
        ) {
            DiskWork.start { [self] in
                if let event = read(count, at: offset, into: spare) { report(event) }
            }
        }

        /// - Returns: `nil` where that would be waited for.
        func readFromMemory(into place: UnsafeMutableRawBufferPointer, at offset: Int) -> Int? {
            guard let descriptor = state.withLock({ $0.descriptor }) else { return nil }
            let count = ccurl_read_from_memory(descriptor, place.baseAddress, place.count, off_t(offset))
            return count > 0 ? count : nil
        }

        func close() {
            let descriptor = state.withLock { state -> Int32? in
                state.isClosed = true
                guard !state.isBusy else { return nil }
                defer { state.descriptor = nil }
                return state.descriptor
            }
            if let descriptor { DiskWork.start { Glibc.close(descriptor) } }
        }

        /// - Returns: `nil` where it is closed.
        private func read(_ count: Int, at offset: Int, into spare: CurlFilePiece?) -> CurlFileSource.Event? {
            let (isClosed, known) = state.withLock { state in
                state.isBusy = !state.isClosed
                return (state.isClosed, state.descriptor)
            }
            guard !isClosed else { return nil }
            let descriptor = known ?? open(path, O_RDONLY | O_CLOEXEC)
            let event = read(count, descriptor, offset, spare)
            let isUnwanted = state.withLock { state in
                state.isBusy = false
                state.descriptor = descriptor < 0 || state.isClosed ? nil : descriptor
                return state.isClosed
            }
            if isUnwanted, descriptor >= 0 { Glibc.close(descriptor) }
            return event
        }

        private func read(
            _ count: Int, _ descriptor: Int32, _ offset: Int, _ spare: CurlFilePiece?
        ) -> CurlFileSource.Event {
            guard descriptor >= 0 else { return .failure("the file cannot be opened") }
            guard let piece = spare ?? CurlFilePiece(pieceSize) else { return .failure("no memory is left") }
            return piece.read(count, of: descriptor, at: offset).map { .failure($0) } ?? .piece(piece, offset: offset)
        }
    }

    /// Memory for a piece of a file. Unchecked because who has it is alone with it: the source, and a thread that reads in between.
    final class CurlFilePiece: @unchecked Sendable {
        let memory: UnsafeMutableRawPointer
        private(set) var count = 0

        /// - Returns: `nil` where there is no memory left.
        init?(_ size: Int) {
            guard let memory = malloc(size) else { return nil }
            self.memory = memory
        }

        deinit {
            free(memory)
        }

        /// - Returns: why it cannot be read; `nil` where it was.
        func read(_ wanted: Int, of descriptor: Int32, at offset: Int) -> String? {
            count = 0
            while count < wanted {
                let more = pread(descriptor, memory + count, wanted - count, off_t(offset + count))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return more == 0 ? "the file is shorter than it was" : "the file cannot be read" }
                count += more
            }
            return nil
        }
    }
#endif
