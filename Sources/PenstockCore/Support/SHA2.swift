import Foundation

/// SHA-256 (FIPS 180-4 §6.2) by the platform's library: CryptoKit, or OpenSSL on Linux.
enum SHA256 {
    /// The digest as 64 hexadecimal digits, in small letters.
    static func hex(_ data: some Sequence<UInt8>) -> String { DigestFunction.sha256.hex(of: data) }

    /// The digest as its 32 bytes.
    static func bytes(_ data: some Sequence<UInt8>) -> Data { DigestFunction.sha256.digest(of: data) }

    /// The keyed digest HMAC-SHA-256 (RFC 2104) as 64 hexadecimal digits, in small letters.
    static func hex(_ data: some Sequence<UInt8>, key: some Collection<UInt8>) -> String {
        text(of: PlatformDigest.code256(of: Array(data), key: Array(key)))
    }

    /// A digest of any function in hexadecimal digits, in small letters.
    static func text(of digest: some Collection<UInt8>) -> String {
        String(unsafeUninitializedCapacity: digest.count * 2) { text in
            for (index, byte) in digest.enumerated() {
                text[index * 2] = digit(byte >> 4)
                text[index * 2 + 1] = digit(byte & 0x0F)
            }
            return digest.count * 2
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// A digest of content that comes in pieces.
    struct Stream: DigestStream {
        private var digest = PlatformDigest(.sha256)

        mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }
        func bytes() -> Data { digest.bytes() }
    }
}

/// SHA-512 (FIPS 180-4 §6.4) by the platform's library, for the digests that servers name.
enum SHA512 {
    /// The digest as its 64 bytes.
    static func bytes(_ data: some Sequence<UInt8>) -> Data { DigestFunction.sha512.digest(of: data) }

    /// A digest of content that comes in pieces.
    struct Stream: DigestStream {
        private var digest = PlatformDigest(.sha512)

        mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }
        func bytes() -> Data { digest.bytes() }
    }
}

/// A digest of content that comes in pieces. A copy goes on by itself.
protocol DigestStream: Sendable {
    /// Takes the next piece, of any size.
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all that was taken. More may follow.
    func bytes() -> Data
}

extension DigestStream {
    /// Takes the next piece, of any size.
    mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    /// The digest of all that was taken, in hexadecimal digits, in small letters.
    func hex() -> String { SHA256.text(of: bytes()) }
}

/// The functions of SHA-2 that are used.
enum DigestFunction: Sendable {
    case sha256
    case sha512

    /// The size of a digest, in bytes.
    var size: Int { self == .sha256 ? 32 : 64 }

    /// The digest of bytes that are all there.
    func digest(of data: some Sequence<UInt8>) -> Data {
        var output = Data(count: size)
        output.withUnsafeMutableBytes { digest(data, into: $0) }
        return output
    }

    /// The same in hexadecimal digits, without memory of its own for the bytes: short texts are told apart by it, again and again.
    func hex(of data: some Sequence<UInt8>) -> String {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { output in
            digest(data, into: output)
            return SHA256.text(of: output)
        }
    }

    private func digest(_ data: some Sequence<UInt8>, into output: UnsafeMutableRawBufferPointer) {
        let isDone: Void? = data.withContiguousStorageIfAvailable { bytes in
            PlatformDigest.digest(of: UnsafeRawBufferPointer(bytes), self, into: output)
        }
        if isDone != nil { return }
        Array(data).withUnsafeBytes { PlatformDigest.digest(of: $0, self, into: output) }
    }
}
