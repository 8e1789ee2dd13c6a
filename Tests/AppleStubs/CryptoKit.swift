import Foundation

/// What the package uses of Apple's CryptoKit, with Apple's documented signatures.
public protocol Digest: Sequence<UInt8>, Sendable {}

public protocol HashFunction {
    associatedtype Digest: CryptoKit.Digest
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) {}
}

public struct SHA256Digest: Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

public struct SHA512Digest: Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

public struct SHA256: HashFunction, Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}

public struct SHA512: HashFunction, Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA512Digest { SHA512Digest() }
}

public struct SymmetricKey: Sendable {
    public init<D: ContiguousBytes>(data: D) {}
}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

public struct HMAC<H: HashFunction> {
    public typealias MAC = HashedAuthenticationCode<H>
    public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> MAC { MAC() }
}

public enum CryptoKitError: Error {
    case authenticationFailure
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable {
            public init<D: DataProtocol>(data: D) throws {}
        }

        public struct SealedBox: Sendable {
            public let tag = Data()
            public let ciphertext = Data()
            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {}
        }

        public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
            _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil, authenticating: AuthenticatedData
        ) throws -> SealedBox { throw CryptoKitError.authenticationFailure }

        public static func open<AuthenticatedData: DataProtocol>(
            _ sealedBox: SealedBox, using key: SymmetricKey, authenticating: AuthenticatedData
        ) throws -> Data { throw CryptoKitError.authenticationFailure }
    }
}

public enum Curve25519 {
    public enum Signing {
        public struct PrivateKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws {}
            public let publicKey = PublicKey()
            public func signature<D: DataProtocol>(for data: D) throws -> Data { Data() }
        }

        public struct PublicKey: Sendable {
            public let rawRepresentation = Data()
            init() {}
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                false
            }
        }
    }
}

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public let rawRepresentation = Data()
            public init<D: DataProtocol>(rawRepresentation: D) throws {}
        }

        public struct PrivateKey: Sendable {
            public let rawRepresentation = Data()
            public let publicKey = PublicKey()
            public init(compactRepresentable: Bool = true) {}
            public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature {
                try ECDSASignature(rawRepresentation: Data())
            }
        }

        public struct PublicKey: Sendable {
            public let rawRepresentation = Data()
            init() {}
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool { false }
        }
    }
}

public struct SharedSecret: Sendable {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

extension SymmetricKey {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

extension AES {
    public enum KeyWrap {
        public static func wrap(_ keyToWrap: SymmetricKey, using kek: SymmetricKey) throws -> Data { Data() }
        public static func unwrap<WrappedKey: DataProtocol>(
            _ wrapped: WrappedKey, using kek: SymmetricKey
        ) throws -> SymmetricKey { throw CryptoKitError.authenticationFailure }
    }
}

extension P256 {
    public enum KeyAgreement {
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
        }

        public struct PrivateKey: Sendable {
            public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
                SharedSecret()
            }
        }
    }
}
