import Foundation
import Penstock
import PenstockTesting
import ShopKit

/// Who is asking, who is answering, and what nobody else reads.
extension Story {
    /// What the app has signed is taken once; what is not signed, or by somebody else, is not taken at all.
    func signCall() async throws -> [String] {
        let server = world.development
        let discount = try await shop.vouchers.discount(of: "SPRING")
        guard let seen = server.wire.requests.last else { throw Surprise("the server has seen nothing") }
        let unsigned = HTTPRequest(method: .get, url: try HTTPURL(server.url + "vouchers/SPRING"))
        var replayed = unsigned
        for name: HTTPFieldName in ["X-App-Key", "X-Timestamp", "X-Nonce", "X-Signature"] {
            replayed.fields[name] = seen.fields[name]
        }
        let forger = SortedParameterSigner(appKey: "shop-app", secret: try SharedSecret(text: Secret.guess))
        let forged = try await forger.signed(unsigned, at: Date(), nonce: UUID().uuidString).request
        var answers: [Int] = []
        for request in [unsigned, forged, replayed] {
            answers.append(try await shop.client.send(request).http.status)
        }
        try expect(discount == 10 && answers == [401, 401, 401], "\(discount) % off, then \(answers)")
        return [
            "signed by the app, and checked by the shop: \(discount) % off",
            "not signed: \(answers[0]); signed by another secret: \(answers[1]); sent a second time: \(answers[2])",
        ]
    }

    /// Whoever reads the wire sees that something was paid, and nothing of what.
    func sealCall() async throws -> [String] {
        let (server, card) = (world.development, Secret.card)
        let payment = try await shop.till.pay(49_80, by: card)
        guard let request = server.wire.requests.last, let answer = server.till.answered.last else {
            throw Surprise("the till has seen nothing")
        }
        let wire = [request.text, answer]
        try expect(payment.cents == 49_80 && payment.card == "1234", "what was paid is \(payment)")
        for text in wire {
            let isPlain = ["4111 1111", #""1234""#, #""cents""#, #""retcode""#].contains { text.contains($0) }
            try expect(!isPlain && text.hasPrefix("eyJ"), "on the wire: \(text)")
        }
        let broken = try await failure {
            let stranger = try P256PrivateKey()
            var keys = world.keys
            keys.till = JWESealer(
                sealing: .agreement(with: try P256PublicKey(stranger.publicPoint), id: "till"), opening: [])
            _ = try await running(keys: keys) { try await $0.till.pay(1, by: card) }
        }
        guard case .httpStatus(400) = broken.kind else { throw broken }
        return [
            "the app reads: payment \(payment.id), \(amount(payment.cents)) by card …\(payment.card)",
            "on the wire \(request.method) \(request.target) as \(request.fields[.contentType] ?? "?"): \(request.text.prefix(36))…",
            "and back: \(answer.prefix(36))…",
            "sealed for another key than the till's: 400",
        ]
    }

    /// The user leaves, the process ends, and the next one is as the user has left it.
    func startAgain() async throws -> [String] {
        try await inFolder { folder in
            let file = folder.appendingPathComponent("private").appendingPathComponent("credentials.vault")
            let user = try await running(vault: EncryptedFileVault(file: file)) { app in
                let user = try await app.users.login(account: "alice", password: Secret.password)
                try await app.members.join()
                return user
            }
            let bytes = try Data(contentsOf: file)
            for secret in [user.token, "alice", "members"] {
                try expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) can be read in the vault")
            }
            let logins = world.development.wire.requests.count { $0.path == "/user/login" }
            let (back, orders, page) = try await running(vault: EncryptedFileVault(file: file)) { app in
                (try await app.resume(), try await app.orders.orders(), try await app.members.page("card"))
            }
            let again = world.development.wire.requests.count { $0.path == "/user/login" } - logins
            try expect(back == user && again == 0, "\(again) logins, and \(String(describing: back))")
            let stranger = try await running { try await $0.resume() }
            try expect(stranger == nil, "a stranger is logged in")
            return [
                "logged in, ended, started again: \(back?.name ?? "nobody") has \(orders.count) orders, and \(page)",
                "logins in between: \(again); what was on disk is encrypted, and says nothing of it",
            ]
        }
    }

    /// Somebody tries a rule out without a change to the app.
    func ruleBelow() async throws -> [String] {
        let soldOut = HTTPResponse(
            status: 200, fields: [.contentType: "application/json"],
            body: Data(#"{"retcode":2001,"retdesc":"sold out, says a rule"}"#.utf8))
        // In a release build rules have to be asked for, and the story is told in those too.
        let rules = try RequestRules(
            [
                .init("other goods", .path("/products"), .reroute(to: HTTPURL(world.test.url))),
                .init("sold out", .path("/orders", .post), .respond(soldOut)),
                .init("no old links", .path("/p/*"), .drop),
            ], allowsRelease: true)
        let (here, there) = (world.development.wire.requestCount, world.test.wire.requestCount)
        let (title, order, link) = try await running(over: RuleTransport(PlatformTransport.make(), rules: rules)) {
            app in
            (
                try await app.products.products(page: 1).title,
                try await failure { try await app.orders.placeOrder(of: 1, quantity: 1) },
                try await failure { try await app.products.product(inNewsletter: 3) }
            )
        }
        let hits = (world.development.wire.requestCount - here, world.test.wire.requestCount - there)
        guard case .business(.soldOut, let message) = order.kind, case .blocked(let reason) = link.kind else {
            throw Surprise("\(order.kind), \(link.kind)")
        }
        try expect(hits == (0, 1), "requests at the two servers: \(hits)")
        return [
            "asked for at development, answered by test: \(title)",
            "answered by no server: \(message)",
            "not sent: \(reason)",
            "requests that reached development: \(hits.0), and test: \(hits.1)",
        ]
    }

    /// The chapters that need a server with TLS.
    var secureChapters: [Chapter] {
        #if os(Linux)
            [("A server with another key than the bank's", refuseKey)]
        #else
            []
        #endif
    }

    #if os(Linux)
        /// The bank shows a certificate that is good in every way; one app knows another key for the bank's.
        func refuseKey() async throws -> [String] {
            let server = world.bank.wire
            let balance = try await shop.bank.balance(ofCard: 4)
            var keys = world.keys
            keys.bank = try world.bank.mistakenTrust()
            let seen = server.requestCount
            let refusal = try await failure {
                try await running(keys: keys) { try await $0.bank.balance(ofCard: 4) }
            }
            let hits = server.requestCount - seen
            guard case .tls(let why) = refusal.kind else { throw refusal }
            try expect(
                refusal.sendState == .unsent && hits == 0, "\(hits) requests, \(String(describing: refusal.sendState))")
            return [
                "by the key that is pinned: \(amount(balance)) on the card",
                "by any other: \(why), though the authority is trusted; requests that reached the server: \(hits)",
            ]
        }
    #endif
}
