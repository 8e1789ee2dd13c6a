import Foundation

/// The part of one download on the disk: a hidden file in the folder of the destination, and beside it what describes it. Every
/// call waits for the disk.
///
/// What is written is described before: the file of the description goes when a part is begun anew, and comes back, synchronized,
/// before the first byte of the new one. So a description never speaks of other bytes than those in the part, whenever the process
/// or the machine stops. Only one download has the place, by a lock on the part, which ends with its process.
struct DownloadPlace: Sendable {
    private static let prefix = ".penstock-"

    private let folder: String
    private let stem: String
    let key: String
    private let file: FileDescriptor
    /// What stands in for the lock on a volume that has none.
    private let hold: Hold?

    private var part: String { "\(folder)/\(stem).part" }
    private var description: String { "\(folder)/\(stem).json" }

    /// Takes the lock of an open file, and returns as `flock` does.
    typealias Locker = @Sendable (Int32) -> Int32

    /// Locks a file as the system does, without waiting.
    static let flocking: Locker = { flock($0, LOCK_EX | LOCK_NB) }

    /// Takes the place, and finds what is there. A volume that has no locks is no reason not to download: there two downloads to one
    /// place at the same time go unnoticed only where they are two processes'.
    ///
    /// - Parameter key: what is downloaded, for whom, and to where. What another download has left is not touched.
    /// - Returns: also how much can be gone on from; `nil` for nothing.
    static func open(
        in folder: URL, key: String, locking: Locker = flocking
    ) throws(SystemError) -> (place: DownloadPlace, kept: (part: PartialDownload, offset: Int)?) {
        let stem = prefix + key.prefix(24)
        let (file, hold) = try locked("\(folder.path)/\(stem).part", locking)
        let place = DownloadPlace(folder: folder.path, stem: stem, key: key, file: file, hold: hold)
        let kept = try place.kept()
        if kept == nil { try place.clear() }
        return (place, kept)
    }

    /// The mode of a part, which nobody but its owner reads.
    private static let ownersMode: mode_t = 0o600

