import Penstock

/// A logged-in user.
public struct User: Codable, Hashable, Sendable {
    @Default<Empty> public var id: String
    @Default<Empty> public var token: String
    @Default<Anonymous> public var name: String
}

/// The name of users who gave none.
public enum Anonymous: DefaultValue {
    public static let value = "a friend of the shop"
}

extension Validator<User> {
    /// Without both, no later call could say who makes it.
    static let complete = Validator.all(
        .nonEmpty("a logged-in user has an id", \.id),
        .nonEmpty("a logged-in user has a token", \.token))
}

/// What a user says of themselves.
public struct Profile: Decodable, Hashable, Sendable {
    public let account: String
    @Default<Anonymous> public var name: String
    @Default<Empty> public var email: String
}

extension Validator<Profile> {
    /// A profile is somebody's.
    static let valid = Validator.nonEmpty("a profile has an account", \.account)
}
