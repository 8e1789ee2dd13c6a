import Foundation
import Penstock
import PenstockTesting
import Testing

@testable import ShopKit
@testable import ShopServer

/// What an app's own tests do with a server that goes wrong, a clock that stands still, and a recording.
@MainActor
@Suite(.timeLimit(.minutes(5)), .covers("X13"))
struct UnhappyTests {
    @Test("An order whose reply is cut off is not sent again, and the app can tell that it may have been placed")
    func orderIsCutOff() async throws {
        let server = try ShopServer(.development, faults: [nil, .init(.close, at: .responseStart)])
        defer { server.wire.stop() }
        let shop = ShopApp(
            at: ShopAddresses(shop: [.development: server.url], places: [.development: server.url]),
            vault: MemoryVault())
        try await shop.users.login(account: "alice", password: "open sesame")
        let error = await #expect(throws: APIError.self) { try await shop.orders.placeOrder(of: 1, quantity: 1) }
        #expect(error?.kind == .transport(.connectionLost) && error?.sendState == .maybeProcessed)
        #expect(server.wire.faults.map(\.request) == [2] && server.wire.requestCount == 2)
        let order = try await shop.orders.placeOrder(of: 1, quantity: 1)
        #expect(order.id == 2)
        await shop.client.transport.shutdown()
    }

    @Test("A redirect that takes too long ends the call, by a clock that only the test moves")
    func deadlineWithoutWaiting() async throws {
        let clock = TestClock()
        let stub = StubTransport()
        stub.on(.get, "/api/p/7") { _ in
            clock.advance(by: .seconds(11))
            return HTTPResponse(status: 301, fields: ["Location": "/api/products/7"])
        }
        let servers = ShopAddresses(shop: [.development: "https://shop.example.com/api"], places: [:])
        let shop = ShopApp(at: servers, transport: stub, time: clock.timeSource, vault: MemoryVault())
        let error = await #expect(throws: APIError.self) { try await shop.products.product(inNewsletter: 7) }
        #expect(error?.kind == .timeout(.total))
        #expect(stub.requests.map(\.url.path) == ["/api/p/7"])
    }

    @Test("A login and a catalogue that were recorded are replayed without a server, and without a secret")
    func recordingIsReplayed() async throws {
        func visit(_ shop: ShopApp) async throws -> (User, Catalogue) {
            let user = try await shop.users.login(account: "alice", password: "open sesame")
            return (user, try await shop.products.products(page: 1))
        }
        let server = try ShopServer(.development)
        let addresses = ShopAddresses(shop: [.development: server.url], places: [:])
        let recorder = RecordingTransport(PlatformTransport.make())
        let (user, seen) = try await visit(ShopApp(at: addresses, transport: recorder, vault: MemoryVault()))
        await recorder.shutdown()
        server.wire.stop()

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("visit-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try recorder.recording.write(to: file)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains(user.token) && !text.contains("open sesame"))

        let replay = ReplayTransport(try Recording(contentsOf: file))
        let (again, catalogue) = try await visit(ShopApp(at: addresses, transport: replay, vault: MemoryVault()))
        #expect(again.name == user.name && catalogue.title == seen.title)
        #expect(replay.remaining.isEmpty && replay.unknown.isEmpty)
    }
}
