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

    /// Stands in for a loop for which the system had no thread or no descriptors left, once it has.
    final class CurlFallbackLoop: Sendable {
        private struct State {
            var loop: CurlLoop?
            var isStopped = false
        }

        private let state = Locked(State())

        deinit {
            _ = state.withLock { $0.loop }?.mailbox.post(.stop)
        }

        /// - Throws: `noDescriptors` or `other` while the system still gives nothing; `cancelled` after ``stop()``.
        func loop(like failed: CurlLoop) throws(TransportError) -> CurlLoop {
            if let loop = state.withLock({ $0.loop }) { return loop }
            let new = CurlLoop(failed.configuration, finder: failed.finder)
            guard new.start() else {
                throw TransportError(
                    CurlDescriptors.areShort ? .unreachable(.noDescriptors) : .other, sendState: .unsent,
                    message: "the system gives no thread or descriptors")
            }
            let chosen = state.withLock { state in
                if !state.isStopped { state.loop = state.loop ?? new }
                return state.loop
            }
            if chosen !== new { new.mailbox.post(.stop) }
            guard let chosen else { throw .stopped }
            return chosen
        }

        func forget(_ identity: String) {
            _ = state.withLock { $0.loop }?.mailbox.post(.forget(identity))
        }

        func stop() async {
            let loop = state.withLock { state in
                state.isStopped = true
                return state.loop
            }
            await loop?.stop()
        }
    }
#endif
