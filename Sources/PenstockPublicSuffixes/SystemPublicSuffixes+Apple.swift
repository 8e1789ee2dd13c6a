#if canImport(Darwin)
    import PenstockCore
    import PenstockSuffixRules

    /// The public suffixes that come with this package, since Apple's systems show theirs to no app. They are as old as the
    /// package, so that an app that wants newer ones makes a ``PublicSuffixList`` of the file.
    ///
    /// The rules are in the program itself, not in a resource: a bundle that is not where it was built would end the process.
    public final class SystemPublicSuffixes: PublicSuffixes {
        /// Has its rules from its first question on; never `nil`, which it is where a system has none.
        public static let shared: SystemPublicSuffixes? = SystemPublicSuffixes()

        private init() {}

        /// Whether the domain is a public suffix. Without rules every one would be, and each cookie go to its host alone.
        public func isPublicSuffix(_ domain: String) -> Bool {
            SuffixRules.list?.isPublicSuffix(domain) ?? true
        }
    }
#endif
