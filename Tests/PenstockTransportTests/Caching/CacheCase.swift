import Foundation
import PenstockCore
import PenstockTesting

/// A conversation: what a caller asks, what the server says if it is asked, and what must come of it.
struct CacheCase: Sendable, CustomStringConvertible {
    let rule: String
    let steps: [CacheStep]

    init(_ rule: String, _ steps: CacheStep...) {
        self.rule = rule
        self.steps = steps
    }

    var description: String { rule }

    static let groups: [(String, [CacheCase])] = [
        ("freshness", freshness), ("malformed", malformed), ("response directives", responseDirectives),
        ("request directives", requestDirectives), ("stale", stale), ("statuses", statuses), ("methods", methods),
        ("variants", variants), ("validation", validation), ("fields", fields), ("parts", parts),
    ]

    /// A date as fields have it, so many seconds after the clock's beginning.
    static func date(_ seconds: Double) -> String {
        HTTPDate.format(TestClock().timeSource.date() + seconds)
    }
}

/// One call. The server's content tells which of its answers it is: "1" is that of the first request it saw.
struct CacheStep: Sendable {
    enum Server: Sendable {
        /// Must not be asked.
        case silent
        /// Must be asked, with these fields and without those.
        case asked(HTTPFields, without: [HTTPFieldName])
    }

    enum Answer: Sendable {
        case reply(status: Int, HTTPFields, body: String?)
        case drop
    }

    let server: Server
    var answer = Answer.reply(status: 200, [:], body: nil)

    // What is asked.
    var method = HTTPMethod.get
    var path = "/item"
    var fields: HTTPFields = [:]
    /// Seconds that pass before.
    var pause = 0

    // What the caller gets. What is `nil` is that of the server's answer.
    var status: Int?
    var body: String?
    var gets: HTTPFields = [:]
    var lacks: [HTTPFieldName] = []
    /// The call fails.
    var fails = false

    /// A request of the caller's that goes to the server as it is, without a condition.
    static func load(_ fields: HTTPFields = [:], status: Int = 200, body: String? = nil) -> CacheStep {
        asks([:], without: conditions).answered(status, fields, body: body)
    }

    /// The server is asked about what is stored.
    static func validation(_ fields: HTTPFields, without: [HTTPFieldName] = []) -> CacheStep {
        asks(fields, without: without)
    }

    static func asks(_ fields: HTTPFields, without: [HTTPFieldName] = []) -> CacheStep {
        CacheStep(server: .asked(fields, without: without))
    }

    /// What the server said to its first request, or to a later one, is the answer, and it is not asked.
    static func hit(_ number: Int = 1, status: Int = 200) -> CacheStep {
        CacheStep(server: .silent, status: status, body: String(number))
    }

    /// The same, and the server is asked behind the answer.
    static func hitAndRefresh(_ number: Int = 1, answered fields: HTTPFields) -> CacheStep {
        asks([:]).answered(200, fields).gets(200, body: String(number))
    }

    /// Nothing is sent, and the status is the cache's own.
    static func refusal(_ status: Int) -> CacheStep {
        CacheStep(server: .silent, status: status, body: "")
    }

    static let conditions: [HTTPFieldName] = ["If-None-Match", "If-Modified-Since", "If-Range", "Range"]

    func answered(_ status: Int, _ fields: HTTPFields = [:], body: String? = nil) -> CacheStep {
        with { $0.answer = .reply(status: status, fields, body: body) }
    }

    /// The connection ends without an answer.
    func dropped() -> CacheStep { with { $0.answer = .drop } }

    func after(_ seconds: Int) -> CacheStep { with { $0.pause = seconds } }
    func asking(_ fields: HTTPFields) -> CacheStep { with { $0.fields = fields } }
    func by(_ method: HTTPMethod) -> CacheStep { with { $0.method = method } }
    func at(_ path: String) -> CacheStep { with { $0.path = path } }
    func failing() -> CacheStep { with { $0.fails = true } }

    func gets(_ status: Int, body: String? = nil) -> CacheStep {
        with {
            $0.status = status
            if let body { $0.body = body }
        }
    }

    func gets(_ fields: HTTPFields, without: [HTTPFieldName] = []) -> CacheStep {
        with {
            $0.gets = fields
            $0.lacks = without
        }
    }

    private func with(_ change: (inout CacheStep) -> Void) -> CacheStep {
        var copy = self
        change(&copy)
        return copy
    }
}
