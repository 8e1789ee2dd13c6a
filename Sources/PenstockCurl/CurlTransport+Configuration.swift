#if os(Linux)
    extension CurlTransport {
        /// How connections are kept.
        public struct Configuration: Sendable {
            /// Connections to one host and port within one partition; `nil`, the default, means no limit. Exchanges
            /// beyond it wait for a connection to be free, and only their total time-out runs meanwhile.
            public var maxConnectionsPerHost: Int?
            /// Connections of one partition that are kept while nothing uses them. 128 by default.
            public var maxIdleConnections: Int
            /// How long a connection that nothing uses may still be used again, in whole seconds. 90 s by default.
            public var idleConnectionLifetime: Duration

            public init(
                maxConnectionsPerHost: Int? = nil, maxIdleConnections: Int = 128,
                idleConnectionLifetime: Duration = .seconds(90)
            ) {
                self.maxConnectionsPerHost = maxConnectionsPerHost
                self.maxIdleConnections = maxIdleConnections
                self.idleConnectionLifetime = idleConnectionLifetime
            }
        }
    }
#endif
