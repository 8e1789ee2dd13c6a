import Foundation

/// Work that waits for a disk, done on threads that serve no tasks: a disk that hangs holds up who asked for it and nobody else.
enum DiskWork {
    private static let queue = DispatchQueue(label: "penstock.disk", attributes: .concurrent)

    /// What the work gives back, once it is done. Cancelling the task does not end the work.
    static func run<Output: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Output, Failure>, Never>) in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}
