#if os(Linux)
    /// Serves a connection on which the client has agreed to HTTP/2.
    enum HTTP2Service {
        static func serve(_ wire: Wire, service: LoopbackService, threads: ThreadGroup) {
            guard let inbox = HTTP2Inbox(), let session = HTTP2Session(service.configuration.http2) else { return }
            HTTP2Connection(wire, session: session, inbox: inbox, service: service, threads: threads).run()
        }
    }
#endif
