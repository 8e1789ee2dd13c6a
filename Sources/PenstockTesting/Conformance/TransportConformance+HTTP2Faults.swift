import Foundation
import PenstockCore

extension TransportConformance {
    /// Every effect of the fault server at every trigger, over HTTP/2: the kind and the send state of what fails, that
    /// nothing is sent twice, and that the next call goes well.
    public static let http2Faults: [Rule] = Injury.effects.flatMap { effect in
        Injury.triggers.map { trigger in Injury(effect: effect.value, name: effect.name, trigger: trigger).rule(.http2)
        }
    }

    /// One effect at one trigger.
    struct Injury: Sendable {
        typealias Fault = LoopbackServer.Fault

        let effect: Fault.Effect
        let name: String
        let trigger: Fault.Trigger

        static let triggers: [Fault.Trigger] = [
            .requestStart, .requestBody(after: 3), .responseStart, .responseBody(after: 4), .responseEnd,
        ]
        static let effects: [(name: String, value: Fault.Effect)] = [
            ("a close", .close), ("a reset", .reset), ("a goodbye", .shutDown), ("a stall", .stall),
            ("a stream ended with CANCEL", .closeStream(.cancel)),
            ("a stream ended with INTERNAL_ERROR", .closeStream(.internalError)),
            ("a stream ended with REFUSED_STREAM", .closeStream(.refusedStream)),
        ]

        func rule(_ security: Security) -> Rule {
            let isMultiplexed = security.protocols.contains(.http2)
            let fault = Fault(effect, at: trigger)
            return Rule(
                "\(isMultiplexed ? "HTTP/2" : "HTTP/1.1 over TLS"): \(name) at \(place)", over: security,
                onHead: { $0.path == "/fault" ? .fault(fault.effect, at: fault.trigger) : .proceed },
                server: { _ in .text("0123456789") }
            ) { probe in try await check(probe, isMultiplexed) }
        }

        private func check(_ probe: Probe, _ isMultiplexed: Bool) async throws {
            let limits = Timeouts(
                connect: .seconds(10), firstByte: effect == .stall ? .milliseconds(700) : nil,
                idle: effect == .stall ? .milliseconds(700) : nil, total: .seconds(20))
            let exchange = try probe.exchange(.post, "/fault", body: .bytes(Data("abcdef".utf8)), timeouts: limits)
            do throws(TransportError) {
                let response = try await probe.transport.perform(exchange).response
                guard trigger == .responseEnd, response.body.count == 10 else {
                    throw TransportError(.other, sendState: .answered, message: "it went well: \(response)")
                }
            } catch {
                try expect(kinds(isMultiplexed).contains(error.kind), "failed with \(error.kind): \(error.message)")
                try expect(states(isMultiplexed).contains(error.sendState), "send state \(error.sendState)")
            }
            try await probe.server.waitForFaults(count: 1)
            if !isRefusal(isMultiplexed) { try expect(probe.server.faults.count, is: 1, "faults") }
            // On HTTP/1.1 a connection whose server has gone quiet looks like any other.
            guard isMultiplexed || effect != .stall || trigger != .responseEnd else { return }
            // What begins before the end of the connection has come shares its fate.
            if isMultiplexed, endsConnection { try await probe.server.waitForOpenConnections(atMost: 0) }
            try await probe.send(timeouts: soon)
        }

        private var endsConnection: Bool {
            switch effect {
            case .close, .reset, .shutDown, .goAway: true
            case .closeStream, .stall: false
            }
        }

        private var place: String {
            switch trigger {
            case .requestStart: "the start of the request"
            case .requestBody: "the content of the request"
            case .responseStart: "the start of the response"
            case .responseBody: "the content of the response"
            case .responseEnd: "the end of the response"
            }
        }

        private func isRefusal(_ isMultiplexed: Bool) -> Bool {
            effect == .closeStream(.refusedStream) && isMultiplexed
        }

        private func kinds(_ isMultiplexed: Bool) -> [TransportError.Kind] {
            guard effect == .stall else { return [.connectionLost] }
            if case .responseBody = trigger { return [.timeout(.idle)] }
            return [.timeout(.firstByte)]
        }

        private func states(_ isMultiplexed: Bool) -> [SendState] {
            if case .responseBody = trigger {
                // A reset may overtake the bytes before it.
                return effect == .reset ? [.answered, .maybeProcessed] : [.answered]
            }
            if isRefusal(isMultiplexed) { return [.unprocessed] }
            // Its GOAWAY says that the stream before was the last, unless the end of the connection overtakes it.
            guard effect == .shutDown, isMultiplexed, trigger != .responseStart else { return [.maybeProcessed] }
            return [.unprocessed, .maybeProcessed]
        }
    }
}
