import Foundation
import Penstock

/// Tells the story on standard output, and leaves an archive and a report of its calls behind. Exit status 0 when it went as it should, 1 and a message when it did not.
@main
struct Program {
    @MainActor
    static func main() async {
        do {
            try await Story.visit(leaving: ownFolder(), draw: draw) { print($0) }
        } catch {
            FileHandle.standardError.write(Data("Shop: \(error)\n".utf8))
            exit(1)
        }
    }

    /// A folder that is new and that nobody else may enter. The one for temporary files is shared with all users of the machine: a
    /// name that is known beforehand could be a link of somebody else's there.
    nonisolated private static func ownFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return folder
    }

    /// What moves is for a terminal alone.
    nonisolated private static func draw(_ line: String) {
        guard isatty(FileHandle.standardOutput.fileDescriptor) == 1 else { return }
        FileHandle.standardOutput.write(Data("\r\u{1B}[K\(line)".utf8))
    }
}
