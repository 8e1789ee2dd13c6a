import Foundation

/// An API whose calls are durable writes: what is put into an ``Outbox`` is on disk before the caller is answered, and is
/// sent when that is possible, in the order of its lane, under one idempotency key and with the same bytes for ever.
///
/// ```swift
/// struct PlaceOrder: OutboxEndpoint {
///     typealias Output = Order
///     let cart: String
///     let quantity: Int
///     var route: Route { .post("/orders") }
///     var lane: OutboxLane { "cart/\(cart)" }
/// }
/// let receipt = try await outbox.put(PlaceOrder(cart: "7", quantity: 2))   // on disk
/// let order = try await receipt.value                                      // delivered
/// ```
///
/// The request is made once, when it is put: its URL, its parameters (common ones included), its body and the endpoint's own
/// headers are kept. Common headers and credentials are read anew each time it is sent, so what changes with time belongs
/// there. The endpoint itself is kept as JSON, for its decoding after the app was started anew.
///
/// As in any ``Endpoint``, a member that is declared with another type than here does not compile, since it would be ignored.
public protocol OutboxEndpoint: OutboxEndpointMembers, Codable {
    /// A check by the compiler, not to be declared: it says which member of a write has another type than this protocol gives it.
    static func _checkMembers(ofWrite types: (_Name, _Lane, _Fold, _Policy, _Answer, _Verdict).Type)

    /// The name by which rows find this type again after the app was started anew. The type's own name by default; give the old
    /// name to a type that is renamed.
    static var outboxName: String { get }

    /// What keeps its order: one write of a lane is sent after the other, lanes side by side. One lane for each
    /// ``outboxName`` by default, which is always right and never quick.
    var lane: OutboxLane { get }

    /// What an earlier write that waits is replaced by: the last of one fold is sent, those before it that were not sent
    /// are not. One that the server may have processed is sent to its end, and the last one behind it. `nil`, as by default,
    /// replaces nothing.
    var fold: OutboxFold? { get }

    /// How long, and how, it is tried.
    static var outboxPolicy: OutboxPolicy { get }

    /// The app's word on an answer that may mean several things: 409, 422, and a business code in an envelope.
    ///
    /// - Returns: `nil`, as by default, for ``OutboxDecider``'s own.
    func verdict(on answer: OutboxAnswer) -> OutboxVerdict?
}

extension OutboxEndpoint {
    public static var outboxName: String { String(describing: Self.self) }
    public var lane: OutboxLane { OutboxLane(Self.outboxName) }
    public var fold: OutboxFold? { nil }
    public static var outboxPolicy: OutboxPolicy { OutboxPolicy() }
    public func verdict(on answer: OutboxAnswer) -> OutboxVerdict? { nil }
}

/// What an ``OutboxEndpoint``'s members are declared as, whatever their types; see ``EndpointMembers``.
public protocol OutboxEndpointMembers: Endpoint {
    /// The type that ``outboxName`` is declared with.
    associatedtype _Name
    /// See ``OutboxEndpoint/outboxName``.
    static var outboxName: _Name { get }
    /// The type that ``lane`` is declared with.
    associatedtype _Lane
    /// See ``OutboxEndpoint/lane``.
    var lane: _Lane { get }
    /// The type that ``fold`` is declared with.
    associatedtype _Fold
    /// See ``OutboxEndpoint/fold``.
    var fold: _Fold { get }
    /// The type that ``outboxPolicy`` is declared with.
    associatedtype _Policy
    /// See ``OutboxEndpoint/outboxPolicy``.
    static var outboxPolicy: _Policy { get }
    /// The type of what ``verdict(on:)`` is declared to take.
    associatedtype _Answer
    /// The type of what ``verdict(on:)`` is declared to give back.
    associatedtype _Verdict
    /// See ``OutboxEndpoint/verdict(on:)``.
    func verdict(on answer: _Answer) -> _Verdict
}

/// The name of a resource whose writes keep their order. Two users and two environments never share one.
public struct OutboxLane: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name, as the app gave it.
    public let name: String

    /// A lane by its name.
    public init(_ name: String) {
        self.name = name
    }

    public init(stringLiteral value: String) {
        name = value
    }

    public var description: String { name }
}

