import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// A login by cookie is sent while nobody is signed in: what it sets is its user's once they are named, and nobody else's ever.
@Suite(.timeLimit(.minutes(5))) struct CookieLoginTests {
    private static let cookie = "sid=alice-session; Path=/; Max-Age=600"

    private func rig(
        _ user: Box<String>, _ services: [Service] = [.shop()],
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> Rig {
        Rig(services) { configuration in
            configuration.identity = { user.value }
            change(&configuration)
        } answering: { request in
            var response = HTTPResponse.product
            if request.method == .post { response.fields[.setCookie] = Self.cookie }
            return response
        }
    }

    private static let login = LogIn(account: "alice", password: "open sesame")

    private func cookies(_ rig: Rig) -> [String?] { rig.sent.map { $0.fields[.cookie] } }

    @Test func `what a login has set goes with its user's calls once they have adopted it, and with nobody's`()
        async throws
    {
        let user = Box("")
        let rig = rig(user)
        _ = try await rig.client.send(Self.login)
        user.value = "alice"
        try rig.client.adoptCookies()
        _ = try await rig.client.send(GetProduct())
        user.value = "bob"
        _ = try await rig.client.send(GetProduct())
        user.value = ""
        _ = try await rig.client.send(GetProduct())
        #expect(cookies(rig) == [nil, "sid=alice-session", nil, nil])
    }

    @Test func `whoever signs out leaves nothing of their login to the next one, also where it was not adopted`()
        async throws
    {
        let user = Box("")
        let rig = rig(user)
        _ = try await rig.client.send(Self.login)
        user.value = "alice"
        _ = try await rig.client.send(GetProduct())
        user.value = ""
        await rig.client.signOut("alice")
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(LogIn(account: "bob", password: "open sesame"))
        #expect(cookies(rig) == [nil, nil, nil, nil])
    }

    @Test func `cookies are adopted in the environment that the service's calls go to, and in no other`() async throws {
        let (user, store) = (Box("alice"), MemoryCookieStore())
        let rig = rig(user, [.shop { $0.options.environment = .production }]) { $0.cookies = store }
        let url = try HTTPURL("https://a.example/")
        let environments = ["development", "production"]
        for environment in environments {
            store.receive([Self.cookie], from: url, in: IsolationKey(environment: environment))
        }
        try rig.client.adoptCookies()
        let kept = ["alice", ""].map { identity in
            environments.map { store.jar(of: IsolationKey(environment: $0, identity: identity)).count }
        }
        #expect(kept == [[0, 1], [1, 0]])
    }

    @Test func `nobody adopts nothing, and a service that is not known is an error`() async throws {
        let (user, store) = (Box(""), MemoryCookieStore())
        let rig = rig(user) { $0.cookies = store }
        _ = try await rig.client.send(Self.login)
        try rig.client.adoptCookies()
        #expect(store.jar(of: IsolationKey(environment: "development")).count == 1)
        let error = await failure { try rig.client.adoptCookies(of: "unknown") }
        guard case .invalidConfiguration = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: The stores

    private static let lines = [
        ["sid=old; Secure; Max-Age=600", "own=1; Max-Age=600", "plain=old; Secure; Max-Age=600"],
        ["sid=new; Secure; Max-Age=600", "session=2", "plain=new; Max-Age=600"],
    ]

    private func adopted(_ store: some CookieStore) throws -> [String?] {
        let url = try HTTPURL("https://a.example/")
        let keys = ["alice", ""].map { IsolationKey(environment: "production", identity: $0) }
        for (key, lines) in zip(keys, Self.lines) { store.receive(lines, from: url, in: key) }
        store.moveAll(ofIdentity: "", to: "alice", in: "production")
        return keys.map { store.field(for: url, in: $0) }
    }

    @Test func `what is moved takes the place of what was there, but for a secure cookie that it is not to replace`()
        throws
    {
        #expect(try adopted(MemoryCookieStore()) == ["sid=new; own=1; plain=old; session=2", nil])
    }

    @Test func `a store in a file moves the same, and has it when it is opened again`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cookies")
        do {
            let store = try await FileCookieStore.open(file)
            #expect(try adopted(store) == ["sid=new; own=1; plain=old; session=2", nil])
            try await store.flush()
        }
        let again = try await FileCookieStore.open(file)
        let url = try HTTPURL("https://a.example/")
        let kept = ["alice", ""].map {
            again.field(for: url, in: IsolationKey(environment: "production", identity: $0))
        }
        #expect(kept == ["sid=new; own=1; plain=old", nil])
    }
}
