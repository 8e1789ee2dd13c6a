#if os(Linux)
    import CCurl
    import PenstockCore

    /// Bounds what libcurl reads of a proxy's answer before there is a tunnel (``CurlFault/tirelessTunnel``).
    ///
    /// libcurl tells of its progress after each byte that it reads there. So what it tells is counted, and a proxy that wants
    /// credentials, or says too much, is not listened to any further. Nothing of what it says after that would be of use:
    /// credentials are sent with the first request or not at all.
    struct CurlTunnelWatch {
        /// Bytes of the answer, as many as servers commonly put up with in a head. Each costs a microsecond or two, for which all
        /// others wait.
        private static let most = 8 << 10
        private var bytes = 0

        /// Looks for a reason not to make a connection; to be called for each progress that libcurl tells of while it is being made.
        ///
        /// - Returns: why the connection is not to be made; `nil` while it may be.
        mutating func failure(_ easy: UnsafeMutableRawPointer) -> (kind: TransportError.Kind, message: String)? {
            bytes += 1
            if ccurl_get_long(easy, CURLINFO_HTTP_CONNECTCODE) == 407 {
                return (.unreachable(.proxyAuthentication), "the proxy wants credentials")
            }
            guard bytes > Self.most else { return nil }
            return (.unreachable(.proxy), "the proxy says too much before it opens a tunnel")
        }
    }

    extension CurlHandle {
        /// Has libcurl tell of its progress.
        func tellProgress() {
            keep(ccurl_set_progress_callback(easy, CurlCallbacks.progress))
            keep(ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque()))
            set(CURLOPT_NOPROGRESS, 0)
        }
    }

    extension CurlTransfer {
        /// Whether the connection that is being made may be made still.
        func mayConnect(_ easy: UnsafeMutableRawPointer) -> Bool {
            guard state.pool?.proxy.needsWatch ?? false, let failure = state.tunnel.failure(easy) else { return true }
            state.failure = state.failure ?? failure
            return false
        }
    }
#endif
