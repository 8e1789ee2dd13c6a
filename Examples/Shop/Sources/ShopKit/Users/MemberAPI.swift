import Penstock

/// What is for members. Nothing here knows of tokens that expire.
public struct MemberAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// Whoever is logged in becomes a member.
    public func join() async throws(APIError) {
        let pass = try await client.send(Join())
        let credential = Credential(
            pass.accessToken, refreshToken: pass.refreshToken, expiresIn: .seconds(pass.seconds))
        try await client.signIn(credential, to: .members)
    }

    /// One of the pages: `card`, `points`, `vouchers` and so on.
    public func page(_ name: String) async throws(APIError) -> String {
        try await client.send(MemberPage(name: name))
    }

    public func leave() async throws(APIError) {
        try await client.signOut(of: .members)
    }
}

struct MemberPass: Decodable, Sendable {
    let accessToken: String
    let refreshToken: String
    let seconds: Int
}

struct Join: Endpoint {
    typealias Output = MemberPass
    var route: Route { .post("/members") }
}

struct MemberPage: Endpoint {
    typealias Output = String
    let name: String
    var service: ServiceID { .members }
    var route: Route { .get("/members/\(name, name: "page")") }
    var decoding: ResponseDecoding<String> { .json }
}
