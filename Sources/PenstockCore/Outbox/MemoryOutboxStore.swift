import Foundation

/// Keeps rows for as long as it lives: for tests, and for apps that want order and retries but nothing on disk. It shows the
/// rules of ``OutboxStore`` in their simplest form: each question looks at all rows, which suits some thousands.
public final class MemoryOutboxStore: OutboxStore {
    fileprivate struct Lane: Sendable {
        var owner: OutboxOwner
        /// When its first row may be sent.
        var due: Date
        var isHinted = false
        var lastNumber: Int64 = 0
        /// The rows of the lane, by position.
        var rows: [Int64: OutboxID] = [:]
    }

    fileprivate struct State: Sendable {
        var rows: [OutboxID: OutboxRow] = [:]
        var lanes: [String: Lane] = [:]
        var lease: OutboxLease?
        var lastPosition: Int64 = 0
        var isClosed = false
    }

    private let state = Locked(State())
    /// How many bytes a row may have.
    public let rowBytes: Int

    /// - Parameter rowBytes: of one payload at most. 512 KiB by default, as on disk.
    public init(rowBytes: Int = 512 << 10) {
        self.rowBytes = rowBytes
    }

    private func use<Output: Sendable>(
        _ body: (inout State) throws(OutboxStoreError) -> Output
    ) throws(OutboxStoreError) -> Output {
        try state.withLock { state throws(OutboxStoreError) in
            guard !state.isClosed else { throw .closed }
            return try body(&state)
        }
    }

    public func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement {
        guard row.payload.count <= rowBytes else { throw .tooLarge(bytes: row.payload.count, limit: rowBytes) }
        return try use { state throws(OutboxStoreError) in
            var row = row
            let replaced = state.fold(of: row).filter(\.mayBeReplaced)
            if let oldest = replaced.first { row.rollback = oldest.rollback ?? row.rollback }
            for old in replaced { state.drop(old, at: row.created) }
            state.lastPosition += 1
            row.position = state.lastPosition
            var lane = state.lanes[row.lane] ?? Lane(owner: row.owner, due: row.created)
            // What it waited for before says nothing about this one, and was written by a clock that may have been set back since.
            if state.first(of: row.lane) == nil { lane.open(at: row.created) }
            if isNumbered {
                lane.lastNumber += 1
                row.number = lane.lastNumber
            }
            lane.rows[row.position] = row.id
            state.lanes[row.lane] = lane
            state.rows[row.id] = row
            return OutboxPlacement(row: row, replaced: replaced.map(\.id))
        }
    }

    public func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow? {
        try use { $0.rows[id] }
    }

    public func rows(
        _ selection: OutboxSelection, after position: Int64, limit: Int
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try use { state in
            let found = state.rows.values.filter { $0.position > position && selection.holds($0) }
            return Array(found.sorted { $0.position < $1.position }.prefix(max(limit, 0)))
        }
    }

    public func counts(of owner: OutboxOwner) async throws(OutboxStoreError) -> OutboxCounts {
        try use { state in
            let own = state.rows.values.filter { $0.owner == owner }
            let undeliverable = own.filter(\.isUndeliverable).count
            return OutboxCounts(pending: own.count - undeliverable, undeliverable: undeliverable)
        }
    }

    public func nextMoment(
        of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date
    ) async throws(OutboxStoreError) -> Date? {
        try use { state in
            let queued = state.rows.values.filter { $0.owner == owner && $0.state == .queued }
            let lanes = state.lanes.compactMap { name, lane in
                lane.owner == owner ? state.head(of: name, avoiding: destinations).map { lane.due(for: $0) } : nil
            }
            let due = lanes.map { OutboxDecider.isDue($0, at: now) ? min($0, now) : $0 }
            let isSending = state.rows.values.contains { $0.owner == owner && $0.state == .sending }
            let lease = isSending ? [state.lease.map { $0.isHeld(at: now) ? $0.expires : now } ?? now] : []
            return (queued.map(\.expires) + due + lease).min()
        }
    }

