import Penstock
import PenstockTesting
import ShopKit
import ShopServer

/// The servers of the story, all on this machine.
struct World {
    let development: ShopServer
    let test: ShopServer
    let places: PlacesServer
    let media: MediaServer
    #if os(Linux)
        let bank: BankServer
    #endif
    /// The app's half of what lies between it and its servers.
    let keys: ShopKeys
    /// Whoever seals for the till has this.
    let till: P256PublicKey
    /// A port that the system gives to no program of its own accord, so that nobody answers there.
    private let nowhere = "http://127.0.0.1:1"

    /// - Parameter stock: what the development server begins with.
    init(_ stock: Stock = .development) throws {
        let secret = try SharedSecret(text: Secret.vouchers)
        let (ofTill, app) = (try P256PrivateKey(), try P256PrivateKey())
        till = try P256PublicKey(ofTill.publicPoint)
        let ofServers = ServerKeys(
            vouchers: secret, till: .agreement(ofTill, id: "till"),
            app: .agreement(with: try P256PublicKey(app.publicPoint), id: "app"))
        var ofApp = ShopKeys(
            vouchers: secret,
            till: JWESealer(
                sealing: .agreement(with: till, id: "till"), opening: [.agreement(app, id: "app")]))
        development = try ShopServer(stock, keys: ofServers)
        test = try ShopServer(.test, keys: ofServers)
        places = try PlacesServer()
        media = try MediaServer()
        #if os(Linux)
            bank = try BankServer()
            ofApp.bank = try bank.trust()
        #endif
        keys = ofApp
    }

    var addresses: ShopAddresses {
        var addresses = ShopAddresses(
            shop: [.development: development.url, .test: test.url, .preRelease: nowhere],
            places: [.development: places.url, .test: places.url], media: [.development: media.url])
        #if os(Linux)
            addresses.bank = [.development: bank.url]
        #endif
        return addresses
    }

    var servers: [LoopbackServer] {
        let servers = [development.wire, test.wire, places.wire, media.wire]
        #if os(Linux)
            return servers + [bank.wire]
        #else
            return servers
        #endif
    }

    var requestCount: Int { servers.map(\.requestCount).reduce(0, +) }

    func close() {
        for server in servers { server.stop() }
    }

    /// The app, from its start to its end.
    @MainActor
    func running<Result>(
        over transport: any Transport = PlatformTransport.make(), vault: any CredentialVault = MemoryVault(),
        keys: ShopKeys? = nil, events: (any EventSink)? = nil, _ body: (ShopApp) async throws -> Result
    ) async throws -> Result {
        let app = ShopApp(
            at: addresses, transport: transport, events: events, writes: MemoryOutboxStore(), vault: vault,
            keys: keys ?? self.keys)
        do {
            let result = try await body(app)
            await app.end()
            return result
        } catch {
            await app.end()
            throw error
        }
    }
}
