import Foundation

/// The file that `-o` names.
struct OutputFile: Sendable {
    private let url: URL
    /// Whether it is replaced as a whole. Devices and pipes are written into: to replace them would destroy them.
    private let isReplaced: Bool

    /// Looks at the place before anything is sent.
    init(path: String) throws(UsageError) {
        guard !path.isEmpty else { throw UsageError("-o: the name of the file is empty") }
        url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let type = Self.type(of: url)
        guard type != .typeDirectory, !path.hasSuffix("/") else {
            throw UsageError("-o: \(String(reflecting: path)) is a directory")
        }
        guard Self.type(of: url.deletingLastPathComponent()) == .typeDirectory else {
            throw UsageError("-o: there is no directory for \(String(reflecting: path))")
        }
        isReplaced = type == nil || type == .typeRegular
    }

    /// The whole body, or the file as it was before.
    func write(_ data: Data) throws(OutputFailure) {
        do {
            try isReplaced ? data.write(to: url, options: .atomic) : append(data)
        } catch {
            throw OutputFailure(String(reflecting: url.path), error)
        }
    }

    private func append(_ data: Data) throws {
        let handle = try FileHandle(forWritingTo: url)
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
    }

    private static func type(of url: URL) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: url.path))?[.type] as? FileAttributeType
    }
}
