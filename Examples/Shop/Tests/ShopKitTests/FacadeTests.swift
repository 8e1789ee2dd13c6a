import Foundation
import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// What an app says to its servers, in its own words.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct FacadeTests {
    @Test("A customer lists products, logs in and places an order", .covers("S4.2"))
    func scenario() async throws {
        try await withWorld { world, shop in
            let teapot = try #require(try await shop.products.products(page: 1).products.first)
            #expect(teapot.name == "Teapot")
            #expect(teapot.stock == 12)

            let user = try await shop.users.login(account: "alice", password: "open sesame")
            #expect(user.name == "Alice")

            let order = try await shop.orders.placeOrder(of: teapot.id, quantity: 2)
            #expect(order.total == 2 * teapot.price)
            #expect(order.product.stock == 10)
            #expect(order.account == "alice")
            #expect(try await shop.products.product(teapot.id).stock == 10)
        }
    }

    @Test("Path, verb and encoding are hidden behind login(account:password:)", .covers("S1.5"))
    func loginOnTheWire() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            let request = try #require(world.development.wire.requests.first)
            #expect(request.method == .post)
            #expect(request.target == "/user/login")
            #expect(request.text == #"{"account":"alice","password":"open sesame"}"#)
        }
    }

    @Test("A method of the façade gives a handle that yields a typed value", .covers("S0.6"))
    func handleYields() async throws {
        try await withWorld { _, shop in
            var delivered: Catalogue?
            let call = shop.products.products(page: 1) { delivered = try? $0.get() }
            let catalogue: Catalogue = try await call.value
            #expect(catalogue.title == "Development tea room")
            #expect(delivered == catalogue)
        }
    }

    @Test("The handle of the façade ends its call, and the wire closes", .covers("S0.6"))
    func handleCancels() async throws {
        try await withWorld { world, shop in
            var delivered: [Result<[Review], APIError>] = []
            let call = shop.products.reviews(of: 1) { delivered.append($0) }
            try await world.development.wire.waitForRequests(count: 1)
            call.cancel()
            let error = await #expect(throws: APIError.self) { try await call.value }
            #expect(error?.kind == .cancelled)
            #expect(delivered.count == 1)
            try await world.development.wire.waitForAborts(count: 1)
        }
    }

    @Test("A wrong password is a business error in the server's code, with the app's words for it")
    func wrongPassword() async throws {
        try await withWorld { _, shop in
            let error = await #expect(throws: APIError.self) {
                try await shop.users.login(account: "alice", password: "open barley")
            }
            #expect(error?.kind == .business(code: 1001, message: "wrong account or password"))
            #expect(error?.localizedDescription == "Account and password do not match.")
            #expect(shop.session.user == nil)
        }
    }

    @Test("More than there is cannot be ordered, and the server's words reach the user")
    func soldOut() async throws {
        try await withWorld { _, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            let error = await #expect(throws: APIError.self) {
                try await shop.orders.placeOrder(of: 3, quantity: 8)
            }
            #expect(error?.kind == .business(code: .soldOut, message: "sold out"))
            #expect(error?.localizedDescription == "sold out")
        }
    }

    @Test("A parameter that breaks a rule is named, and no request is made", .covers("S3.3"))
    func rulesComeFirst() async throws {
        try await withWorld { world, shop in
            let attempts: [(String, () async throws -> Void)] = [
                ("account", { try await shop.users.login(account: "al", password: "open sesame") }),
                ("account", { try await shop.users.login(account: String(repeating: "a", count: 21), password: "x") }),
                ("password", { try await shop.users.login(account: "alice", password: "") }),
                ("page", { _ = try await shop.products.products(page: 0) }),
                ("quantity", { _ = try await shop.orders.placeOrder(of: 1, quantity: 0) }),
                ("quantity", { _ = try await shop.orders.placeOrder(of: 1, quantity: 100) }),
            ]
            for (name, attempt) in attempts {
                let error = await #expect(throws: APIError.self) { try await attempt() }
                guard case .invalidParameter(let field, _) = error?.kind else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
                #expect(field == name)
            }
            #expect(world.requestCount == 0)
        }
    }

    @Test("The bounds of a rule are inside it")
    func bounds() async throws {
        let stub = StubTransport()
        stub.on(.post, "/api/orders", .json(#"{"retcode":2001,"retdesc":"sold out"}"#))
        let shop = stubbed(stub)
        for quantity in [1, 99] {
            let error = await #expect(throws: APIError.self) {
                try await shop.orders.placeOrder(of: 1, quantity: quantity)
            }
            #expect(error?.kind == .business(code: .soldOut, message: "sold out"))
        }
        #expect(stub.requests.count == 2)
    }

    @Test("Fields that the server leaves out take their defaults")
    func defaults() async throws {
        try await withWorld { _, shop in
            let card = try await shop.products.product(4)
            #expect(card.stock == 0)
            #expect(card.tags == [])
        }
    }

    @Test("An old number leads to its product by a redirect")
    func redirect() async throws {
        try await withWorld { world, shop in
            let product = try await shop.products.product(inNewsletter: 3)
            #expect(product.name == "Oolong")
            #expect(world.development.wire.requests.map(\.target) == ["/p/3", "/products/3"])
        }
    }

    @Test("No two APIs of the shop have the same verb and path, whatever they are called", .covers("S1.14"))
    func routes() throws {
        let apis: [any Endpoint] = [
            Login(account: "", password: ""), Register(account: "", password: "", name: nil),
            ChangePassword(old: "", new: ""), GetProfile(), EditProfile(name: nil, email: nil), Logout(),
            ProductList(page: 1), ProductDetail(id: 1), SetLike(id: 1, isLiked: true), ProductLikes(id: 1),
            ReviewList(id: 1), PriceList(), NewsletterLink(number: 1), PlaceOrder(productId: 1, quantity: 1),
            OrderList(), FollowOrder(id: 1), Chat(), Join(), MemberPage(name: ""), GetBalance(card: 1),
            GetVoucher(code: ""), Pay(cents: 1, card: ""), StoreList(), TapReport(id: "", taps: []),
            UploadPicture(title: "", picture: URL(fileURLWithPath: "/")), GetFilm(id: 1),
        ]
        #expect(Route.duplicates(among: apis).isEmpty)
        // Whoever declares another one adds it here.
        #expect(try Self.declared() == apis.map { String(describing: type(of: $0)) }.sorted())
    }

    /// The names of the types in the sources that are declared as APIs.
    private static func declared() throws -> [String] {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let sources = package.appendingPathComponent("Sources/ShopKit")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects ?? []
        let swift = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return try swift.flatMap { file in
            try String(contentsOf: file, encoding: .utf8)
                .matches(of: #/struct (\w+)(?:<[^>]*>)?: (?:[\w, ]*, )?(?:Outbox)?Endpoint\b/#).map {
                    String($0.output.1)
                }
        }.sorted()
    }
}
