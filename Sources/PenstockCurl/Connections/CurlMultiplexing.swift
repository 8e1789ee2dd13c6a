#if os(Linux)
    import CCurl
    import PenstockCore

    /// Which exchanges may share an HTTP/2 connection with others.
    ///
    /// Where a server answers before it has read the whole request and then tells the client to stop (RFC 9113 §8.1),
    /// libcurl before version 8.14 loses the answer, or spins until a time-out: it was seen to with 7.88, not with 8.14.
    /// That takes a body that does not fit into the server's window, 65,535 bytes unless it says otherwise, or one that is
    /// waited for. Larger bodies and streams therefore go over HTTP/1.1, on connections of their own.
    enum CurlMultiplexing {
        private static let window = 65_535
        /// Whether libcurl was built with HTTP/2.
        static let isThere = (curl_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0) & CURL_VERSION_HTTP2 != 0
        static let isSound = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0 >= 0x08_0E_00

        static func suits(_ request: HTTPRequest) -> Bool {
            guard request.url.scheme == .https, !isSound, !request.body.isNone else { return true }
            if case .stream = request.body.source { return false }
            return request.body.length.map { $0 <= window } ?? false
        }
    }
#endif