    /// Opens the part, or makes it. What is there under its name and is no ordinary file of this user's own is removed, and not
    /// followed.
    private static func locked(
        _ path: String, _ locking: Locker = flocking
    ) throws(SystemError) -> (FileDescriptor, Hold?) {
        for _ in 0..<8 {
            let file: FileDescriptor
            do throws(SystemError) {
                file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: ownersMode)
            } catch {
                guard error.code == ELOOP else { throw error }
                _ = try SystemError.check { Int(unlink(path)) }
                continue
            }
            let facts = try file.facts()
            guard FileFacts.isRegular(facts), facts.st_uid == geteuid(), facts.st_nlink <= 1 else {
                _ = try SystemError.check { Int(unlink(path)) }
                continue
            }
            var hold: Hold?
            do throws(SystemError) {
                _ = try SystemError.check { Int(locking(file.raw)) }
            } catch {
                guard missingLocks.contains(error.code) else { throw error }
                hold = Hold(path)
                if hold == nil { throw SystemError(code: EWOULDBLOCK) }
            }
            // The one who had it may have moved it away meanwhile.
            guard let now = FileFacts.at(path), now.st_ino == facts.st_ino else { continue }
            // A volume without permissions has nothing to take away.
            if facts.st_mode & 0o777 != ownersMode { fchmod(file.raw, ownersMode) }
            return (file, hold)
        }
        throw SystemError(code: EWOULDBLOCK)
    }

    /// The errors of a volume that has no locks, such as one over a network.
    private static let missingLocks: Set<Int32> = [ENOLCK, ENOTSUP, EOPNOTSUPP, ENOSYS, EINVAL]

    /// A place that is this process' as long as this exists.
    private final class Hold: Sendable {
        private static let paths = Locked<Set<String>>([])

        private let path: String

        /// - Returns: `nil` where another one has it.
        init?(_ path: String) {
            guard Self.paths.withLock({ $0.insert(path).inserted }) else { return nil }
            self.path = path
        }

        deinit {
            _ = Self.paths.withLock { $0.remove(path) }
        }
    }

    private func kept() throws(SystemError) -> (part: PartialDownload, offset: Int)? {
        let size = Int(clamping: try file.facts().st_size)
        guard size > 0, let part = readDescription().flatMap(Self.part(in:)), part.key == key,
            let offset = part.usable(size, in: MachineStart.id)
        else { return nil }
        if offset < size { try file.truncate(to: offset) }
        return (part, offset)
    }

    /// A description is short; what is not is none.
    private static let longestDescription = 64 << 10

    private func readDescription() -> Data? {
        let file = PrivateFile(path: description)
        return (try? file.contents(limit: Self.longestDescription, .narrows { Self.part(in: $0) != nil })) ?? nil
    }

    private static func part(in description: Data) -> PartialDownload? {
        try? JSONDecoder().decode(PartialDownload.self, from: description)
    }

    // MARK: Writing

    /// Empties the part, and describes the one that begins; `nil` for one that nobody can go on with.
    func begin(_ part: PartialDownload?) throws(SystemError) {
        try clear()
        if let part { try describe(part) }
    }

    private func clear() throws(SystemError) {
        unlink(description)
        try file.truncate(to: 0)
    }

    func write(_ data: Data, at offset: Int) throws(SystemError) {
        try file.write(data, at: offset)
    }

    /// Has the disk keep what was written, and says so in the description.
    func synchronize(_ part: PartialDownload) throws(SystemError) {
        try file.synchronize()
        try describe(part)
    }

    /// Writes the description beside, and puts it in place in one moment.
    private func describe(_ part: PartialDownload) throws(SystemError) {
        var part = part
        part.boot = MachineStart.id
        guard let text = try? JSONEncoder().encode(part) else { throw SystemError(code: EINVAL) }
        try SystemError.ofFile { () throws(PrivateFileError) in
            _ = try PrivateFile(path: description).replace(with: text)
        }
    }

    // MARK: The end

    /// The digest of what is in the part, in hexadecimal digits.
    ///
    /// - Parameter goesOn: asked now and then; throws where nobody waits any more.
    func digest(
        _ length: Int, _ algorithm: DigestAlgorithm, while goesOn: () throws(APIError) -> Void
    ) throws(APIError) -> String {
        switch algorithm {
        case .sha256: try digest(length, SHA256.Stream(), goesOn)
        case .sha512: try digest(length, SHA512.Stream(), goesOn)
        }
    }

    private func digest(
        _ length: Int, _ stream: some DigestStream, _ goesOn: () throws(APIError) -> Void
    ) throws(APIError) -> String {
        var digest = stream
        var offset = 0
        while offset < length {
            try goesOn()
            let bytes: Data
            do throws(SystemError) {
                bytes = try file.read(1 << 20, at: offset)
            } catch {
                throw APIError(error)
            }
            guard !bytes.isEmpty else { throw APIError(SystemError(code: EIO)) }
            digest.update(bytes)
            offset += bytes.count
        }
        return digest.hex()
    }

    /// What is in the part; `nil` where the disk does not give it.
    func contents(_ length: Int) -> Data? {
        let bytes = try? file.read(length, at: 0)
        return bytes?.count == length ? bytes : nil
    }

    /// Gives the part its name, and the permissions of any new file, once all of it is on the disk. Nothing is ever to be seen
    /// under the name but the whole file.
    ///
    /// - Returns: the name that it got.
    func finish(as name: String, _ overwriting: DownloadDestination.Overwriting) throws(SystemError) -> String {
        if let mode = usualMode() { fchmod(file.raw, mode) }
        let given: String
        do throws(SystemError) {
            try file.synchronize()
            given = try move(to: name, overwriting)
        } catch {
            fchmod(file.raw, Self.ownersMode)
            throw error
        }
        unlink(description)
        PrivateFile(path: description).settle()
        return given
    }

    /// The permissions of a new file in the folder, which one that is made for it tells: the process's mask cannot be read without
    /// changing it for all threads. `nil` where none can be made.
    private func usualMode() -> mode_t? {
        let path = "\(folder)/\(stem).mode"
        unlink(path)
        defer { unlink(path) }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        guard let facts = try? FileDescriptor.open(path, flags).facts() else { return nil }
        return facts.st_mode & 0o777
    }

    private func move(to name: String, _ overwriting: DownloadDestination.Overwriting) throws(SystemError) -> String {
        switch overwriting {
        case .replace:
            _ = try SystemError.check { Int(rename(part, "\(folder)/\(name)")) }
            return name
        case .fail:
            try moveIfFree(to: name)
            return name
        case .numbered:
            var (number, candidate) = (1, name)
            while true {
                do throws(SystemError) {
                    try moveIfFree(to: candidate)
                    return candidate
                } catch {
                    guard error.code == EEXIST, number < Self.mostNumbers else { throw error }
                }
                number += 1
                candidate = FileNameRules.numbered(name, number)
            }
        }
    }

    /// A folder with so many files of one name has another problem.
    private static let mostNumbers = 10_000

    /// What a system says that has no such function, or whose volume has not.
    private static let lacking: [Int32] = [EPERM, ENOTSUP, EMLINK, ENOSYS, EINVAL]

    /// A link is made for nobody but the first who asks, whatever has the name, and follows nothing. Where the file system has no
    /// links, the part is renamed by a function that replaces nothing, and where there is none either, an empty file takes the name
    /// first.
    private func moveIfFree(to name: String) throws(SystemError) {
        try Self.move(part, ifFree: "\(folder)/\(name)")
    }

    /// The ways to give a file a name that nothing has, the surest first; each returns what the system's own functions do.
    struct Ways: Sendable {
        var link: @Sendable (String, String) -> Int32 = { Foundation.link($0, $1) }
        var rename: @Sendable (String, String) -> Int32 = { FileMove.exclusively($0, $1) }
    }

    static func move(_ part: String, ifFree path: String, by ways: Ways = Ways()) throws(SystemError) {
        do throws(SystemError) {
            _ = try SystemError.check { Int(ways.link(part, path)) }
            unlink(part)
            return
        } catch {
            guard lacking.contains(error.code) else { throw error }
        }
        do throws(SystemError) {
            _ = try SystemError.check { Int(ways.rename(part, path)) }
        } catch {
            guard lacking.contains(error.code) else { throw error }
            _ = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            do throws(SystemError) {
                _ = try SystemError.check { Int(rename(part, path)) }
            } catch {
                unlink(path)
                throw error
            }
        }
    }

    /// Removes all that is there.
    func remove() {
        unlink(description)
        unlink("\(description).new")
        unlink(part)
    }

    /// Removes the parts that nobody has and that were not written to for some time.
    static func removeAll(in folder: URL, olderThan age: Duration, at now: Date) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return Set(names.compactMap(stem(of:))).count { stem in
            let path = "\(folder.path)/\(stem)"
            let kinds = [".part", ".json", ".json.new"]
            guard let facts = kinds.lazy.compactMap({ FileFacts.at(path + $0) }).first else { return false }
            let written = Date(timeIntervalSince1970: Double(FileFacts.modification(facts).seconds))
            guard now.timeIntervalSince(written) >= Double(age.components.seconds),
                let (file, hold) = try? locked("\(path).part")
            else { return false }
            DownloadPlace(folder: folder.path, stem: stem, key: "", file: file, hold: hold).remove()
            return true
        }
    }

    /// Whose file it is, if it is one of a place. A description may have been left without its part, and one that was being written
    /// without either.
    private static func stem(of name: String) -> String? {
        guard name.hasPrefix(prefix), let dot = name.dropFirst().firstIndex(of: ".") else { return nil }
        let isDigest = name[..<dot].dropFirst(prefix.count).utf8.count == 24
        return name[dot...] == ".part" || isDigest && [".json", ".json.new"].contains(name[dot...])
            ? String(name[..<dot]) : nil
    }
}
