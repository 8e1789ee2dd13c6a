import Foundation

/// One end of a TLS connection that has no socket: ciphertext goes in and comes out as bytes. For one thread.
protocol TLSEngine: AnyObject {
    /// Takes what the client sent, and goes on with the handshake.
    func handshake(_ bytes: [UInt8]) -> TLSHandshakeStep
    /// Takes what the client sent, and returns the content in it; `isLast` when the client has said goodbye or broke TLS.
    func open(_ bytes: [UInt8]) -> (content: [UInt8], isLast: Bool)
    /// Encrypts content for ``takeOutput()``.
    func seal(_ content: Data) -> Bool
    /// What is to be sent.
    func takeOutput() -> [UInt8]
    /// The `close_notify` alert.
    func goodbye() -> [UInt8]
    func summary(failure: String?) -> LoopbackServer.Handshake
}

/// How far a handshake is.
enum TLSHandshakeStep {
    case needsMore
    /// The handshake is over, with content that came right behind it.
    case complete([UInt8])
    case failed(String)
}
