import Foundation

/// A file that an option names, to be written once there is something to write.
struct OutputFile: Sendable {
    /// Where it is, links to files followed.
    let url: URL
    /// The permissions of the file that is there already; `nil` when none is.
    private let permissions: Int?
    /// Devices and pipes are written into: to replace them would destroy them.
    private let isReplaced: Bool

    /// Looks at the place before anything is sent.
    ///
    /// - Parameter option: what names the file, for messages.
    init(path: String, option: String = "-o") throws(UsageError) {
        guard !path.isEmpty else { throw UsageError("\(option): the name of the file is empty") }
        let named = URL(fileURLWithPath: path)
        isReplaced = !Self.isSpecial(named.path)
        // What a link leads to may have no name, such as the pipe behind one of `/dev/fd`.
        url = isReplaced ? named.resolvingSymlinksInPath() : named
        let name = String(reflecting: path)
        let (type, permissions) = Self.attributes(of: url)
        guard type != .typeDirectory, !path.hasSuffix("/") else {
            throw UsageError("\(option): \(name) is a directory")
        }
        guard type != .typeSymbolicLink || !isReplaced else {
            throw UsageError("\(option): \(name) is a link to nothing")
        }
        guard !isReplaced || Self.attributes(of: url.deletingLastPathComponent()).type == .typeDirectory else {
            throw UsageError("\(option): there is no directory for \(name)")
        }
        self.permissions = permissions
    }

    /// Sees that no two options name the same file: each would overwrite what the other has left.
    ///
    /// - Parameter files: the options and what they name; `nil` for one that was not given.
    static func checkDistinct(_ files: [(option: String, path: String?)]) throws(UsageError) {
        let given = files.compactMap { file in file.path.map { (option: file.option, path: $0) } }
        for (index, file) in given.enumerated() {
            if let other = given[..<index].first(where: { isSame($0.path, file.path) }) {
                throw UsageError("\(other.option) and \(file.option) name the same file")
            }
        }
    }

    /// Whether two names are of one file, which may have several, or of one that is still to be made.
    static func isSame(_ first: String, _ second: String) -> Bool {
        var (one, other) = (stat(), stat())
        if stat(first, &one) == 0, stat(second, &other) == 0 {
            return one.st_mode & S_IFMT == S_IFREG && one.st_dev == other.st_dev && one.st_ino == other.st_ino
        }
        func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        return resolved(first) == resolved(second)
    }

    /// Whether there is something that is neither a file nor a directory, or a link to that.
    private static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
    }

    /// The whole body, or the file as it was before.
    func write(_ data: Data) throws(OutputFailure) {
        do {
            try isReplaced ? replace(with: data) : append(data)
        } catch {
            throw OutputFailure(String(reflecting: url.path), error)
        }
    }

    private func append(_ data: Data) throws {
        let handle = try FileHandle(forWritingTo: url)
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
    }

    /// Writes a file beside the place and moves it there. Foundation's atomic write would lose the permissions.
    private func replace(with data: Data) throws {
        let part = url.deletingLastPathComponent().appendingPathComponent(".penstockctl-\(UUID().uuidString)").path
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(permissions ?? 0o666))
        guard descriptor >= 0 else { throw Self.systemError }
        do {
            try fill(descriptor, with: data)
            guard rename(part, url.path) == 0 else { throw Self.systemError }
        } catch {
            unlink(part)
            throw error
        }
    }

    private func fill(_ descriptor: Int32, with data: Data) throws {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer { try? handle.close() }
        if let permissions, fchmod(descriptor, mode_t(permissions)) != 0 { throw Self.systemError }
        try handle.write(contentsOf: data)
    }

    private static var systemError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    private static func attributes(of url: URL) -> (type: FileAttributeType?, permissions: Int?) {
        let attributes = (try? FileManager.default.attributesOfItem(atPath: url.path)) ?? [:]
        return (attributes[.type] as? FileAttributeType, attributes[.posixPermissions] as? Int)
    }
}
