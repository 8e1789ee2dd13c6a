import Foundation

/// The number of a write for ever, which is its idempotency key as well.
public struct OutboxID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The number itself.
    public let uuid: UUID

    /// A number that is known, or by default a random one.
    public init(_ uuid: UUID = UUID()) {
        self.uuid = uuid
    }

    /// A random one (RFC 9562 §5.4).
    public init(from random: inout some RandomNumberGenerator) {
        uuid = UUID(uuidString: IdempotencyKey(using: &random).value) ?? UUID()
    }

    /// The key, without the quotation marks that the field has.
    public var key: String { uuid.uuidString.lowercased() }

    public var description: String { key }
}

/// Whose a write is. Rows hold digests: neither a user's name nor a lane's can be read in them.
public struct OutboxOwner: Hashable, Sendable {
    /// The digest of the user, in every environment.
    public let identity: String
    /// The digest of the user and the environment.
    public let digest: String

    /// The owner of what a user writes in an environment.
    public init(identity: String, environment: String) {
        self.identity = NameDigest.of(identity: identity)
        digest = NameDigest.of("owner", identity, environment)
    }

    package init(identityDigest: String, digest: String) {
        identity = identityDigest
        self.digest = digest
    }
}

/// Makes owners, and keeps the last: it is asked for at every look at the store, and is seldom another one.
final class OutboxOwners: Sendable {
    private struct Known: Sendable {
        let identity: String
        let environment: String
        let owner: OutboxOwner
    }

    private let last = Locked<Known?>(nil)

    func owner(_ identity: String, in environment: String) -> OutboxOwner {
        if let known = last.withLock({ $0 }), known.identity.isWritten(as: identity),
            known.environment.isWritten(as: environment)
        {
            return known.owner
        }
        let owner = OutboxOwner(identity: identity, environment: environment)
        last.withLock { $0 = Known(identity: identity, environment: environment, owner: owner) }
        return owner
    }

    /// Whose writes a client sends now.
    func owner(of client: APIClient) -> OutboxOwner {
        owner(client.configuration.identity(), in: client.environment.name)
    }
}

/// A write as a store keeps it.
public struct OutboxRow: Hashable, Sendable {
    /// Where a row is on its way.
    public enum State: Hashable, Sendable {
        /// It waits to be sent.
        case queued
        /// An attempt is under way, or was when its process ended.
        case sending
        /// It is sent no more, until the app says so.
        case undeliverable(OutboxFailure)
    }

    /// Its number, which is its key as well.
    public let id: OutboxID
    /// Whose it is.
    public let owner: OutboxOwner
    /// The digest of the lane with its owner.
    public let lane: String
    /// The digest of the fold with its owner; `nil` for a write that replaces nothing.
    public let fold: String?
    /// The digest of where it goes and as what, with its owner: rows of one destination are held back together. `nil` for a row
    /// that an earlier version put, which is never held back.
    public let destination: String?
    /// The request and the endpoint; sealed where there is a cipher. A store looks at nothing in it.
    public let payload: Data
    /// When it was put.
    public let created: Date
    /// When it is sent no more.
    public var expires: Date
    /// Whether a logout leaves it.
    public let isKept: Bool
    /// Whether its lane waits for the app while it is undeliverable.
    public let stopsLane: Bool
    /// What the value of the fold is once this is done, and what it is when this fails; sealed where there is a cipher.
    public let intent: Data?
    /// What the value of the fold is when this fails.
    public var rollback: Data?
    /// Before when it is not sent where it is the first of its lane, since a later one may take its place until then; `nil` for
    /// at once. The rest is over where it is claimed, ``OutboxStore/hasten(_:at:)`` is called, or another holder takes the lease.
    public var restsUntil: Date?

    /// Its place among all rows: rises with each that is put. Given by the store.
    public var position: Int64 = 0
    /// Its place in its lane, for lanes that are numbered: 1 for the first. Given by the store.
    public var number: Int64?
    /// Where it is on its way.
    public var state = State.queued
    /// How often it was sent.
    public var attempts = 0
    /// How many 409 it was answered with.
    public var conflicts = 0
    /// When the attempt under way was begun.
    public var started: Date?
    /// When the first attempt was begun that may have been processed without a word of what came of it: it was never answered,
    /// or a gateway answered that it had given up, or the server that the key was in use.
    public var unanswered: Date?

    /// A row that was not sent yet, for a store to give its place.
    public init(
        id: OutboxID, owner: OutboxOwner, lane: String, fold: String? = nil, destination: String? = nil, payload: Data,
        created: Date, expires: Date, isKept: Bool = false, stopsLane: Bool = false, intent: Data? = nil,
        rollback: Data? = nil
    ) {
        self.id = id
        self.owner = owner
        self.lane = lane
        self.fold = fold
        self.destination = destination
        self.payload = payload
        self.created = created
        self.expires = expires
        self.isKept = isKept
        self.stopsLane = stopsLane
        self.intent = intent
        self.rollback = rollback
    }

    /// Whether a later write of the same fold takes its place: it is not under way, and no attempt of it may be processed
    /// yet, since that would then come after the later one.
    public var mayBeReplaced: Bool {
        switch state {
        case .queued: unanswered == nil
        case .sending: false
        case .undeliverable: true
        }
    }
}

/// Why a write is on the list of the undeliverable.
public struct OutboxFailure: Error, Hashable, Sendable {
    /// Why, in one word. The numbers stand in files, and stay.
    @nonexhaustive
    public enum Reason: Int, Hashable, Sendable {
        /// The server refused it: ``OutboxFailure/status`` tells how.
        case refused = 1
        /// The server answered 409 again and again, and may still be processing it; or the app took that for a conflict.
        case conflict = 2
        /// The envelope held a code that is no success.
        case business = 3
        /// It was not delivered within ``OutboxPolicy/lifetime``.
        case expired = 4
        /// The server may have processed it, and has forgotten its key by now: ``OutboxPolicy/keyLifetime``.
        case keyExpired = 5
        /// What was kept of it cannot be read: the bytes are damaged, or the cipher cannot open them.
        case unreadable = 6
        /// Something in the app refuses to send it: an interceptor, a policy, a service that is gone.
        case blocked = 7
    }

    /// Why, in one word.
    public var reason: Reason
    /// What the server answered last; `nil` where it did not.
    public var status: Int?
    /// Whether the server may have processed it all the same: nobody knows what came of an attempt.
    public var mayBeProcessed: Bool

    /// A failure that leaves no doubt, unless `mayBeProcessed`.
    public init(_ reason: Reason, status: Int? = nil, mayBeProcessed: Bool = false) {
        self.reason = reason
        self.status = status
        self.mayBeProcessed = mayBeProcessed
    }
}

// MARK: Printing

extension OutboxRow: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its number, how much there is and where it is on its way, never what was written.
    public var description: String { "write \(id), \(payload.count) bytes, \(state), \(attempts) attempts" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["row": description], displayStyle: .struct) }
}

extension OutboxEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the write and where it is on its way, never what was written.
    public var description: String { "\(name ?? "unreadable"), \(row)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["entry": description], displayStyle: .struct) }
}
