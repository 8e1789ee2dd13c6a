import Foundation
import Penstock
import PenstockSQLite

/// Looks into a file of stored responses, and clears it.
struct CacheCommand: Sendable {
    let options: CacheOptions

    func run() async throws(UsageError) -> Int32 {
        let store: any CacheStore
        do throws(SQLiteCacheError) {
            store = try await PlatformCache.open(options.file)
        } catch {
            guard error.problem != .notACache else { throw .notACache(options.file) }
            Console.note("the file cannot be used now: \(error.problem.rawValue)")
            return ExitCode.otherError
        }
        let status = await carryOut(store)
        await store.close()
        return status
    }

    private func carryOut(_ store: any CacheStore) async -> Int32 {
        switch options.task {
        case .list:
            return Console.show(lines: await all(in: store).map(Self.line))
        case .statistics:
            let statistics = await store.statistics()
            return Console.show("responses  \(statistics.entries)\nbytes      \(statistics.bytes)")
        case .show(let url):
            let form = await store.digestKey().map { CacheAtRest(secret: $0) }
            let meant = CacheSelection.url(url, in: .everyone)
            let found = await all(in: store).filter { meant.contains($0.response, stored: $0.entry, in: form) }
            guard !found.isEmpty else {
                Console.note("nothing is stored of this URL")
                return ExitCode.otherError
            }
            return Console.show(lines: Array(found.map(Self.head).joined(separator: [""])))
        case .clear(let selection):
            guard await store.remove([selection]) else {
                Console.note("it could not be removed for good")
                return ExitCode.output
            }
            return ExitCode.success
        }
    }

    private func all(in store: any CacheStore) async -> [StoredResponse] {
        var all: [StoredResponse] = []
        while true {
            let more = await store.entries(after: all.last?.entry, limit: 500)
            guard !more.isEmpty else { return all }
            all += more
        }
    }

    /// The URL without the secrets in it: what is listed is read by others, and kept in logs.
    private static func line(_ stored: StoredResponse) -> String {
        let response = stored.response
        let age = max(0, Int(Date().timeIntervalSince(response.responseTime)))
        let url = Redaction.text(response.key.url)
        return "\(response.key.method) \(response.status) \(response.bodyLength) bytes \(age) s \(url)"
    }

    /// Fields print themselves without what is secret.
    private static func head(_ stored: StoredResponse) -> [String] {
        let response = stored.response
        var lines = [line(stored)]
        if !response.key.partition.identity.isEmpty { lines.append("identity \(response.key.partition.identity)") }
        if !response.tags.isEmpty { lines.append("tags \(response.tags.joined(separator: " "))") }
        if response.isInvalidated { lines.append("out of date") }
        lines += response.variant.selectors.map { "for \($0.name) \($0.value == nil ? "absent" : "present")" }
        return lines + response.fields.map { "\($0)" }
    }
}
