#if !os(Linux)
    import PenstockCore

    extension TransportConformance.Scene {
        /// There is no server with TLS here: rules that need one do not apply.
        static let speaksTLS = false

        init(
            _ security: TransportConformance.Security,
            onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault?,
            onHead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision,
            handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) throws {
            throw LoopbackServer.TLSFailure(description: "TLS is spoken on Linux only")
        }

        static func otherTrust() throws -> (policy: TrustPolicy, authority: any Sendable) { (.system, 0) }
    }
#endif
