import Foundation
import PenstockCore
import PenstockSQLite

/// The store of an ``Outbox`` on this platform: a file in the user's folder for an app's own state, which no system empties but tvOS.
public enum PlatformOutbox {
    /// The outbox of this program, opened at its first use: `penstock/<program>/outbox.sqlite` in `XDG_STATE_HOME`, or in
    /// `~/.local/state` where that is not set; on Apple's systems in `Library/Application Support`, and left out of backups:
    /// a restored one would hold writes that were delivered long ago. **On tvOS** in `Library/Caches`, since an app may write to no
    /// other folder: the system may delete it, and the writes that wait in it, while the app does not run. Processes of one program
    /// share it; `<program>` is as in ``PlatformCache/shared``.
    ///
    /// In a process that runs tests it is in memory alone, as ``PlatformCache/shared`` is.
    public static let shared: any OutboxStore = {
        let process = ProcessInfo.processInfo
        if PlatformCache.runsTests(process.processName, process.environment) { return MemoryOutboxStore() }
        let name = PlatformCache.folderName(
            bundle: Bundle.main.bundleIdentifier, executable: Bundle.main.executablePath ?? CommandLine.arguments.first,
            process: process.processName)
        let home = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        return store(
            at: folder(process.environment, home: home).appendingPathComponent("penstock").appendingPathComponent(name)
                .appendingPathComponent("outbox.sqlite"))
    }()

    /// A store in a file of one's own, whose folder is made when it is not there; nobody but its owner may enter that folder,
    /// or read the file. Several processes may share it. What it cannot use is an error of what is put in.
    public static func store(at file: URL) -> any OutboxStore {
        let folder = file.deletingLastPathComponent()
        MachineFileSystem.makeFolder(folder.path)
        leaveOutOfBackups(folder)
        return SQLiteOutboxStore(.init(file: file))
    }
}
