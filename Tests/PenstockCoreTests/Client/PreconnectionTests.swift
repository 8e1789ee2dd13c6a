import Foundation
import PenstockCore
import Testing

/// Takes note of what it is asked to connect to.
private final class ConnectingTransport: Transport {
    let capabilities: TransportCapabilities
    private let taken = Locked<[TransportRequest]>([])

    init(_ capabilities: TransportCapabilities = .all) {
        self.capabilities = capabilities
    }

    var orders: [TransportRequest] { taken.withLock { $0 } }

    func preconnect(_ exchange: TransportRequest) async throws(TransportError) {
        taken.withLock { $0.append(exchange) }
    }

    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.other, sendState: .unsent)
    }

    func shutdown() async {}
}

@Suite struct PreconnectionTests {
    private func client(
        _ transport: ConnectingTransport, _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        let bases: BaseURLs = [
            .test: "https://test.example/base", .production: "http://plain.example",
        ]
        var configuration = APIClient.Configuration(services: [Service(.main, bases, version: "v2")])
        configuration.environment = .test
        change(&configuration)
        return APIClient(configuration, transport: transport)
    }

    @Test func `The connection is the one that a call would take`() async throws {
        let transport = ConnectingTransport()
        let client = client(transport) {
            $0.identity = { "alice" }
            $0.options.proxy = .socks5("proxy.example")
            $0.options.trust = .authorities(URL(fileURLWithPath: "/pem"))
        }
        #expect(await client.preconnect(to: .main))
        let order = try #require(transport.orders.first)
        #expect(order.request.url.origin.text == "https://test.example")
        let key = IsolationKey(
            environment: "test", identity: "alice", trust: .authorities(URL(fileURLWithPath: "/pem")),
            proxy: .socks5("proxy.example"))
        #expect(order.isolation == key)
    }

    @Test func `What no call may reach is not connected to`() async {
        let transport = ConnectingTransport()
        #expect(await !client(transport).preconnect(to: "unknown"))
        #expect(await !client(transport) { $0.environment = .production }.preconnect(to: .main))
        #expect(await !client(transport) { $0.environment = .custom("none") }.preconnect(to: .main))
        #expect(transport.orders.isEmpty)
    }

    @Test func `A transport without the capability is not asked`() async {
        let transport = ConnectingTransport(.all.subtracting(.preconnection))
        #expect(await !client(transport).preconnect(to: .main))
        #expect(transport.orders.isEmpty)
    }
}
