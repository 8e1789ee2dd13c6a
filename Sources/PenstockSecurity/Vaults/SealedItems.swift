import Foundation
import PenstockCore

/// The content of an ``EncryptedFileVault``'s file: all items, sealed as one.
///
/// | bytes | what |
/// |---|---|
/// | 8 | `PNSTKVLT` |
/// | 1 | the version of the format: 1 |
/// | 8 | the key's fingerprint |
/// | 12 | the nonce, a new one each time that the file is written |
/// | the rest | the items as JSON, by AES-256-GCM, with all of the above as what is authenticated beside it |
struct SealedItems: Equatable, Sendable {
    var items: [CredentialKey: VaultItem] = [:]

    /// Far more than credentials take; a file that is larger is none of ours.
    static let limit = 64 << 20

    private static let name = Data("PNSTKVLT".utf8)
    private static let start = name + [1]
    private static let fingerprintSize = 8
    private static let nonceSize = 12
    private static let tagSize = 16

    private struct Row: Codable {
        var service: String
        var environment: String
        var origin: String
        var account: String
        var version: String
        var content: Data
    }

    init() {}

    /// Whether it is a vault's file, of whatever version.
    static func isOurs(_ bytes: Data) -> Bool { bytes.starts(with: name) }

    /// Whether a key is worth asking for.
    ///
    /// - Throws: ``VaultError/corrupt`` for what is no vault's file, or that of a later version.
    static func check(_ bytes: Data) throws(VaultError) {
        guard bytes.starts(with: start) else { throw .corrupt }
    }

    /// - Throws: ``VaultError/unavailable`` when it is more than a file may hold.
    func sealed(by key: Data) throws(VaultError) -> Data {
        let rows = items.map { key, item in
            Row(
                service: key.service, environment: key.environment, origin: key.origin, account: key.account,
                version: item.version, content: item.content)
        }
        guard let text = try? JSONEncoder().encode(rows) else { throw .invalid }
        var random = SystemRandomNumberGenerator()
        let nonce = Data((0..<Self.nonceSize).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let header = Self.start + (try Self.fingerprint(of: key)) + nonce
        do throws(CryptographyError) {
            let sealed = try platformCryptography.seal(text, key: key, nonce: nonce, authenticating: header)
            let bytes = header + sealed.bytes + sealed.tag
            guard bytes.count <= Self.limit else { throw .unavailable }
            return bytes
        } catch {
            throw .unavailable
        }
    }

    /// - Throws: ``VaultError/denied`` when another key has sealed it; ``VaultError/corrupt`` for what was changed since, or is
    ///   of a later version, or nothing of the kind.
    init(_ bytes: Data, key: Data) throws(VaultError) {
        var rest = bytes[...]
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return Data(rest.prefix(count))
        }
        let (start, fingerprint) = (take(Self.start.count), take(Self.fingerprintSize))
        let nonce = take(Self.nonceSize)
        guard start == Self.start, rest.count >= Self.tagSize else { throw .corrupt }
        guard fingerprint == (try Self.fingerprint(of: key)) else { throw .denied }
        let sealed = SealedBytes(bytes: Data(rest.dropLast(Self.tagSize)), tag: Data(rest.suffix(Self.tagSize)))
        let text: Data
        do throws(CryptographyError) {
            text = try platformCryptography.open(
                sealed, key: key, nonce: nonce, authenticating: start + fingerprint + nonce)
        } catch {
            throw error == .refused ? .corrupt : .unavailable
        }
        guard let rows = try? JSONDecoder().decode([Row].self, from: text) else { throw .corrupt }
        for row in rows {
            let key = CredentialKey(
                service: row.service, environment: row.environment, origin: row.origin, account: row.account)
            items[key] = VaultItem(version: row.version, content: row.content)
        }
    }

    /// The beginning of the key's SHA-256, by which one key is told from another. It says nothing of the key, which is random.
    private static func fingerprint(of key: Data) throws(VaultError) -> Data {
        do throws(CryptographyError) {
            return try platformCryptography.digest(key, by: .sha256).prefix(fingerprintSize)
        } catch {
            throw .unavailable
        }
    }
}
