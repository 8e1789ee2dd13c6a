import Penstock

/// What the program ends with.
enum ExitCode {
    static let success: Int32 = 0
    /// The output could not be written.
    static let output: Int32 = 20
    /// `--fail` and a status of 400 or above.
    static let httpFailure: Int32 = 22
    /// The vault has nothing by that name.
    static let vaultNotFound: Int32 = 30
    /// A kind of error that is newer than this table.
    static let otherError: Int32 = 63
    static let usage: Int32 = 64
    /// The code that shells have for a program that an interrupt ended.
    static let interrupted: Int32 = 130

    /// One row for each kind of ``APIError``, by name. The numbers never change.
    static let kinds: [(name: String, code: Int32, meaning: String)] = [
        ("invalidParameter", 2, "a header that the library sets itself, or one that breaks HTTP's rules"),
        ("invalidConfiguration", 3, "no such service, or no usable base URL"),
        ("blocked", 4, "a rule forbids it, such as a redirect in a loop or from https to http"),
        ("unsupported", 5, "the transport cannot do what was asked; nothing was sent"),
        ("unreachable", 6, "no connection: no network, no such name, refused"),
        ("timeout", 7, "it took too long"),
        ("tls", 8, "the handshake failed or the certificate was refused"),
        ("transport", 9, "the connection broke, or the server broke HTTP's rules"),
        ("limitExceeded", 10, "the response is larger than the limits (body 64 MiB, header 256 KiB)"),
        ("httpStatus", 11, "not the status that means success"),
        ("malformedEnvelope", 12, "no usable envelope"),
        ("business", 13, "the server's own error code"),
        ("validation", 14, "a rule for the answer is broken"),
        ("decoding", 15, "the answer is not what was expected"),
        ("cacheMiss", 16, "only the cache was to be asked, and it has nothing usable"),
        ("cancelled", interrupted, "interrupted"),
    ]

    static let vaultErrors: [(error: VaultError, code: Int32, meaning: String)] = [
        (.locked, 31, "locked: the vault's key is not there now"),
        (.denied, 32, "denied: another user's, or another key's"),
        (.corrupt, 33, "corrupt: no vault, damaged, or of a later version"),
        (.invalid, 34, "invalid: the value may not be kept"),
        (.unavailable, 35, "unavailable: a full disk, or no keyring"),
    ]

    static func of(_ error: VaultError) -> Int32 { vaultErrors.first { $0.error == error }?.code ?? otherError }

    static func of(_ kind: APIError.Kind) -> Int32 {
        kinds.first { $0.name == kind.name }?.code ?? otherError
    }
}
