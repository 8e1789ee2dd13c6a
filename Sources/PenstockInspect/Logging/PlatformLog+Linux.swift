#if !canImport(Darwin)
    import Foundation

    /// Where a log goes unless told otherwise.
    public enum PlatformLog {
        /// Standard error, which systemd, containers and shells collect.
        public static let standard: any LogDestination = StandardErrorLog()

        /// Writes a warning that belongs to no call.
        static func warn(_ text: String, at date: Date) {
            StandardErrorLog().warn(text, at: date)
        }
    }
#endif
