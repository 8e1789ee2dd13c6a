#if canImport(Darwin)
    import PenstockCore

    /// The list of public suffixes that this platform has.
    public enum PlatformPublicSuffixes {
        /// None: Apple's systems show theirs to no app. One that wants cookies for whole domains brings the file along, and
        /// makes a ``PublicSuffixList`` of it; until then each cookie goes to its host alone.
        public static var list: (any PublicSuffixes)? { nil }
    }
#endif
