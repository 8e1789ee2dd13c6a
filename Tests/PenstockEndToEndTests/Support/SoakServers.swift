#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting

    /// What the servers of a soak saw of each exchange.
    final class SoakLedger: Sendable {
        struct Entry: Sendable {
            /// Times its head was read.
            var heads = 0
            /// Times it was read completely.
            var requests = 0
            /// Whether it was read completely with other content than was meant.
            var isWrong = false
        }

        private let entries: Locked<[Entry]>

        init(_ count: Int) {
            entries = Locked(Array(repeating: Entry(), count: count))
        }

        func change(_ index: Int, _ body: (inout Entry) -> Void) {
            entries.withLock { body(&$0[index]) }
        }

        subscript(index: Int) -> Entry { entries.withLock { $0[index] } }
    }

    /// A server for each wire, and beside those in the clear and over TLS one on which no connection comes to its first
    /// request.
    struct SoakServers: Sendable {
        let ledger: SoakLedger
        let authority: TestCertificateAuthority
        let clear: LoopbackServer
        /// URLSession's own: Foundation closes what was cancelled when it comes to it, now and then after its shutdown.
        let session: LoopbackServer
        let secure: LoopbackServer
        let clearDoor: LoopbackServer
        let secureDoor: LoopbackServer

        var all: [LoopbackServer] { [clear, session, secure, clearDoor, secureDoor] }
        /// Those of libcurl alone, which closes every connection before its shutdown ends.
        var watched: [LoopbackServer] { [clear, secure, secureDoor] }

        init(_ plans: [SoakPlan]) throws {
            let ledger = SoakLedger(plans.count)
            self.ledger = ledger
            authority = try TestCertificateAuthority()
            var plain = LoopbackServer.Configuration()
            plain.recordedRequests = 0
            var tls = plain
            tls.tls = .init(try authority.issue(), protocols: [.http2, .http1])
            clear = try Self.server(plain, plans, ledger)
            session = try Self.server(plain, plans, ledger)
            secure = try Self.server(tls, plans, ledger)
            clearDoor = try Self.server(plain, plans, ledger, onConnect: Self.trouble)
            secureDoor = try Self.server(tls, plans, ledger, onConnect: Self.trouble)
        }

        func server(for plan: SoakPlan) -> LoopbackServer {
            let isSecure = plan.wire == .http2
            guard plan.trouble == .handshake else {
                return isSecure ? secure : plan.wire == .urlSession ? session : clear
            }
            return isSecure ? secureDoor : clearDoor
        }

        func stop() {
            for server in all { server.stop() }
        }

        private static func trouble(_ connection: Int) -> LoopbackServer.ConnectionFault? {
            let all: [LoopbackServer.ConnectionFault] = [
                .init(.close, at: .accept), .init(.reset, at: .accept), .init(.close, at: .firstBytes),
                .init(.reset, at: .firstBytes), .init(.stall, at: .firstBytes), .init(.alert(40), at: .firstBytes),
                .init(.send(Data("220 not here\r\n".utf8)), at: .firstBytes),
            ]
            return all[connection % all.count]
        }

        private static func server(
            _ configuration: LoopbackServer.Configuration, _ plans: [SoakPlan], _ ledger: SoakLedger,
            onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault? = { _ in nil }
        ) throws -> LoopbackServer {
            try LoopbackServer(
                configuration, onConnect: onConnect,
                onHead: { request in
                    guard let plan = plan(of: request, plans) else { return .respond(.init(status: 404)) }
                    ledger.change(plan.index) { $0.heads += 1 }
                    return plan.trouble.fault.map { .fault($0.effect, at: $0.trigger) } ?? .proceed
                },
                handler: { request in
                    guard let plan = plan(of: request, plans) else { return .init(status: 404) }
                    ledger.change(plan.index) { entry in
                        entry.requests += 1
                        entry.isWrong = entry.isWrong || request.body != plan.request || request.method != plan.method
                    }
                    return response(to: plan)
                })
        }

        private static func plan(of request: LoopbackServer.Request, _ plans: [SoakPlan]) -> SoakPlan? {
            Int(request.path.dropFirst()).flatMap { plans.indices.contains($0) ? plans[$0] : nil }
        }

        private static func response(to plan: SoakPlan) -> LoopbackServer.Response {
            guard plan.isResponseChunked else { return .init(body: plan.response) }
            let piece = 8_000
            let pieces = stride(from: 0, to: plan.response.count, by: piece).map { start in
                Data(plan.response[start..<min(start + piece, plan.response.count)])
            }
            return .chunks(pieces)
        }
    }
#endif
