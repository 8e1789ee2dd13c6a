import Foundation
import PenstockCore
import PenstockCurl
import PenstockTesting
import PenstockURLSession

/// A transport that the suites run against.
struct TransportUnderTest: Sendable, CustomStringConvertible {
    let name: String
    let capabilities: TransportCapabilities
    /// `false` for a double that only imitates a server.
    let hasWire: Bool
    let make: @Sendable (LoopbackServer) -> any Transport

    init(_ name: String, hasWire: Bool = true, make: @escaping @Sendable (LoopbackServer?) -> any Transport) {
        self.name = name
        self.hasWire = hasWire
        self.make = make
        capabilities = make(nil).capabilities
    }

    var description: String { name }

    static let every = [
        TransportUnderTest("libcurl") { _ in CurlTransport() },
        TransportUnderTest("URLSession") { _ in URLSessionTransport() },
        TransportUnderTest("stub", hasWire: false) { server in
            server.map(StubTransport.init(answeredBy:)) ?? StubTransport()
        },
    ]

    /// Those that suites run against: every one, or those that `PENSTOCK_TRANSPORTS` names. The sanitizers leave out
    /// URLSession, whose own code, which they do not see, takes minutes for a flood under them.
    static let all = every.filter { isChosen($0.name) }

    private static func isChosen(_ name: String) -> Bool {
        guard let names = ProcessInfo.processInfo.environment["PENSTOCK_TRANSPORTS"] else { return true }
        return names.split(separator: ",").contains { $0 == name }
    }

    static let withWire = all.filter(\.hasWire)

    /// Those that can be told whom to trust, as a test's own server needs it.
    static let withTrust = withWire.filter { $0.capabilities.contains(.trustPolicy) }

    /// Transports that are held to one connection for each host.
    static let withOneSlot = [
        TransportUnderTest("libcurl") { _ in CurlTransport(configuration: .init(maxConnectionsPerHost: 1)) },
        TransportUnderTest("URLSession") { _ in URLSessionTransport(connectionsPerHost: 1) },
    ].filter { isChosen($0.name) }
}
