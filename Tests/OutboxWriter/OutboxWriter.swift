import Foundation
import Penstock
import PenstockSQLite
import PenstockTestSupport

/// Puts writes into an outbox and delivers them, until it is killed or all are delivered:
/// `outbox-writer FILE URL LEASE SEED FIRST COUNT`.
///
/// It prints `put NUMBER` for each write once that is on disk, and `done` when nothing is left to deliver. The numbers begin
/// with FIRST; the lease is for so many milliseconds; which of four resources a write is for follows from SEED.
@main
enum OutboxWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let lease = Int(arguments[3]), let seed = UInt64(arguments[4]),
            let first = Int(arguments[5]), let count = Int(arguments[6])
        else { exit(64) }
        let store = SQLiteOutboxStore(.init(file: URL(fileURLWithPath: arguments[1])))
        var configuration = APIClient.Configuration(services: [Service(.main, [.development: arguments[2]])])
        configuration.environment = .development
        configuration.cache = .none
        configuration.options.cleartext = .loopback
        var terms = Outbox.Configuration(endpoints: [WriteStep.self])
        terms.lease = .milliseconds(lease)
        let outbox = Outbox(APIClient(configuration), store: store, terms)
        outbox.start()
        var random = Seeded(seed: seed)
        for number in first..<(first + count) {
            let receipt = try await outbox.put(
                WriteStep(resource: Int.random(in: 0..<4, using: &random), number: number))
            say("put \(number)")
            // Neither far ahead of the sender nor always behind it.
            if Int.random(in: 0..<3, using: &random) == 0 { try? await receipt.value }
        }
        while try await outbox.counts().pending > 0 { try await Task.sleep(for: .milliseconds(5)) }
        say("done")
        await outbox.close()
        await store.close()
    }

    /// Past every buffer: what was said is heard, also of one that is killed.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// One write of many to a resource.
struct WriteStep: OutboxEndpoint {
    typealias Output = Void
    let resource: Int
    let number: Int
    var route: Route { .post("/resources/\(resource, name: "resource")") }
    var lane: OutboxLane { "\(resource)" }

    static var outboxPolicy: OutboxPolicy {
        OutboxPolicy(baseDelay: .milliseconds(5), maximumDelay: .milliseconds(20))
    }
}
