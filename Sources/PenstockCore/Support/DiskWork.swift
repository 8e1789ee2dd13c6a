import Foundation

/// Work that waits for a disk, done on threads that serve no tasks: a disk that hangs holds up who asked for it and nobody else.
package enum DiskWork {
    /// How many disks may hang before one that does not is waited for in vain.
    private static let threads = WorkThreads("penstock.disk", atMost: 64)

    /// What the work gives back, once it is done. Works are done beside each other, and begin in the order in which they were
    /// asked for. Cancelling the task does not end the work.
    package static func run<Output: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        let order = Order(work)
        await withCheckedContinuation { continuation in
            threads.run {
                order.carryOut()
                continuation.resume()
            }
        }
        return try (order.take() ?? Result(catching: work)).get()
    }

    /// Has the work done, and returns at once. Whoever asks for it waits for nothing.
    package static func start(_ work: @escaping @Sendable () -> Void) {
        threads.run(work)
    }

    /// Work for a thread, and what came of it. The thread has let go of both when the task goes on: a file whose last owner that is
    /// is closed, and its lock free, by then.
    ///
    /// It stands behind a lock because the thread sanitizer does not see that a continuation hands over what it is resumed with,
    /// where that comes before the task waits for it.
    private final class Order<Output: Sendable, Failure: Error>: Sendable {
        private typealias Work = @Sendable () throws(Failure) -> Output
        private let state: Locked<(work: Work?, result: Result<Output, Failure>?)>

        init(_ work: @escaping @Sendable () throws(Failure) -> Output) {
            state = Locked((work, nil))
        }

        func carryOut() {
            guard let work = state.withLock({ $0.work }) else { return }
            let result = Result(catching: work)
            state.withLock { $0 = (nil, result) }
        }

        func take() -> Result<Output, Failure>? {
            state.withLock { state in
                defer { state.result = nil }
                return state.result
            }
        }
    }
}

/// Threads that do what has to wait, each one thing at a time. They are none of a dispatch queue's: on Linux the queues that do
/// several things at a time and Swift's tasks have the same few threads, so that what waits there holds up tasks.
///
/// Unchecked because the state is touched with the condition held.
final class WorkThreads: @unchecked Sendable {
    /// How long a thread that has nothing to do is there for what comes next.
    private static let patience: TimeInterval = 5

    private let most: Int
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let condition = NSCondition()
    private var waiting: ArraySlice<@Sendable () -> Void> = []
    private var idle = 0
    private var count = 0

    /// - Parameters:
    ///   - most: of the threads. What comes while all of them are busy waits until one is done.
    ///   - startThread: makes a thread that does what it is given; `false` where the system makes no more. The system's by default.
    init(
        _ name: String, atMost most: Int, startThread: (@Sendable (@escaping @Sendable () -> Void) -> Bool)? = nil
    ) {
        self.most = most
        self.startThread = startThread ?? { SystemThread.start(name, $0) }
    }

    /// Returns at once.
    func run(_ work: @escaping @Sendable () -> Void) {
        let isNew = condition.withLock {
            waiting.append(work)
            if waiting.count <= idle {
                condition.signal()
                return false
            }
            guard count < most else { return false }
            count += 1
            return true
        }
        guard isNew, !startThread({ [self] in while inPool(doNext) {} }) else { return }
        condition.withLock { count -= 1 }
        // Among the tasks it is better done than not at all.
        DispatchQueue.global().async { [self] in condition.withLock { waiting.popFirst() }?() }
    }

    /// On Apple's systems nothing but a pool lets go of what the work, or its end, has left for later on such a thread.
    private func inPool(_ body: () -> Bool) -> Bool {
        #if canImport(Darwin)
            autoreleasepool(invoking: body)
        #else
            body()
        #endif
    }

    /// - Returns: `false` where nothing has come for a while.
    private func doNext() -> Bool {
        guard let work = next() else { return false }
        work()
        return true
    }

    /// What is to be done next; `nil` where nothing has come for a while.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let work = waiting.popFirst() { return work }
            idle += 1
            let isWoken = condition.wait(until: Date(timeIntervalSinceNow: Self.patience))
            idle -= 1
            guard isWoken || !waiting.isEmpty else {
                count -= 1
                return nil
            }
        }
    }
}
