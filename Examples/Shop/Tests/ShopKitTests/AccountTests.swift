import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// Users and what they say of themselves.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct AccountTests {
    @Test("A new user is logged in at once, and an account is nobody else's", .covers("S4.2"))
    func register() async throws {
        try await withWorld { _, shop in
            let user = try await shop.users.register(account: "bertha", password: "correct horse", name: "Bertha")
            #expect(shop.session.user == user && user.name == "Bertha")
            #expect(try await shop.users.profile() == Profile(account: "bertha", name: "Bertha", email: ""))
            let error = await #expect(throws: APIError.self) {
                try await shop.users.register(account: "bertha", password: "battery staple")
            }
            #expect(error?.kind == .business(code: 1003, message: "the account is taken"))
        }
    }

    @Test("A new password is another one, and the old one must be known", .covers("S3.3"))
    func changePassword() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            let before = world.requestCount
            for new in ["short", "open sesame"] {
                let error = await #expect(throws: APIError.self) {
                    try await shop.users.changePassword(from: "open sesame", to: new)
                }
                #expect(error?.kind.name == "invalidParameter")
            }
            #expect(world.requestCount == before)
            let error = await #expect(throws: APIError.self) {
                try await shop.users.changePassword(from: "open barley", to: "open oatmeal")
            }
            #expect(error?.kind == .business(code: 1004, message: "the old password is another one"))
            try await shop.users.changePassword(from: "open sesame", to: "open oatmeal")
            try await shop.users.logout()
            try await shop.users.login(account: "alice", password: "open oatmeal")
        }
    }

    @Test("An edit changes what is given and leaves the rest", .covers("S4.2"))
    func editProfile() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            let edited = try await shop.users.editProfile(email: "alice@example.com")
            #expect(edited == Profile(account: "alice", name: "Alice", email: "alice@example.com"))
            #expect(world.development.wire.requests.last?.json["name"] == nil)
            #expect(try await shop.users.editProfile(name: "Al").email == "alice@example.com")
            let before = world.requestCount
            for email in ["alice", "@example.com", "alice@", "a@b@c", ""] {
                await #expect(throws: APIError.self) { try await shop.users.editProfile(email: email) }
            }
            #expect(world.requestCount == before)
        }
    }

    @Test("A list of orders has those of the user, and one that is priced wrongly is refused", .covers("S4.2", "S4.9"))
    func orders() async throws {
        try await withWorld { _, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            #expect(try await shop.orders.orders().isEmpty)
            let order = try await shop.orders.placeOrder(of: 1, quantity: 2)
            #expect(try await shop.orders.orders().map(\.id) == [order.id])
            try await shop.users.register(account: "bertha", password: "correct horse")
            #expect(try await shop.orders.orders().isEmpty)
        }
        let stub = StubTransport()
        stub.on(
            .post, "/api/orders",
            .json([
                "retcode": 0, "retdesc": "",
                "data": [
                    "id": 1, "quantity": 2, "total": 10, "account": "alice",
                    "product": ["id": 1, "name": "Cup", "price": 650],
                ],
            ]))
        let error = await #expect(throws: APIError.self) {
            try await stubbed(stub).orders.placeOrder(of: 1, quantity: 2)
        }
        #expect(error?.kind == .validation(rule: "the total is the price of the goods"))
    }
}
