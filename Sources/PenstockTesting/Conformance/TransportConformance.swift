import PenstockCore

/// The rules that every transport keeps, each with its own server on real sockets. They need no test library:
///
/// ```swift
/// for rule in TransportConformance.rules where rule.applies(to: MyTransport().capabilities) {
///     try await rule.run { _ in MyTransport() }
/// }
/// ```
public enum TransportConformance {
    /// All rules.
    public static let rules: [Rule] = [
        requests, responses, streaming, connections, failures, timeouts, control,
        syntax, framing, surplus, injection, limits, interim, stalls, uploads, sendStates, cancellation, costlyContent,
        contentLimits, secure, http2, names,
    ].flatMap(\.self)

    /// One rule.
    public struct Rule: Sendable, CustomStringConvertible {
        /// What must hold.
        public let name: String
        /// The rule is for transports that can do all of this …
        public let requires: TransportCapabilities
        /// … and none of that.
        public let excludes: TransportCapabilities
        /// Whether it is about bytes on a wire, and means nothing to a transport that has none.
        public let needsWire: Bool
        /// Whether its server speaks TLS.
        let isSecure: Bool
        private let makeScene: @Sendable () throws -> Scene
        private let check: @Sendable (Probe) async throws -> Void

        init(
            _ name: String, requires: TransportCapabilities = [], excludes: TransportCapabilities = [],
            needsWire: Bool = false,
            server respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in .text("ok")
            },
            check: @escaping @Sendable (Probe) async throws -> Void
        ) {
            self.init(
                name, requires: requires, excludes: excludes, needsWire: needsWire, isSecure: false,
                scene: { Scene(server: try LoopbackServer(handler: respond)) }, check: check)
        }

        init(
            _ name: String, requires: TransportCapabilities, excludes: TransportCapabilities = [], needsWire: Bool,
            isSecure: Bool, scene: @escaping @Sendable () throws -> Scene,
            check: @escaping @Sendable (Probe) async throws -> Void
        ) {
            self.name = name
            self.requires = requires
            self.excludes = excludes
            self.needsWire = needsWire
            self.isSecure = isSecure
            self.makeScene = scene
            self.check = check
        }

        /// A rule about the wire, with a server that takes more than a handler.
        init(
            _ name: String, requires: TransportCapabilities = [], excludes: TransportCapabilities = [],
            starting start: @escaping @Sendable () throws -> LoopbackServer,
            check: @escaping @Sendable (Probe) async throws -> Void
        ) {
            self.init(
                name, requires: requires, excludes: excludes, needsWire: true, isSecure: false,
                scene: { Scene(server: try start()) }, check: check)
        }

        public var description: String { name }

        /// Whether a transport of these capabilities must keep the rule.
        ///
        /// - Parameter hasWire: `false` for a double that only imitates a server.
        public func applies(to capabilities: TransportCapabilities, hasWire: Bool = true) -> Bool {
            capabilities.isSuperset(of: requires) && capabilities.isDisjoint(with: excludes) && (hasWire || !needsWire)
                && (Scene.speaksTLS || !isSecure)
        }

        /// Starts a server, runs the rule against it, shuts the transport down and sees that it left no connection open.
        ///
        /// - Parameter makeTransport: makes a new transport; the server is for doubles that need no socket to reach it.
        /// - Throws: ``ConformanceViolation``, which says what was expected and what was seen; or the system's error when there is
        ///   no socket for the server.
        public func run(_ makeTransport: @Sendable (LoopbackServer) -> any Transport) async throws {
            let scene = try makeScene()
            let server = scene.server
            defer { withExtendedLifetime(scene) { server.stop() } }
            let transport = makeTransport(server)
            do {
                try await check(Probe(transport: transport, server: server, trust: scene.trust, keys: scene.keys))
            } catch {
                await transport.shutdown()
                throw ConformanceViolation(rule: name, explanation: explain(error))
            }
            await transport.shutdown()
            try await expectNothingOpen(server)
        }

        private func expectNothingOpen(_ server: LoopbackServer) async throws {
            do { try await server.waitForOpenConnections(atMost: 0) } catch {
                throw ConformanceViolation(rule: name, explanation: "after shutdown(): \(error)")
            }
        }

        private func explain(_ error: any Error) -> String {
            guard let error = error as? TransportError else { return "\(error)" }
            return "unexpected failure \(error.kind), \(error.sendState): \(error.message)"
        }
    }
}
