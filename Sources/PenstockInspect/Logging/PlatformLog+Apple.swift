#if canImport(Darwin)
    import Foundation
    import os

    /// Where a log goes unless told otherwise.
    public enum PlatformLog {
        /// The system's log, under the app's bundle identifier.
        public static let standard: any LogDestination = SystemLog()

        /// Writes a warning that belongs to no call. The system puts the date to it.
        static func warn(_ text: String, at date: Date) {
            SystemLog().warn(text)
        }
    }

    /// A log in the system's own, which Console and `log stream` show.
    public struct SystemLog: LogDestination {
        private let logger: Logger

        /// - Parameters:
        ///   - subsystem: the app's bundle identifier unless given.
        ///   - category: `network` unless given.
        public init(subsystem: String = Bundle.main.bundleIdentifier ?? "penstock", category: String = "network") {
            logger = Logger(subsystem: subsystem, category: category)
        }

        /// Writes a warning that belongs to no call.
        func warn(_ text: String) {
            logger.log(level: .default, "\(LogText.oneLine(text), privacy: .public)")
        }

        /// Writes the line. It is public in the system's sense, since nothing secret is in it.
        public func write(_ entry: LogEntry) {
            let type: OSLogType =
                switch entry.level {
                case .error: .error
                case .warning, .info, .off: .default
                case .debug: .info
                case .trace: .debug
                }
            logger.log(level: type, "\(entry.call, privacy: .public)  \(entry.message, privacy: .public)")
        }
    }
#endif
