import Penstock

/// Logging in and out.
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
        session.begin(as: user)
        return user
    }

    /// Logs out: on the server when it can be reached, and here in any case. Nothing that was kept for the user stays.
    public func logout() async throws(APIError) {
        let user = session.user
        var failure: APIError?
        do throws(APIError) { try await client.send(Logout()) } catch { failure = error }
        session.end()
        if let user { await client.forget(identity: user.id) }
        if let failure { throw failure }
    }
}

struct Login: Endpoint, Encodable {
    typealias Output = User
    let account: String
    let password: String
    var route: Route { .post("/user/login") }
    var validator: Validator<User>? { .complete }

    static let parameterRules: ParameterRules<Self> = [
        .length("account", \.account, 3...20),
        .notEmpty("password", \.password),
    ]
}

struct Logout: Endpoint {
    typealias Output = Void
    var route: Route { .post("/user/logout") }
}
