#if os(Linux)
    import COpenSSL
    import Foundation

    /// What signs and seals on this system.
    package let platformCryptography: any Cryptography = OpenSSLCryptography()

    /// OpenSSL 3 by its EVP functions.
    ///
    /// Its errors stay in a queue of the thread until somebody reads them, and TLS on the same thread would take them for
    /// its own: what fails here leaves the queue as it was.
    struct OpenSSLCryptography: Cryptography {
        init() {
            // Whichever part of the package comes first says how OpenSSL ends.
            _ = copenssl_prepare()
        }

        // MARK: Digests

        func makeDigest(_ function: HashFunction) throws(CryptographyError) -> any RunningDigest {
            try OpenSSLDigest(function)
        }

        func authenticationCode(
            of data: Data, key: Data, by function: HashFunction
        ) throws(CryptographyError) -> Data {
            try KeyLength.requireSome(key)
            let (key, data) = (Array(key), Array(data))
            var code = [UInt8](repeating: 0, count: 64)
            var length = 0
            let isMade = leavingNoErrors {
                EVP_Q_mac(
                    nil, "HMAC", nil, function.openSSLName, nil, key, key.count, data, data.count, &code, code.count,
                    &length) != nil
            }
            guard isMade, length <= code.count else { throw .unavailable }
            return Data(code.prefix(length))
        }

        // MARK: AES-GCM

        func seal(
            _ plain: Data, key: Data, nonce: Data, authenticating data: Data
        ) throws(CryptographyError) -> SealedBytes {
            try KeyLength.requireNonce(nonce)
            let cipher = try gcm(key)
            guard let plainCount = Int32(exactly: plain.count), let dataCount = Int32(exactly: data.count),
                let context = EVP_CIPHER_CTX_new()
            else { throw .unavailable }
            defer { EVP_CIPHER_CTX_free(context) }
            var (bytes, tag) = ([UInt8](repeating: 0, count: plain.count + 16), [UInt8](repeating: 0, count: 16))
            var last = [UInt8](repeating: 0, count: 16)
            var (count, rest): (Int32, Int32) = (0, 0)
            let isSealed = leavingNoErrors {
                EVP_EncryptInit_ex(context, cipher, nil, Array(key), Array(nonce)) == 1
                    && (data.isEmpty || EVP_EncryptUpdate(context, nil, &rest, Array(data), dataCount) == 1)
                    && EVP_EncryptUpdate(context, &bytes, &count, Array(plain), plainCount) == 1
                    && EVP_EncryptFinal_ex(context, &last, &rest) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
            }
            guard isSealed, Int(count) == plain.count else { throw .unavailable }
            return SealedBytes(bytes: Data(bytes.prefix(plain.count)), tag: Data(tag))
        }

        func open(
            _ sealed: SealedBytes, key: Data, nonce: Data, authenticating data: Data
        ) throws(CryptographyError) -> Data {
            try KeyLength.requireNonce(nonce)
            try KeyLength.requireTag(sealed.tag)
            let cipher = try gcm(key)
            guard let sealedCount = Int32(exactly: sealed.bytes.count), let dataCount = Int32(exactly: data.count),
                let context = EVP_CIPHER_CTX_new()
            else { throw .unavailable }
            defer { EVP_CIPHER_CTX_free(context) }
            var (bytes, tag) = ([UInt8](repeating: 0, count: sealed.bytes.count + 16), Array(sealed.tag))
            var last = [UInt8](repeating: 0, count: 16)
            var (count, rest): (Int32, Int32) = (0, 0)
            let isOpen = leavingNoErrors {
                EVP_DecryptInit_ex(context, cipher, nil, Array(key), Array(nonce)) == 1
                    && (data.isEmpty || EVP_DecryptUpdate(context, nil, &rest, Array(data), dataCount) == 1)
                    && EVP_DecryptUpdate(context, &bytes, &count, Array(sealed.bytes), sealedCount) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
                    && EVP_DecryptFinal_ex(context, &last, &rest) == 1
            }
            guard isOpen, Int(count) == sealed.bytes.count else { throw .refused }
            return Data(bytes.prefix(sealed.bytes.count))
        }

        private func gcm(_ key: Data) throws(CryptographyError) -> OpaquePointer? {
            try KeyLength.require(key, 16, 24, 32)
            return switch key.count {
            case 16: EVP_aes_128_gcm()
            case 24: EVP_aes_192_gcm()
            default: EVP_aes_256_gcm()
            }
        }

        // MARK: Ed25519

        func ed25519PublicKey(of privateKey: Data) throws(CryptographyError) -> Data {
            let key = try OpenSSLKey.ed25519(privateKey: privateKey)
            var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
            let isRead = leavingNoErrors { EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count) == 1 }
            guard isRead, count == 32 else { throw .unavailable }
            return Data(bytes)
        }

        func signEd25519(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data {
            let signature = try OpenSSLKey.ed25519(privateKey: privateKey).signature(of: data, hashing: nil)
            guard signature.count == 64 else { throw .unavailable }
            return Data(signature)
        }

        func isValidEd25519(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool {
            let key = try OpenSSLKey.ed25519(publicKey: publicKey)
            guard signature.count == 64 else { return false }
            return try key.isValid(Array(signature), of: data, hashing: nil)
        }

        // MARK: P-256

        func makeP256PrivateKey() throws(CryptographyError) -> Data {
            guard let pointer = leavingNoErrors({ copenssl_make_key() }) else { throw .unavailable }
            return try OpenSSLKey(pointer).p256PrivateBytes()
        }

        func p256PublicKey(of privateKey: Data) throws(CryptographyError) -> Data {
            try OpenSSLKey.p256(privateKey: privateKey).p256PublicBytes()
        }

        func signP256(_ data: Data, privateKey: Data) throws(CryptographyError) -> Data {
            let key = try OpenSSLKey.p256(privateKey: privateKey)
            return try ECDSAForm.raw(of: key.signature(of: data, hashing: EVP_sha256()))
        }

        func isValidP256(_ signature: Data, of data: Data, publicKey: Data) throws(CryptographyError) -> Bool {
            let key = try OpenSSLKey.p256(publicKey: publicKey)
            guard signature.count == 64 else { return false }
            return try key.isValid(ECDSAForm.encoded(signature), of: data, hashing: EVP_sha256())
        }

        // MARK: Key wrap

        func wrap(_ key: Data, by wrappingKey: Data) throws(CryptographyError) -> Data {
            try KeyLength.require(wrappingKey, 16, 24, 32)
            try KeyLength.requireWrappable(key.count)
            let wrapped = try transform(key, by: try wrapping(wrappingKey), key: wrappingKey, iv: nil, seals: true)
            guard let wrapped, wrapped.count == key.count + 8 else { throw .unavailable }
            return wrapped
        }

        func unwrap(_ wrapped: Data, by wrappingKey: Data) throws(CryptographyError) -> Data {
            try KeyLength.require(wrappingKey, 16, 24, 32)
            try KeyLength.requireWrappable(wrapped.count - 8)
            let key = try transform(wrapped, by: try wrapping(wrappingKey), key: wrappingKey, iv: nil, seals: false)
            guard let key, key.count == wrapped.count - 8 else { throw .refused }
            return key
        }

        private func wrapping(_ key: Data) throws(CryptographyError) -> OpaquePointer? {
            switch key.count {
            case 16: EVP_aes_128_wrap()
            case 24: EVP_aes_192_wrap()
            default: EVP_aes_256_wrap()
            }
        }

        // MARK: AES-CBC

        func encryptCBC(_ plain: Data, key: Data, iv: Data) throws(CryptographyError) -> Data {
            guard let bytes = try transform(plain, by: try cbc(key, iv), key: key, iv: iv, seals: true) else {
                throw .unavailable
            }
            return bytes
        }

        func decryptCBC(_ bytes: Data, key: Data, iv: Data) throws(CryptographyError) -> Data {
            guard let plain = try transform(bytes, by: try cbc(key, iv), key: key, iv: iv, seals: false) else {
                throw .refused
            }
            return plain
        }

        private func cbc(_ key: Data, _ iv: Data) throws(CryptographyError) -> OpaquePointer? {
            try KeyLength.require(key, 16)
            try KeyLength.requireBlock(iv)
            return EVP_aes_128_cbc()
        }

        /// - Returns: `nil` where the library refuses: for what is opened, because it is not what was sealed.
        private func transform(
            _ input: Data, by cipher: OpaquePointer?, key: Data, iv: Data?, seals: Bool
        ) throws(CryptographyError) -> Data? {
            // A block more than came in, and one for what the padding adds.
            guard let inputCount = Int32(exactly: input.count), inputCount < Int32.max - 32,
                let context = EVP_CIPHER_CTX_new()
            else { throw .unavailable }
            defer { EVP_CIPHER_CTX_free(context) }
            EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
            var output = [UInt8](repeating: 0, count: input.count + 32)
            var last = [UInt8](repeating: 0, count: 32)
            var (count, rest): (Int32, Int32) = (0, 0)
            let isDone = leavingNoErrors {
                EVP_CipherInit_ex(context, cipher, nil, Array(key), iv.map { Array($0) }, seals ? 1 : 0) == 1
                    && EVP_CipherUpdate(context, &output, &count, Array(input), inputCount) == 1
                    && EVP_CipherFinal_ex(context, &last, &rest) == 1
            }
            guard isDone, count >= 0, rest >= 0, Int(count) <= output.count, Int(rest) <= last.count else {
                return nil
            }
            return Data(output.prefix(Int(count)) + last.prefix(Int(rest)))
        }

        // MARK: Key agreement

        func agreeP256(privateKey: Data, publicKey: Data) throws(CryptographyError) -> Data {
            let own = try OpenSSLKey.p256(privateKey: privateKey)
            let other = try OpenSSLKey.p256(publicKey: publicKey)
            guard let context = EVP_PKEY_CTX_new(own.pointer, nil) else { throw .unavailable }
            defer { EVP_PKEY_CTX_free(context) }
            var (secret, count) = ([UInt8](repeating: 0, count: 32), 32)
            let isAgreed = leavingNoErrors {
                EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, other.pointer) == 1
                    && EVP_PKEY_derive(context, &secret, &count) == 1
            }
            guard isAgreed, count == 32 else { throw .invalidKey }
            return Data(secret)
        }
    }

    extension HashFunction {
        fileprivate var openSSLName: String { self == .sha256 ? "SHA256" : "SHA512" }
    }

    /// Does something of OpenSSL's and forgets the errors that it has noted.
    private func leavingNoErrors<Result>(_ body: () -> Result) -> Result {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return body()
    }

    private final class OpenSSLDigest: RunningDigest {
        private let context: OpaquePointer

        init(_ function: HashFunction) throws(CryptographyError) {
            guard let made = EVP_MD_CTX_new() else { throw .unavailable }
            context = made
            let type = function == .sha256 ? EVP_sha256() : EVP_sha512()
            guard leavingNoErrors({ EVP_DigestInit_ex(made, type, nil) == 1 }) else { throw .unavailable }
        }

        deinit { EVP_MD_CTX_free(context) }

        func update(_ data: Data) throws(CryptographyError) {
            let isTaken = leavingNoErrors {
                data.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
            }
            guard isTaken else { throw .unavailable }
        }

        func finish() throws(CryptographyError) -> Data {
            var (bytes, count) = ([UInt8](repeating: 0, count: 64), UInt32(0))
            guard leavingNoErrors({ EVP_DigestFinal_ex(context, &bytes, &count) == 1 }) else { throw .unavailable }
            return Data(bytes.prefix(Int(count)))
        }
    }

    /// A key as OpenSSL has it.
    private final class OpenSSLKey {
        let pointer: OpaquePointer

        /// - Parameter pointer: becomes the object's own.
        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit { EVP_PKEY_free(pointer) }

        private static func made(_ make: () -> OpaquePointer?) throws(CryptographyError) -> OpenSSLKey {
            guard let pointer = leavingNoErrors(make) else { throw .invalidKey }
            return OpenSSLKey(pointer)
        }

        static func ed25519(privateKey: Data) throws(CryptographyError) -> OpenSSLKey {
            try KeyLength.require(privateKey, 32)
            return try made { EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, Array(privateKey), 32) }
        }

        static func ed25519(publicKey: Data) throws(CryptographyError) -> OpenSSLKey {
            try KeyLength.requireEd25519Point(publicKey)
            return try made { EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, Array(publicKey), 32) }
        }

        /// The key is handed over as an `ECPrivateKey` without its public part (RFC 5915 §3), which OpenSSL then computes.
        static func p256(privateKey: Data) throws(CryptographyError) -> OpenSSLKey {
            try KeyLength.requireP256Scalar(privateKey)
            let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            let encoded = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + Array(privateKey) + curve
            return try made {
                encoded.withUnsafeBufferPointer { bytes in
                    var start = bytes.baseAddress
                    return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, bytes.count)
                }
            }
        }

        static func p256(publicKey: Data) throws(CryptographyError) -> OpenSSLKey {
            try KeyLength.require(publicKey, 64)
            var point = [0x04] + Array(publicKey)
            return try made { copenssl_p256_public_key(&point, point.count) }
        }

        func p256PrivateBytes() throws(CryptographyError) -> Data {
            var number: OpaquePointer?
            defer { BN_clear_free(number) }
            var bytes = [UInt8](repeating: 0, count: 32)
            let isRead = leavingNoErrors {
                EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1
                    && BN_bn2binpad(number, &bytes, 32) == 32
            }
            guard isRead else { throw .unavailable }
            return Data(bytes)
        }

        func p256PublicBytes() throws(CryptographyError) -> Data {
            var encoded: UnsafeMutablePointer<UInt8>?
            let count = leavingNoErrors { EVP_PKEY_get1_encoded_public_key(pointer, &encoded) }
            defer { CRYPTO_free(encoded, nil, 0) }
            guard let start = encoded, count == 65, start[0] == 0x04 else { throw .invalidKey }
            return Data(UnsafeBufferPointer(start: start + 1, count: 64))
        }

        func signature(of data: Data, hashing type: OpaquePointer?) throws(CryptographyError) -> [UInt8] {
            guard let context = EVP_MD_CTX_new() else { throw .unavailable }
            defer { EVP_MD_CTX_free(context) }
            // More than either algorithm's signature takes: 64 bytes, and 72 of DER.
            var (bytes, count) = ([UInt8](repeating: 0, count: 128), 128)
            let isSigned = leavingNoErrors {
                EVP_DigestSignInit(context, nil, type, nil, pointer) == 1
                    && EVP_DigestSign(context, &bytes, &count, Array(data), data.count) == 1
            }
            guard isSigned else { throw .unavailable }
            return Array(bytes.prefix(count))
        }

        func isValid(
            _ signature: [UInt8]?, of data: Data, hashing type: OpaquePointer?
        ) throws(CryptographyError) -> Bool {
            guard let signature else { return false }
            guard let context = EVP_MD_CTX_new() else { throw .unavailable }
            defer { EVP_MD_CTX_free(context) }
            guard leavingNoErrors({ EVP_DigestVerifyInit(context, nil, type, nil, pointer) == 1 }) else {
                throw .unavailable
            }
            return leavingNoErrors {
                EVP_DigestVerify(context, signature, signature.count, Array(data), data.count) == 1
            }
        }
    }

    /// The two forms of an ECDSA signature on P-256: DER, which OpenSSL speaks, and r beside s.
    private enum ECDSAForm {
        static func raw(of encoded: [UInt8]) throws(CryptographyError) -> Data {
            let parsed = encoded.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return leavingNoErrors { d2i_ECDSA_SIG(nil, &start, bytes.count) }
            }
            guard let parsed else { throw .unavailable }
            defer { ECDSA_SIG_free(parsed) }
            var (r, s) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
            guard BN_bn2binpad(ECDSA_SIG_get0_r(parsed), &r, 32) == 32,
                BN_bn2binpad(ECDSA_SIG_get0_s(parsed), &s, 32) == 32
            else { throw .unavailable }
            return Data(r + s)
        }

        /// `nil` where there is no memory for it.
        static func encoded(_ raw: Data) -> [UInt8]? {
            let bytes = Array(raw)
            guard bytes.count == 64, let signature = ECDSA_SIG_new() else { return nil }
            defer { ECDSA_SIG_free(signature) }
            let (r, s) = (BN_bin2bn(Array(bytes[..<32]), 32, nil), BN_bin2bn(Array(bytes[32...]), 32, nil))
            guard let first = r, let second = s, ECDSA_SIG_set0(signature, first, second) == 1 else {
                BN_free(r)
                BN_free(s)
                return nil
            }
            var output: UnsafeMutablePointer<UInt8>?
            let count = i2d_ECDSA_SIG(signature, &output)
            defer { CRYPTO_free(output, nil, 0) }
            guard let start = output, count > 0 else { return nil }
            return Array(UnsafeBufferPointer(start: start, count: Int(count)))
        }
    }
#endif
