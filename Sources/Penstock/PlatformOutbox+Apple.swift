#if canImport(Darwin)
    import Foundation

    extension PlatformOutbox {
        package static func folder(_ environment: [String: String], home: URL) -> URL {
            FileManager.default.urls(for: directory, in: .userDomainMask).first
                ?? home.appendingPathComponent("Library").appendingPathComponent("Application Support")
        }

        /// A restored outbox would send what was delivered long ago, under keys that servers have forgotten.
        static func leaveOutOfBackups(_ folder: URL) {
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            // Where that cannot be noted there is nothing to do about it.
            try? folder.setResourceValues(values)
        }
    }

    #if os(tvOS)
        extension PlatformOutbox {
            /// An app may write to no other folder there. The system empties it while the app does not run and room is needed.
            private static var directory: FileManager.SearchPathDirectory { .cachesDirectory }
        }
    #else
        extension PlatformOutbox {
            private static var directory: FileManager.SearchPathDirectory { .applicationSupportDirectory }
        }
    #endif
#endif
