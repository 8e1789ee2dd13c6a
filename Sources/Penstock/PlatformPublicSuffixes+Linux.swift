#if os(Linux)
    import PenstockCore
    @_exported import PenstockPublicSuffixes

    /// The list of public suffixes that this platform has.
    public enum PlatformPublicSuffixes {
        /// The system's, by libpsl; `nil` where it has none.
        public static var list: (any PublicSuffixes)? { SystemPublicSuffixes.shared }
    }
#endif
