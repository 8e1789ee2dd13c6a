#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockInspect

    /// Many events. `PENSTOCK_SOAK=full` makes a million of them.
    @Suite(.timeLimit(.minutes(30)), .serialized) struct HARSoakTests {
        /// Ten events for each call.
        private static let calls = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full" ? 100_000 : 5_000

        @Test("An archive is written in flat memory, however many events there are", .covers("X11"))
        func flatMemory() async throws {
            let folder = try InspectRig.folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let recorder = try HARRecorder(file: folder.appendingPathComponent("calls.har"))
            let kept = EventRecorder()
            _ = try await InspectRig.client { $0.sinks = [kept] }.send(Hello())
            let events = kept.records.map(\.event).filter {
                switch $0 {
                case .stageStarted, .stageEnded: false
                default: true
                }
            }
            let filler = Array(repeating: Event.admitted(after: .zero), count: max(0, 10 - events.count))
            let all = Array(events.prefix(1)) + filler + Array(events.dropFirst())
            let client = InspectRig.client()
            func run(_ count: Int) async {
                for _ in 0..<count {
                    let context = EventContext(call: client.start(Silent()).id, attempt: 1)
                    for event in all { recorder.receive(event, context) }
                }
                await recorder.flush()
            }
            await run(1_000)
            let before = try Self.residentBytes()
            await run(Self.calls)
            let growth = try Self.residentBytes() - before
            #expect(growth < 32 << 20, "\(growth) bytes more")
            let size =
                try folder.appendingPathComponent("calls.har").resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            #expect(size > Self.calls * 500)
        }

        /// The second number of `statm` counts pages.
        private static func residentBytes() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        }
    }

    /// A call that is there for its number alone: its service is none that the client has.
    private struct Silent: Endpoint {
        typealias Output = Payload
        var service: ServiceID { "nobody" }
        var route: Route { .get("/") }
    }
#endif
