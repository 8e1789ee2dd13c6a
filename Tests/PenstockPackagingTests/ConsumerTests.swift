import Foundation
import PenstockTestSupport
import Testing

/// What another package gets when it depends on this one.
@Suite struct ConsumerTests {
    @Test(
        "A package that depends on this checkout builds, runs, and links only what it uses",
        .covers("S2.35"))
    func consumersLinkOnlyWhatTheyUse() async throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let check = try await Subprocess.run(root.appendingPathComponent("Scripts/check-consumer"), in: root)
        #expect(check.status == 0, "\(check.output)")
    }
}
