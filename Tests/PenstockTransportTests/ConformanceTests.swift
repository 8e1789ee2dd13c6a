import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Every rule on every transport that it applies to.
@Suite(.timeLimit(.minutes(5)), .covers("S1.1", "X1"))
struct ConformanceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: TransportConformance.Rule
        let transport: TransportUnderTest

        var testDescription: String { "\(transport): \(rule)" }

        static func all(_ rules: [TransportConformance.Rule]) -> [Case] {
            TransportUnderTest.all.flatMap { transport in
                rules.filter { $0.applies(to: transport.capabilities, hasWire: transport.hasWire) }
                    .map { Case(rule: $0, transport: transport) }
            }
        }

        func run() async throws {
            do {
                try await rule.run(transport.make)
            } catch let violation as ConformanceViolation
                where violation.isTimeout && !transport.capabilities.contains(.noticesAll)
            {
                // The platform may have missed a response. It would have to miss another in the same place.
                try await rule.run(transport.make)
            }
        }
    }

    @Test(
        "Only a rule that was broken by a time-out is tried once more, and only where the platform may have caused it")
    func secondChance() async throws {
        let answered = try #require(TransportConformance.requests.first)
        let headCame = try #require(TransportConformance.stalls.first { $0.name.contains("before the content") })
        let late = TransportError(.timeout(.total), sendState: .unsent)
        let ends: [(TransportConformance.Rule, TransportError, TransportCapabilities, Int)] = [
            (answered, late, .all.subtracting(.noticesAll), 2), (answered, late, .all, 1),
            (headCame, TransportError(.timeout(.idle), sendState: .maybeProcessed), .all.subtracting(.noticesAll), 2),
            (answered, TransportError(.connectionLost, sendState: .unsent), .all.subtracting(.noticesAll), 1),
        ]
        for (rule, error, capabilities, count) in ends {
            let runs = Locked(0)
            let transport = TransportUnderTest("scripted") { server in
                if server != nil { runs.withLock { $0 += 1 } }
                return ScriptedTransport([.fail(error)], capabilities: capabilities)
            }
            await #expect(throws: ConformanceViolation.self) {
                try await Case(rule: rule, transport: transport).run()
            }
            #expect(runs.withLock { $0 } == count, "\(rule): \(error.kind)")
        }
    }

    @Test(arguments: Case.all(TransportConformance.requests))
    func `A request arrives as it was asked for`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.responses))
    func `A response is handed up as it came`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.streaming))
    func `Content is received as it is read`(example: Case) async throws { try await example.run() }

    @Test(.covers("S1.10"), arguments: Case.all(TransportConformance.connections))
    func `Connections are used again, and kept apart`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.names))
    func `Names lead where the resolver says`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.failures))
    func `A broken exchange fails with its kind`(example: Case) async throws { try await example.run() }

    @Test(.covers("S0.11"), arguments: Case.all(TransportConformance.timeouts))
    func `A time-out ends its own exchange`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.control))
    func `A call controls its exchange`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.syntax))
    func `A head is read strictly`(example: Case) async throws { try await example.run() }

    @Test(.covers("H3", "H4", "H5"), arguments: Case.all(TransportConformance.framing))
    func `Content ends where it must, or fails`(example: Case) async throws { try await example.run() }

    @Test(.covers("H6"), arguments: Case.all(TransportConformance.surplus))
    func `What nobody asked for is never an answer`(example: Case) async throws { try await example.run() }

    @Test(.covers("H1"), arguments: Case.all(TransportConformance.injection))
    func `A request is one request`(example: Case) async throws { try await example.run() }

    @Test(.covers("H7", "H8", "H11"), arguments: Case.all(TransportConformance.limits))
    func `What is too much is cut off`(example: Case) async throws { try await example.run() }

    @Test(.covers("H9", "H10", "H12"), arguments: Case.all(TransportConformance.contentLimits))
    func `Content that is more than it seems is cut off`(example: Case) async throws { try await example.run() }

    @Test(.covers("H9", "H10", "H12"), arguments: Case.all(TransportConformance.costlyContent))
    func `Content that expands without end, or trickles, is given up`(example: Case) async throws {
        try await example.run()
    }

    @Test(arguments: Case.all(TransportConformance.interim))
    func `Interim responses are no answers`(example: Case) async throws { try await example.run() }

    @Test(.covers("H13"), arguments: Case.all(TransportConformance.stalls))
    func `What stops is given up, in its own phase`(example: Case) async throws { try await example.run() }

    @Test(.covers("H37"), arguments: Case.all(TransportConformance.uploads))
    func `Content of requests is whole or not sent`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.sendStates))
    func `A failure tells how far its request got`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.cancellation))
    func `Cancelling closes the wire, whatever it carries`(example: Case) async throws { try await example.run() }
}

extension ConformanceViolation {
    fileprivate var isTimeout: Bool {
        ["failed with timeout(", "unexpected failure timeout("].contains { explanation.contains($0) }
    }
}
