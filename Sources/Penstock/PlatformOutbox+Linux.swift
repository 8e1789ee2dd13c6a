#if !canImport(Darwin)
    import Foundation

    extension PlatformOutbox {
        /// The folder for state by the XDG Base Directory Specification, which ignores paths that are not absolute.
        package static func folder(_ environment: [String: String], home: URL) -> URL {
            if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") {
                return URL(fileURLWithPath: path, isDirectory: true)
            }
            return home.appendingPathComponent(".local").appendingPathComponent("state")
        }

        /// Does nothing: nobody makes any here.
        static func leaveOutOfBackups(_ folder: URL) {}
    }
#endif
