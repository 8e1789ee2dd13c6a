import Foundation

/// What decides how a write is sent and does not stand in its request. It is kept beside that, since the app may not have the
/// type any more when the write is sent, or may have one that cannot read what an earlier version has kept.
///
/// Of the endpoint's own options those are kept on which it depends who may read the write, and whether it counts as done. All
/// others are left to the service and the client.
struct OutboxTerms: Codable, Hashable, Sendable {
    /// Whether it was to be sealed, by the word of whatever level: then it never goes out in plain.
    var isSealed = false
    /// The environment that the options name in place of the client's.
    var environment: String?
    /// Whether the endpoint says that it is not sealed.
    var isPlain: Bool?
    /// Whether the endpoint says that it goes without a credential, or with one.
    var isAnonymous: Bool?
    var redirects: Redirects?
    var status: Status?
    var tags: [String]?
    var priority: Int?
    /// Whether the endpoint takes no part in the envelope of its service.
    var isWithoutEnvelope: Bool?
    /// Whether the endpoint says whom it trusts or by what way it goes, which cannot be kept: without its type it is not sent.
    var needsType: Bool?
    var policy: Policy?

    struct Redirects: Codable, Hashable, Sendable {
        var isFollowing: Bool
        var limit: Int
        var sendsBodyAcrossOrigins: Bool
        var crossOriginFields: [String]
    }

    struct Status: Codable, Hashable, Sendable {
        /// The first and the last of each range.
        var accepted: [ClosedRange<Int>]
        var opensEnvelopeOfFailures: Bool
    }

    /// Durations in seconds. What a row says itself is not among them.
    struct Policy: Codable, Hashable, Sendable {
        var lifetime: Double
        var keyLifetime: Double
        var baseDelay: Double
        var maximumDelay: Double
        var maximumHint: Double
        var conflictLimit: Int
    }
}

extension OutboxTerms {
    init<E: OutboxEndpoint>(of endpoint: E, isSealed: Bool, environment: String?) {
        let own = endpoint.options
        self.isSealed = isSealed
        self.environment = environment
        isPlain = own.sealing == .plain ? true : nil
        isAnonymous = own.authentication.map { $0 == .anonymous }
        redirects = own.redirects.map(Redirects.init)
        status = own.status.map(Status.init)
        tags = own.tags
        priority = own.priority?.rawValue
        isWithoutEnvelope = endpoint.envelope == .none ? true : nil
        needsType = own.trust != nil || own.proxy != nil || own.resolver != nil ? true : nil
        policy = Policy(E.outboxPolicy)
    }

    /// The endpoint's own options, as far as they were kept.
    var options: CallOptions {
        .with { options in
            if isPlain == true { options.sealing = .plain }
            options.authentication = isAnonymous.map { $0 ? .anonymous : .automatic }
            options.redirects = redirects?.policy
            options.status = status?.rule
            options.tags = tags
            options.priority = priority.flatMap { CallPriority(rawValue: $0) }
        }
    }

    /// What goes before the options of every level when it is sent.
    ///
    /// - Parameter environment: the client's, where the write has none of its own.
    func ownOptions(in environment: ServerEnvironment) -> CallOptions {
        .with { options in
            options.environment = self.environment.map(ServerEnvironment.custom) ?? environment
            if isSealed { options.sealing = .sealed }
        }
    }
}

extension OutboxTerms.Redirects {
    init(_ policy: RedirectPolicy) {
        isFollowing = policy.isFollowing
        limit = policy.limit
        sendsBodyAcrossOrigins = policy.sendsBodyAcrossOrigins
        crossOriginFields = policy.crossOriginFields.map(\.text).sorted()
    }

    var policy: RedirectPolicy {
        RedirectPolicy(
            isFollowing: isFollowing, limit: limit, sendsBodyAcrossOrigins: sendsBodyAcrossOrigins,
            crossOriginFields: Set(crossOriginFields.map { HTTPFieldName($0) }))
    }
}

extension OutboxTerms.Status {
    init(_ rule: StatusRule) {
        accepted = rule.accepted.filter { !$0.isEmpty }.map { $0.lowerBound...($0.upperBound - 1) }
        opensEnvelopeOfFailures = rule.opensEnvelopeOfFailures
    }

    var rule: StatusRule {
        // No number out of a file is one too many to be counted on.
        let ranges = accepted.filter { $0.upperBound < .max }.map { Range($0) }
        return StatusRule(ranges, opensEnvelopeOfFailures: opensEnvelopeOfFailures)
    }
}

extension OutboxTerms.Policy {
    init(_ policy: OutboxPolicy) {
        lifetime = policy.lifetime.seconds
        keyLifetime = policy.keyLifetime.seconds
        baseDelay = policy.baseDelay.seconds
        maximumDelay = policy.maximumDelay.seconds
        maximumHint = policy.maximumHint.seconds
        conflictLimit = policy.conflictLimit
    }

    var whole: OutboxPolicy {
        OutboxPolicy(
            lifetime: Self.duration(lifetime), keyLifetime: Self.duration(keyLifetime),
            baseDelay: Self.duration(baseDelay), maximumDelay: Self.duration(maximumDelay),
            maximumHint: Self.duration(maximumHint), conflictLimit: conflictLimit)
    }

    /// No number out of a file is more than a duration holds: longer than thirty thousand years is for ever.
    private static func duration(_ seconds: Double) -> Duration { .seconds(min(max(seconds, -1e12), 1e12)) }
}

/// Stands for the endpoint of a row whose type the app does not have any more, or cannot read. The write is delivered all the same,
/// with what was kept of its options.
struct UnknownWrite: OutboxEndpoint {
    typealias Output = Payload
    let service: ServiceID
    var terms = OutboxTerms()

    init(service: String, _ terms: OutboxTerms = OutboxTerms()) {
        self.service = ServiceID(service)
        self.terms = terms
    }

    init(from decoder: any Decoder) throws {
        service = ServiceID(try decoder.singleValueContainer().decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(service.name)
    }

    var route: Route { .post("/") }
    var decoding: ResponseDecoding<Payload> { .payload }
    var options: CallOptions { terms.options }
    var envelope: EnvelopeChoice { terms.isWithoutEnvelope == true ? .none : .ofService }

    /// A policy that never ends a write: of a row that an earlier version put no policy is known, so that only the row says how long it
    /// lives.
    static var outboxPolicy: OutboxPolicy { OutboxPolicy(lifetime: .seconds(Int64.max)) }
}
