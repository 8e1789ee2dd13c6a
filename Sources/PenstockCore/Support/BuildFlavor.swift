/// Whether the package was built for debugging or for release.
public enum BuildFlavor: Sendable {
    /// Built with `DEBUG` set, as the package manager and Xcode set it for debug builds.
    case debug
    /// Built without it: what users get.
    case release

    #if DEBUG
        /// How this package was built.
        public static let current = BuildFlavor.debug
    #else
        /// How this package was built.
        public static let current = BuildFlavor.release
    #endif
}

/// The version of this package.
public enum PenstockVersion {
    /// The version of the library, by the rules of semantic versioning.
    public static let current = "0.1.0"
}
