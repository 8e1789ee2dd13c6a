import Foundation
import PenstockCore

/// A private key as a file holds it: PEM (RFC 7468) around PKCS #8 (RFC 5958) or, for P-256, around what SEC 1 made of it
/// (RFC 5915).
///
/// Read here and not by the library below, so that both systems take and refuse the same files.
enum PrivateKeyFile {
    /// The private number on P-256. A public point that the file has beside it must be the number's own.
    static func p256(pem: String) throws(CryptographyError) -> Data {
        let block = try PEMBlock.privateKey(in: pem)
        if block.label == "EC PRIVATE KEY" { return try ecPrivateKey(block.bytes, isCurveKnown: false) }
        guard block.label == "PRIVATE KEY" else { throw .invalidKey }
        let info = try privateKeyInfo(block.bytes, algorithm: ecPublicKey, parameters: p256Curve)
        let number = try ecPrivateKey(info.key, isCurveKnown: true)
        if let written = info.publicKey { try require(uncompressedPoint(written), isOf: number) }
        return number
    }

    /// The 32 bytes of a key for Ed25519 (RFC 8410 §7). A public key that the file has beside it must be its own.
    static func ed25519(pem: String) throws(CryptographyError) -> Data {
        let block = try PEMBlock.privateKey(in: pem)
        guard block.label == "PRIVATE KEY" else { throw .invalidKey }
        let info = try privateKeyInfo(block.bytes, algorithm: ed25519Key, parameters: nil)
        var key = DERReader(info.key)
        let bytes = Data(try key.read(DERReader.octetString))
        try key.end()
        if let written = info.publicKey {
            guard try written.elementsEqual([0x00] + platformCryptography.ed25519PublicKey(of: bytes)) else {
                throw .invalidKey
            }
        }
        return bytes
    }

    /// The coordinates of a public key on P-256 (RFC 5480 §2).
    static func p256PublicKey(pem: String) throws(CryptographyError) -> Data {
        let blocks = try PEMBlock.plain(in: pem).filter { $0.label == "PUBLIC KEY" }
        guard blocks.count == 1, let block = blocks.first else { throw .invalidKey }
        var file = DERReader(block.bytes)
        var info = DERReader(try file.read(DERReader.sequence))
        try file.end()
        try readAlgorithm(&info, ecPublicKey, p256Curve)
        let point = try uncompressedPoint(info.read(DERReader.bitString))
        try info.end()
        return point
    }

    // 1.2.840.10045.2.1, 1.2.840.10045.3.1.7 and 1.3.101.112, as DER has them.
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256Curve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let ed25519Key: [UInt8] = [0x2B, 0x65, 0x70]

    /// The key within a `PrivateKeyInfo`, and the bits of the public key that may follow it in the second version (RFC 5958 §2).
    /// Attributes, which may stand between the two, are read and of no use here.
    private static func privateKeyInfo(
        _ bytes: ArraySlice<UInt8>, algorithm: [UInt8], parameters: [UInt8]?
    ) throws(CryptographyError) -> (key: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>?) {
        var file = DERReader(bytes)
        var info = DERReader(try file.read(DERReader.sequence))
        try file.end()
        let version = try info.read(DERReader.integer)
        guard version == [0] || version == [1] else { throw .invalidKey }
        try readAlgorithm(&info, algorithm, parameters)
        let key = try info.read(DERReader.octetString)
        _ = try info.readIfPresent(DERReader.constructedTag(0))
        let publicKey = version == [1] ? try info.readIfPresent(DERReader.primitiveTag(1)) : nil
        try info.end()
        return (key, publicKey)
    }

    private static func readAlgorithm(
        _ info: inout DERReader, _ algorithm: [UInt8], _ parameters: [UInt8]?
    ) throws(CryptographyError) {
        var identifier = DERReader(try info.read(DERReader.sequence))
        guard try identifier.read(DERReader.objectIdentifier).elementsEqual(algorithm) else { throw .invalidKey }
        if let parameters {
            guard try identifier.read(DERReader.objectIdentifier).elementsEqual(parameters) else { throw .invalidKey }
        }
        try identifier.end()
    }

