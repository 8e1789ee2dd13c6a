#if !canImport(Darwin)
    import Foundation

    extension BackgroundTransfers {
        /// There are no background sessions on Linux: an upload that is to go on in one fails as
        /// ``APIError/Kind/unsupported(feature:)`` before anything is sent. It is here so that one source serves all platforms.
        ///
        /// - Parameters:
        ///   - identifier: of no meaning here.
        ///   - trust: of no meaning here.
        public convenience init(identifier: String, trust: TrustPolicy = .system) {
            self.init(nil, identifier: identifier, root: FileManager.default.temporaryDirectory, trust: trust)
        }
    }
#endif
