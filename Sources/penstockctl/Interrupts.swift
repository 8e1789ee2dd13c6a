import Foundation

/// Turns an interrupt (SIGINT) into the cancellation of a piece of work. A second one ends the program at once.
enum Interrupts {
    static func cancelling<Output: Sendable>(_ body: @escaping @Sendable () async -> Output) async -> Output {
        let task = Task { await body() }
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            task.cancel()
            signal(SIGINT, SIG_DFL)
        }
        source.resume()
        defer {
            source.cancel()
            signal(SIGINT, SIG_DFL)
        }
        return await task.value
    }
}
