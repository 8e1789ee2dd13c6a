#if os(Linux)
    import PenstockCore
    import PenstockCurl

    /// The transport that this platform is best served by.
    public enum PlatformTransport {
        /// A new transport with a connection pool of its own, with its defaults.
        public static func make() -> any Transport { CurlTransport() }
    }
#endif
