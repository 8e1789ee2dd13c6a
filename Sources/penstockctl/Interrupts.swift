import Foundation

/// Turns an interrupt (SIGINT), or the wish that the program ends (SIGTERM), into the cancellation of a piece of work, which then
/// leaves nothing behind. A second one ends the program at once.
enum Interrupts {
    private static let signals = [SIGINT, SIGTERM]

    static func cancelling<Output: Sendable>(_ body: @escaping @Sendable () async -> Output) async -> Output {
        let (watched, watching) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            // One element for each signal that is watched.
            for await _ in watched.prefix(signals.count) {}
            return await body()
        }
        let sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                task.cancel()
                for number in signals { signal(number, SIG_DFL) }
            }
            // Until then the signal ends the program, which has done nothing yet.
            source.setRegistrationHandler {
                #if canImport(Darwin)
                    // A source sees the signal there, and does not take it.
                    signal(number, SIG_IGN)
                #endif
                watching.yield()
            }
            source.activate()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in signals { signal(number, SIG_DFL) }
        }
        return await task.value
    }
}
