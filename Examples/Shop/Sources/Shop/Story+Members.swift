import Penstock
import ShopKit

extension Story {
    /// Five calls are under way when it turns out that the token has expired.
    func useExpiredToken() async throws -> [String] {
        let server = world.development
        try await shop.members.join()
        server.members.expire()
        let seen = server.wire.requestCount
        let pages = ["card", "points", "vouchers", "wishes", "invoices"]
        let calls = try await server.holdingReplies {
            let calls = pages.map { page in Task { try await shop.members.page(page) } }
            try await server.wire.waitForRequests(count: seen + pages.count)
            return calls
        }
        var answers: [String] = []
        for call in calls { answers.append(try await call.value) }
        let (renewals, refusals) = server.members.counts
        try expect(answers == pages.map { "the \($0) of a member" }, "the pages are \(answers)")
        try expect(renewals == 1 && refusals == pages.count, "\(renewals) renewals after \(refusals) refusals")
        try await shop.members.leave()
        return [
            "\(refusals) calls were refused at the same time, and the token was renewed \(renewals) time",
            "each was sent once more: \(answers.count) answers, \(server.wire.requestCount - seen) requests in all",
        ]
    }
}