    public func lease(
        for holder: String, at now: Date, duration: Duration
    ) async throws(OutboxStoreError) -> OutboxLease? {
        try use { state -> OutboxLease? in
            guard let new = OutboxLease.decide(state.lease, for: holder, at: now, duration: duration) else {
                return nil
            }
            if new.token != state.lease?.token { state.recover(at: now) }
            if new.holder != state.lease?.holder { state.endRests { _ in true } }
            state.lease = new
            return new
        }
    }

    public func release(_ lease: OutboxLease) async throws(OutboxStoreError) {
        try use { state in
            guard state.lease?.token == lease.token else { return }
            state.lease = OutboxLease(holder: lease.holder, token: lease.token, expires: .distantPast)
        }
    }

    public func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try use { state throws(OutboxStoreError) in
            try state.check(lease)
            let heads = state.lanes.compactMap { name, lane -> OutboxRow? in
                guard lane.owner == owner, let row = state.head(of: name, avoiding: destinations), row.expires > now,
                    OutboxDecider.isDue(lane.due(for: row), at: now)
                else { return nil }
                return row
            }
            let order = heads.sorted { $0.position < $1.position }.prefix(max(limit, 0))
            return order.map { row in
                var row = row
                row.state = .sending
                row.attempts += 1
                row.started = now
                row.restsUntil = nil
                state.rows[row.id] = row
                return row
            }
        }
    }

    public func settle(
        _ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) {
        try use { state throws(OutboxStoreError) in
            try state.check(lease)
            guard var row = state.rows[id] else { return }
            let started = row.started
            row.started = nil
            switch step {
            case .done:
                state.drop(row, at: now)
                state.lanes[row.lane]?.open(at: now)
                for old in state.fold(of: row) where old.isUndone(by: row) { state.drop(old, at: now) }
                state.carryIntent(of: row)
            case .wait(let wait):
                row.state = .queued
                row.conflicts = wait.conflicts
                row.unanswered = wait.unanswered
                row.expires = wait.expires ?? row.expires
                state.rows[id] = row
                state.lanes[row.lane]?.due = wait.until
                state.lanes[row.lane]?.isHinted = wait.isHinted
            case .undeliverable(let failure):
                row.state = .undeliverable(failure)
                row.unanswered = failure.mayBeProcessed ? row.unanswered ?? started ?? now : nil
                state.rows[id] = row
                state.lanes[row.lane]?.open(at: now)
            }
        }
    }

    public func expire(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try use { state throws(OutboxStoreError) in
            try state.check(lease)
            let late = state.rows.values.filter { $0.owner == owner && $0.state == .queued && $0.expires <= now }
            return late.sorted { $0.position < $1.position }.prefix(max(limit, 0)).map { row in
                var row = row
                row.state = .undeliverable(OutboxFailure(.expired, mayBeProcessed: row.unanswered != nil))
                if state.first(of: row.lane)?.id == row.id { state.lanes[row.lane]?.open(at: now) }
                state.rows[row.id] = row
                return row
            }
        }
    }

    public func hasten(_ owner: OutboxOwner, at now: Date) async throws(OutboxStoreError) {
        try use { state in
            for (name, lane) in state.lanes where lane.owner == owner && !lane.isHinted && lane.due > now {
                state.lanes[name]?.due = now
            }
            state.endRests { $0.owner == owner }
        }
    }

    public func requeue(_ id: OutboxID, expires: Date, at now: Date) async throws(OutboxStoreError) -> Bool {
        try use { state in
            guard var row = state.rows[id], row.isUndeliverable else { return false }
            guard !state.fold(of: row).contains(where: { $0.isOnItsWay(behind: row) }) else { return false }
            row.requeue(expires: expires)
            state.rows[id] = row
            if state.first(of: row.lane)?.id == id { state.lanes[row.lane]?.open(at: now) }
            return true
        }
    }

    public func remove(_ id: OutboxID) async throws(OutboxStoreError) -> Bool {
        try use { state in
            guard let row = state.rows[id] else { return true }
            guard row.state != .sending else { return false }
            state.drop(row, at: .distantPast)
            return true
        }
    }

    public func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID] {
        try use { state in
            let gone = state.rows.values.filter { $0.owner.identity == identity && !$0.isKept }
            for row in gone { state.drop(row, at: .distantPast) }
            return gone.map(\.id)
        }
    }

    public func close() async {
        state.withLock { $0.isClosed = true }
    }
}

