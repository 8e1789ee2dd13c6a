#if os(Linux)
    import CCurl
    import COpenSSL

    /// Whom a certificate must be for. libcurl compares the names too, but is content with the common name of a certificate
    /// that has no other, which says nothing (RFC 9110 §4.3.4).
    enum CurlSecureName {
        /// Whether libcurl speaks TLS by OpenSSL.
        static let isRequired =
            curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version
            .map { String(cString: $0).hasPrefix("OpenSSL") } ?? false

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
