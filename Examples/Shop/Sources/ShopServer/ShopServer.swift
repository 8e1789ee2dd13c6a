import Foundation
import PenstockTesting
import Synchronization

/// A shop's server on this machine: products, logins and orders, over real sockets. One instance is one environment.
public final class ShopServer: Sendable {
    /// The sockets, and the server's own count of what came by them.
    public let wire: LoopbackServer
    private let gate: DispatchGroup
    private let rush: Rush
    private let desk: ShopDesk

    /// What is for members.
    public var members: MemberDesk { desk.member }

    /// Where users pay.
    public var till: TillDesk { desk.till }

    /// - Parameters:
    ///   - keys: what lies between the shop and its app. Without them no app gets a voucher, or pays.
    ///   - faults: what goes wrong with the first requests, one for each; `nil` for one that goes well.
    public init(_ stock: Stock, keys: ServerKeys? = nil, faults: [LoopbackServer.Fault?] = []) throws {
        let gate = DispatchGroup()
        let desk = ShopDesk(stock, keys: try keys ?? .nobodys())
        let rush = Rush()
        self.gate = gate
        self.rush = rush
        self.desk = desk
        wire = try LoopbackServer(faults: faults) { request in
            gate.wait()
            return rush.turnsAway(request) ? .text("Too much to do.", status: 503) : desk.answer(request)
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

    /// While `body` runs, whoever asks for something first is told that there is too much to do, and has to ask again.
    public func inRush<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        rush.begin()
        defer { rush.end() }
        return try await body()
    }
}

/// A time in which the first request for each thing is turned away.
private final class Rush: Sendable {
    /// What has been asked for; `nil` while there is no rush.
    private let seen = Mutex<Set<String>?>(nil)

    func begin() {
        seen.withLock { $0 = [] }
    }

    func end() {
        seen.withLock { $0 = nil }
    }

    func turnsAway(_ request: LoopbackServer.Request) -> Bool {
        seen.withLock { $0?.insert("\(request.method) \(request.target)").inserted ?? false }
    }
}
