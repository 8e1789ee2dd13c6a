import Foundation
import Penstock
import PenstockTesting
import ShopServer
import Testing

@testable import Shop
@testable import ShopKit

/// What the shop's servers take from nobody but their app, and the app from nobody but them.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct SecurityTests {
    @Test("A voucher is for who has signed for it, for this one, just now, and once")
    func signatures() async throws {
        try await withWorld { world, shop in
            let server = world.development
            let own = SortedParameterSigner(appKey: "shop-app", secret: world.keys.vouchers)
            let stranger = SortedParameterSigner(appKey: "shop-app", secret: try SharedSecret(text: "another"))
            let voucher = HTTPRequest(method: .get, url: try HTTPURL(server.url + "vouchers/SPRING"))
            func status(
                _ date: Date = Date(), nonce: String = UUID().uuidString, by signer: SortedParameterSigner? = nil,
                _ change: @Sendable (inout HTTPRequest) throws -> Void = { _ in }
            ) async throws -> Int {
                var request = try await (signer ?? own).signed(voucher, at: date, nonce: nonce).request
                try change(&request)
                return try await shop.client.send(request).http.status
            }
            #expect(try await status() == 200)
            #expect(try await status(Date(timeIntervalSinceNow: -270)) == 200)
            #expect(try await status(Date(timeIntervalSinceNow: -330)) == 401)
            #expect(try await status(Date(timeIntervalSinceNow: 330)) == 401)
            #expect(try await status(nonce: "once") == 200)
            #expect(try await status(nonce: "once") == 401)
            #expect(try await status(by: stranger) == 401)
            #expect(try await status { $0.url = try HTTPURL(server.url + "vouchers/AUTUMN") } == 401)
            #expect(try await status { $0.url = try HTTPURL(server.url + "vouchers/SPRING?a=1") } == 401)
            #expect(try await status { $0.method = .post } == 404)
            for name: HTTPFieldName in ["X-App-Key", "X-Timestamp", "X-Nonce", "X-Signature"] {
                #expect(try await status { $0.fields.remove(name) } == 401, "without \(name)")
                #expect(try await status { $0.fields[name] = "1" } == 401, "with another \(name)")
            }
            let unknown = await #expect(throws: APIError.self) { try await shop.vouchers.discount(of: "WINTER") }
            #expect(unknown?.kind == .business(code: 3001, message: "no such voucher"))
        }
    }

    @Test("Without keys no voucher is given, and nothing is paid, nor sent")
    func noKeys() async throws {
        try await withWorld { world, _ in
            let app = ShopApp(at: world.addresses, vault: MemoryVault())
            let voucher = await #expect(throws: APIError.self) { try await app.vouchers.discount(of: "SPRING") }
            #expect(voucher?.kind == .httpStatus(401))
            let seen = world.requestCount
            await #expect(throws: APIError.self) { try await app.till.pay(100, by: "4111 1111 1111 1234") }
            #expect(world.requestCount == seen)
            await app.end()
        }
    }

    @Test("Nothing of a payment can be read on the wire, and an answer for somebody else is not opened")
    func sealing() async throws {
        try await withWorld { world, shop in
            let payment = try await shop.till.pay(12_34, by: "4000 0000 0000 9876")
            #expect(payment == Payment(id: 1, cents: 12_34, card: "9876"))
            let request = try #require(world.development.wire.requests.last)
            let answer = try #require(world.development.till.answered.last)
            #expect(request.fields["Content-Type"] == "application/jose")
            for text in [request.text, answer] {
                let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(Self.decoded)
                #expect(parts.count == 5 && parts[0].contains(#""enc":"A256GCM""#))
                for plain in ["4000 0000", #""9876""#, #""cents""#, #""card""#] {
                    #expect(!text.contains(plain) && !parts.contains { $0.contains(plain) })
                }
            }
            // Neither half of the pair opens what is meant for the other.
            #expect(throws: CryptographyError.refused) {
                try JWE.open(request.text, with: [.agreement(P256PrivateKey(), id: "till")])
            }
            let stranger = SealingKey.agreement(with: try P256PublicKey(P256PrivateKey().publicPoint), id: "till")
            let own = SealingKey.agreement(try P256PrivateKey(), id: "app")
            for (till, kind) in [
                (SealingKey.agreement(with: world.till, id: "till"), APIError.Kind.decryption),
                (stranger, .httpStatus(400)),
            ] {
                var keys = world.keys
                keys.till = JWESealer(sealing: till, opening: [own])
                let error = await #expect(throws: APIError.self) {
                    try await world.running(keys: keys) { try await $0.till.pay(1, by: "4000 0000 0000 9876") }
                }
                #expect(error?.kind == kind)
            }
        }
    }

    /// Base64 of URLs, as text where it is some.
    private static func decoded(_ part: Substring) -> String {
        let plain = String(part).replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
        return String(decoding: Data(base64Encoded: padded) ?? Data(), as: UTF8.self)
    }

    @Test("A picture arrives under its name and title, and a form without one is refused")
    func pictures() async throws {
        try await withWorld { world, shop in
            try await inFolder { folder in
                for (name, title, size) in [("a.png", "Ünder \"quotes\"", 0), ("b c.jpg", "", 5_120)] {
                    let bytes = MediaServer.content(of: size)
                    let file = folder.appendingPathComponent(name)
                    try bytes.write(to: file)
                    let picture = try await shop.media.upload(file, title: title) { _ in }
                    #expect(picture == Picture(name: name, title: title, bytes: size))
                    #expect(world.media.pictures[name] == bytes)
                }
            }
            let url = try HTTPURL(world.media.url + "pictures")
            for body: HTTPBody in [.none, .bytes(Data("x".utf8)), .multipart([.field("title", "no picture")])] {
                let form = HTTPRequest(method: .post, url: url, body: body)
                #expect(try await shop.client.send(form).http.status == 400)
            }
        }
    }

    @Test("A film goes on where it was left when the app is started again")
    func interruptedFilm() async throws {
        try await withWorld { world, _ in
            try await inFolder { folder in
                let file = folder.appendingPathComponent("seven.mp4")
                // The connection breaks off, and this app does not ask again.
                await #expect(throws: APIError.self) {
                    try await world.running { app in
                        let call = app.client.with { $0.options.retry = RetryPolicy.none }
                        _ = try await MediaAPI(client: call).download(film: 7, to: file) { _ in }
                    }
                }
                #expect(!FileManager.default.fileExists(atPath: file.path))
                let film = try await world.running { try await $0.media.download(film: 7, to: file) { _ in } }
                #expect(film.wasResumed && film.length == MediaServer.film.count)
                #expect(try Data(contentsOf: file) == MediaServer.film)
                let range = try #require(world.media.wire.requests.last?.fields["Range"])
                let start = try #require(Int(range.dropFirst("bytes=".count).dropLast()))
                #expect((1...MediaServer.cut).contains(start))
            }
        }
    }

    #if os(Linux)
        @Test("The bank is known by its key: another one of the same authority is sent nothing")
        func pins() async throws {
            try await withWorld { world, shop in
                #expect(try await shop.bank.balance(ofCard: 4) == 2_000)
                let handshakes = world.bank.wire.handshakeCount
                var keys = world.keys
                for trust in [try world.bank.mistakenTrust(), .system] {
                    keys.bank = trust
                    let error = await #expect(throws: APIError.self) {
                        try await world.running(keys: keys) { try await $0.bank.balance(ofCard: 4) }
                    }
                    guard case .tls(let why) = error?.kind else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(why == (trust == .system ? .untrusted : .pinMismatch))
                }
                #expect(world.bank.wire.requestCount == 1 && handshakes == 1)
            }
        }
    #endif
}
