import Foundation
import PenstockTesting

/// A shop's server on this machine: products, logins and orders, over real sockets. One instance is one environment.
public final class ShopServer: Sendable {
    /// The sockets, and the server's own count of what came by them.
    public let wire: LoopbackServer
    private let gate: DispatchGroup

    /// - Parameter faults: what goes wrong with the first requests, one for each; `nil` for one that goes well.
    public init(_ stock: Stock, faults: [LoopbackServer.Fault?] = []) throws {
        let gate = DispatchGroup()
        let desk = ShopDesk(stock)
        self.gate = gate
        wire = try LoopbackServer(faults: faults) { request in
            gate.wait()
            return desk.answer(request)
        }
    }

    public var url: String { wire.url.absoluteString }

    /// Requests that come while `body` runs are read, and answered when it is over.
    public func holdingReplies<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        gate.enter()
        defer { gate.leave() }
        return try await body()
    }
}
