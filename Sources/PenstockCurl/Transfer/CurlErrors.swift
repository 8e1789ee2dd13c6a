#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What libcurl's error codes mean in Penstock's terms.
    enum CurlErrors {
        /// - Parameter message: libcurl's own, which alone tells broken chunks from a broken connection.
        static func kind(
            _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ message: String, isReadingHead: Bool
        ) -> TransportError.Kind {
            switch code {
            case CURLE_RECV_ERROR where isTooLong(message): .limitExceeded(.headerBytes)
            case CURLE_HTTP2_STREAM where message.contains("PROTOCOL_ERROR"): .protocolViolation
            case CURLE_HTTP2_STREAM where message.contains("FLOW_CONTROL_ERROR"): .protocolViolation
            case CURLE_RECV_ERROR where message.hasSuffix(" in chunked-encoding"):
                // A trailer longer than its buffer comes as this.
                message.hasPrefix("Out of memory") ? .limitExceeded(.headerBytes) : .protocolViolation
            case CURLE_COULDNT_RESOLVE_HOST: .unreachable(.nameNotResolved)
            case CURLE_COULDNT_CONNECT: unreachable(ccurl_get_long(easy, CURLINFO_OS_ERRNO))
            case CURLE_OPERATION_TIMEDOUT: .timeout(.connect)
            case CURLE_PEER_FAILED_VERIFICATION: .tls(refusal(ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT)))
            case CURLE_SSL_INVALIDCERTSTATUS:
                .tls(message.hasPrefix("SSL certificate revocation reason") ? .revoked : .revocationUnknown)
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
                CURLE_USE_SSL_FAILED:
                .tls(.handshake)
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR: .tls(.trustMaterial)
            case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
                CURLE_HTTP2_STREAM, CURLE_HTTP2:
                .connectionLost
            // It went well as far as it came: the connection ended in the middle of a head.
            case CURLE_OK: .connectionLost
            // A header line that libcurl cannot make sense of comes as a bad argument.
            case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL,
                CURLE_BAD_CONTENT_ENCODING,
                CURLE_WRITE_ERROR:
                .protocolViolation
            // One header line longer than libcurl's buffer for it comes as this.
            case CURLE_OUT_OF_MEMORY where isReadingHead: .limitExceeded(.headerBytes)
            default: .other
            }
        }

        /// Whether nghttp2 gave up on a block of fields: its numbers for one that libcurl has no room for (it takes 128 KiB),
        /// and for one in too many frames.
        static func isTooLong(_ message: String) -> Bool {
            message.contains("mem_recv() returned -902") || message.contains("mem_recv() returned -905")
        }

        /// What libcurl held back while a transfer was paused may be lost where going on fails. Before there is a
        /// connection there is nothing to pause, which it says by a code of its own.
        static func endsTransfer(pausing code: CURLcode) -> Bool {
            code != CURLE_OK && code != CURLE_BAD_FUNCTION_ARGUMENT
        }

        private static func unreachable(_ number: Int) -> TransportError.Kind {
            switch Int32(truncatingIfNeeded: number) {
            case ECONNREFUSED: .unreachable(.connectionRefused)
            case ENETUNREACH, ENETDOWN: .unreachable(.offline)
            case EHOSTUNREACH, EHOSTDOWN, EADDRNOTAVAIL: .unreachable(.noRoute)
            case ETIMEDOUT: .timeout(.connect)
            // It was there, and was broken before libcurl had looked.
            case ECONNRESET, ECONNABORTED, EPIPE: .connectionLost
            default: .other
            }
        }

        /// OpenSSL's `X509_V_ERR_…` numbers. libcurl compares the host name itself, after OpenSSL found the chain good,
        /// and leaves 0 or 1 where that comparison fails.
        private static func refusal(_ number: Int) -> TransportError.TLSFailure {
            switch number {
            case 9, 10: .expired
            case 0, 1, 62, 63, 64: .wrongHost
            // No list of the authority, one that is not valid yet, no longer, or not signed by it.
            case 3, 8, 11, 12, 33, 44: .revocationUnknown
            case 23: .revoked
            case 50: .pinMismatch
            default: .untrusted
            }
        }
    }
#endif
