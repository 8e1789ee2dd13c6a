import Penstock
import PenstockTesting
import ShopKit
import ShopServer

/// The servers of the story, all on this machine.
struct World {
    let development: ShopServer
    let test: ShopServer
    let places: PlacesServer
    /// A port that the system gives to no program of its own accord, so that nobody answers there.
    private let nowhere = "http://127.0.0.1:1"

    /// - Parameter stock: what the development server begins with.
    init(_ stock: Stock = .development) throws {
        development = try ShopServer(stock)
        test = try ShopServer(.test)
        places = try PlacesServer()
    }

    var addresses: ShopAddresses {
        ShopAddresses(
            shop: [.development: development.url, .test: test.url, .preRelease: nowhere],
            places: [.development: places.url, .test: places.url])
    }

    var servers: [LoopbackServer] { [development.wire, test.wire, places.wire] }
    var requestCount: Int { servers.map(\.requestCount).reduce(0, +) }

    func close() {
        for server in servers { server.stop() }
    }
}
