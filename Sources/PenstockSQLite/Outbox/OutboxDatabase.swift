import Foundation
import PenstockCore

/// The statements of an outbox. Used on one queue, and, where something is changed, in a transaction.
final class OutboxDatabase {
    let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    // MARK: Putting in

    func put(_ row: OutboxRow, isNumbered: Bool) throws -> OutboxPlacement {
        var row = row
        let replaced = try fold(of: row).filter(\.mayBeReplaced)
        if let oldest = replaced.first { row.rollback = oldest.rollback ?? row.rollback }
        for old in replaced { try delete(old, at: row.created) }
        try run(
            "INSERT OR IGNORE INTO lane (lane, owner, due, is_hinted, last_number, is_ready) VALUES (?, ?, ?, 0, 0, 0)",
            [.text(row.lane), .text(row.owner.digest), .date(row.created)])
        // What it waited for before says nothing about this one, and was written by a clock that may have been set back since.
        if try first(of: row.lane) == nil { try open(row.lane, at: row.created) }
        if isNumbered {
            try run("UPDATE lane SET last_number = last_number + 1 WHERE lane = ?", [.text(row.lane)])
            row.number = try read("SELECT last_number FROM lane WHERE lane = ?", [.text(row.lane)]) { $0.int(0) }.first
        }
        try insert(row)
        row.position = try connection.number("SELECT last_insert_rowid()") ?? 0
        try refresh([row.lane] + replaced.map(\.lane))
        return OutboxPlacement(row: row, replaced: replaced.map(\.id))
    }

    /// Oldest first.
    private func fold(of row: OutboxRow) throws -> [OutboxRow] {
        guard let fold = row.fold else { return [] }
        let sql = "SELECT \(OutboxColumns.all) FROM item WHERE fold = ? ORDER BY position"
        return try read(sql, [.text(fold)]) { try OutboxColumns.row($0) }
    }

    private func insert(_ row: OutboxRow) throws {
        try run(
            """
            INSERT INTO item (id, identity, owner, lane, fold, created, expires, is_kept, stops_lane, number, state, attempts, \
            conflicts, intent, rollback, checksum, payload, destination, rests_until) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?)
            """,
            [
                .id(row.id), .text(row.owner.identity), .text(row.owner.digest), .text(row.lane), .text(row.fold),
                .date(row.created), .date(row.expires), .int(row.isKept ? 1 : 0), .int(row.stopsLane ? 1 : 0),
                row.number.map { .int($0) } ?? .null, .data(row.intent), .data(row.rollback),
                .int(OutboxColumns.checksum(row.payload, of: row.id)), .data(row.payload), .text(row.destination),
                .date(row.restsUntil),
            ])
    }

    /// - Parameter moment: from when on the next row of its lane may be sent, where it was the first.
    private func delete(_ row: OutboxRow, at moment: Date) throws {
        if try first(of: row.lane) == row.position { try open(row.lane, at: moment) }
        try run("DELETE FROM item WHERE position = ?", [.int(row.position)])
    }

    /// Notes of each lane whether something of it may be sent, not before when, and where to, and lets go of those that nobody
    /// needs any more.
    private func refresh(_ lanes: [String]) throws {
        for lane in Set(lanes) {
            try run(
                """
                UPDATE lane SET is_ready = EXISTS (SELECT 1 FROM item WHERE lane = ?1 AND state = 0) \
                AND NOT EXISTS (SELECT 1 FROM item WHERE lane = ?1 AND state = 1) \
                AND NOT EXISTS (SELECT 1 FROM item WHERE lane = ?1 AND state = 2 AND stops_lane = 1), destination = \
                (SELECT destination FROM item WHERE lane = ?1 AND state = 0 ORDER BY position LIMIT 1), due = max(due, \
                coalesce((SELECT rests_until FROM item WHERE lane = ?1 AND state = 0 ORDER BY position LIMIT 1), due)) \
                WHERE lane = ?1
                """, [.text(lane)])
            try run(
                """
                DELETE FROM lane WHERE lane = ?1 AND last_number = 0 \
                AND NOT EXISTS (SELECT 1 FROM item WHERE lane = ?1)
                """, [.text(lane)])
        }
    }

    /// Makes the first row of a lane due: another one is in that place now.
    private func open(_ lane: String, at now: Date) throws {
        try run("UPDATE lane SET due = ?, is_hinted = 0 WHERE lane = ?", [.date(now), .text(lane)])
    }

