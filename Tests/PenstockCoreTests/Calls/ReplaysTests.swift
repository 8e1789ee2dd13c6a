import Testing

@testable import PenstockCore

/// How often a call is made anew in place of the error of its response.
@Suite struct ReplaysTests {
    private static let error = APIError(.httpStatus(401), stage: .authenticate)

    private static func rejection(_ reason: StageName?) -> Rejection {
        Rejection(error: error, replay: reason.map { Replay(reason: $0) })
    }

    @Test func `each reason has one replay, and then the error is the call's`() throws {
        var replays = Replays()
        for reason in [StageName.cache, .authenticate] {
            #expect(try replays.take(Self.rejection(reason)).reason == reason)
            for _ in 0..<2 {
                let thrown = #expect(throws: APIError.self) { try replays.take(Self.rejection(reason)) }
                #expect(thrown?.kind == Self.error.kind && thrown?.stage == Self.error.stage)
            }
        }
        for reason in [StageName.cache, .authenticate] {
            #expect(throws: APIError.self) { try replays.take(Self.rejection(reason)) }
        }
    }

    @Test func `without a replay the error is the call's, and takes none away`() throws {
        var replays = Replays()
        #expect(throws: APIError.self) { try replays.take(Self.rejection(nil)) }
        #expect(try replays.take(Self.rejection(.cache)).reason == .cache)
    }
}
