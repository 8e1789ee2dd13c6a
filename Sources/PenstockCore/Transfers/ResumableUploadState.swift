import Foundation

/// What an upload has on disk beside the file that it sends, so that a later process takes it up: a line that says what the
/// file is, and a line of JSON. It is replaced as a whole, so that a crash leaves the old one or the new one, and nobody but its
/// owner may read it (0600).
struct ResumableUploadState: Hashable, Sendable {
    static let version = 1
    private static let name = "penstock upload "
    /// More than any state is long; what is longer is something else.
    private static let maximumBytes = 64 << 10

    /// What makes it this upload and no other.
    struct Subject: Codable, Hashable, Sendable {
        var form: ResumableUploadProtocol
        /// Where the upload was asked for, and by which method.
        var target: String
        var environment: String
        var identity: String
        var length: Int
        /// The digest of the file, when the upload began.
        var digest: String
    }

    /// A request that was handed over to the system, whose reply may come in a later process.
    struct Handover: Codable, Hashable, Sendable {
        /// What the system knows it by.
        var key: String
        var start: Int
        var end: Int
        var completes: Bool

        /// - Returns: `nil` for a step that is not handed over.
        init?(_ step: UploadStep, as key: String) {
            guard case .append(let bytes, let completes) = step else { return nil }
            (self.key, start, end, self.completes) = (key, bytes.lowerBound, bytes.upperBound, completes)
        }

        /// - Returns: `nil` where it cannot be one of a file of this length.
        func step(of length: Int) -> UploadStep? {
            guard start >= 0, start < end, end <= length else { return nil }
            return .append(start..<end, completes: completes)
        }
    }

    var subject: Subject
    var progress: ResumableUploadMachine.Progress
    var handover: Handover?

    private struct Line: Codable {
        var subject: Subject
        var handover: Handover?
        var location: String?
        var confirmed: Int
        var sent: Int?
        var mayBeComplete: Bool
        var hasSentEnd: Bool
    }

    // MARK: Files

    /// The state beside a file.
    static func place(of file: URL) -> URL { file.appendingPathExtension("upload") }

    private static let markLength = 16

    /// The place of one user: two who upload the same file in turn do not lose what the other has. Nobody's is the place itself.
    ///
    /// - Parameter base: the place that was asked for.
    static func place(at base: URL, for identity: String, in environment: String) -> URL {
        guard !identity.isEmpty else { return base }
        let mark = mark(of: identity, in: environment)
        return base.deletingLastPathComponent().appendingPathComponent("\(base.lastPathComponent)-\(mark)")
    }

    /// Tells users in environments apart, and says nothing of who they are.
    static func mark(of identity: String, in environment: String) -> String {
        String(SHA256.hex("\(environment.utf8.count):\(environment)\(identity)".utf8).prefix(markLength))
    }

    /// Whether a text may be a ``mark(of:in:)``.
    static func isMark(_ text: some StringProtocol) -> Bool {
        text.utf8.count == markLength && text.allSatisfy(\.isHexDigit)
    }

