import Foundation
import PenstockCore
import PenstockTesting
import Testing

@testable import PenstockInspect

/// How much content is held in memory until it is written.
@Suite(.timeLimit(.minutes(5))) struct ContentBudgetTests {
    /// The events of a call up to its response, which has 16 bytes, and its end.
    private func events() async throws -> (beginning: [Event], end: [Event]) {
        let kept = EventRecorder()
        _ = try await InspectRig.client { $0.sinks = [kept] }.send(Hello())
        let all = kept.records.map(\.event)
        let place = try #require(all.firstIndex { if case .responseReceived = $0 { true } else { false } })
        return (Array(all[...place]), Array(all[(place + 1)...]))
    }

    /// A call that is there for its number.
    private func context() -> EventContext {
        EventContext(call: InspectRig.client().start(Hello()).id, attempt: 1)
    }

    @Test("Content that finds no room among what waits to be written is left out and counted, and the entry is written")
    func leftOut() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.har")
        let recorder = try HARRecorder(file: file, contents: .upTo(bytes: 16), contentInMemory: 40)
        let (beginning, end) = try await events()
        let calls = (0..<4).map { _ in context() }
        for call in calls { beginning.forEach { recorder.receive($0, call) } }
        for call in calls { end.forEach { recorder.receive($0, call) } }
        await recorder.flush()
        // There is room again once the others are written.
        let last = context()
        (beginning + end).forEach { recorder.receive($0, last) }
        await recorder.close()
        let entries = try HAR(contentsOf: file).log.entries
        let contents = entries.map(\.response.content)
        #expect(contents.map { $0?.text != nil } == [true, true, false, false, true])
        let reason = "since too much waited to be written"
        #expect(contents[2]?.comment == "16 bytes, not kept, \(reason)" && contents[2]?.size == 16)
        let comments = entries.map(\.comment)
        #expect(comments[2] == "2 contents have been left out so far, \(reason)" && comments[3] == comments[2])
        #expect([0, 1, 4].allSatisfy { comments[$0] == nil })
    }

    @Test("What is held is what the calls have, however often one is tried, and nothing once all are written")
    func held() async throws {
        let (beginning, end) = try await events()
        var collector = CallCollector(content: ContentBudget(longest: 16, most: 10_000))
        let call = context()
        for attempt in 1...(CallRecord.mostAttempts + 50) {
            for event in beginning.dropFirst(attempt == 1 ? 0 : 1) {
                #expect(collector.take(event, EventContext(call: call.call, attempt: attempt)) == nil)
            }
        }
        #expect(collector.content.held == CallRecord.mostAttempts * 16)
        var records: [CallRecord] = []
        for event in end { if let record = collector.take(event, call) { records.append(record) } }
        let record = try #require(records.first)
        #expect(record.contentBytes == CallRecord.mostAttempts * 16 && collector.content.leftOut == 0)
        collector.release(record)
        #expect(collector.content.held == 0)
    }

    static let budgets: [(bytes: [Int], held: Int, leftOut: Int)] = [
        ([5, 5], 10, 0), ([5, 6], 5, 1), ([11], 0, 0), ([10, 1, 0], 10, 1), ([6, 6, 4], 10, 1), ([], 0, 0),
    ]

    @Test("A content is kept whole or not at all; a shorter one may find room after it", arguments: budgets)
    func decisions(_ bytes: [Int], _ held: Int, _ leftOut: Int) throws {
        var collector = CallCollector(content: ContentBudget(longest: 10, most: 10))
        let call = context()
        _ = collector.take(.callStarted(.init(endpoint: "a", service: .main, environment: .test)), call)
        for (index, count) in bytes.enumerated() {
            let request = HTTPRequest(method: .post, url: try InspectRig.url(), body: .bytes(Data(count: count)))
            _ = collector.take(.requestSent(request), EventContext(call: call.call, attempt: index + 1))
        }
        #expect(collector.content.held == held && collector.content.leftOut == leftOut)
    }
}
