#if !os(Linux)
    /// There is no TLS for the server here.
    enum TLSContext: Sendable {
        init(_ tls: LoopbackServer.TLS) throws {
            throw LoopbackServer.TLSFailure(description: "the loopback server speaks TLS on Linux only")
        }

        func makeEngine() -> any TLSEngine {
            switch self {}
        }
    }
#endif
