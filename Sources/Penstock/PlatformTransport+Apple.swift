#if canImport(Darwin)
    import PenstockCore
    import PenstockURLSession

    /// The transport that this platform is best served by.
    public enum PlatformTransport {
        /// A new transport with a connection pool of its own, with its defaults.
        public static func make() -> any Transport { URLSessionTransport() }
    }
#endif
