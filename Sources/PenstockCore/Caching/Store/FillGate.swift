/// Says whether what was read from one store may still be kept in another one, or has been changed in the meantime.
///
/// Keys share a number of stripes, so that the gate is small; two keys of one stripe may keep each other's fill out, which
/// costs a read and nothing else.
struct FillGate: Sendable {
    /// Given before a read.
    struct Ticket: Equatable, Sendable {
        fileprivate let stripe: Int
        fileprivate let changes: UInt64
        fileprivate let allChanges: UInt64
    }

    private struct Stripe: Sendable {
        var changes: UInt64 = 0
        var active = 0
    }

    private var stripes = [Stripe](repeating: Stripe(), count: 64)
    private var all = Stripe()

    /// `nil` while the key is being changed: what is read now must not be kept.
    func ticket(for key: CacheKey) -> Ticket? {
        let stripe = Self.stripe(of: key)
        guard all.active == 0, stripes[stripe].active == 0 else { return nil }
        return Ticket(stripe: stripe, changes: stripes[stripe].changes, allChanges: all.changes)
    }

    /// Whether nothing has changed since the ticket was given.
    func isValid(_ ticket: Ticket) -> Bool {
        all.active == 0 && stripes[ticket.stripe].active == 0 && all.changes == ticket.allChanges
            && stripes[ticket.stripe].changes == ticket.changes
    }

    /// A change of one key begins, or of any number of them.
    mutating func begin(_ key: CacheKey?) {
        change(key, by: 1)
    }

    /// What began has ended.
    mutating func end(_ key: CacheKey?) {
        change(key, by: -1)
    }

    private mutating func change(_ key: CacheKey?, by step: Int) {
        guard let key else {
            all.active += step
            all.changes &+= 1
            return
        }
        stripes[Self.stripe(of: key)].active += step
        stripes[Self.stripe(of: key)].changes &+= 1
    }

    private static func stripe(of key: CacheKey) -> Int {
        Int(UInt(bitPattern: key.hashValue) % 64)
    }
}
