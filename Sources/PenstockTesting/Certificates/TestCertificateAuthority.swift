#if os(Linux)
    import COpenSSL
    import Foundation

    /// An authority that signs certificates for tests, made on the spot and known to nobody else. **On Linux only**, by
    /// OpenSSL.
    ///
    /// ```swift
    /// let authority = try TestCertificateAuthority()
    /// let good = try authority.issue()
    /// let old = try authority.issue(.expired)
    /// let server = try LoopbackServer(.init(tls: .init(good))) { _ in .text("ok") }
    /// let trust = TrustPolicy.authorities(authority.file)
    /// ```
    public final class TestCertificateAuthority: Sendable {
        /// The authority's own certificate and key; what stands between it and the root included, root excluded.
        public let identity: TLSIdentity
        /// The root's certificate, PEM.
        public let root: Data
        /// A file with ``root``, for ``TrustPolicy/authorities(_:)``. It goes when the authority does.
        public let file: URL

        /// Makes a root.
        ///
        /// - Throws: ``LoopbackServer/TLSFailure``, or what the system says when the file cannot be written.
        public convenience init(name: String = "Penstock test authority") throws {
            let identity = try CertificateMaker.make(.authority(name), role: .authority, signedBy: nil)
            try self.init(identity, root: identity.certificates)
        }

        private init(_ identity: TLSIdentity, root: Data) throws {
            self.identity = identity
            self.root = root
            file = FileManager.default.temporaryDirectory.appendingPathComponent(
                "authority-\(UUID().uuidString).pem")
            try root.write(to: file, options: .withoutOverwriting)
        }

        deinit {
            try? FileManager.default.removeItem(at: file)
        }

        /// Signs a certificate for a new key.
        ///
        /// - Throws: ``LoopbackServer/TLSFailure``.
        public func issue(_ certificate: TestCertificate = .localhost) throws -> TLSIdentity {
            var issued = try CertificateMaker.make(certificate, role: .holder, signedBy: identity)
            if identity.certificates != root { issued.certificates += identity.certificates }
            return issued
        }

        /// An authority that this one has signed; what it issues leads to this one's root.
        ///
        /// - Throws: as ``init(name:)``.
        public func intermediate(name: String = "Penstock test intermediate") throws
            -> TestCertificateAuthority
        {
            var signed = try CertificateMaker.make(.authority(name), role: .authority, signedBy: identity)
            if identity.certificates != root { signed.certificates += identity.certificates }
            return try TestCertificateAuthority(signed, root: root)
        }

        /// A certificate that nobody but its own key has signed.
        ///
        /// - Throws: ``LoopbackServer/TLSFailure``.
        public static func selfSigned(_ certificate: TestCertificate = .localhost) throws -> TLSIdentity {
            try CertificateMaker.make(certificate, role: .holder, signedBy: nil)
        }
    }

    extension TLSIdentity {
        /// SHA-256 of the subject public key info of the first certificate: what a pin is made of (RFC 7469 §2.4).
        ///
        /// - Throws: ``LoopbackServer/TLSFailure`` when there is no certificate.
        public func publicKeyHash() throws -> Data {
            let certificates = try OpenSSL.certificates(certificates)
            defer { for certificate in certificates { X509_free(certificate) } }
            var encoded: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509_PUBKEY(certificates.first.flatMap { X509_get_X509_PUBKEY($0) }, &encoded)
            defer { free(encoded) }
            var hash = [UInt8](repeating: 0, count: 32)
            guard let encoded, count > 0,
                EVP_Digest(encoded, Int(count), &hash, nil, EVP_sha256(), nil) == 1
            else {
                throw OpenSSL.failure("the certificate has no key")
            }
            return Data(hash)
        }

        /// The same in PKCS#12 (RFC 7292), as `.p12` files have it.
        ///
        /// - Throws: ``LoopbackServer/TLSFailure`` when certificate and key do not belong together.
        public func pkcs12(passphrase: String) throws -> Data {
            let certificates = try OpenSSL.certificates(certificates)
            defer { for certificate in certificates { X509_free(certificate) } }
            let key = try OpenSSL.privateKey(privateKey)
            defer { EVP_PKEY_free(key) }
            let others = copenssl_make_chain()
            defer { copenssl_free_chain(others) }
            for other in certificates.dropFirst() where copenssl_add_to_chain(others, other) != 1 {
                throw OpenSSL.failure("the chain is full")
            }
            guard let made = PKCS12_create(passphrase, nil, key, certificates.first, others, 0, 0, 0, 0, 0) else {
                throw OpenSSL.failure("no container")
            }
            defer { PKCS12_free(made) }
            return try OpenSSL.written { i2d_PKCS12_bio($0, made) }
        }
    }

    extension TestCertificate {
        fileprivate static func authority(_ name: String) -> Self {
            var certificate = Self()
            (certificate.commonName, certificate.hosts, certificate.addresses) = (name, [], [])
            return certificate
        }
    }
#endif
