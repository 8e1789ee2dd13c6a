#if os(Linux)
    extension CurlTransport {
        /// How connections are kept.
        public struct Configuration: Sendable {
            /// Connections to one host and port within one partition; `.max` means no limit. With `nil`, the default, as many
            /// as a quarter of the file descriptors that the process may open (`ulimit -n`) when the transport is made, and
            /// 16 at least: 256 of the usual 1,024.
            ///
            /// Exchanges beyond it wait for a connection to be free, in order, and only their total time-out runs
            /// meanwhile. An HTTP/2 connection carries a hundred exchanges, or as many as its server takes, so this is a
            /// limit of connections and not of exchanges there. Uploads that have HTTP/1.1 connections of their own are
            /// counted apart.
            public var maxConnectionsPerHost: Int?
            /// Connections of one partition to all hosts together, counted as those to one host are; `nil`, the default,
            /// means no limit. An idle one is closed for a new one before anything waits.
            public var maxConnections: Int?
            /// Connections of one partition that are kept while nothing uses them, at the very most: 1,024 by default.
            /// Below that, as many are kept as were in use at once lately, and never fewer than 32.
            public var maxIdleConnections: Int
            /// How long a connection that nothing uses may still be used again, in whole seconds. 90 s by default.
            public var idleConnectionLifetime: Duration

            /// The defaults, but for what is named.
            ///
            /// - Parameters:
            ///   - maxConnectionsPerHost: `nil`, the default, for a quarter of the file descriptors that the process
            ///     may open, and 16 at least; `.max` for no limit.
            ///   - maxConnections: `nil`, the default, for no limit.
            ///   - maxIdleConnections: 1,024 by default.
            ///   - idleConnectionLifetime: in whole seconds. 90 s by default.
            public init(
                maxConnectionsPerHost: Int? = nil, maxConnections: Int? = nil, maxIdleConnections: Int = 1_024,
                idleConnectionLifetime: Duration = .seconds(90)
            ) {
                self.maxConnectionsPerHost = maxConnectionsPerHost
                self.maxConnections = maxConnections
                self.maxIdleConnections = maxIdleConnections
                self.idleConnectionLifetime = idleConnectionLifetime
            }
        }
    }
#endif