extension MemoryOutboxStore.Lane {
    /// Its first row may be sent: another one is in that place now.
    fileprivate mutating func open(at now: Date) {
        due = now
        isHinted = false
    }

    /// When it is due with a row as its first.
    fileprivate func due(for row: OutboxRow) -> Date { max(due, row.restsUntil ?? due) }
}

extension MemoryOutboxStore.State {
    fileprivate func check(_ lease: OutboxLease) throws(OutboxStoreError) {
        guard let held = self.lease, held.token == lease.token, held.expires != .distantPast else { throw .fenced }
    }

    /// Oldest first.
    fileprivate func fold(of row: OutboxRow) -> [OutboxRow] {
        guard let fold = row.fold else { return [] }
        return rows.values.filter { $0.fold == fold }.sorted { $0.position < $1.position }
    }

    /// What is to be sent first of a lane; `nil` when nothing may be, or when it is held back.
    fileprivate func head(of name: String, avoiding destinations: Set<String>) -> OutboxRow? {
        let all = lanes[name]?.rows.values.compactMap { rows[$0] } ?? []
        guard !all.contains(where: { $0.state == .sending || $0.isUndeliverable && $0.stopsLane }) else { return nil }
        return first(of: name).flatMap { row in
            row.destination.map { destinations.contains($0) } ?? false ? nil : row
        }
    }

    /// What a lane waits with.
    fileprivate func first(of name: String) -> OutboxRow? {
        let all = lanes[name]?.rows.values.compactMap { rows[$0] } ?? []
        return all.filter { $0.state == .queued }.min { $0.position < $1.position }
    }

    /// - Parameter moment: from when on the next row of its lane may be sent, where it was the first.
    fileprivate mutating func drop(_ row: OutboxRow, at moment: Date) {
        if first(of: row.lane)?.id == row.id { lanes[row.lane]?.open(at: moment) }
        rows[row.id] = nil
        lanes[row.lane]?.rows[row.position] = nil
        if let lane = lanes[row.lane], lane.rows.isEmpty, lane.lastNumber == 0 { lanes[row.lane] = nil }
    }

    fileprivate mutating func carryIntent(of done: OutboxRow) {
        guard let fold = done.fold else { return }
        for row in rows.values where row.fold == fold { rows[row.id]?.rollback = done.intent }
    }

    fileprivate mutating func endRests(where isMeant: (OutboxRow) -> Bool) {
        for row in rows.values where row.restsUntil != nil && isMeant(row) { rows[row.id]?.restsUntil = nil }
    }

    /// Nobody sends these any more.
    fileprivate mutating func recover(at now: Date) {
        for row in rows.values where row.state == .sending {
            rows[row.id]?.state = .queued
            rows[row.id]?.unanswered = row.unanswered ?? row.started ?? now
            rows[row.id]?.started = nil
            lanes[row.lane]?.open(at: now)
        }
    }
}

extension OutboxRow {
    package var isUndeliverable: Bool { if case .undeliverable = state { true } else { false } }

    /// Whether it goes once a later write of its fold is done, since it would undo that.
    package func isUndone(by done: OutboxRow) -> Bool { position < done.position && state != .sending }

    /// Whether it is to be delivered still, and was put after another write of its fold, which must not follow it.
    package func isOnItsWay(behind other: OutboxRow) -> Bool { position > other.position && !isUndeliverable }

    /// It begins anew, under its old key and in its old place.
    package mutating func requeue(expires: Date) {
        // The app has been told that the server has forgotten the key, and wants it sent all the same.
        if case .undeliverable(let failure) = state, failure.reason == .keyExpired { unanswered = nil }
        state = .queued
        self.expires = expires
        attempts = 0
        conflicts = 0
    }
}

extension OutboxSelection {
    fileprivate func holds(_ row: OutboxRow) -> Bool {
        switch self {
        case .pending(let owner): row.owner == owner && !row.isUndeliverable
        case .undeliverable(let owner): row.owner == owner && row.isUndeliverable
        case .fold(let fold): row.fold == fold
        }
    }
}
