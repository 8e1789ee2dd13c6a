#if canImport(CryptoKit)
    import CommonCrypto
    import CryptoKit
    import Foundation

    /// What signs and seals on this system.
    package let platformCryptography: any Cryptography = CryptoKitCryptography()

    /// CryptoKit behind the one protocol, and CommonCrypto for what it has not: CBC.
    struct CryptoKitCryptography: Cryptography {
        // MARK: Digests

        func makeDigest(_ function: PenstockSecurity.HashFunction) throws(CryptographyError) -> any RunningDigest {
            switch function {
            case .sha256: CryptoKitDigest<SHA256>()
            case .sha512: CryptoKitDigest<SHA512>()
            }
        }

        func authenticationCode(
            of data: Data, key: Data, by function: PenstockSecurity.HashFunction
        ) throws(CryptographyError) -> Data {
            try KeyLength.requireSome(key)
            let key = SymmetricKey(data: key)
            return switch function {
            case .sha256: Data(HMAC<SHA256>.authenticationCode(for: data, using: key))
            case .sha512: Data(HMAC<SHA512>.authenticationCode(for: data, using: key))
            }
        }

        // MARK: AES-GCM

        func seal(
            _ plain: Data, key: Data, nonce: Data, authenticating data: Data
        ) throws(CryptographyError) -> SealedBytes {
            try KeyLength.requireNonce(nonce)
            try KeyLength.require(key, 16, 24, 32)
            do {
                let box = try AES.GCM.seal(
                    plain, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: data)
                return SealedBytes(bytes: box.ciphertext, tag: box.tag)
            } catch {
                throw .unavailable
            }
        }

        func open(
            _ sealed: SealedBytes, key: Data, nonce: Data, authenticating data: Data
        ) throws(CryptographyError) -> Data {
            try KeyLength.requireNonce(nonce)
            try KeyLength.requireTag(sealed.tag)
            try KeyLength.require(key, 16, 24, 32)
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.bytes, tag: sealed.tag)
                return try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: data)
            } catch {
                throw .refused
            }
        }

        // MARK: Ed25519

        func ed25519PublicKey(of privateKey: Data) throws(CryptographyError) -> Data {
            try ed25519(privateKey).publicKey.rawRepresentation
        }

        func signEd25519(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data {
            let key = try ed25519(privateKey)
            do { return try key.signature(for: data) } catch { throw .unavailable }
        }

        func isValidEd25519(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool {
            try KeyLength.requireEd25519Point(publicKey)
            do {
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
                return signature.count == 64 && key.isValidSignature(signature, for: data)
            } catch {
                throw .invalidKey
            }
        }

        private func ed25519(_ bytes: Data) throws(CryptographyError) -> Curve25519.Signing.PrivateKey {
            try KeyLength.require(bytes, 32)
            do { return try Curve25519.Signing.PrivateKey(rawRepresentation: bytes) } catch { throw .invalidKey }
        }

        // MARK: P-256

        func makeP256PrivateKey() throws(CryptographyError) -> Data { P256.Signing.PrivateKey().rawRepresentation }

        func p256PublicKey(of privateKey: Data) throws(CryptographyError) -> Data {
            try p256(privateKey).publicKey.rawRepresentation
        }

        func signP256(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data {
            let key = try p256(privateKey)
            do { return try key.signature(for: data).rawRepresentation } catch { throw .unavailable }
        }

        func isValidP256(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool {
            try KeyLength.require(publicKey, 64)
            let key: P256.Signing.PublicKey
            do { key = try P256.Signing.PublicKey(rawRepresentation: publicKey) } catch { throw .invalidKey }
            guard signature.count == 64,
                let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(parsed, for: data)
        }

        private func p256(_ bytes: Data) throws(CryptographyError) -> P256.Signing.PrivateKey {
            try KeyLength.requireP256Scalar(bytes)
            do { return try P256.Signing.PrivateKey(rawRepresentation: bytes) } catch { throw .invalidKey }
        }

        // MARK: AES key wrap

        func wrap(_ key: Data, by wrappingKey: Data) throws(CryptographyError) -> Data {
            try KeyLength.require(wrappingKey, 16, 24, 32)
            try KeyLength.requireWrappable(key.count)
            do {
                return try AES.KeyWrap.wrap(SymmetricKey(data: key), using: SymmetricKey(data: wrappingKey))
            } catch {
                throw .unavailable
            }
        }

        func unwrap(_ wrapped: Data, by wrappingKey: Data) throws(CryptographyError) -> Data {
            try KeyLength.require(wrappingKey, 16, 24, 32)
            try KeyLength.requireWrappable(wrapped.count - 8)
            do {
                let key = try AES.KeyWrap.unwrap(wrapped, using: SymmetricKey(data: wrappingKey))
                return key.withUnsafeBytes { Data($0) }
            } catch {
                throw .refused
            }
        }

        // MARK: AES-CBC

        func encryptCBC(_ plain: Data, key: Data, iv: Data) throws(CryptographyError) -> Data {
            guard let bytes = try transform(plain, CCOperation(kCCEncrypt), key, iv) else { throw .unavailable }
            return bytes
        }

        func decryptCBC(_ bytes: Data, key: Data, iv: Data) throws(CryptographyError) -> Data {
            guard let plain = try transform(bytes, CCOperation(kCCDecrypt), key, iv) else { throw .refused }
            return plain
        }

        private func transform(
            _ input: Data, _ operation: CCOperation, _ key: Data, _ iv: Data
        ) throws(CryptographyError) -> Data? {
            try KeyLength.require(key, 16)
            try KeyLength.requireBlock(iv)
            var output = [UInt8](repeating: 0, count: input.count + kCCBlockSizeAES128)
            let size = output.count
            var count = 0
            let status = CCCrypt(
                operation, CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding), Array(key), key.count,
                Array(iv), Array(input), input.count, &output, size, &count)
            guard status == CCCryptorStatus(kCCSuccess), count <= size else { return nil }
            let plain = Data(output.prefix(count))
            // CommonCrypto takes a padding that is none for the end of the content.
            guard operation == CCOperation(kCCDecrypt) else { return plain }
            return (1...kCCBlockSizeAES128).contains(input.count - count) ? plain : nil
        }

        // MARK: Agreement

        func agreeP256(privateKey: Data, publicKey: Data) throws(CryptographyError) -> Data {
            try KeyLength.requireP256Scalar(privateKey)
            try KeyLength.require(publicKey, 64)
            do {
                let own = try P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey)
                let other = try P256.KeyAgreement.PublicKey(rawRepresentation: publicKey)
                return try own.sharedSecretFromKeyAgreement(with: other).withUnsafeBytes { Data($0) }
            } catch {
                throw .invalidKey
            }
        }
    }

    private struct CryptoKitDigest<Function: CryptoKit.HashFunction>: RunningDigest {
        private var function = Function()

        mutating func update(_ data: Data) throws(CryptographyError) { function.update(data: data) }

        mutating func finish() throws(CryptographyError) -> Data { Data(function.finalize()) }
    }
#endif
