import Penstock
import ShopKit

extension Story {
    func useFourPolicies() async throws -> [String] {
        try await shop.users.login(account: "alice", password: Secret.password)
        await shop.client.clearCache(.all)
        let miss = try await failure { try await shop.places.stores(by: .cacheOnly) }
        try expect(miss.kind == .cacheMiss, "\(miss.kind) in place of a miss")
        var lines = ["cacheOnly, nothing kept: \(miss.localizedDescription)"]
        lines.append("networkOnly:      \(try await source(.networkOnly)), nothing kept")
        lines.append("networkElseCache: \(try await source(.networkElseCache)), kept")
        lines.append("cacheOnly:        \(try await source(.cacheOnly))")
        lines.append("cacheThenNetwork: \(try await twice())")
        lines.append("http, still good: \(try await source(.http))")
        return lines + [try await offline()]
    }

    private func source(_ policy: CachePolicy) async throws -> String {
        try await shop.places.stores(by: policy).source.rawValue
    }

    /// The server has the list unchanged, so it sends its head alone.
    private func twice() async throws -> String {
        var sources: [String] = []
        for try await response in shop.places.storesTwice() { sources.append(response.source.rawValue) }
        try expect(sources == ["memory", "revalidated"], "it came from \(sources)")
        return sources.joined(separator: ", then ")
    }

    private func offline() async throws -> String {
        world.places.wire.stop()
        let kept = try await shop.places.stores(by: CachePolicy(.networkElseCache, ttl: .nanoseconds(1)))
        try expect(kept.isStale, "what was kept is not told from what is new")
        return "the server is gone: \(kept.source.rawValue), marked as stale"
    }

    func logOut() async throws -> [String] {
        try await shop.users.logout()
        try await shop.users.login(account: "alice", password: Secret.password)
        let miss = try await failure { try await shop.places.stores(by: .cacheOnly) }
        try expect(miss.kind == .cacheMiss, "something was kept")
        try await shop.users.logout()
        return ["after a logout nothing is left of what was kept for the user"]
    }
}
