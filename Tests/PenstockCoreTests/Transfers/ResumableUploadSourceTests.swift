import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// The file that an upload sends.
@Suite(.timeLimit(.minutes(5))) struct ResumableUploadSourceTests {
    @Test func `a file is read no further than it is wanted`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("source-\(UUID().uuidString)")
        try sampleBytes(seed: 18, count: 600_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let asked = Locked(0)
        let error = await #expect(throws: ResumableUploadError.self) {
            let isWanted: @Sendable () -> Bool = {
                asked.withLock { asked in
                    asked += 1
                    return asked < 3
                }
            }
            _ = try await ResumableUploadSource.open(file, while: isWanted)
        }
        #expect(asked.withLock { $0 } == 3)
        #expect(error == .sourceUnreadable(reason: "nobody wants it any more"))
    }
}