    // MARK: Looking

    func row(_ id: OutboxID) throws -> OutboxRow? {
        try read("SELECT \(OutboxColumns.all) FROM item WHERE id = ?", [.id(id)]) { try OutboxColumns.row($0) }.first
    }

    func rows(_ selection: OutboxSelection, after position: Int64, limit: Int) throws -> [OutboxRow] {
        let (condition, name): (String, String) =
            switch selection {
            case .pending(let owner): ("owner = ? AND state <> 2", owner.digest)
            case .undeliverable(let owner): ("owner = ? AND state = 2", owner.digest)
            case .fold(let fold): ("fold = ?", fold)
            }
        return try read(
            "SELECT \(OutboxColumns.all) FROM item WHERE \(condition) AND position > ? ORDER BY position LIMIT ?",
            [.text(name), .int(position), .int(Int64(max(limit, 0)))]
        ) { try OutboxColumns.row($0) }
    }

    func counts(of owner: OutboxOwner) throws -> OutboxCounts {
        let all = try number("SELECT count(*) FROM item WHERE owner = ?", [.text(owner.digest)]) ?? 0
        let failed = try number("SELECT count(*) FROM item WHERE owner = ? AND state = 2", [.text(owner.digest)]) ?? 0
        return OutboxCounts(pending: Int(clamping: all - failed), undeliverable: Int(clamping: failed))
    }

    /// The condition of a lane whose first queued row is held back by none of the destinations that are bound. They are bound as one text,
    /// so that there is one statement for any number of them; digests have one length, so none is found across two.
    private static let isFree = "is_ready = 1 AND instr(?, coalesce(destination, x'00')) = 0"

    /// The destinations as one text, never one without a byte, since SQLite takes that for no value at all.
    private static func list(_ destinations: Set<String>) -> OutboxValue {
        .text("," + destinations.sorted().joined(separator: ","))
    }

    func nextMoment(of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date) throws -> Date? {
        let (key, held) = (OutboxValue.text(owner.digest), Self.list(destinations))
        let first = try number("SELECT min(due) FROM lane WHERE owner = ? AND \(Self.isFree)", [key, held])
        let last = try number("SELECT max(due) FROM lane WHERE owner = ? AND \(Self.isFree)", [key, held])
        let expires = try number("SELECT min(expires) FROM item WHERE owner = ? AND state = 0", [key])
        // What lies further away than any wait is due.
        let strayed = last.map { OutboxValue.date($0) }.flatMap {
            OutboxDecider.isDue($0, at: now) ? min($0, now) : nil
        }
        let sending = try number("SELECT 1 FROM item WHERE owner = ? AND state = 1 LIMIT 1", [key])
        let end = try sending.flatMap { _ in try lease().map { $0.isHeld(at: now) ? $0.expires : now } ?? now }
        let dates = [first, expires].map { $0.map { OutboxValue.date($0) } } + [strayed, end]
        return dates.compactMap(\.self).min()
    }

    // MARK: The sender

    func lease(for holder: String, at now: Date, duration: Duration) throws -> OutboxLease? {
        let current = try lease()
        guard let new = OutboxLease.decide(current, for: holder, at: now, duration: duration) else { return nil }
        if new.token != current?.token { try recover(at: now) }
        if new.holder != current?.holder { try endRests(at: now) }
        try run(
            "INSERT OR REPLACE INTO lease VALUES (1, ?, ?, ?)",
            [.text(new.holder), .int(new.token), .date(new.expires)])
        return new
    }

    private func lease() throws -> OutboxLease? {
        try read("SELECT holder, token, expires FROM lease WHERE id = 1", []) { row in
            OutboxLease(
                holder: String(decoding: try row.bytes(0), as: UTF8.self), token: row.int(1),
                expires: OutboxValue.date(row.int(2)))
        }.first
    }

    /// Nobody sends these any more.
    private func recover(at now: Date) throws {
        let lanes = try read("SELECT lane FROM item INDEXED BY item_sending WHERE state = 1", []) {
            String(decoding: try $0.bytes(0), as: UTF8.self)
        }
        try run(
            "UPDATE item INDEXED BY item_sending SET state = 0, unanswered = coalesce(unanswered, started, ?), started = NULL WHERE state = 1",
            [.date(now)])
        for lane in lanes { try open(lane, at: now) }
        try refresh(lanes)
    }

