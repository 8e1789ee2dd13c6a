#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What concerns libcurl as a whole.
    enum CurlLibrary {
        private static let isReady = Locked(false)

        /// Sets libcurl up once for the process.
        ///
        /// - Returns: `false` when it cannot be used now.
        static func prepare() -> Bool {
            isReady.withLock { isReady in
                isReady = isReady || curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
                return isReady
            }
        }
    }

    /// Chooses how a request body is read.
    enum CurlSources {
        /// Larger bodies are read from the app's own memory as they are sent.
        private static let maxInline = 32 << 10

        /// - Returns: `nil` where there is no body, or one that is small enough to be given to libcurl.
        static func source(for exchange: CurlExchange) throws(TransportError) -> (any CurlBodySource)? {
            let body = exchange.order.request.body
            exchange.progress.expectedToSend = body.length
            switch body.source {
            case .none: return nil
            case .bytes(let data): return data.count > maxInline ? CurlBytesSource(data) : nil
            case .file(let url):
                guard let source = CurlFileSource(url, length: body.length ?? 0) else {
                    throw TransportError(.requestBody, sendState: .unsent, message: "the file cannot be opened")
                }
                return source
            case .stream(let open):
                return CurlStreamSource(length: body.length, open: open) { [weak exchange] in exchange?.stream($0) }
            @unknown default:
                throw TransportError(.unsupported("this kind of body"), sendState: .unsent)
            }
        }
    }
#endif
