#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What libcurl's error codes mean in Penstock's terms.
    enum CurlErrors {
        /// - Parameter message: libcurl's own, which alone tells broken chunks from a broken connection.
        static func kind(
            _ code: CURLcode, _ easy: UnsafeMutableRawPointer, isReadingHead: Bool, message: String
        ) -> TransportError.Kind {
            switch code {
            case CURLE_RECV_ERROR where message.hasSuffix(" in chunked-encoding"):
                // A trailer longer than its buffer comes as this.
                message.hasPrefix("Out of memory") ? .limitExceeded(.headerBytes) : .protocolViolation
            // The connection ended within the head.
            case CURLE_OK: .connectionLost
            case CURLE_COULDNT_RESOLVE_HOST: .unreachable(.nameNotResolved)
            case CURLE_COULDNT_CONNECT: unreachable(ccurl_get_long(easy, CURLINFO_OS_ERRNO))
            case CURLE_OPERATION_TIMEDOUT: .timeout(.connect)
            case CURLE_PEER_FAILED_VERIFICATION: .tls(refusal(ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT)))
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_INVALIDCERTSTATUS,
                CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
                .tls(.handshake)
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR: .tls(.trustMaterial)
            case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
                CURLE_HTTP2_STREAM:
                .connectionLost
            // A header line that libcurl cannot make sense of comes as a bad argument.
            case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2,
                CURLE_BAD_CONTENT_ENCODING,
                CURLE_WRITE_ERROR:
                .protocolViolation
            // One header line longer than libcurl's buffer for it comes as this.
            case CURLE_OUT_OF_MEMORY where isReadingHead: .limitExceeded(.headerBytes)
            default: .other
            }
        }

        private static func unreachable(_ number: Int) -> TransportError.Kind {
            switch Int32(truncatingIfNeeded: number) {
            case ECONNREFUSED: .unreachable(.connectionRefused)
            case ENETUNREACH, ENETDOWN: .unreachable(.offline)
            case EHOSTUNREACH, EHOSTDOWN, EADDRNOTAVAIL: .unreachable(.noRoute)
            case ETIMEDOUT: .timeout(.connect)
            default: .other
            }
        }

        /// OpenSSL's `X509_V_ERR_…` numbers. libcurl compares the host name itself, after OpenSSL found the chain good,
        /// and leaves 0 or 1 where that comparison fails.
        private static func refusal(_ number: Int) -> TransportError.TLSFailure {
            switch number {
            case 9, 10: .expired
            case 0, 1, 62, 63, 64: .wrongHost
            default: .untrusted
            }
        }
    }
#endif
