import Foundation
import PenstockCore

extension TransportConformance {
    /// The transport under test and the server it talks to.
    struct Probe: Sendable {
        let transport: any Transport
        let server: LoopbackServer
        var trust = TrustPolicy.system
        var keys = Keys()

        /// Generous, so that only what a rule asks for ends an exchange; finite, so that a broken transport cannot hang.
        static let patience = Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, total: .seconds(60))

        func exchange(
            _ method: HTTPMethod = .get, _ target: String = "/", fields: HTTPFields = [:], body: HTTPBody = .none,
            timeouts: Timeouts = patience, control: ExchangeControl = .init()
        ) throws -> TransportRequest {
            let url = try server.url.resolving(target)
            let request = HTTPRequest(method: method, url: url, fields: fields, body: body)
            // A machine with much else to do may let half a minute pass between two lines of a rule.
            let limits = ResponseLimits(minimumThroughput: nil)
            return TransportRequest(
                request, timeouts: timeouts, limits: limits, isolation: IsolationKey(trust: trust), control: control)
        }

        @discardableResult
        func send(
            _ method: HTTPMethod = .get, _ target: String = "/", fields: HTTPFields = [:], body: HTTPBody = .none,
            timeouts: Timeouts = patience, control: ExchangeControl = .init()
        ) async throws -> HTTPResponse {
            let exchange = try exchange(
                method, target, fields: fields, body: body, timeouts: timeouts, control: control)
            return try await transport.perform(exchange).response
        }

        func open(
            _ method: HTTPMethod = .get, _ target: String = "/", timeouts: Timeouts = patience,
            control: ExchangeControl = .init()
        ) async throws -> TransportStream {
            try await transport.open(exchange(method, target, timeouts: timeouts, control: control))
        }

        /// How an exchange ends that may fail.
        func outcome(of exchange: TransportRequest) async -> Result<TransportResponse, TransportError> {
            do throws(TransportError) {
                return .success(try await transport.perform(exchange))
            } catch {
                return .failure(error)
            }
        }

        /// The error of an exchange that must fail.
        func failure(of exchange: TransportRequest) async throws -> TransportError {
            let response: TransportResponse
            do throws(TransportError) { response = try await transport.perform(exchange) } catch { return error }
            throw Unmet(description: "expected a failure, got \(response.response.status)")
        }

        func failure(
            _ method: HTTPMethod = .get, _ target: String = "/", fields: HTTPFields = [:], body: HTTPBody = .none,
            timeouts: Timeouts = patience, control: ExchangeControl = .init()
        ) async throws -> TransportError {
            try await failure(
                of: exchange(method, target, fields: fields, body: body, timeouts: timeouts, control: control))
        }

        /// Returns once the server has sent so many bytes on its first connection, which are the client's to read then.
        func waitForBytes(_ count: Int) async throws {
            let end = ContinuousClock.now + .seconds(20)
            while server.connections.first?.bytesSent ?? 0 < count {
                try expect(ContinuousClock.now < end, "the server did not send \(count) bytes")
                try await Task.sleep(for: .milliseconds(1))
            }
        }

        /// Returns once the server has sent its settings on its first connection, which it does before it reads the client's.
        func waitForSettings() async throws {
            let end = ContinuousClock.now + .seconds(20)
            while server.connections.first?.frames.contains(where: { $0.kind == .settings }) != true {
                try expect(ContinuousClock.now < end, "the server got no settings")
                try await Task.sleep(for: .milliseconds(1))
            }
        }

        func lastRequest() throws -> LoopbackServer.Request {
            guard let request = server.requests.last else { throw Unmet(description: "no request reached the server") }
            return request
        }
    }

    static func expect(_ condition: Bool, _ explanation: @autoclosure () -> String) throws {
        if !condition { throw Unmet(description: explanation()) }
    }

    static func expect<Value: Equatable>(_ seen: Value, is expected: Value, _ what: String) throws {
        try expect(seen == expected, "\(what): expected \(expected), saw \(seen)")
    }

    static func expect(_ error: TransportError, _ kinds: TransportError.Kind..., sendState: SendState? = nil) throws {
        try expect(kinds.contains(error.kind), "expected \(kinds), failed with \(error.kind): \(error.message)")
        guard let sendState else { return }
        try expect(
            error.sendState == sendState,
            "expected the send state \(sendState), failed with \(error.kind) and \(error.sendState)")
    }

    /// Every byte value, and more of them than fit one packet.
    static let allBytes = bytes(200_000) { UInt8(truncatingIfNeeded: $0) }

    /// So many bytes, each made of its index. In place, since millions of them take seconds one by one in a debug build.
    static func bytes(_ count: Int, _ byte: (Int) -> UInt8) -> Data {
        var data = Data(count: count)
        data.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) in
            var index = 0
            while index < count {
                bytes[index] = byte(index)
                index += 1
            }
        }
        return data
    }
}
