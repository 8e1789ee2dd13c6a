#if os(Linux)
    import Foundation
    import PenstockCore

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
