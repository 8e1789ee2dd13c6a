#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// The trust policy of a pool, as libcurl and OpenSSL are told of it. Whatever it reads, it reads once: a pool whose files
    /// have changed serves no new transfer. That is looked at for each transfer, by the thread that drives all of them: the disk that
    /// such files are on must not hang.
    ///
    /// The pins are compared inside the verification of the chain. A handshake that fails there leaves no session behind, by
    /// which the next one would get around them.
    ///
    /// Unchecked because C pointers cannot say so: what it holds stays as it was made, and OpenSSL counts references by itself.
    final class CurlTrust: @unchecked Sendable {
        private let policy: TrustPolicy
        private let authorities: String?
        private let lists: String?
        private let files: [(path: String, stamp: CurlFileStamp?)]
        private let identity: CurlClientIdentity?

        /// - Throws: `tls` of the material that cannot be read; nothing was sent.
        init(_ policy: TrustPolicy) throws(TransportError) {
            self.policy = policy
            files = policy.files.map { ($0.path, CurlFileStamp($0.path)) }
            if case .file(let file) = policy.anchors {
                authorities = try Self.path(of: file, holding: "CERTIFICATE", "the file of authorities")
            } else {
                authorities = nil
            }
            if case .lists(let file) = policy.revocation {
                lists = try Self.path(of: file, holding: "X509 CRL", "the file of revocation lists")
            } else {
                lists = nil
            }
            identity = try policy.identity.map { identity throws(TransportError) in try CurlClientIdentity(identity) }
        }

        /// Refuses what this libcurl cannot do, for it speaks TLS by another library.
        static func check(_ policy: TrustPolicy, _ capabilities: TransportCapabilities) throws(TransportError) {
            guard let missing = policy.refusal(by: capabilities) else { return }
            throw TransportError(.unsupported(missing), sendState: .unsent, message: "libcurl cannot keep \(missing)")
        }

        /// Whether its files are those that were read.
        var isCurrent: Bool {
            files.allSatisfy { $0.stamp == CurlFileStamp($0.path) }
        }

        /// libcurl would notice only when the first TLS connection is made, and not at all for a request in the clear. A file of
        /// which one block is damaged is refused whole: what is left would trust, or revoke, something else.
        private static func path(
            of file: URL, holding label: String, _ name: String
        ) throws(TransportError) -> String {
            // The file is read by a handle: `Data(contentsOf:)` leaks a page for a file that is empty.
            guard let text = try? FileHandle(forReadingFrom: file).readToEnd(),
                let blocks = PEMBlock.all(in: text), blocks.contains(where: { $0.label == label }),
                CurlCertificates.read(text) != nil
            else {
                throw TransportError(.tls(.trustMaterial), sendState: .unsent, message: "\(name) cannot be read")
            }
            return file.path
        }

        // MARK: libcurl

        /// The object must outlive the handle's connections.
        ///
        /// - Parameter keep: hears what libcurl makes of each option.
        func apply(to easy: UnsafeMutableRawPointer, _ keep: (CURLcode) -> Void) {
            let least = policy.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
            keep(ccurl_set_long(easy, CURLOPT_SSLVERSION, Int(least)))
            if let lists { keep(ccurl_set_text(easy, CURLOPT_CRLFILE, lists)) }
            if policy.revocation == .stapled {
                keep(ccurl_set_long(easy, CURLOPT_SSL_VERIFYSTATUS, 1))
                keep(ccurl_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0))
            }
            guard let authorities else { return }
            keep(ccurl_set_text(easy, CURLOPT_CAINFO, authorities))
            keep(ccurl_set_text(easy, CURLOPT_CAPATH, nil))
        }

        // MARK: OpenSSL

        private static let hostIndex = copenssl_text_index()

        /// - Parameter context: OpenSSL's object for one connection.
        /// - Returns: whether OpenSSL will see to it.
        func apply(to context: OpaquePointer, _ host: String) -> Bool {
            // libcurl writes the secrets of each session to a file that the environment may name (`SSLKEYLOGFILE`).
            SSL_CTX_set_keylog_callback(context, nil)
            if let identity, !identity.apply(to: context) { return false }
            let isPinned = policy.pins.set(for: host) != nil
            if isPinned, copenssl_keep_text(context, Self.hostIndex, host) != 1 { return false }
            let pinned = isPinned ? Unmanaged.passUnretained(self).toOpaque() : nil
            SSL_CTX_set_cert_verify_callback(context, Self.verify, pinned)
            return true
        }

        /// The chain is validated as always, and looked at where the host has pins. What the server has sent besides is no part
        /// of it.
        private static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
            store, context in
            guard let store, validates(store) else { return 0 }
            guard let context else { return 1 }
            let trust = Unmanaged<CurlTrust>.fromOpaque(context).takeUnretainedValue()
            if trust.accepts(store) { return 1 }
            X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            return 0
        }

        /// What is wrong with a chain stands with the store. A wrong signature leaves errors of the mathematics in OpenSSL's queue
        /// besides, ahead of the one that says the verification failed, and libcurl takes the first for the reason: the handshake
        /// would have failed like any other, which may be tried again.
        private static func validates(_ store: OpaquePointer) -> Bool {
            ERR_set_mark()
            defer { ERR_pop_to_mark() }
            return X509_verify_cert(store) == 1
        }

        private func accepts(_ store: OpaquePointer) -> Bool {
            guard let host = copenssl_kept_text(store, Self.hostIndex) else { return false }
            guard let pins = Self.pins(of: store) else { return false }
            switch policy.pins.verdict(on: pins, for: String(cString: host), at: Date()) {
            case .notPinned, .matched: return true
            case .reported(let report):
                policy.reporter?.report(report)
                return true
            case .refused(let report):
                policy.reporter?.report(report)
                return false
            @unknown default: return false
            }
        }

        /// The pins of every certificate of the chain; `nil` where the key of one cannot be had.
        private static func pins(of store: OpaquePointer) -> [PublicKeyPin]? {
            let chain = X509_STORE_CTX_get0_chain(store)
            let pins = (0..<max(0, copenssl_chain_count(chain))).map { pin(copenssl_chain_certificate(chain, $0)) }
            return pins.contains(nil) ? nil : pins.compactMap(\.self)
        }

        private static func pin(_ certificate: OpaquePointer?) -> PublicKeyPin? {
            var encoded: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
            guard let encoded, count > 0 else { return nil }
            defer { free(encoded) }
            return PublicKeyPin(ofKey: UnsafeBufferPointer(start: encoded, count: Int(count)))
        }
    }

    /// What tells that a file is another than before: replaced or written to.
    struct CurlFileStamp: Equatable {
        private let device: UInt64
        private let file: UInt64
        private let size: Int64
        private let written: SIMD2<Int>
        private let changed: SIMD2<Int>

        /// - Returns: `nil` where there is no such file.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, file, size) = (UInt64(facts.st_dev), UInt64(facts.st_ino), Int64(facts.st_size))
            (written, changed) = (Self.moment(facts.st_mtim), Self.moment(facts.st_ctim))
        }

        private static func moment(_ time: timespec) -> SIMD2<Int> { [time.tv_sec, time.tv_nsec] }
    }

    /// The certificates of a PEM text, as OpenSSL has them.
    final class CurlCertificates {
        let all: [OpaquePointer]

        /// Takes over the references.
        init(_ certificates: [OpaquePointer]) {
            all = certificates
        }

        deinit {
            for certificate in all { X509_free(certificate) }
        }

        /// - Returns: `nil` where a block is damaged, which OpenSSL's function tells from the end of the text by its error alone.
        static func read(_ text: Data) -> CurlCertificates? {
            guard PEMBlock.all(in: text) != nil else { return nil }
            // libcurl takes what is left of our failures for its own.
            defer { ERR_clear_error() }
            ERR_clear_error()
            var certificates: [OpaquePointer] = []
            withMemory(text) { memory in
                while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) { certificates.append(certificate) }
            }
            let read = CurlCertificates(certificates)
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? read : nil
        }

        static func withMemory(_ bytes: Data, _ body: (OpaquePointer) -> Void) {
            bytes.withUnsafeBytes { buffer in
                guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return }
                defer { BIO_free(memory) }
                body(memory)
            }
        }
    }

    /// A client's certificate with its chain and its key, as OpenSSL has them.
    final class CurlClientIdentity {
        private var certificates = CurlCertificates([])
        private var key: OpaquePointer?

        /// - Throws: `tls` where it cannot be read, the key is not that of the certificate, or OpenSSL does not use it: for its
        ///   level of security the key is too short, or the digest too weak. The handshake would fail for that, like for any other
        ///   reason.
        init(_ identity: ClientIdentity) throws(TransportError) {
            // libcurl takes what is left of our failures for its own.
            defer { ERR_clear_error() }
            switch identity.form {
            case .pem(let certificates, let key, let passphrase): read(certificates, key, passphrase ?? "")
            case .pkcs12(let data, let passphrase): read(data, passphrase)
            @unknown default: break
            }
            guard let first = certificates.all.first, let key, X509_check_private_key(first, key) == 1 else {
                throw TransportError(
                    .tls(.clientCertificate), sendState: .unsent,
                    message: "the client's certificate and its key cannot be read, or do not belong together"
                        + Self.hint(of: identity.form))
            }
            let trial = SSL_CTX_new(TLS_client_method())
            defer { SSL_CTX_free(trial) }
            guard let trial, apply(to: trial) else {
                throw TransportError(
                    .tls(.clientCertificate), sendState: .unsent,
                    message:
                        "OpenSSL does not use the client's certificate: a key or a digest is too weak, or of no use in TLS"
                )
            }
        }

        /// What else it may be where OpenSSL 3 has read no container, which does not tell.
        private static func hint(of form: ClientIdentity.Form) -> String {
            guard case .pkcs12 = form else { return "" }
            return "; a container without a MAC, or in old encryption such as RC2, is not read: write it anew by "
                + "openssl pkcs12 -legacy -nomacver -in OLD -out PEM && openssl pkcs12 -export -in PEM -out NEW"
        }

        deinit {
            EVP_PKEY_free(key)
        }

        /// - Returns: whether OpenSSL took it.
        func apply(to context: OpaquePointer) -> Bool {
            defer { ERR_clear_error() }
            guard let first = certificates.all.first else { return false }
            return SSL_CTX_use_certificate(context, first) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
                && certificates.all.dropFirst().allSatisfy { copenssl_add_chain_certificate(context, $0) == 1 }
        }

        private func read(_ certificates: Data, _ key: Data, _ passphrase: String) {
            guard let read = CurlCertificates.read(certificates) else { return }
            self.certificates = read
            // Without a passphrase, not even an empty one, OpenSSL would ask for one at the terminal.
            var word = Array(passphrase.utf8CString)
            CurlCertificates.withMemory(key) { memory in
                self.key = PEM_read_bio_PrivateKey(memory, nil, nil, &word)
            }
        }

        private func read(_ data: Data, _ passphrase: String) {
            CurlCertificates.withMemory(data) { memory in
                guard let container = d2i_PKCS12_bio(memory, nil) else { return }
                defer { PKCS12_free(container) }
                var (certificate, others): (OpaquePointer?, OpaquePointer?) = (nil, nil)
                guard PKCS12_parse(container, passphrase, &key, &certificate, &others) == 1 else { return }
                defer { copenssl_free_chain(others) }
                let rest = (0..<max(0, copenssl_chain_count(others))).map { copenssl_chain_certificate(others, $0) }
                let kept = rest.compactMap(\.self).filter { X509_up_ref($0) == 1 }
                let chain = CurlCertificates([certificate].compactMap(\.self) + kept)
                if kept.count == rest.count { certificates = chain }
            }
        }
    }

    /// Has OpenSSL compare the host with the certificate's names, and never with its common name (``CurlFault/commonName``).
    enum CurlHostVerification {
        /// - Parameter context: OpenSSL's object for one connection.
        /// - Returns: whether OpenSSL will see to it.
        static func require(_ host: String, of context: OpaquePointer) -> Bool {
            guard let rules = SSL_CTX_get0_param(context) else { return false }
            X509_VERIFY_PARAM_set_hostflags(rules, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
            if X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1 { return true }
            let name = host.hasSuffix(".") ? String(host.dropLast()) : host
            return X509_VERIFY_PARAM_set1_host(rules, name, name.utf8.count) == 1
        }
    }
#endif
