#if os(Linux)
    import CCurl
    import COpenSSL
    import PenstockCore

    /// Content that nothing but the end of its connection delimits is whole only where TLS announced that end, or else
    /// anybody on the way could have cut it off (RFC 9112 §9.8). libcurl takes a bare end of the socket for the same, and
    /// forgets the session before it tells that a transfer is over; so the session is looked at as the content comes.
    extension CurlExchange {
        /// Whether the content came to an end that was not announced.
        var isCutOff: Bool { endsSecurely == false && toSkip == nil }

        /// - Parameter easy: whose head is complete.
        /// - Returns: whether ``lookForEnd(_:)`` is to be called from here on.
        func awaitsSecureEnd(_ easy: UnsafeMutableRawPointer) -> Bool {
            guard order.request.url.scheme == .https, head.endsWithConnection, order.request.method != .head,
                ccurl_openssl_session(easy) != nil
            else { return false }
            endsSecurely = false
            return true
        }

        func lookForEnd(_ easy: UnsafeMutableRawPointer) {
            guard let session = ccurl_openssl_session(easy) else { return }
            endsSecurely = SSL_get_shutdown(OpaquePointer(session)) & SSL_RECEIVED_SHUTDOWN != 0
        }
    }
#endif