    private static func ecPrivateKey(
        _ bytes: ArraySlice<UInt8>, isCurveKnown: Bool
    ) throws(CryptographyError) -> Data {
        var file = DERReader(bytes)
        var key = DERReader(try file.read(DERReader.sequence))
        try file.end()
        guard try key.read(DERReader.integer) == [1] else { throw .invalidKey }
        let number = Data(try key.read(DERReader.octetString))
        if let parameters = try key.readIfPresent(DERReader.constructedTag(0)) {
            var curve = DERReader(parameters)
            guard try curve.read(DERReader.objectIdentifier).elementsEqual(p256Curve) else { throw .invalidKey }
            try curve.end()
        } else {
            guard isCurveKnown else { throw .invalidKey }
        }
        if let written = try key.readIfPresent(DERReader.constructedTag(1)) {
            var point = DERReader(written)
            let coordinates = try uncompressedPoint(point.read(DERReader.bitString))
            try point.end()
            try require(coordinates, isOf: number)
        }
        try key.end()
        return number
    }

    private static func require(_ point: Data, isOf number: Data) throws(CryptographyError) {
        guard try platformCryptography.p256PublicKey(of: number) == point else { throw .invalidKey }
    }

    /// The coordinates in a bit string that holds a whole number of bytes.
    private static func uncompressedPoint(_ bits: ArraySlice<UInt8>) throws(CryptographyError) -> Data {
        guard bits.count == 66, bits.starts(with: [0x00, 0x04]) else { throw .invalidKey }
        return Data(bits.dropFirst(2))
    }
}

extension PEMBlock {
    /// The one private key of a file.
    ///
    /// - Throws: ``CryptographyError/encryptedKey`` for one that a password protects, and
    ///   ``CryptographyError/invalidKey`` for none, for several, and for what cannot be read.
    static func privateKey(in text: String) throws(CryptographyError) -> PEMBlock {
        let keys = try plain(in: text).filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard keys.count == 1, let key = keys.first else { throw .invalidKey }
        return key
    }

    /// All blocks of a file, which no password may protect.
    static func plain(in text: String) throws(CryptographyError) -> [PEMBlock] {
        guard let blocks = all(in: text.utf8) else { throw .invalidKey }
        guard !blocks.contains(where: \.isEncrypted) else { throw .encryptedKey }
        return blocks
    }
}

/// Reads DER (X.690 §10) strictly: a length stands in its shortest form, and nothing stands behind what was asked for.
struct DERReader {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static func constructedTag(_ number: UInt8) -> UInt8 { 0xA0 | number }
    static func primitiveTag(_ number: UInt8) -> UInt8 { 0x80 | number }

    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The content of the next element, which must have the tag.
    mutating func read(_ tag: UInt8) throws(CryptographyError) -> ArraySlice<UInt8> {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { throw .invalidKey }
        let length = try first < 0x80 ? Int(first) : longLength(ofBytes: Int(first & 0x7F))
        guard length <= bytes.count else { throw .invalidKey }
        defer { bytes.removeFirst(length) }
        return bytes.prefix(length)
    }

    /// The content of the next element where that has the tag.
    mutating func readIfPresent(_ tag: UInt8) throws(CryptographyError) -> ArraySlice<UInt8>? {
        bytes.first == tag ? try read(tag) : nil
    }

    func end() throws(CryptographyError) {
        guard bytes.isEmpty else { throw .invalidKey }
    }

    /// No key that is read here takes more than 65,535 bytes.
    private mutating func longLength(ofBytes count: Int) throws(CryptographyError) -> Int {
        guard (1...2).contains(count) else { throw .invalidKey }
        var length = 0
        for _ in 0..<count {
            guard let byte = bytes.popFirst() else { throw .invalidKey }
            length = length << 8 | Int(byte)
        }
        guard length >= (count == 1 ? 0x80 : 0x100) else { throw .invalidKey }
        return length
    }
}
