import Foundation
import PenstockTestSupport
import Testing

/// What another package gets when it depends on this one.
@Suite struct ConsumerTests {
    @Test("A package that depends on this checkout builds, runs, and links only what it uses", .covers("S2.35"))
    func consumersLinkOnlyWhatTheyUse() async throws {
        let script = try await Script.run("Scripts/check-consumer")
        #expect(script.status == 0, "\(script.output)")
    }
}
