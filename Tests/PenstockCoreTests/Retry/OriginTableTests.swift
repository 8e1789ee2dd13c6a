import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is known of a server, asked without a call.
@Suite struct OriginTableTests {
    private let clock = TestClock()
    private let origin = HTTPURL.Origin(scheme: .https, host: "a.example.com", port: 443)

    private func table(_ change: (inout APIClient.Configuration) -> Void = { _ in }) -> OriginTable {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.time = clock.timeSource
        change(&configuration)
        return OriginTable(configuration)
    }

    @Test func `a server is left alone for as long as it wants, and not to the moment itself`() {
        let table = table()
        #expect(table.pause(of: origin) == nil)
        clock.advance(by: .seconds(100))
        table.pause(origin, for: .seconds(10))
        #expect(table.pause(of: origin) == .seconds(10))
        clock.advance(by: .seconds(4))
        #expect(table.pause(of: origin) == .seconds(6))
        // One that ends sooner takes nothing of it away, and one that ends later adds to it.
        table.pause(origin, for: .seconds(5))
        #expect(table.pause(of: origin) == .seconds(6))
        table.pause(origin, for: .seconds(7))
        #expect(table.pause(of: origin) == .seconds(7))
        #expect(table.pause(of: .init(scheme: .https, host: "b.example.com", port: 443)) == nil)
        clock.advance(by: .seconds(7) - .nanoseconds(1))
        #expect(table.pause(of: origin) == .nanoseconds(1))
        clock.advance(by: .nanoseconds(1))
        #expect(table.pause(of: origin) == nil)
    }

    @Test func `a circuit is open at a moment to come where its pause ends after it`() throws {
        let table = table { $0.circuitBreaker = .init(minimumAttempts: 1) }
        clock.advance(by: .seconds(100))
        #expect(!table.isOpen(origin, in: .zero))
        guard case .allowed(let leave) = table.admit(to: origin, drawing: { 0 }),
            case .open(let until)? = table.record(
                .failed(.failure), of: leave, to: origin, took: .zero, drawing: { 0 })
        else {
            Issue.record("it did not open")
            return
        }
        let pause = until - clock.timeSource.now()
        #expect(pause >= .milliseconds(500))
        #expect(table.isOpen(origin, in: .zero) && table.isOpen(origin, in: pause - .nanoseconds(1)))
        #expect(!table.isOpen(origin, in: pause) && !table.isOpen(origin, in: pause + .seconds(1)))
        #expect(!table.isOpen(.init(scheme: .http, host: origin.host, port: 80), in: .zero))
        clock.advance(by: pause - .milliseconds(100))
        #expect(table.isOpen(origin, in: .milliseconds(99)) && !table.isOpen(origin, in: .milliseconds(100)))
    }

    /// What came of an attempt, how long it took, and how many random numbers the circuit needs for it.
    static let draws: [(OriginTable.Outcome, Duration, Int)] = [
        (.answered(.success), .seconds(14), 0), (.answered(.unknown), .seconds(14), 0),
        (.failed(.unknown), .zero, 0), (.answered(.failure), .zero, 1), (.failed(.failure), .zero, 1),
        (.answered(.success), .seconds(15), 1),
    ]

    /// How many random numbers are drawn for an attempt: for leave to send it, and for what came of it.
    private func drawn(
        by table: OriginTable, _ outcome: OriginTable.Outcome, took: Duration
    ) throws -> (forLeave: Int, inAll: Int) {
        var drawn = 0
        func draw() -> UInt64 {
            drawn += 1
            return 0
        }
        let permit = table.admit(to: origin, drawing: draw)
        let forLeave = drawn
        guard case .allowed(let leave) = permit else { throw CocoaError(.featureUnsupported) }
        table.record(outcome, of: leave, to: origin, took: took, drawing: draw)
        return (forLeave, drawn)
    }

    @Test(arguments: draws) func `a random number is drawn where the circuit may open, and nowhere else`(
        outcome: OriginTable.Outcome, took: Duration, count: Int
    ) throws {
        let table = table { $0.circuitBreaker = .init(slowAfter: .seconds(15)) }
        #expect(try drawn(by: table, outcome, took: took) == (0, count))
    }

    @Test func `where nothing refuses an attempt, no random number is drawn for it`() throws {
        let table = table { ($0.circuitBreaker, $0.throttle) = (nil, nil) }
        #expect(try drawn(by: table, .answered(.success), took: .seconds(100)) == (0, 0))
    }

    @Test func `what was drawn decides how long the circuit stays open`() throws {
        func pause(_ drawn: UInt64) -> Duration? {
            let table = table { $0.circuitBreaker = .init(minimumAttempts: 1) }
            guard case .allowed(let leave) = table.admit(to: origin, drawing: { 0 }),
                case .open(let until)? = table.record(
                    .failed(.failure), of: leave, to: origin, took: .zero, drawing: { drawn })
            else { return nil }
            return until - clock.timeSource.now()
        }
        let pauses = (0..<5).compactMap { pause($0) }
        #expect(Set(pauses).count == 5)
        #expect(pauses.allSatisfy { (.milliseconds(500)...(.seconds(1))).contains($0) })
    }

    // MARK: What failed

    private static func error(
        _ kind: APIError.Kind, _ state: SendState?, _ status: Int? = nil, at stage: StageName = .transport
    ) -> APIError {
        APIError(kind, stage: stage, response: status.map { HTTPResponse(status: $0) }, sendState: state)
    }

    /// Errors of attempts, and what they say of the server.
    static let failures: [(APIError, String)] = [
        (error(.cancelled, .answered, 200), "answered(success)"),
        (error(.timeout(.total), .answered, 404), "answered(success)"),
        (error(.limitExceeded(.bodyBytes), .answered, 503), "answered(failure)"),
        (error(.cancelled, .answered, 408), "answered(unknown)"),
        (error(.cancelled, .answered, 425), "answered(unknown)"),
        (error(.cancelled, .answered, 429), "answered(unknown)"), (error(.cancelled, .answered), "failed(unknown)"),
        (error(.cancelled, .maybeProcessed, 200), "failed(unknown)"), (error(.cancelled, nil, 200), "failed(unknown)"),
        (error(.transport(.connectionLost), .answered, 200), "answered(failure)"),
        (error(.transport(.connectionLost), .maybeProcessed), "failed(failure)"),
        (error(.transport(.connectionLost), .answered, 200, at: .attemptInterception), "answered(success)"),
        (error(.transport(.connectionLost), .answered, at: .attemptInterception), "failed(unknown)"),
        (error(.business(code: 7, message: ""), .answered, 200), "answered(success)"),
        (error(.business(code: 7, message: ""), .answered), "failed(unknown)"),
        (error(.httpStatus(429), .answered, at: .attemptInterception), "answered(unknown)"),
        (error(.httpStatus(503), .answered, 200, at: .attemptInterception), "answered(failure)"),
    ]

    @Test(arguments: failures.indices)
    func `an attempt that is given up after its answer has begun is judged by the status of that, where it is known`(
        index: Int
    ) {
        let (error, expected) = Self.failures[index]
        let outcome = "\(RetryAttempt.outcome(of: error))".replacingOccurrences(
            of: "PenstockCore.CircuitBreaker.Outcome.", with: "")
        #expect(outcome == expected, "\(error.kind) \(error.response?.status ?? 0)")
    }
}
