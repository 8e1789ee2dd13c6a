import PenstockCore
@_exported import PenstockPublicSuffixes

/// The list of public suffixes that this platform has.
public enum PlatformPublicSuffixes {
    /// The list of public suffixes: on Linux the system's, by libpsl, and `nil` where it has none; on Apple's systems the one that comes
    /// with the package.
    public static var list: (any PublicSuffixes)? { SystemPublicSuffixes.shared }
}
