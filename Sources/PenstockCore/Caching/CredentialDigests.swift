import Foundation

/// Digests that stand for credentials in a store. They are keyed, so that a token cannot be guessed from what is stored,
/// and remembered, since calls seldom change their credentials.
final class CredentialDigests: Sendable {
    private struct State: Sendable {
        var key: Data?
        var digests: [[UInt8]: String] = [:]
    }

    private let state = Locked(State())

    /// `nil` while the key is not known.
    func digest(of credentials: RequestCredentials) -> String? {
        let (key, known) = state.withLock { ($0.key, $0.digests[credentials.text]) }
        guard let key else { return nil }
        if let known { return known }
        let digest = SHA256.hex(credentials.text, key: key)
        state.withLock { state in
            if state.digests.count >= 64 { state.digests.removeAll() }
            state.digests[credentials.text] = digest
        }
        return digest
    }

    /// Takes the key of the store, or one of its own where the store has none. The first one stays.
    func unlock(with key: Data?) {
        let key = key.flatMap { $0.count < 16 ? nil : $0 } ?? Self.newKey()
        state.withLock { if $0.key == nil { $0.key = key } }
    }

    /// 32 bytes of the system's random numbers.
    static func newKey() -> Data {
        Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    }
}
