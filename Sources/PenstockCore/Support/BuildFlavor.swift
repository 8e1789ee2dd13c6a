/// Whether the package was built for debugging or for release.
public enum BuildFlavor: Sendable {
    case debug, release

    #if DEBUG
        public static let current = BuildFlavor.debug
    #else
        public static let current = BuildFlavor.release
    #endif
}