    private func endRests(at now: Date) throws {
        let resting = "item INDEXED BY item_resting WHERE rests_until IS NOT NULL"
        let lanes = try read("SELECT lane FROM \(resting)", []) { String(decoding: try $0.bytes(0), as: UTF8.self) }
        for lane in Set(lanes) where try head(of: lane)?.restsUntil != nil { try open(lane, at: now) }
        try run(
            "UPDATE item INDEXED BY item_resting SET rests_until = NULL WHERE rests_until IS NOT NULL", [])
    }

    func release(_ lease: OutboxLease) throws {
        try run("UPDATE lease SET expires = ? WHERE id = 1 AND token = ?", [.date(.distantPast), .int(lease.token)])
    }

    private func check(_ lease: OutboxLease) throws {
        guard let held = try self.lease(), held.token == lease.token, held.expires != OutboxValue.never else {
            throw OutboxStoreError.fenced
        }
    }

    func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) throws -> [OutboxRow] {
        try check(lease)
        let (key, held) = (OutboxValue.text(owner.digest), Self.list(destinations))
        // Some more than are wanted, since the first row of a lane may have expired.
        let most = OutboxValue.int(Int64(min(max(limit, 0), .max - 100)) + 100)
        let due = "SELECT lane FROM lane WHERE owner = ? AND \(Self.isFree) AND due"
        let latest = OutboxValue.date(now.addingTimeInterval(OutboxDecider.farthest))
        let text = { (row: SQLiteStatement) in String(decoding: try row.bytes(0), as: UTF8.self) }
        let lanes =
            try read("\(due) <= ? ORDER BY due, lane LIMIT ?", [key, held, .date(now), most], text)
            + read("\(due) > ? ORDER BY due, lane LIMIT ?", [key, held, latest, most], text)
        var claimed: [OutboxRow] = []
        for lane in lanes where claimed.count < limit {
            guard var row = try head(of: lane), row.expires > now else { continue }
            row.state = .sending
            row.attempts += 1
            row.started = now
            row.restsUntil = nil
            try run(
                "UPDATE item SET state = 1, attempts = ?, started = ?, rests_until = NULL WHERE position = ?",
                [.int(Int64(row.attempts)), .date(now), .int(row.position)])
            claimed.append(row)
        }
        try refresh(claimed.map(\.lane))
        return claimed
    }

    private func head(of lane: String) throws -> OutboxRow? {
        let sql = "SELECT \(OutboxColumns.all) FROM item WHERE lane = ? AND state = 0 ORDER BY position LIMIT 1"
        return try read(sql, [.text(lane)]) { try OutboxColumns.row($0) }.first
    }

    /// The place of the row that a lane waits with.
    private func first(of lane: String) throws -> Int64? {
        try number("SELECT min(position) FROM item WHERE lane = ? AND state = 0", [.text(lane)])
    }

    func settle(_ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease) throws {
        try check(lease)
        guard let row = try row(id) else { return }
        var lanes = [row.lane]
        switch step {
        case .done:
            try delete(row, at: now)
            for old in try fold(of: row) where old.isUndone(by: row) {
                try delete(old, at: now)
                lanes.append(old.lane)
            }
            if let fold = row.fold {
                try run("UPDATE item SET rollback = ? WHERE fold = ?", [.data(row.intent), .text(fold)])
            }
            try open(row.lane, at: now)
        case .wait(let wait):
            try run(
                """
                UPDATE item SET state = 0, started = NULL, conflicts = ?, unanswered = ?, \
                expires = coalesce(?, expires) WHERE position = ?
                """,
                [.int(Int64(wait.conflicts)), .date(wait.unanswered), .date(wait.expires), .int(row.position)])
            try run(
                "UPDATE lane SET due = ?, is_hinted = ? WHERE lane = ?",
                [.date(wait.until), .int(wait.isHinted ? 1 : 0), .text(row.lane)])
        case .undeliverable(let failure):
            try fail(row, failure, at: now)
            try open(row.lane, at: now)
        }
        try refresh(lanes)
    }

    private func fail(_ row: OutboxRow, _ failure: OutboxFailure, at now: Date) throws {
        try run(
            """
            UPDATE item SET state = 2, started = NULL, reason = ?, status = ?, is_doubtful = ?, \
            unanswered = CASE WHEN ?3 THEN coalesce(unanswered, started, ?) END WHERE position = ?
            """,
            [
                .int(Int64(failure.reason.rawValue)), failure.status.map { .int(Int64($0)) } ?? .null,
                .int(failure.mayBeProcessed ? 1 : 0), .date(now), .int(row.position),
            ])
    }

    func expire(of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease) throws -> [OutboxRow] {
        try check(lease)
        let late = try read(
            """
            SELECT \(OutboxColumns.all) FROM item WHERE owner = ? AND state = 0 AND expires <= ? ORDER BY expires LIMIT ?
            """, [.text(owner.digest), .date(now), .int(Int64(max(limit, 0)))]
        ) { try OutboxColumns.row($0) }
        var expired: [OutboxRow] = []
        for var row in late {
            let failure = OutboxFailure(.expired, mayBeProcessed: row.unanswered != nil)
            if try first(of: row.lane) == row.position { try open(row.lane, at: now) }
            try fail(row, failure, at: now)
            row.state = .undeliverable(failure)
            expired.append(row)
        }
        try refresh(expired.map(\.lane))
        return expired
    }

    // MARK: The app

    func hasten(_ owner: OutboxOwner, at now: Date) throws {
        try run(
            "UPDATE lane SET due = ?1 WHERE owner = ?2 AND due > ?1 AND is_hinted = 0",
            [.date(now), .text(owner.digest)])
        try run(
            "UPDATE item INDEXED BY item_resting SET rests_until = NULL WHERE owner = ? AND rests_until IS NOT NULL",
            [.text(owner.digest)])
    }

    func requeue(_ id: OutboxID, expires: Date, at now: Date) throws -> Bool {
        guard var row = try row(id), row.isUndeliverable else { return false }
        guard try !fold(of: row).contains(where: { $0.isOnItsWay(behind: row) }) else { return false }
        row.requeue(expires: expires)
        try run(
            """
            UPDATE item SET state = 0, expires = ?, attempts = 0, conflicts = 0, unanswered = ?, reason = NULL, \
            status = NULL, is_doubtful = NULL WHERE position = ?
            """, [.date(row.expires), .date(row.unanswered), .int(row.position)])
        if try first(of: row.lane) == row.position { try open(row.lane, at: now) }
        try refresh([row.lane])
        return true
    }

    func remove(_ id: OutboxID) throws -> Bool {
        guard let row = try row(id) else { return true }
        guard row.state != .sending else { return false }
        try delete(row, at: .distantPast)
        try refresh([row.lane])
        return true
    }

    func removeAll(ofIdentity identity: String) throws -> [OutboxID] {
        let rows = try read(
            "SELECT id, lane, state, position FROM item WHERE identity = ? AND is_kept = 0", [.text(identity)]
        ) { row in
            let lane = String(decoding: try row.bytes(1), as: UTF8.self)
            return (id: OutboxColumns.id(try row.bytes(0)), lane: lane, isQueued: row.int(2) == 0, position: row.int(3))
        }
        for row in rows where row.isQueued {
            if try first(of: row.lane) == row.position { try open(row.lane, at: .distantPast) }
        }
        try run("DELETE FROM item WHERE identity = ? AND is_kept = 0", [.text(identity)])
        try refresh(rows.map(\.lane))
        return rows.map(\.id)
    }
}