/// The name of an intent of which only the last counts, such as whether a thing is liked.
public struct OutboxFold: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name, as the app gave it.
    public let name: String

    /// A fold by its name.
    public init(_ name: String) {
        self.name = name
    }

    public init(stringLiteral value: String) {
        name = value
    }

    public var description: String { name }
}

/// An answer that the app is asked about.
public struct OutboxAnswer: Sendable {
    /// 409, 422, or the status of an answer whose envelope holds a code that is no success.
    public var status: Int
    /// The envelope's code; `nil` where there was none.
    public var code: BusinessCode?
    /// The content as it came.
    public var payload: Payload
    /// Which attempt it answers: 1 for the first.
    public var attempt: Int
    /// How many 409 came before.
    public var conflicts: Int

    /// An answer to ask an endpoint's ``OutboxEndpoint/verdict(on:)`` about in tests.
    public init(status: Int, code: BusinessCode? = nil, payload: Payload, attempt: Int = 1, conflicts: Int = 0) {
        self.status = status
        self.code = code
        self.payload = payload
        self.attempt = attempt
        self.conflicts = conflicts
    }
}

/// What the app makes of an ``OutboxAnswer``.
@nonexhaustive
public enum OutboxVerdict: Hashable, Sendable {
    /// The server has what was written; it is delivered.
    case done
    /// It is sent again, at the earliest after this time; `nil` for the policy's own wait.
    case again(after: Duration?)
    /// It goes to the list of the undeliverable.
    case undeliverable
}

/// How long a write is tried, how often, and what its failure does to its lane.
public struct OutboxPolicy: Hashable, Sendable {
    /// What happens behind a write that the server refused.
    @nonexhaustive
    public enum AfterFailure: Int, Hashable, Sendable {
        /// The next write of the lane is sent.
        case goOn = 0
        /// The lane waits until the app says ``Outbox/retry(_:)`` or ``Outbox/discard(_:)``, or until what waits in it expires.
        case stopLane = 1
    }

    /// What a logout does to what was not sent yet.
    @nonexhaustive
    public enum SignOut: Int, Hashable, Sendable {
        /// It is removed; of the next user nobody can read it.
        case purge = 0
        /// It waits until that user is there again.
        case keep = 1
    }

    /// The time after which it is not sent any more. 7 days by default: longer than a weekend in the mountains, shorter than what a
    /// user has forgotten.
    public var lifetime: Duration
    /// How long the server remembers a key. A write that it may have processed is not sent later than this after the first
    /// attempt of which nobody knows what came of it, since a server that has forgotten the key would do it twice; nor after the
    /// clock was set back behind that attempt. 24 hours by default, which is what services that document it keep at least.
    public var keyLifetime: Duration
    /// What happens behind a write that was refused. By default the next one of the lane is sent.
    public var afterFailure: AfterFailure
    /// What a logout does to it. By default it is removed, since the next user of a phone may be somebody else.
    public var signOut: SignOut
    /// The wait after the first failure; each further one doubles it. 2 s by default: a phone that changes its network has
    /// another one by then.
    public var baseDelay: Duration
    /// The longest wait of its own. 15 minutes by default: often enough for a server that is repaired, and a hundred times
    /// a day at most.
    public var maximumDelay: Duration
    /// The longest wait that a server may ask for by `Retry-After`. One hour by default; a longer one counts as this.
    public var maximumHint: Duration
    /// How many 409 are taken for "the same key is being processed" before the write is given up, in doubt. 5 by default: with
    /// the waits between them about a minute, longer than servers take to finish a request.
    public var conflictLimit: Int
    /// The field that carries the running number of its lane, for servers that keep the last one they took: it rises by one
    /// for each write that is put. `nil`, as by default, for none.
    public var numberField: HTTPFieldName?

    /// A policy with the default of everything that is left out.
    public init(
        lifetime: Duration = .seconds(7 * 86_400), keyLifetime: Duration = .seconds(86_400),
        afterFailure: AfterFailure = .goOn, signOut: SignOut = .purge, baseDelay: Duration = .seconds(2),
        maximumDelay: Duration = .seconds(900), maximumHint: Duration = .seconds(3_600), conflictLimit: Int = 5,
        numberField: HTTPFieldName? = nil
    ) {
        self.lifetime = lifetime
        self.keyLifetime = keyLifetime
        self.afterFailure = afterFailure
        self.signOut = signOut
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumHint = maximumHint
        self.conflictLimit = conflictLimit
        self.numberField = numberField
    }
}
