#if os(Linux)
    import COpenSSL
    import Foundation

    /// What every TLS connection of a server shares: its certificate, its key and its rules.
    ///
    /// Unchecked: OpenSSL lets threads share a context that nobody changes any more.
    final class TLSContext: @unchecked Sendable {
        private let handle: OpaquePointer

        init(_ tls: LoopbackServer.TLS) throws {
            guard let handle = SSL_CTX_new(TLS_server_method()) else {
                throw OpenSSL.failure("no context")
            }
            self.handle = handle
            try setVersions(tls.versions)
            try setIdentity(tls.identity)
            if let authorities = tls.clientAuthorities { try askForCertificates(signedBy: authorities) }
            chooseProtocol(of: tls.protocols)
        }

        deinit {
            SSL_CTX_free(handle)
        }

        func makeEngine() -> any TLSEngine {
            OpenSSLEngine(handle)
        }

        // MARK: Settings

        private func setVersions(_ versions: ClosedRange<LoopbackServer.TLS.Version>) throws {
            func number(_ version: LoopbackServer.TLS.Version) -> Int32 {
                version == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
            }
            guard
                copenssl_set_versions(handle, number(versions.lowerBound), number(versions.upperBound)) == 1
            else {
                throw OpenSSL.failure("these versions of TLS are not there")
            }
        }

        private func setIdentity(_ identity: TLSIdentity) throws {
            let certificates = try OpenSSL.certificates(identity.certificates)
            defer { for certificate in certificates { X509_free(certificate) } }
            let key = try OpenSSL.privateKey(identity.privateKey)
            defer { EVP_PKEY_free(key) }
            guard let first = certificates.first, SSL_CTX_use_certificate(handle, first) == 1,
                certificates.dropFirst().allSatisfy({ copenssl_add_chain_certificate(handle, $0) == 1 }),
                SSL_CTX_use_PrivateKey(handle, key) == 1
            else { throw OpenSSL.failure("the certificate and the key do not go together") }
        }

        private func askForCertificates(signedBy authorities: Data) throws {
            let store = SSL_CTX_get_cert_store(handle)
            for authority in try OpenSSL.certificates(authorities) {
                X509_STORE_add_cert(store, authority)
                X509_free(authority)
            }
            SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            // Without a name of their own, sessions with client certificates cannot be resumed.
            SSL_CTX_set_session_id_context(handle, "loopback", 8)
        }

        /// Sets which protocol is chosen. ALPN asks a C function, which learns what the server speaks by a list of its own.
        private func chooseProtocol(of protocols: [LoopbackServer.TLS.ApplicationProtocol]) {
            guard protocols.contains(.http2) else { return }
            let preference = protocols.first == .http2 ? OpenSSL.http2First : OpenSSL.http1First
            SSL_CTX_set_alpn_select_cb(handle, preference, nil)
        }
    }

    /// The few things that are asked of OpenSSL in more than one place.
    enum OpenSSL {
        /// An error with what OpenSSL says about it, which it forgets.
        static func failure(_ what: String) -> LoopbackServer.TLSFailure {
            LoopbackServer.TLSFailure(description: "\(what) (\(lastReason()))")
        }

        /// What went wrong last on this thread.
        static func lastReason() -> String {
            defer { ERR_clear_error() }
            guard let text = ERR_reason_error_string(ERR_peek_last_error()) else {
                return "no reason given"
            }
            return String(cString: text)
        }

        /// The certificates of a PEM text; the caller frees them.
        static func certificates(_ pem: Data) throws -> [OpaquePointer] {
            let found = withMemory(pem) { memory in
                var found: [OpaquePointer] = []
                while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) {
                    found.append(certificate)
                }
                return found
            }
            guard !found.isEmpty else { throw failure("there is no certificate in the text") }
            // The end of the text counts as an error.
            ERR_clear_error()
            return found
        }

        /// The key of a PEM text; the caller frees it.
        static func privateKey(_ pem: Data) throws -> OpaquePointer {
            guard let key = withMemory(pem, { PEM_read_bio_PrivateKey($0, nil, nil, nil) }) else {
                throw failure("there is no private key in the text")
            }
            return key
        }

        /// What a writer puts into a memory BIO.
        static func written(_ write: (OpaquePointer?) -> Int32) throws -> Data {
            let memory = BIO_new(BIO_s_mem())
            defer { BIO_free(memory) }
            guard write(memory) == 1 else { throw failure("nothing could be written") }
            return contents(memory)
        }

        static func contents(_ memory: OpaquePointer?) -> Data {
            var start: UnsafeMutablePointer<CChar>?
            let count = copenssl_memory_contents(memory, &start)
            guard let start, count > 0 else { return Data() }
            return Data(bytes: start, count: count)
        }

        private static func withMemory<Result>(_ bytes: Data, _ body: (OpaquePointer?) -> Result)
            -> Result
        {
            bytes.withUnsafeBytes { buffer in
                let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
                defer { BIO_free(memory) }
                return body(memory)
            }
        }

        // MARK: ALPN

        typealias ProtocolChoice =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
                UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
            ) -> Int32

        static let http2First: ProtocolChoice = { _, out, length, offered, count, _ in
            choose("\u{2}h2\u{8}http/1.1", out, length, offered, count)
        }
        static let http1First: ProtocolChoice = { _, out, length, offered, count, _ in
            choose("\u{8}http/1.1\u{2}h2", out, length, offered, count)
        }

        /// The choice points into what the client offered, where the server speaks any of that.
        private static func choose(
            _ spoken: String, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
            _ length: UnsafeMutablePointer<UInt8>?,
            _ offered: UnsafePointer<UInt8>?, _ count: UInt32
        ) -> Int32 {
            guard let offered, let out, let length else { return SSL_TLSEXT_ERR_NOACK }
            let ours = Array(spoken.utf8)
            let theirs = UnsafeBufferPointer(start: offered, count: Int(count))
            for name in names(ours[...]) {
                guard let found = names(theirs[...]).first(where: { $0.elementsEqual(name) }) else {
                    continue
                }
                out.pointee = offered + found.startIndex
                length.pointee = UInt8(found.count)
                return SSL_TLSEXT_ERR_OK
            }
            return SSL_TLSEXT_ERR_NOACK
        }

        /// The names of a list in which a byte with its length goes before each.
        private static func names<List: RandomAccessCollection<UInt8>>(
            _ list: List
        ) -> [List.SubSequence] where List.Index == Int {
            var names: [List.SubSequence] = []
            var rest = list[...]
            while let length = rest.first, rest.count > Int(length) {
                names.append(rest.dropFirst().prefix(Int(length)))
                rest = rest.dropFirst(1 + Int(length))
            }
            return names
        }
    }
#endif
