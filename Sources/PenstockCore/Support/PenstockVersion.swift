/// The version of this package.
public enum PenstockVersion {
    /// By the rules of semantic versioning.
    public static let current = "0.1.0"
}
