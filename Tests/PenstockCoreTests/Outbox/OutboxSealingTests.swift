import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is sealed on its way is not kept in plain before.
@Suite(.timeLimit(.minutes(5))) struct OutboxSealingTests {
    private struct Mirror: Sealer {
        func seal(_ request: HTTPRequest, call: CallContext) -> HTTPRequest { request }
        func open(_ response: HTTPResponse, call: CallContext) -> HTTPResponse { response }
    }

    /// Whether the service has a sealer, whether the call is sealed, whether what is kept is sealed, and whether the write
    /// is taken.
    static let table: [(hasSealer: Bool, SealingChoice, isKeptSealed: Bool, isTaken: Bool)] = [
        (false, .automatic, false, true), (false, .automatic, true, true), (true, .automatic, false, false),
        (true, .automatic, true, true), (false, .sealed, false, false), (true, .sealed, false, false),
        (false, .sealed, true, true), (false, .plain, false, true), (true, .plain, false, true),
    ]

    @Test("A write whose content is sealed is kept where it stays so alone", arguments: table)
    func sealed(hasSealer: Bool, choice: SealingChoice, isKeptSealed: Bool, isTaken: Bool) {
        let rig = OutboxRig(StubTransport()) { configuration in
            configuration.services = ServiceRegistry([
                Service(.main, [.development: "https://api.example.com"], sealer: hasSealer ? Mirror() : nil)
            ])
            configuration.options.sealing = choice
        }
        var refusal: APIError?
        do throws(OutboxError) {
            _ = try rig.client.frozen(BookOrder(), limit: 1_024, OutboxOwners(), isSealed: isKeptSealed)
        } catch {
            guard case .request(let cause) = error else {
                Issue.record("\(error)")
                return
            }
            refusal = cause
        }
        #expect((refusal == nil) == isTaken)
        #expect(rig.client.callCount == 0)
        guard let refusal else { return }
        guard case .invalidConfiguration(let reason) = refusal.kind else {
            Issue.record("\(refusal)")
            return
        }
        #expect(reason.contains("BookOrder") && reason.contains("cipher"))
        #expect(refusal.stage == .seal && refusal.sendState == .unsent)
    }
}