// MARK: Statements

/// What is bound to a statement.
enum OutboxValue {
    case null
    case int(Int64)
    case bytes(Data)

    static func text(_ text: String?) -> OutboxValue { text.map { .bytes(Data($0.utf8)) } ?? .null }
    static func data(_ data: Data?) -> OutboxValue { data.map { .bytes($0) } ?? .null }
    static func id(_ id: OutboxID) -> OutboxValue { .bytes(withUnsafeBytes(of: id.uuid.uuid) { Data($0) }) }

    /// A date in microseconds since 1970, within what the number can hold.
    static func date(_ date: Date?) -> OutboxValue {
        guard let date else { return .null }
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        return .int(Int64(min(max(microseconds, -longest), longest)))
    }

    static func date(_ microseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }

    /// `Date.distantPast` as it comes back.
    static let never: Date = {
        guard case .int(let number) = date(Date.distantPast) else { return .distantPast }
        return date(number)
    }()

    private static let longest = 9e18
}

extension OutboxDatabase {
    private func run(_ sql: String, _ values: [OutboxValue]) throws {
        _ = try read(sql, values) { _ in }
    }

    /// The first column of the first row; `nil` where there is none, or nothing in it.
    private func number(_ sql: String, _ values: [OutboxValue]) throws -> Int64? {
        try read(sql, values) { $0.isNull(0) ? nil : $0.int(0) }.first ?? nil
    }

