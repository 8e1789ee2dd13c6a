import Foundation
import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// Runs a test against the servers of the story, over real sockets, and closes everything after it.
@MainActor
func withWorld(events: (any EventSink)? = nil, _ body: (World, ShopApp) async throws -> Void) async throws {
    let world = try World()
    defer { world.close() }
    let shop = ShopApp(at: world.addresses, events: events, vault: MemoryVault(), keys: world.keys)
    try await body(world, shop)
    #expect(shop.client.callCount == 0)
    await shop.client.transport.shutdown()
}

/// An app without a network: a test scripts the answers.
func stubbed(_ stub: StubTransport) -> ShopApp {
    ShopApp(
        at: ShopAddresses(
            shop: [.development: "https://shop.example.com/api"], places: [.development: "https://maps.example.org"]),
        transport: stub, vault: MemoryVault())
}

extension HTTPRequest {
    /// Everything a server would see, as text.
    var wireText: String {
        let lines = fields.map { "\($0.name): \($0.value)" }
        return (["\(method) \(url.absoluteString)"] + lines + ["", bodyText]).joined(separator: "\n")
    }

    private var bodyText: String {
        guard case .bytes(let data) = body.source else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

extension LoopbackServer.Request {
    /// The content as a JSON object.
    var json: [String: JSONValue] {
        (try? JSONDecoder().decode([String: JSONValue].self, from: body)) ?? [:]
    }
}
