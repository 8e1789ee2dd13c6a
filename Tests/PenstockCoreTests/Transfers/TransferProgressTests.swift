import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// How far a transfer has come: one number that never goes back, and is 1 for what has succeeded alone.
@Suite(.timeLimit(.minutes(5))) struct TransferProgressTests {
    private static func upload(_ sent: Int, of total: Int? = 99, received: Int = 0) -> TransferProgress {
        TransferProgress(sent: sent, expectedToSend: total, received: received, expectedToReceive: 50)
    }

    /// The end counts as one byte more, so 99 bytes are 0.99.
    static let fractions: [(TransferProgress, Double?)] = [
        (upload(0), 0), (upload(33), 0.33), (upload(99), 0.99), (upload(99, received: 50), 0.99),
        (upload(120), 0.99), (upload(-1), 0),
        (upload(5, of: nil), nil), (upload(5, of: 0), 0),
        (TransferProgress(received: 33, expectedToReceive: 99), 0.33),
        (TransferProgress(expectedToSend: 0, received: 33, expectedToReceive: 99), 0.33),
        (TransferProgress(received: 33), nil), (TransferProgress(expectedToReceive: -1), nil),
        (TransferProgress(expectedToReceive: 0), 0), (upload(1, of: nil), nil), (upload(1, of: 0), 0),
        (TransferProgress(expectedToSend: 1, received: 33, expectedToReceive: 99), 0),
        (TransferProgress(sent: 1, expectedToSend: 1, received: 9, expectedToReceive: 99), 0.5),
    ]

    @Test(
        "the fraction is of what is sent where the request has content, else of what is received", arguments: fractions)
    func fraction(progress: TransferProgress, expected: Double?) {
        #expect(progress.fraction == expected)
    }

    @Test
    func `handed to the kernel is not answered for: the fraction is 1, and all is acknowledged, at the end alone`() {
        let handedOver = Self.upload(99)
        #expect((handedOver.acknowledged, handedOver.isComplete) == (0, false))
        #expect(handedOver.fraction.map { $0 < 1 } == true)
        let last = handedOver.completed()
        #expect((last.acknowledged, last.isComplete, last.fraction) == (99, true, 1))
        let huge = TransferProgress(sent: .max, expectedToSend: .max)
        #expect(huge.fraction.map { $0 < 1 } == true)
        #expect(TransferProgress(received: 7).completed().fraction == 1)
    }

    @Test(.covers("S2.27")) func `another attempt, a larger total and an unknown one take nothing back`() {
        let half = Self.upload(50)
        let again = Self.upload(10).following(half)
        #expect((again.sent, again.fraction) == (10, 0.5))
        #expect(Self.upload(60).following(again).fraction == 0.6)
        #expect(Self.upload(10, of: 999).following(half).fraction == 0.5)
        #expect(Self.upload(10, of: nil).following(half).fraction == 0.5)
        #expect(TransferProgress().following(Self.upload(0)).fraction == nil)
        #expect(TransferProgress().following(TransferProgress()).fraction == nil)
        #expect(half.completed().following(half).fraction == 1)
        #expect(!Self.upload(60).following(half).isComplete)
        #expect(Self.upload(0).following(half.completed()).fraction == 1)
        #expect(Self.upload(1).following(nil).fraction == 0.01)
    }

    @Test(.covers("S2.27")) func `whatever attempts report, the fractions of a call rise, and the last is 1`() {
        var random = Seeded(seed: 18)
        for _ in 0..<200 {
            var gate = ProgressGate()
            var told: [Double] = []
            for step in 0..<Int.random(in: 1...40, using: &random) {
                let total = Bool.random(using: &random) ? 1_000 : Int.random(in: 0...2_000, using: &random)
                let progress = TransferProgress(sent: Int.random(in: 0...total, using: &random), expectedToSend: total)
                if gate.take(progress, at: .seconds(step)) { told += [gate.latest?.fraction ?? -1] }
            }
            let last = gate.rest(succeeded: true)
            #expect(told == told.sorted())
            #expect(told.allSatisfy { $0 < 1 })
            #expect(last?.fraction == 1)
        }
    }

    @Test func `a call that failed has no progress of 1`() {
        var gate = ProgressGate()
        _ = gate.take(Self.upload(99), at: .zero)
        #expect(gate.rest(succeeded: false) == nil)
        #expect(gate.latest?.fraction == 0.99)
    }

    private struct Upload: Endpoint {
        typealias Output = Data
        var route: Route { .post("/upload") }
        var body: HTTPBody { .bytes(Data(count: 99)) }
    }

    @Test(.covers("S2.27")) func `the updates of an upload end at 1, with everything acknowledged`() async throws {
        let client = APIClient("https://shop.example.com", transport: StubTransport { _ in HTTPResponse(status: 200) })
        var told: [TransferProgress] = []
        for try await case .progress(let progress) in client.updates(of: Upload()) { told.append(progress) }
        #expect(told.compactMap(\.fraction) == [0.99, 1])
        #expect(told.map(\.acknowledged) == [0, 99])
    }

    @Test(.covers("S2.27")) func `an upload that was refused never reaches 1`() async throws {
        let client = APIClient("https://shop.example.com", transport: StubTransport { _ in HTTPResponse(status: 413) })
        var told: [Double] = []
        await #expect(throws: APIError.self) {
            for try await case .progress(let progress) in client.updates(of: Upload()) {
                told.append(progress.fraction ?? -1)
            }
        }
        #expect(told == [0.99])
    }

    // MARK: Foundation's

    @Test func `Foundation's progress shows bytes, rises with the fraction, and finishes with the end alone`() {
        let shown = Progress(totalUnitCount: -1)
        TransferProgress(received: 5).show(on: shown)
        #expect(shown.isIndeterminate)
        Self.upload(33).show(on: shown)
        #expect((shown.totalUnitCount, shown.completedUnitCount) == (99, 32))
        Self.upload(99).show(on: shown)
        #expect(!shown.isFinished)
        Self.upload(99).completed().show(on: shown)
        #expect(shown.isFinished)
        let unknown = Progress(totalUnitCount: -1)
        TransferProgress(received: 7).completed().show(on: unknown)
        #expect((unknown.totalUnitCount, unknown.isFinished) == (7, true))
        for count in [0, 1] {
            TransferProgress(received: count).completed().show(on: unknown)
            #expect((unknown.totalUnitCount, unknown.completedUnitCount) == (1, 1))
        }
    }

    private struct Quiet: Endpoint {
        typealias Output = Void
        let route = Route.get("/quiet")
    }

    @Test func `Foundation's progress of a call that moved no bytes finishes as well`() async throws {
        let client = APIClient(
            "https://a.example", transport: ScriptedTransport([.respond(HTTPResponse(status: 204))]))
        let call = client.start(Quiet())
        let progress = call.foundationProgress()
        _ = try await call.value
        while !Task.isCancelled, !progress.isFinished { await Task.yield() }
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `Foundation's progress ends and holds back a call whose handle nobody has`() async throws {
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 204)))])
        let client = APIClient("https://a.example", transport: script)
        let progress = client.start(Quiet()).foundationProgress()
        await script.waitForExchanges(count: 1)
        let control = try #require(script.requests.first?.control)
        // Foundation tells of it on a queue of its own.
        progress.pause()
        while !Task.isCancelled, !control.isSuspended { await Task.yield() }
        progress.resume()
        while !Task.isCancelled, control.isSuspended { await Task.yield() }
        progress.cancel()
        while !Task.isCancelled, client.callCount + script.openExchangeCount > 0 { await Task.yield() }
        #expect(client.callCount == 0)
        #expect(script.openExchangeCount == 0)
    }

    @Test func `cancelling Foundation's progress cancels the call`() async throws {
        let client = APIClient("https://shop.example.com", transport: StubTransport { _ in HTTPResponse(status: 200) })
        let call = client.start(Upload())
        call.suspend()
        let progress = call.foundationProgress()
        progress.cancel()
        await #expect { try await call.value } throws: { ($0 as? APIError)?.kind == .cancelled }
    }
}
