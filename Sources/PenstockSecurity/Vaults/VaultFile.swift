import Foundation
import PenstockCore

extension FileLock {
    /// How long a vault waits for one who holds the lock: a stopped process must not stop all others.
    static let patience = Duration.seconds(10)

    /// The lock of a vault's file, with the folder that both stand in.
    convenience init(ofVault file: PrivateFile) throws(PrivateFileError) {
        try file.makeFolder()
        try self.init(beside: file, patience: Self.patience)
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

    /// Does something with files.
    @discardableResult
    static func ofFile<Value>(_ body: () throws(PrivateFileError) -> Value) throws(VaultError) -> Value {
        do throws(PrivateFileError) { return try body() } catch { throw VaultError(error) }
    }
}

/// Where a vault waits for the disk, or for another process: never on a thread that runs tasks.
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
}
