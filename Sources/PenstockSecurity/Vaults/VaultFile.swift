import Foundation
import PenstockCore

extension FileLock {
    /// How long a vault waits for one who holds the lock: a stopped process must not stop all others.
    static let patience = Duration.seconds(10)

    /// The lock of a vault's file, with the folder that both stand in.
    convenience init(ofVault file: PrivateFile, patience: Duration = patience) throws(PrivateFileError) {
        try file.makeFolder()
        try self.init(beside: file, patience: patience)
    }
}

extension VaultError {
    /// What a vault says of its file.
    ///
    /// - Parameter sealed: what the system says of a file that cannot be read or written before the device is unlocked.
    init(_ error: PrivateFileError, sealed: Int32? = FileProtection.refusal) {
        if case .system(let code) = error, code == sealed {
            self = .locked
            return
        }
        self =
            switch error {
            case .unusable: .corrupt
            case .exposed, .system(EACCES), .system(EPERM), .system(EROFS): .denied
            case .busy, .system: .unavailable
            }
    }

    /// Does something with files, where nobody else holds a lock of theirs.
    ///
    /// - Returns: `nil` where somebody does.
    static func unlessBusy<Value>(_ body: () throws(PrivateFileError) -> Value) throws(VaultError) -> Value? {
        do throws(PrivateFileError) {
            return try body()
        } catch .busy {
            return nil
        } catch {
            throw VaultError(error)
        }
    }

    /// Does something with files.
    @discardableResult
    static func ofFile<Value>(_ body: () throws(PrivateFileError) -> Value) throws(VaultError) -> Value {
        do throws(PrivateFileError) { return try body() } catch { throw VaultError(error) }
    }
}

/// Where a vault waits for the disk, or for another process, and does one thing after the other: never on a thread that runs
/// tasks.
struct VaultQueue: Sendable {
    private let queue: DispatchQueue

    init(_ name: String) {
        queue = DispatchQueue(label: "penstock.vault.\(name)")
    }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let result: Result<Value, VaultError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Does something that others may be in the way of, such as another process which holds the lock: again and again until they
    /// are not, for ``FileLock/patience`` from now at most. No thread waits meanwhile, so nobody else's turn is later for it.
    ///
    /// - Parameter work: returns `nil` when somebody is in the way, and has done nothing then. It is done once at least, also for
    ///   a task that is cancelled already: a logout goes through where nobody holds it up.
    /// - Throws: ``VaultError/unavailable`` when the time is up, or the task is cancelled while it waits.
    func runPatiently<Value: Sendable>(
        by time: TimeSource, _ work: @escaping @Sendable () throws(VaultError) -> Value?
    ) async throws(VaultError) -> Value {
        let end = time.now() + FileLock.patience
        while true {
            if let value = try await run(work) { return value }
            guard time.now() < end else { throw .unavailable }
            do {
                // It is held for as long as a file takes to be written.
                try await time.sleep(.milliseconds(1))
            } catch {
                throw .unavailable
            }
        }
    }
}
