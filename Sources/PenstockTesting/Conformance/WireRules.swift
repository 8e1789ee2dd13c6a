import Foundation
import PenstockCore

extension LoopbackServer.Response {
    /// Text as it is, instead of a reply.
    static func wire(_ text: String, _ ending: Ending = .drop) -> Self {
        .raw(Data(text.utf8), ending: ending)
    }
}

/// Short forms of rules about one reply.
extension TransportConformance.Rule {
    private typealias Suite = TransportConformance

    /// Long enough for any machine, and over before the suite's own limit when a transport waits for what never comes.
    private static let limits = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(20))

    /// A reply that has a meaning, to `GET /`.
    static func accepts(
        _ name: String, _ reply: String, requires: TransportCapabilities = [], status: Int = 200,
        content: String = "ok",
        ending: LoopbackServer.Response.Ending = .keepAlive,
        check: @escaping @Sendable (HTTPResponse) throws -> Void = { _ in }
    ) -> Self {
        Self(name, requires: requires, needsWire: true, server: { _ in .wire(reply, ending) }) { probe in
            let response = try await probe.send(timeouts: limits)
            try Suite.expect(response.status, is: status, "status")
            try Suite.expect(String(decoding: response.body, as: UTF8.self), is: content, "content")
            try check(response)
        }
    }

    /// A reply that has none: the exchange fails, its connection is closed, and the next exchange has one of its own.
    static func refuses(
        _ name: String, _ reply: String, requires: TransportCapabilities = [],
        as kinds: [TransportError.Kind] = [.protocolViolation]
    ) -> Self {
        refuses(name, bytes: Data(reply.utf8), requires: requires, as: kinds)
    }

    static func refuses(
        _ name: String, bytes: Data, requires: TransportCapabilities = [],
        as kinds: [TransportError.Kind] = [.protocolViolation]
    ) -> Self {
        Self(
            name, requires: requires, needsWire: true,
            server: { $0.path == "/" ? .raw(bytes, ending: .hold) : .text("ok") }
        ) { probe in
            let error = try await probe.failure(timeouts: limits)
            try Suite.expect(
                kinds.contains(error.kind), "expected \(kinds), failed with \(error.kind): \(error.message)")
            try Suite.expect(error.sendState > .unsent, "the request counts as unsent")
            try await probe.server.waitForAborts(count: 1)
            try Suite.expect(await probe.send(.get, "/next").status, is: 200, "status of the next exchange")
            try Suite.expect(probe.server.connectionCount, is: 2, "connections")
        }
    }

    /// A reply that ends before it is whole, with the connection: the exchange fails, and the next has a connection of its own.
    static func isCutShort(
        _ name: String, _ reply: String, requires: TransportCapabilities = [], sendState: SendState = .answered
    ) -> Self {
        Self(
            name, requires: requires, needsWire: true, server: { $0.path == "/" ? .wire(reply) : .text("ok") }
        ) { probe in
            try await Suite.expect(probe.failure(timeouts: limits), .connectionLost, sendState: sendState)
            try Suite.expect(await probe.send(.get, "/next").body, is: Data("ok".utf8), "content of the next exchange")
            try Suite.expect(probe.server.connectionCount, is: 2, "connections")
        }
    }
}
