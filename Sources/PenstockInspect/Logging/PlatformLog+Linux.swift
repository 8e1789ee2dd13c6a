#if !canImport(Darwin)
    /// Where a log goes unless told otherwise.
    public enum PlatformLog {
        /// Standard error, which systemd, containers and shells collect.
        public static let standard: any LogDestination = StandardErrorLog()
    }
#endif
