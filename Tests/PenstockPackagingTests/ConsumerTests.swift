import Foundation
import PenstockTestSupport
import Testing

/// What another package gets when it depends on this one.
@Suite(.timeLimit(.minutes(20)), .serialized) struct ConsumerTests {
    private static func run(_ script: String) async throws -> Subprocess {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try await Subprocess.run(root.appendingPathComponent("Scripts/\(script)"), in: root)
    }

    @Test(
        "Each product, in a release build of a package that depends on this checkout, does its work and links only what it uses",
        .covers("S2.35", "S1.23"))
    func consumersLinkOnlyWhatTheyUse() async throws {
        let check = try await Self.run("check-consumer")
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("Three hundred APIs compile within the budget", .covers("S2.36"))
    func hundredsOfAPIsAreAffordable() async throws {
        let measured = try await Self.run("measure-compile")
        #expect(measured.status == 0, "\(measured.output)")
        print(measured.output)
    }
}
