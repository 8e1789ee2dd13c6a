import Foundation

/// A value that is changed on a queue of its own, in the order in which changes are asked for: for work that waits for the disk,
/// which must not hold a lock or a thread that runs tasks.
///
/// Unchecked because the value is touched on its queue alone.
package final class SerialState<Value>: @unchecked Sendable {
    private let queue: DispatchQueue
    private var value: Value

    /// - Parameter value: touched by nobody else from now on.
    package init(_ value: Value, label: String) {
        self.value = value
        queue = DispatchQueue(label: label)
    }

    /// Returns at once.
    package func run(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }

    /// Returns when it is done, and what was asked for before it: for one that must wait because too much has been asked for.
    package func runAndWait(_ body: (inout Value) -> Void) {
        queue.sync { body(&value) }
    }
}
