import Foundation
import PenstockCore
import Testing

/// Takes note of what it is asked to connect to.
private final class ConnectingTransport: Transport {
    let capabilities: TransportCapabilities
    private let taken = Locked<[TransportRequest]>([])

    init(_ capabilities: TransportCapabilities = .all, hangs: Bool = false) {
        self.capabilities = capabilities
        self.hangs = hangs
    }

    var orders: [TransportRequest] { taken.withLock { $0 } }

    /// Whether a connection takes for ever.
    let hangs: Bool

    func preconnect(_ request: TransportRequest) async throws(TransportError) {
        taken.withLock { $0.append(request) }
        guard hangs else { return }
        let connecting = Connecting()
        guard request.control.attach(connecting) else { throw TransportError(.cancelled, sendState: .unsent) }
        for await _ in connecting.stream {}
        throw TransportError(.cancelled, sendState: .unsent)
    }

    private final class Connecting: ControlledExchange {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

        func cancel() { continuation.finish() }
        func suspend() {}
        func resume() {}
    }

    private let forgotten = Locked<[String]>([])
    var identities: [String] { forgotten.withLock { $0 } }

    func closeConnections(of identity: String) {
        forgotten.withLock { $0.append(identity) }
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.other, sendState: .unsent)
    }

    func shutdown() async {}
}

@Suite(.timeLimit(.minutes(5))) struct PreconnectionTests {
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

    enum Ending: CaseIterable {
        case cancelAll, scope, signOut, task
    }

    @Test("What ends calls ends it too", .timeLimit(.minutes(1)), arguments: Ending.allCases)
    func ends(_ ending: Ending) async throws {
        let transport = ConnectingTransport(hangs: true)
        let client = client(transport) { $0.identity = { "alice" } }
        let scope = CallScope()
        let task = Task { await client.preconnect(to: .main, in: scope) }
        while !Task.isCancelled, transport.orders.isEmpty || scope.callCount == 0 { await Task.yield() }
        #expect(client.callCount == 1)
        await client.signOut("bob")
        #expect(client.callCount == 1)
        switch ending {
        case .cancelAll: client.cancelAll()
        case .scope: scope.cancelAll()
        case .signOut: await client.signOut("alice")
        case .task: task.cancel()
        }
        #expect(await task.value == false)
        #expect(client.callCount == 0)
        #expect(scope.callCount == 0)
        #expect(transport.identities == (ending == .signOut ? ["bob", "alice"] : ["bob"]))
    }

    @Test func `Nothing is connected for a user who has signed out`() async {
        let transport = ConnectingTransport()
        let client = client(transport) { $0.identity = { "alice" } }
        await client.signOut("alice")
        #expect(await !client.preconnect(to: .main))
        #expect(transport.orders.isEmpty && client.callCount == 0)
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