    /// All that there are of a place, whoever's.
    static func places(at base: URL) throws -> [URL] {
        let (folder, start) = (base.deletingLastPathComponent(), base.lastPathComponent + "-")
        var names: [String] = []
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        }
        let marked = names.filter { name in
            name.hasPrefix(start) && isMark(name.dropFirst(start.count))
        }
        return [base] + marked.map { folder.appendingPathComponent($0) }
    }

    /// - Returns: `nil` where there is none, or one that cannot be read: what is damaged is no reason to send nothing. A state of
    ///   a later version is left alone.
    static func read(_ place: URL) throws(ResumableUploadError) -> ResumableUploadState? {
        let found: Data?
        do throws(SystemError) {
            found = try SystemError.ofFile { () throws(PrivateFileError) in
                try PrivateFile(place).contents(limit: maximumBytes + 1, .narrows)
            }
        } catch {
            throw .unusableState(reason: String(cString: strerror(error.code)))
        }
        guard let data = found, !data.isEmpty else { return nil }
        let lines = data.split(separator: UInt8(ascii: "\n"))
        guard let first = lines.first.map({ String(decoding: $0, as: UTF8.self) }), first.hasPrefix(name),
            data.count <= maximumBytes
        else {
            throw .unusableState(reason: "\(place.lastPathComponent) is no state of an upload")
        }
        guard let number = Int(first.dropFirst(name.count)), number <= version else {
            throw .unusableState(reason: "\(place.lastPathComponent) is of a later version")
        }
        guard lines.count == 2, let line = try? JSONDecoder().decode(Line.self, from: lines[1]) else { return nil }
        return ResumableUploadState(line)
    }

    private init?(_ line: Line) {
        guard line.confirmed >= 0, line.confirmed <= line.subject.length,
            (line.confirmed...line.subject.length).contains(line.sent ?? line.confirmed)
        else { return nil }
        let location = line.location.flatMap { try? HTTPURL($0) }
        guard (location == nil) == (line.location == nil) else { return nil }
        subject = line.subject
        handover = line.handover
        progress = .init(
            location: location, confirmed: line.confirmed, sent: line.sent, mayBeComplete: line.mayBeComplete,
            hasSentEnd: line.hasSentEnd)
    }

    init(_ subject: Subject, _ progress: ResumableUploadMachine.Progress, _ handover: Handover? = nil) {
        self.subject = subject
        self.progress = progress
        self.handover = handover
    }

    /// Waits for the disk.
    func write(_ place: URL) throws(ResumableUploadError) {
        let line = Line(
            subject: subject, handover: handover, location: progress.location?.absoluteString,
            confirmed: progress.confirmed, sent: progress.sent,
            mayBeComplete: progress.mayBeComplete, hasSentEnd: progress.hasSentEnd)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let data = Data("\(Self.name)\(Self.version)\n".utf8) + (try encoder.encode(line)) + Data("\n".utf8)
            _ = try SystemError.ofFile { () throws(PrivateFileError) in try PrivateFile(place).replace(with: data) }
        } catch let error as SystemError {
            throw .unusableState(reason: String(cString: strerror(error.code)))
        } catch {
            throw .unusableState(reason: error.localizedDescription)
        }
    }
}

/// The state of one upload and its file. Everything but reading waits for the disk.
final class UploadRecord: Sendable {
    let subject: ResumableUploadState.Subject
    private let place: URL
    private let known: Locked<ResumableUploadState>

    /// - Throws: ``ResumableUploadError/sourceChanged`` where the state is that of the same upload of another content.
    static func open(
        _ place: URL, _ subject: ResumableUploadState.Subject
    ) throws(ResumableUploadError) -> UploadRecord {
        let found = try ResumableUploadState.read(place)
        if let found, found.subject != subject, found.subject.isUpload(like: subject) { throw .sourceChanged }
        var state = ResumableUploadState(subject, ResumableUploadMachine.Progress())
        if let found, found.subject == subject { state = found }
        try state.write(place)
        return UploadRecord(place, state)
    }

    private init(_ place: URL, _ state: ResumableUploadState) {
        self.place = place
        subject = state.subject
        known = Locked(state)
    }

    var progress: ResumableUploadMachine.Progress { known.withLock { $0.progress } }
    /// What the system has, or had until what came of it was decided on.
    var handover: ResumableUploadState.Handover? { known.withLock { $0.handover } }

    /// Nothing where it is known already.
    func keep(
        _ progress: ResumableUploadMachine.Progress, _ handover: ResumableUploadState.Handover? = nil
    ) throws(ResumableUploadError) {
        let state = ResumableUploadState(subject, progress, handover)
        guard state != known.withLock({ $0 }) else { return }
        try state.write(place)
        known.withLock { $0 = state }
    }

    func remove() {
        try? FileManager.default.removeItem(at: place)
    }
}

extension ResumableUploadState.Subject {
    /// Whether everything but the content is the same.
    fileprivate func isUpload(like other: Self) -> Bool {
        var same = self
        (same.length, same.digest) = (other.length, other.digest)
        return same == other
    }
}
