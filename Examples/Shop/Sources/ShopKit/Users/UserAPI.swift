import Penstock

/// Logging in and out, and what users say of themselves.
public struct UserAPI: Sendable {
    private let client: APIClient
    private let session: Session

    public init(client: APIClient, session: Session) {
        self.client = client
        self.session = session
    }

    /// Logs in; the calls that follow carry the login.
    @discardableResult
    public func login(account: String, password: String) async throws(APIError) -> User {
        let user = try await client.send(Login(account: account, password: password))
        await session.begin(as: user, in: client.environment)
        return user
    }

    /// Makes a new user, who is logged in at once.
    @discardableResult
    public func register(account: String, password: String, name: String? = nil) async throws(APIError) -> User {
        let user = try await client.send(Register(account: account, password: password, name: name))
        await session.begin(as: user, in: client.environment)
        return user
    }

    /// The user who is logged in takes another password.
    public func changePassword(from old: String, to new: String) async throws(APIError) {
        try await client.send(ChangePassword(old: old, new: new))
    }

    /// What the shop knows of the user who is logged in.
    public func profile() async throws(APIError) -> Profile {
        try await client.send(GetProfile())
    }

    /// Changes what is given and leaves the rest.
    public func editProfile(name: String? = nil, email: String? = nil) async throws(APIError) -> Profile {
        try await client.send(EditProfile(name: name, email: email))
    }

    /// Logs out: on the server when it can be reached, and here in any case. Nothing that was kept for the user stays.
    public func logout() async throws(APIError) {
        let user = session.user
        var failure: APIError?
        do throws(APIError) { try await client.send(Logout()) } catch { failure = error }
        if let user { await client.signOut(user.id) }
        await session.end(in: client.environment)
        if let failure { throw failure }
    }
}

struct Login: Endpoint, Encodable {
    typealias Output = User
    let account: String
    let password: String
    var route: Route { .post("/user/login") }
    var validator: Validator<User> { .complete }

    static let parameterRules: ParameterRules<Self> = [
        .length("account", \.account, 3...20),
        .notEmpty("password", \.password),
    ]
}

struct Register: Endpoint, Encodable {
    typealias Output = User
    let account: String
    let password: String
    let name: String?
    var route: Route { .post("/user") }
    var validator: Validator<User> { .complete }

    static let parameterRules: ParameterRules<Self> = [
        .length("account", \.account, 3...20),
        .length("password", \.password, 8...100),
        .length("name", \.name, 1...40),
    ]
}

struct ChangePassword: Endpoint, Encodable {
    typealias Output = Void
    let old: String
    let new: String
    var route: Route { .put("/user/password") }

    static let parameterRules: ParameterRules<Self> = [
        .length("new", \.new, 8...100),
        .custom("new", "must be another one") { $0.new != $0.old },
    ]
}

struct GetProfile: Endpoint {
    typealias Output = Profile
    var route: Route { .get("/user/profile") }
    var validator: Validator<Profile> { .valid }
    var cacheTags: [String] { ["profile"] }
}

struct EditProfile: Endpoint, Encodable {
    typealias Output = Profile
    let name: String?
    let email: String?
    var route: Route { .patch("/user/profile") }
    var validator: Validator<Profile> { .valid }
    var invalidates: [CacheSelection] { [.tag("profile")] }

    static let parameterRules: ParameterRules<Self> = [
        .length("name", \.name, 1...40),
        .custom("email", "must have an @ between two parts, if given") { endpoint in
            endpoint.email.map {
                $0.split(separator: "@", omittingEmptySubsequences: false).map(\.isEmpty) == [false, false]
            }
                ?? true
        },
    ]
}

struct Logout: Endpoint {
    typealias Output = Void
    var route: Route { .post("/user/logout") }
}
