import Foundation

/// A file that an option names, to be written once there is something to write.
struct OutputFile: Sendable {
    private let url: URL
    /// Of the file that is there already; `nil` when none is.
    private let permissions: Int?
    /// Devices and pipes are written into: to replace them would destroy them.
    private let isReplaced: Bool

    /// Looks at the place before anything is sent.
    ///
    /// - Parameter option: what names the file, for messages.
    init(path: String, option: String = "-o") throws(UsageError) {
        guard !path.isEmpty else { throw UsageError("\(option): the name of the file is empty") }
        url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let name = String(reflecting: path)
        let (type, permissions) = Self.attributes(of: url)
        guard type != .typeDirectory, !path.hasSuffix("/") else {
            throw UsageError("\(option): \(name) is a directory")
        }
        guard type != .typeSymbolicLink else { throw UsageError("\(option): \(name) is a link to nothing") }
        guard Self.attributes(of: url.deletingLastPathComponent()).type == .typeDirectory else {
            throw UsageError("\(option): there is no directory for \(name)")
        }
        self.permissions = permissions
        isReplaced = type == nil || type == .typeRegular
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
