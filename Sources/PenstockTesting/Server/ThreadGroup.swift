import Foundation

/// Threads that can be waited for together.
final class ThreadGroup: Sendable {
    private let group = DispatchGroup()

    func start(_ body: @escaping @Sendable () -> Void) {
        group.enter()
        let thread = Thread { [group] in
            body()
            group.leave()
        }
        // Hundreds of connections at a time; a handler that decodes JSON fits well.
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Returns when every thread has ended.
    func wait() {
        group.wait()
    }
}
