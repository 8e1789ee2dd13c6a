import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite("What sinks hear of a resumable upload", .timeLimit(.minutes(5)))
struct ResumableUploadEventTests {
    @Test("An upload that fails for a reason of its own is told as a failed call, once; its requests tell the rest")
    func toldFailures() async throws {
        try await MultipartTests.withFolder { folder in
            let file = folder.appendingPathComponent("film.mp4")
            try sampleBytes(seed: 1, count: 10_000).write(to: file)
            let recorder = EventRecorder()
            func client(_ server: UploadServer) -> APIClient {
                CallSupport.client(server) {
                    $0.sinks = [recorder]
                    $0.options.retry = RetryPolicy.none
                }
            }
            func ends(_ upload: ResumableUpload) async -> [Event.Outcome] {
                let before = recorder.records.count
                #expect(await failure { try await upload.value } != nil)
                return recorder.records.dropFirst(before).compactMap {
                    if case .callEnded(let outcome) = $0.event { outcome } else { nil }
                }
            }
            let server = UploadServer(.tus)
            let none = client(server).upload(
                folder.appendingPathComponent("none"), to: "/videos", resumableBy: .tus)
            #expect(await ends(none) == [.failure(.transport(.requestBody))])
            let odd = client(server).upload(file, to: "/videos", resumableBy: .tus, metadata: ["a key": "v"])
            let refused = await ends(odd)
            guard case .failure(.invalidParameter(field: "metadata", _))? = refused.first, refused.count == 1 else {
                Issue.record("\(refused)")
                return
            }
            #expect(server.requests.isEmpty)
            #expect(recorder.calls.count == 2 && recorder.grammarViolations.isEmpty)
            let denying = UploadServer(.tus, faults: [.status(405)])
            #expect(await ends(client(denying).upload(file, to: "/videos", resumableBy: .tus)).count == 1)
        }
    }
}
