#if canImport(Darwin)
    import Foundation
    import PenstockCore

    extension BackgroundTransfers {
        /// Transfers in background sessions of Foundation's. Make one as the app starts, and keep it: Foundation takes no two
        /// sessions of one identifier at a time. On tvOS what is handed over lies in `Library/Caches`, which the system may empty while
        /// the app does not run: an upload that lost it so begins anew.
        ///
        /// - Parameters:
        ///   - identifier: the app's own, such as `com.example.shop.uploads`. Those of the sessions begin with it, and are what
        ///     ``handleEvents(of:_:)`` is asked with.
        ///   - trust: whom TLS trusts; the system's authorities by default. An upload with another policy is refused.
        ///   - isDiscretionary: whether the system may wait for power and Wi-Fi. `false` by default.
        ///   - allowsCellularAccess: whether it may go over a mobile network. `true` by default.
        public convenience init(
            identifier: String, trust: TrustPolicy = .system, isDiscretionary: Bool = false,
            allowsCellularAccess: Bool = true
        ) {
            let session = URLSessionBackground(
                identifier: identifier, trust: trust, isDiscretionary: isDiscretionary,
                allowsCellularAccess: allowsCellularAccess)
            self.init(session, identifier: identifier, root: Self.root, trust: trust)
        }

        /// The folder of what is handed over: none for caches, which the system empties while it sends, but on tvOS, where there is no
        /// other; and left out of backups, which would bring back what was sent long ago.
        private static var root: URL {
            let support =
                FileManager.default.urls(for: directory, in: .userDomainMask).first
                ?? URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
            var root = support.appendingPathComponent("penstock", isDirectory: true)
                .appendingPathComponent("background", isDirectory: true)
            try? FileManager.default.createDirectory(
                at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            // Where that cannot be noted there is nothing to do about it.
            try? root.setResourceValues(values)
            return root
        }
    }

    #if os(tvOS)
        extension BackgroundTransfers {
            private static var directory: FileManager.SearchPathDirectory { .cachesDirectory }
        }
    #else
        extension BackgroundTransfers {
            private static var directory: FileManager.SearchPathDirectory { .applicationSupportDirectory }
        }
    #endif
#endif
