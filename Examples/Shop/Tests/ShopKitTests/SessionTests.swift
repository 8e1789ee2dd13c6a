import Foundation
import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// The storage layer, and what it adds to the calls of the others.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct SessionTests {
    @Test("A login goes through request, response and storage, and the next call carries it", .covers("S4.1"))
    func crossesAllLayers() async throws {
        let recorder = EventRecorder()
        try await withWorld(events: recorder) { world, shop in
            let user = try await shop.users.login(account: "alice", password: "open sesame")

            let trace = recorder.trace(of: try #require(recorder.calls.first))
            let request = try #require(trace.firstIndex(of: "parameters"))
            let wire = try #require(trace.firstIndex(of: "transport"))
            let response = try #require(trace.firstIndex(of: "envelope"))
            let check = try #require(trace.firstIndex(of: "validation"))
            #expect(request < wire && wire < response && response < check)

            #expect(!user.token.isEmpty)
            #expect(shop.session.user == user)

            _ = try await shop.orders.placeOrder(of: 1, quantity: 1)
            let order = try #require(world.development.wire.requests.last)
            #expect(order.json["loginToken"]?.string == user.token)
            #expect(recorder.grammarViolations.isEmpty)
        }
    }

    @Test("Who is logged in is read anew for every call", .covers("S0.3"))
    func readPerCall() async throws {
        try await withWorld { world, shop in
            func query() async throws -> String? {
                _ = try await shop.products.products(page: 1)
                return world.development.wire.requests.last?.query
            }
            #expect(try await query() == "page=1")
            let first = try await shop.users.login(account: "alice", password: "open sesame")
            #expect(try await query() == "loginId=u-17&loginToken=\(first.token)&page=1")
            let second = try await shop.users.login(account: "alice", password: "open sesame")
            #expect(second.token != first.token)
            #expect(try await query() == "loginId=u-17&loginToken=\(second.token)&page=1")
            try await shop.users.logout()
            #expect(try await query() == "page=1")
        }
    }

    @Test(
        "Only a user with an id and a token is let in", .covers("S4.11"),
        arguments: [
            (#"{"token":"t-1","name":"Alice"}"#, "a logged-in user has an id"),
            (#"{"id":"u-17","token":null}"#, "a logged-in user has a token"),
            (#"{}"#, "a logged-in user has an id"),
        ])
    func incompleteUser(data: String, rule: String) async throws {
        let stub = StubTransport()
        stub.on(.post, "/api/user/login", .json(#"{"retcode":0,"retdesc":"","data":\#(data)}"#))
        let shop = stubbed(stub)
        let error = await #expect(throws: APIError.self) {
            try await shop.users.login(account: "alice", password: "open sesame")
        }
        #expect(error?.kind == .validation(rule: rule))
        #expect(shop.session.user == nil)
    }

    @Test("The server takes no order without a login, nor after it ended")
    func orderNeedsLogin() async throws {
        try await withWorld { _, shop in
            func refusal() async -> APIError? {
                await #expect(throws: APIError.self) { try await shop.orders.placeOrder(of: 1, quantity: 1) }
            }
            #expect(await refusal()?.localizedDescription == "Please log in first.")
            try await shop.users.login(account: "alice", password: "open sesame")
            _ = try await shop.orders.placeOrder(of: 1, quantity: 1)
            try await shop.users.logout()
            #expect(await refusal()?.kind == .business(code: .notLoggedIn, message: "not logged in"))
        }
    }

    @Test("A user is logged out here even when the server cannot be told")
    func logoutOffline() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            try shop.client.switchEnvironment(to: .preRelease)
            await #expect(throws: APIError.self) { try await shop.users.logout() }
            #expect(shop.session.user == nil)
        }
    }

    @Test("A login of one environment is not taken to another")
    func environmentsAreApart() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            try shop.switchEnvironment(to: .test)
            #expect(try await shop.products.products(page: 1).title == "Test coffee bar")
            #expect(world.test.wire.requests.last?.query == "page=1")
        }
    }

    @Test("Whoever was logged in when the app ended is logged in when it starts again, and nobody else")
    func relaunch() async throws {
        try await withWorld { world, _ in
            let vault = MemoryVault()
            let user = try await world.running(vault: vault) { app in
                #expect(try await app.resume() == nil)
                return try await app.users.login(account: "alice", password: "open sesame")
            }
            let seen = world.development.wire.requestCount
            try await world.running(vault: vault) { app in
                #expect(app.session.user == nil)
                #expect(try await app.resume() == user)
                #expect(try await app.users.profile().account == "alice")
                #expect(world.development.wire.requestCount == seen + 1)
                // Another environment has logins of its own, and leaves this one's where it is.
                try app.switchEnvironment(to: .test)
                #expect(try await app.resume() == nil)
            }
            try await world.running(vault: vault) { app in
                #expect(try await app.resume() == user)
                try await app.users.logout()
                #expect(try await app.resume() == nil)
            }
            #expect(try await vault.keys().isEmpty)
        }
    }

    @Test("A vault that is locked logs nobody out, and one that is full keeps nobody from logging in")
    func lockedVault() async throws {
        try await withWorld { world, _ in
            try await inFolder { folder in
                let file = folder.appendingPathComponent("a.vault")
                let (key, moved) = (folder.appendingPathComponent("key"), folder.appendingPathComponent("moved"))
                func vault() -> EncryptedFileVault { EncryptedFileVault(file: file, key: .file(key)) }
                let user = try await world.running(vault: vault()) { app in
                    try await app.users.login(account: "alice", password: "open sesame")
                }
                try FileManager.default.moveItem(at: key, to: moved)
                try await world.running(vault: vault()) { app in
                    await #expect(throws: VaultError.locked) { try await app.resume() }
                    try await app.users.login(account: "alice", password: "open sesame")
                    #expect(app.session.user?.id == user.id)
                }
                try FileManager.default.moveItem(at: moved, to: key)
                #expect(try await world.running(vault: vault()) { try await $0.resume() } == user)
            }
        }
    }

    @Test("Two apps side by side have logins of their own, and go when they are let go of", .covers("S1.15"))
    func noHiddenSingleton() async throws {
        try await withWorld { world, first in
            try await first.users.login(account: "alice", password: "open sesame")
            weak var client: APIClient?
            weak var session: Session?
            do {
                let second = ShopApp(at: world.addresses, vault: MemoryVault())
                (client, session) = (second.client, second.session)
                #expect(second.session.user == nil)
                _ = try await second.products.products(page: 1)
                #expect(world.development.wire.requests.last?.query == "page=1")
            }
            // The outbox, which has the client, ends what it is at first.
            for _ in 0..<5_000 where client != nil { try await Task.sleep(for: .milliseconds(1)) }
            #expect(client == nil)
            #expect(session == nil)
            #expect(first.session.user?.name == "Alice")
        }
    }
}
