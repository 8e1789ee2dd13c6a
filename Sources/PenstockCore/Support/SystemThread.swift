import Foundation

/// Threads of which it is known whether there are any.
package enum SystemThread {
    /// Makes a thread that runs one function. On Linux it gets none of the process's signals: they are for the app's own threads.
    ///
    /// - Returns: `false` where the system makes no more, which Foundation's `Thread` does not tell on Linux.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        #if canImport(Darwin)
            let thread = Thread { body() }
            thread.name = name
            thread.start()
            return true
        #else
            let work = Unmanaged.passRetained(
                Work {
                    silenceSignals()
                    Thread.current.name = name
                    body()
                })
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                    return nil
                }, work.toOpaque())
            guard code == 0 else {
                work.release()
                return false
            }
            pthread_detach(thread)
            return true
        #endif
    }

    #if !canImport(Darwin)
        private final class Work {
            let body: () -> Void

            init(_ body: @escaping () -> Void) {
                self.body = body
            }
        }

        /// A write to a closed connection must not end the process.
        private static func silenceSignals() {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
        }
    #endif
}
