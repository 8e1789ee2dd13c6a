#if canImport(CryptoKit)
    private import CryptoKit
    import Foundation

    /// A digest under way by CryptoKit.
    struct PlatformDigest: Sendable {
        private enum State: Sendable {
            case sha256(CryptoKit.SHA256)
            case sha512(CryptoKit.SHA512)
        }

        private var state: State

        init(_ function: DigestFunction) {
            state =
                switch function {
                case .sha256: .sha256(CryptoKit.SHA256())
                case .sha512: .sha512(CryptoKit.SHA512())
                }
        }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            switch state {
            case .sha256(var hash):
                hash.update(bufferPointer: bytes)
                state = .sha256(hash)
            case .sha512(var hash):
                hash.update(bufferPointer: bytes)
                state = .sha512(hash)
            }
        }

        func bytes() -> Data {
            switch state {
            case .sha256(let hash): Data(hash.finalize())
            case .sha512(let hash): Data(hash.finalize())
            }
        }

        /// The digest of bytes that are all there.
        ///
        /// - Parameter output: as long as the digest.
        static func digest(
            of bytes: UnsafeRawBufferPointer, _ function: DigestFunction, into output: UnsafeMutableRawBufferPointer
        ) {
            var digest = PlatformDigest(function)
            digest.update(bytes)
            output.copyBytes(from: digest.bytes())
        }

        /// HMAC-SHA-256 (RFC 2104).
        static func code256(of data: [UInt8], key: [UInt8]) -> Data {
            Data(HMAC<CryptoKit.SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
        }
    }
#endif
