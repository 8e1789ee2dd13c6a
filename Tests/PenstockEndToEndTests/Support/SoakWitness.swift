#if os(Linux)
    import Foundation
    import PenstockCore

    /// Hears how one call ends, however often it does, and cancels it: both on this actor, so that which came first is
    /// known.
    actor SoakWitness {
        private(set) var ends = 0
        /// The first of them.
        private(set) var end: Result<Data, APIError>?
        /// Whether the call was cancelled before it ended.
        private(set) var isCancelled = false
        private var waiter: CheckedContinuation<Void, Never>?

        func complete(_ result: Result<Data, APIError>) {
            ends += 1
            end = end ?? result
            waiter?.resume()
            waiter = nil
        }

        func cancel(_ call: Call<Data>) {
            guard ends == 0 else { return }
            call.cancel()
            isCancelled = true
        }

        func untilEnded() async {
            guard ends == 0 else { return }
            await withCheckedContinuation { waiter = $0 }
        }
    }

    /// How one exchange ended.
    struct SoakOutcome: Sendable {
        var result: Result<Data, APIError>
        /// Whether its caller has cancelled it.
        var isCancelled = false
        /// Whether that was before it ended, beyond doubt.
        var isLate = false
        /// Whether its reader let go of it.
        var isAbandoned = false
        /// What a stream gave before it ended.
        var received = Data()
        /// Exchanges of its transport that are not over though it is, where the transport tells.
        var leftOpen = 0

        /// In words.
        var end: String {
            guard let error else { return isAbandoned ? "let go of" : "success" }
            return "\(error.kind), \(error.sendState.map { "\($0)" } ?? "no send state"), \(error.debugMessage)"
        }

        var error: APIError? {
            if case .failure(let error) = result { error } else { nil }
        }
    }
#endif
