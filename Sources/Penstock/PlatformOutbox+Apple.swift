#if canImport(Darwin)
    import Foundation

    extension PlatformOutbox {
        package static func folder(_ environment: [String: String], home: URL) -> URL {
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
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
#endif
