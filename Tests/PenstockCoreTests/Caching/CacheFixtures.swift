import Foundation

@testable import PenstockCore

/// Stored responses and decisions about them, with a clock that stands still.
enum CacheFixtures {
    /// Tue, 14 Nov 2023 22:13:20 GMT.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let url = "https://a.example/list?page=2"

    static let digests = CredentialDigests(unlocked: Data(repeating: 7, count: 32))

    static func date(_ offset: TimeInterval) -> String { HTTPDate.format(start + offset) }

    static func query(
        _ method: HTTPMethod = .get, _ fields: HTTPFields = [:], _ candidates: [CachedResponse] = [],
        policy: CachePolicy = .http, url: String = url, body: HTTPBody = .none
    ) throws -> CacheQuery {
        let request = HTTPRequest(method: method, url: try HTTPURL(url), fields: fields, body: body)
        let key = CacheKey(method: method, url: request.url, partition: .init())
        var query = CacheQuery(request, key: key, candidates: candidates, policy: policy)
        query.digests = digests
        return query
    }

    static func arrival(
        _ fields: HTTPFields, status: Int = 200, length: Int = 10, at offset: TimeInterval = 0,
        delay: TimeInterval = 0
    ) -> CacheArrival {
        CacheArrival(
            response: HTTPResponse(status: status, fields: fields), bodyLength: length,
            requestTime: start + offset - delay, responseTime: start + offset)
    }

    /// What is stored of a response that came at ``start``; `nil` when it is not stored.
    static func stored(
        _ fields: HTTPFields, status: Int = 200, length: Int = 10, at offset: TimeInterval = 0,
        delay: TimeInterval = 0, to request: HTTPFields = [:], policy: CachePolicy = .http
    ) throws -> CachedResponse? {
        let arrival = arrival(fields, status: status, length: length, at: offset, delay: delay)
        return try query(.get, request, policy: policy).receive(arrival).insertion?.response
    }

    /// The decision `seconds` after ``start``, in words: `use fresh`, `revalidate expired`, `load uri-miss`.
    static func decide(
        _ request: HTTPFields = [:], _ stored: [CachedResponse?], after seconds: TimeInterval,
        method: HTTPMethod = .get, policy: CachePolicy = .http
    ) throws -> String {
        let query = try query(method, request, stored.compactMap(\.self), policy: policy)
        return words(query.decide(now: start + seconds))
    }

    static func words(_ steps: [CacheStep]) -> String {
        let verbs = steps.map { step in
            switch step {
            case .deliver: "use"
            case .send(let exchange): exchange.purpose == .load ? "load" : "revalidate"
            case .refresh: "refresh"
            case .refuse: "refuse"
            }
        }
        return "\(verbs.joined(separator: " and ")) \(steps.first?.reason.rawValue ?? "nothing")"
    }

    /// The answer from the cache at that time.
    static func hit(
        _ request: HTTPFields = [:], _ stored: CachedResponse?, after seconds: TimeInterval = 1,
        method: HTTPMethod = .get
    ) throws -> CacheHit? {
        try query(method, request, stored.map { [$0] } ?? []).decide(now: start + seconds).first?.hit
    }

    static func validation(
        _ request: HTTPFields = [:], _ stored: [CachedResponse?], after seconds: TimeInterval = 1_000_000,
        method: HTTPMethod = .get
    ) throws -> CacheExchange? {
        try query(method, request, stored.compactMap(\.self)).validation(now: start + seconds)
    }
}

extension CacheQuery {
    /// What asks about what is stored; `nil` where nothing does.
    func validation(now: Date) -> CacheExchange? {
        guard case .send(let exchange) = decide(now: now).first, exchange.purpose != .load else { return nil }
        return exchange
    }

    /// Decides on the response to the request as it is.
    func receive(_ arrival: CacheArrival) -> CacheReception {
        receive(arrival, to: load(.uriMiss))
    }
}

extension CredentialDigests {
    convenience init(unlocked key: Data) {
        self.init()
        unlock(with: key)
    }
}
