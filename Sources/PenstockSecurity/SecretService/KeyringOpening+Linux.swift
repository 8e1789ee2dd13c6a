#if os(Linux)
    import Foundation
    import PenstockCore

    /// Opens the keyring of a vault, and waits for one that is not there yet.
    ///
    /// A program that starts with the session may be faster than the keyring. The bus starts a service that it knows how to start,
    /// and holds the call meanwhile; of one that something else starts, such as PAM or the session itself, the bus says until
    /// then that nobody has its name. Behind that, a fresh keyring has no default collection until it has made one.
    final class KeyringOpening: Sendable {
        /// How long a keyring is waited for: longer than one takes that the session has begun to start.
        static let patience = Duration.seconds(5)

        private let address: String
        private let application: String
        private let patience: Duration
        /// Set once a wait was in vain, so that a machine without a keyring keeps one call waiting and not each of them.
        private let isGivenUp = Locked(false)

        init(_ address: String, _ application: String, patience: Duration) {
            (self.address, self.application, self.patience) = (address, application, patience)
        }

        /// The open keyring, over a connection of its own.
        ///
        /// - Throws: ``VaultError/unavailable`` at once where there is no bus, and after the wait where there is no keyring.
        func keyring() throws(Bus.Failure) -> Keyring {
            let end = ContinuousClock.now + (isGivenUp.withLock(\.self) ? .zero : patience)
            var pause = Duration.milliseconds(20)
            while true {
                let bus = try Bus(address)
                guard let result = Self.answer(of: bus, application) else {
                    guard ContinuousClock.now + pause < end else { break }
                    Self.sleep(for: pause)
                    pause = min(pause * 2, .milliseconds(400))
                    continue
                }
                isGivenUp.withLock { $0 = false }
                return try result.get()
            }
            isGivenUp.withLock { $0 = true }
            throw .vault(.unavailable)
        }

        /// - Returns: `nil` where the service, or its default collection, is not there.
        private static func answer(of bus: Bus, _ application: String) -> Result<Keyring, Bus.Failure>? {
            do throws(Bus.Failure) {
                return .success(try Keyring(bus, application))
            } catch {
                return [.gone, .failed, .vault(.unavailable)].contains(error) ? nil : .failure(error)
            }
        }

        /// Holds up the thread, which is that of the vault alone.
        static func sleep(for pause: Duration) {
            Thread.sleep(forTimeInterval: pause / .seconds(1))
        }
    }

    /// How often a request to the keyring is made again from its beginning, each time with the keyring opened anew.
    struct KeyringRetries {
        private var replacements = 0
        private var locks = 0

        /// What to wait before the next time; `nil` where there is none.
        mutating func pause(after failure: Bus.Failure) -> Duration? {
            switch failure {
            case .gone, .failed:
                // It was there a moment ago: somebody else has replaced or deleted it, or the service is another one. What the
                // service could not do has changed nothing.
                replacements += 1
                return replacements < 5 ? .milliseconds(5 << replacements) : nil
            case .vault(.locked):
                // It was open a moment ago. To open it again unlocks it, where that takes no question to the user.
                locks += 1
                return locks < 2 ? .zero : nil
            case .vault: return nil
            }
        }
    }

    extension Bus.Failure {
        /// What the vault says of it in the end.
        var vaultError: VaultError {
            switch self {
            case .gone, .failed: .unavailable
            case .vault(let error): error
            }
        }
    }
#endif
