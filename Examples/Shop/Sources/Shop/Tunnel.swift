import Penstock
import Synchronization

/// A way to the network that can be closed: what is sent then finds no network, as on a phone in a tunnel.
final class Tunnel: Transport {
    private let outside: any Transport
    private let closed = Mutex(false)

    init(_ outside: any Transport) {
        self.outside = outside
    }

    var isClosed: Bool {
        get { closed.withLock { $0 } }
        set { closed.withLock { $0 = newValue } }
    }

    var capabilities: TransportCapabilities { outside.capabilities }
    var messageCompression: (any WebSocketCompression)? { outside.messageCompression }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        try check()
        return try await outside.perform(request)
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        try check()
        return try await outside.open(request)
    }

    func preconnect(_ request: TransportRequest) async throws(TransportError) {
        try check()
        try await outside.preconnect(request)
    }

    func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        try check()
        return try await outside.connect(request, speaking: speaking)
    }

    func closeConnections(of identity: String) {
        outside.closeConnections(of: identity)
    }

    func shutdown() async {
        await outside.shutdown()
    }

    private func check() throws(TransportError) {
        if isClosed { throw TransportError(.unreachable(.offline), sendState: .unsent, message: "in a tunnel") }
    }
}
