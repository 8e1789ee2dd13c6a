/// Which set of servers a call goes to: one of the four standard ones, or the app's own.
///
/// ```swift
/// nonisolated extension ServerEnvironment {
///     static let staging = ServerEnvironment.custom("staging")
/// }
/// ```
public struct ServerEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// What base URLs, stored responses and cookies of the environment are kept under; two environments of one name are
    /// one.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// The servers that developers work with: where a debug build begins.
    public static let development = ServerEnvironment("development")
    /// The servers that testers work with.
    public static let test = ServerEnvironment("test")
    /// The servers of the next release.
    public static let preRelease = ServerEnvironment("preRelease")
    /// The servers of the users: where a release build begins.
    public static let production = ServerEnvironment("production")

    /// The four that every app has.
    public static let standard = [development, test, preRelease, production]

    /// An environment of the app's own.
    public static func custom(_ name: String) -> ServerEnvironment {
        ServerEnvironment(name)
    }

    /// The environment of a name that comes from outside, such as a launch argument or a settings bundle.
    ///
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` for a name that none of `known` has. No name stands
    ///   for production by default.
    public init(
        named name: String, among known: [ServerEnvironment] = ServerEnvironment.standard
    ) throws(APIError) {
        guard let match = known.first(where: { $0.name == name }) else {
            let names = known.map(\.name).joined(separator: ", ")
            throw APIError(
                .invalidConfiguration(reason: "no environment is named \(String(reflecting: name)); known: \(names)"),
                stage: .prepare)
        }
        self = match
    }

    /// Production in a release build, development in a debug build.
    public static func initial(for build: BuildFlavor) -> ServerEnvironment {
        build == .release ? production : development
    }

    public var description: String { name }
}
