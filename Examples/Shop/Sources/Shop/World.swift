import Penstock
import PenstockTesting
import ShopKit
import ShopServer

/// The servers of the story, all on this machine.
struct World {
    let development: ShopServer
    let test: ShopServer
    let places: PlacesServer
    /// An address at which nobody listens any more.
    private let nowhere: String

    init() throws {
        development = try ShopServer(.development)
        test = try ShopServer(.test)
        places = try PlacesServer()
        let gone = try LoopbackServer { _ in .close }
        nowhere = gone.url.absoluteString
        gone.stop()
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
