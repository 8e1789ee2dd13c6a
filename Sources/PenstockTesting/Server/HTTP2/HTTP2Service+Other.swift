#if !os(Linux)
    /// There is no HTTP/2 for the server here; no client can agree on it either, for want of TLS.
    enum HTTP2Service {
        static func serve(_ wire: Wire, service: LoopbackService, threads: ThreadGroup) {}
    }
#endif
