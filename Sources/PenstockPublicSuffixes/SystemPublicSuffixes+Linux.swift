#if os(Linux)
    import CPSL
    import PenstockCore

    /// The public suffixes that the system knows, by libpsl: those of the distribution's package `publicsuffix`, which is kept
    /// up to date, or the ones that the library was built with where these are newer.
    ///
    /// Unchecked because libpsl changes nothing of a list once it is loaded, so that any number of threads may ask it.
    public final class SystemPublicSuffixes: PublicSuffixes, @unchecked Sendable {
        /// Loaded at its first use; `nil` where the system has no list, and libpsl none of its own.
        public static let shared = SystemPublicSuffixes()

        private let list: OpaquePointer

        private init?() {
            guard let list = psl_latest(nil) ?? psl_builtin() else { return nil }
            self.list = list
        }

        deinit {
            psl_free(list)
        }

        public func isPublicSuffix(_ domain: String) -> Bool {
            psl_is_public_suffix(list, domain) != 0
        }
    }
#endif
