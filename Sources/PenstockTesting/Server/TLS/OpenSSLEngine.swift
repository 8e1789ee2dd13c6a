#if os(Linux)
    import COpenSSL
    import Foundation

    /// TLS by OpenSSL between two memory BIOs: it never touches the socket, so that a client which has gone raises no
    /// signal. For one thread.
    final class OpenSSLEngine: TLSEngine {
        private let ssl: OpaquePointer?
        private let input: OpaquePointer?
        private let output: OpaquePointer?

        init(_ context: OpaquePointer) {
            ssl = SSL_new(context)
            input = BIO_new(BIO_s_mem())
            output = BIO_new(BIO_s_mem())
            // The session owns both from here on.
            SSL_set_bio(ssl, input, output)
            SSL_set_accept_state(ssl)
        }

        deinit {
            SSL_free(ssl)
        }

        // MARK: Handshake

        func handshake(_ bytes: [UInt8]) -> TLSHandshakeStep {
            take(bytes)
            ERR_clear_error()
            let result = SSL_do_handshake(ssl)
            if result == 1 { return .complete(readAll().content) }
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needsMore }
            return .failed(OpenSSL.lastReason())
        }

        func summary(failure: String?) -> LoopbackServer.Handshake {
            var handshake = LoopbackServer.Handshake(failure: failure)
            handshake.serverName = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map {
                String(cString: $0)
            }
            guard failure == nil else { return handshake }
            handshake.version = SSL_get_version(ssl).map { String(cString: $0) }
            handshake.isResumed = SSL_session_reused(ssl) == 1
            handshake.applicationProtocol = applicationProtocol
            handshake.clientName = clientName
            return handshake
        }

        private var applicationProtocol: String? {
            var start: UnsafePointer<UInt8>?
            var count: UInt32 = 0
            SSL_get0_alpn_selected(ssl, &start, &count)
            return start.map {
                String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
            }
        }

        private var clientName: String? {
            guard let certificate = copenssl_peer_certificate(ssl) else { return nil }
            defer { X509_free(certificate) }
            var text = [CChar](repeating: 0, count: 256)
            let count = X509_NAME_get_text_by_NID(
                X509_get_subject_name(certificate), NID_commonName, &text, Int32(text.count))
            return count < 0
                ? nil
                : String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        // MARK: Content

        func open(_ bytes: [UInt8]) -> (content: [UInt8], isLast: Bool) {
            take(bytes)
            return readAll()
        }

        private func readAll() -> (content: [UInt8], isLast: Bool) {
            var content: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                ERR_clear_error()
                let count = SSL_read(ssl, &piece, Int32(piece.count))
                guard count > 0 else { return (content, SSL_get_error(ssl, count) != SSL_ERROR_WANT_READ) }
                content.append(contentsOf: piece.prefix(Int(count)))
            }
        }

        func seal(_ content: Data) -> Bool {
            guard !content.isEmpty else { return true }
            ERR_clear_error()
            return content.withUnsafeBytes {
                SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) > 0
            }
        }

        func goodbye() -> [UInt8] {
            ERR_clear_error()
            SSL_shutdown(ssl)
            return takeOutput()
        }

        // MARK: Bytes

        private func take(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            BIO_write(input, bytes, Int32(clamping: bytes.count))
        }

        func takeOutput() -> [UInt8] {
            let count = BIO_ctrl_pending(output)
            guard count > 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(clamping: count))))
            }
        }
    }
#endif
