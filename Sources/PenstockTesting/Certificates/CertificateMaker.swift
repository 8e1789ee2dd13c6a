#if os(Linux)
    import COpenSSL
    import Foundation

    /// Makes certificates (RFC 5280) with keys of their own on the curve P-256.
    enum CertificateMaker {
        enum Role {
            case authority, holder
        }

        /// - Parameter issuer: who signs; `nil` when the certificate signs itself.
        static func make(
            _ certificate: TestCertificate, role: Role, signedBy issuer: TLSIdentity?
        ) throws -> TLSIdentity {
            guard let key = copenssl_make_key(), let made = X509_new() else {
                throw OpenSSL.failure("no key")
            }
            defer {
                EVP_PKEY_free(key)
                X509_free(made)
            }
            let signers = try issuer.map { try OpenSSL.certificates($0.certificates) } ?? []
            defer { for signer in signers { X509_free(signer) } }
            let signingKey = try issuer.map { try OpenSSL.privateKey($0.privateKey) }
            defer { EVP_PKEY_free(signingKey) }

            try fill(made, with: certificate, key: key)
            let signer = signers.first ?? made
            X509_set_issuer_name(made, X509_get_subject_name(signer))
            for (kind, value) in extensions(of: certificate, role: role) {
                try add(kind, value, to: made, signedBy: signer)
            }
            guard X509_sign(made, signingKey ?? key, EVP_sha256()) > 0 else {
                throw OpenSSL.failure("not signed")
            }
            return TLSIdentity(
                certificates: try OpenSSL.written { PEM_write_bio_X509($0, made) },
                privateKey: try OpenSSL.written { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
            )
        }

        private static func fill(
            _ made: OpaquePointer, with certificate: TestCertificate, key: OpaquePointer
        ) throws {
            let name = X509_get_subject_name(made)
            let isFilled =
                X509_set_version(made, 2) == 1
                && ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), .random(in: 1 ... .max)) == 1
                && ASN1_TIME_set(
                    X509_getm_notBefore(made), Int(certificate.notBefore.timeIntervalSince1970)) != nil
                && ASN1_TIME_set(X509_getm_notAfter(made), Int(certificate.notAfter.timeIntervalSince1970))
                    != nil
                && X509_set_pubkey(made, key) == 1
                && X509_NAME_add_entry_by_NID(
                    name, NID_commonName, V_ASN1_UTF8STRING, certificate.commonName, -1, -1, 0) == 1
            guard isFilled else { throw OpenSSL.failure("the certificate cannot be written") }
        }

        private static func extensions(of certificate: TestCertificate, role: Role) -> [(
            kind: Int32, value: String
        )] {
            var list = [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid")]
            switch role {
            case .authority:
                list += [
                    (NID_basic_constraints, "critical,CA:TRUE"),
                    (NID_key_usage, "critical,keyCertSign,cRLSign"),
                ]
            case .holder:
                list += [
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, certificate.isForClient ? "clientAuth" : "serverAuth"),
                ]
            }
            let names = certificate.hosts.map { "DNS:\($0)" } + certificate.addresses.map { "IP:\($0)" }
            return names.isEmpty ? list : list + [(NID_subject_alt_name, names.joined(separator: ","))]
        }

        private static func add(
            _ kind: Int32, _ value: String, to made: OpaquePointer, signedBy signer: OpaquePointer
        ) throws {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, signer, made, nil, nil, 0)
            guard let added = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                throw OpenSSL.failure("the certificate cannot say \(value)")
            }
            defer { X509_EXTENSION_free(added) }
            guard X509_add_ext(made, added, -1) == 1 else { throw OpenSSL.failure("the certificate is full") }
        }
    }
#endif
