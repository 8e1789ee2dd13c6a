import Foundation

/// Turns an interrupt (SIGINT) into the cancellation of a piece of work. A second one ends the program at once.
enum Interrupts {
    static func cancelling<Output: Sendable>(_ body: @escaping @Sendable () async -> Output) async -> Output {
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        let (watched, watching) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in watched {}
            return await body()
        }
        source.setEventHandler {
            task.cancel()
            signal(SIGINT, SIG_DFL)
        }
        // Until then an interrupt ends the program, which has done nothing yet.
        source.setRegistrationHandler {
            #if canImport(Darwin)
                // A source sees the signal there, and does not take it.
                signal(SIGINT, SIG_IGN)
            #endif
            watching.finish()
        }
        source.activate()
        defer {
            source.cancel()
            signal(SIGINT, SIG_DFL)
        }
        return await task.value
    }
}
