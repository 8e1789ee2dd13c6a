#if os(Linux)
    import Foundation
    import PenstockCore

    /// A detached thread that runs one function.
    enum CurlThread {
        private final class Work {
            let body: () -> Void

            init(_ body: @escaping () -> Void) {
                self.body = body
            }
        }

        /// - Returns: `false` when the system gives no thread.
        static func start(_ body: @escaping () -> Void) -> Bool {
            let work = Unmanaged.passRetained(Work(body))
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    CurlThread.silenceSignals()
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
        }

        /// Signals are for the app's own threads; a write to a closed connection must not end the process.
        private static func silenceSignals() {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
        }
    }
#endif
