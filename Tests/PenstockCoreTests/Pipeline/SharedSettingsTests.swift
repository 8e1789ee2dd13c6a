import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Which settings two calls must have in common to get one answer.
@Suite(.timeLimit(.minutes(5))) struct SharedSettingsTests {
    private struct AddMark: Interceptor {
        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            var request = request
            request.fields["X-Mark"] = "1"
            return try await next(request)
        }
    }

    private struct Read: Endpoint {
        typealias Output = Message
        var route: Route { .get("/list") }
    }

    typealias Change = @Sendable (inout CallSettings) -> Void

    static let compared: [String: Change] = [
        "timeouts": { $0.timeouts.idle = .seconds(7) },
        "limits": { $0.limits.bodyBytes = 7 },
        "redirects": { $0.redirects = .never },
        "keepsMethod": { $0.keepsMethod = true },
        "cleartext": { $0.cleartext = .loopback },
        "retry": { $0.retry = .none },
        "idempotency": { $0.idempotency = .declared },
        "tags": { $0.tags = ["a"] },
        "authentication": { $0.authentication = .anonymous },
        "sealing": { $0.sealing = .plain },
        "waitsForConnectivity": { $0.waitsForConnectivity = .yes },
        "skippedInterceptors": { $0.skippedInterceptors = SkippedInterceptors([AddMark.self]) },
    ]

    /// What the request shows, or the isolation key has.
    static let inRequestOrIsolation = [
        "baseURL", "link", "environment", "headers", "parameters", "trust", "proxy", "resolver", "requestCompression",
    ]

    /// What is done with a response once it is there, or before there is a request.
    static let aboveExchange = [
        "status", "formFormat", "jsonFormat", "modelFormat", "cache", "cacheTags", "inFlight", "priority",
    ]

    @Test func `every setting is compared, or it is said why not`() {
        let names = Mirror(reflecting: CallSettings()).children.compactMap(\.label)
        let answered = Self.compared.keys.sorted() + Self.inRequestOrIsolation + Self.aboveExchange
        #expect(names.sorted() == answered.sorted())
    }

    @Test(arguments: compared.keys.sorted())
    func `calls that differ in what happens to an exchange do not share one`(name: String) throws {
        var changed = CallSettings()
        let change = try #require(Self.compared[name])
        change(&changed)
        #expect(!CallSettings().mayShareExchange(with: changed))
        #expect(!changed.mayShareExchange(with: CallSettings()))
        #expect(changed.mayShareExchange(with: changed))
    }

    @Test func `what is done with a response afterwards is each call's own`() {
        var changed = CallSettings()
        changed.cacheTags = ["a"]
        changed.priority = .immediate
        changed.status = .any
        #expect(changed.mayShareExchange(with: CallSettings()))
    }

    @Test(arguments: [true, false])
    func `a call that leaves out an interceptor does not get the answer of one that has it`(isCached: Bool) async throws
    {
        let script = CallSupport.holding(2)
        let client = CallSupport.client(script) {
            $0.attemptInterceptors = [AddMark()]
            $0.options = isCached ? .cache(.http) : .inFlight(.join)
            if !isCached { $0.cache = .none }
        }
        let first = client.start(Read())
        await script.waitForExchanges(count: 1)
        let second = client.start(Read(), options: .skipping(AddMark.self))
        await script.waitForExchanges(count: 2)
        script.release()
        script.release()
        _ = try await (first.value, second.value)
        #expect(Set(script.requests.map { $0.request.fields["X-Mark"] }) == ["1", nil])
    }
}