    /// Runs a statement, and makes something of each of its rows.
    private func read<Output>(
        _ sql: String, _ values: [OutboxValue], _ make: (SQLiteStatement) throws -> Output
    ) throws -> [Output] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        // Bound bytes must stay where they are until the statement is reset, so all stand in one block of memory.
        let all = values.reduce(into: Data()) { if case .bytes(let bytes) = $1 { $0.append(bytes) } }
        return try all.withUnsafeBytes { buffer in
            defer { statement.reset() }
            var start = 0
            for (index, value) in values.enumerated() {
                let place = Int32(index + 1)
                switch value {
                case .null: try statement.bindNull(at: place)
                case .int(let number): try statement.bind(number, at: place)
                case .bytes(let bytes):
                    try statement.bind(.init(rebasing: buffer[start..<(start + bytes.count)]), at: place)
                    start += bytes.count
                }
            }
            var output: [Output] = []
            while try statement.step() { output.append(try make(statement)) }
            return output
        }
    }
}

/// How rows stand in the table.
enum OutboxColumns {
    static let all = """
        id, identity, owner, lane, fold, created, expires, is_kept, stops_lane, number, state, attempts, conflicts, started, \
        unanswered, reason, status, is_doubtful, intent, rollback, checksum, payload, position, \
        destination, rests_until
        """

    /// Bytes that are not what was written are given as none, which nothing can be made of.
    static func row(_ row: SQLiteStatement) throws -> OutboxRow {
        let id = id(try row.bytes(0))
        let payload = Data(try row.bytes(21))
        let isWhole = checksum(payload, of: id) == row.int(20)
        let owner = OutboxOwner(identityDigest: try text(row, 1), digest: try text(row, 2))
        var made = OutboxRow(
            id: id, owner: owner, lane: try text(row, 3), fold: row.isNull(4) ? nil : try text(row, 4),
            destination: row.isNull(23) ? nil : try text(row, 23), payload: isWhole ? payload : Data(),
            created: OutboxValue.date(row.int(5)),
            expires: OutboxValue.date(row.int(6)), isKept: row.int(7) != 0, stopsLane: row.int(8) != 0,
            intent: try data(row, 18), rollback: try data(row, 19))
        made.position = row.int(22)
        made.number = row.isNull(9) ? nil : row.int(9)
        made.attempts = Int(clamping: row.int(11))
        made.conflicts = Int(clamping: row.int(12))
        made.started = row.isNull(13) ? nil : OutboxValue.date(row.int(13))
        made.unanswered = row.isNull(14) ? nil : OutboxValue.date(row.int(14))
        made.restsUntil = row.isNull(24) ? nil : OutboxValue.date(row.int(24))
        made.state = state(row)
        return made
    }

    private static func state(_ row: SQLiteStatement) -> OutboxRow.State {
        switch row.int(10) {
        case 0: .queued
        case 1: .sending
        default:
            .undeliverable(
                OutboxFailure(
                    OutboxFailure.Reason(rawValue: Int(truncatingIfNeeded: row.int(15))) ?? .unreadable,
                    status: row.isNull(16) ? nil : Int(truncatingIfNeeded: row.int(16)),
                    mayBeProcessed: row.int(17) != 0))
        }
    }

    static func id(_ bytes: UnsafeRawBufferPointer) -> OutboxID {
        var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyMemory(from: .init(rebasing: bytes.prefix(16))) }
        return OutboxID(UUID(uuid: uuid))
    }

    private static func text(_ row: SQLiteStatement, _ column: Int32) throws -> String {
        String(decoding: try row.bytes(column), as: UTF8.self)
    }

    private static func data(_ row: SQLiteStatement, _ column: Int32) throws -> Data? {
        row.isNull(column) ? nil : Data(try row.bytes(column))
    }

    /// The checksum of a payload and of whose it is.
    static func checksum(_ payload: Data, of id: OutboxID) -> Int64 {
        var bytes = payload
        withUnsafeBytes(of: id.uuid.uuid) { bytes.append(contentsOf: $0) }
        return Int64(bitPattern: bytes.withUnsafeBytes { XXHash64.hash($0) })
    }
}
