import Foundation
import PenstockCore

/// Writes a body piece by piece: a short one is kept until it is whole, of a long one at most a piece is in memory.
final class SQLiteBodyWriter: CacheBodyWriter {
    private struct State: Sendable {
        var buffer = Data()
        var length = 0
        /// Where the pieces go; `nil` while there are none.
        var place: CacheRow.BodyPlace?
        var isOver = false
    }

    private let response: CachedResponse
    private let store: SQLiteCacheStore
    private let state = Locked(State())

    init(_ response: CachedResponse, store: SQLiteCacheStore) {
        self.response = response
        self.store = store
    }

    deinit {
        abandon()
    }

    private var configuration: SQLiteCacheConfiguration { store.engine.configuration }

    func append(_ data: Data) async -> Bool {
        var rest = data
        while true {
            let step = take(&rest)
            switch step {
            case .over: return false
            case .room: return true
            case .tooLong:
                abandon()
                // What has come since is no older than what it would have taken the place of.
                _ = await store.change { [response] database throws(SQLiteError) in
                    try database.removeVariant(of: response, upTo: response.responseTime)
                }
                return false
            case .piece(let piece, let index):
                guard await write(piece, at: index) else {
                    abandon()
                    return false
                }
            }
        }
    }

    func finish() async -> StoredResponse? {
        let last = state.withLock { state -> State? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return state
        }
        guard let last else { return nil }
        guard var place = last.place else { return await store.put(response, body: last.buffer) }
        place.length = last.length
        let stored = await store.change(weight: max(1, last.buffer.count)) {
            [response, place] database throws(SQLiteError) in
            SQLiteCacheStore.Kept(try database.finish(response, place, last: last.buffer))
        }
        guard let kept = stored?.value else {
            remove(place.number)
            return nil
        }
        store.engine.alive.withLock { _ = $0.remove(place.number) }
        return StoredResponse(kept.response, entry: kept.entry, body: nil)
    }

    func abandon() {
        let place = state.withLock { state -> CacheRow.BodyPlace? in
            defer { state = State(isOver: true) }
            return state.isOver ? nil : state.place
        }
        if let place { remove(place.number) }
    }

    private enum Step {
        case over, room, tooLong
        case piece(Data, index: Int)
    }

    /// Takes as much as the buffer holds, and a piece out of it when it is full.
    private func take(_ rest: inout Data) -> Step {
        let (size, limit) = (configuration.chunkBytes, configuration.limits.bodyBytes)
        let data = rest
        let (step, taken) = state.withLock { state -> (Step, Int) in
            guard !state.isOver else { return (.over, 0) }
            guard state.length + data.count <= limit else { return (.tooLong, 0) }
            if state.buffer.count == size {
                defer { state.buffer = Data() }
                return (.piece(state.buffer, index: (state.length - size) / size), 0)
            }
            let taken = min(data.count, size - state.buffer.count)
            state.buffer.append(data.prefix(taken))
            state.length += taken
            return (.room, taken)
        }
        rest = rest.dropFirst(taken)
        if case .room = step, !rest.isEmpty { return take(&rest) }
        return step
    }

    private func write(_ piece: Data, at index: Int) async -> Bool {
        if index == 0 {
            guard await begin() else { return false }
        }
        guard let place = state.withLock({ $0.place }) else { return false }
        let key = response.key
        return await store.change(weight: piece.count) { [engine = store.engine] database throws(SQLiteError) in
            try engine.sweepIfDue(database)
            return try database.append(piece, at: index, of: place, for: key)
        } ?? false
    }

    private func begin() async -> Bool {
        let number = await store.change { database throws(SQLiteError) in try database.newBodyNumber() }
        guard let number else { return false }
        let place = CacheRow.BodyPlace(
            version: configuration.nextVersion(), number: number, chunkBytes: configuration.chunkBytes)
        store.engine.alive.withLock { _ = $0.insert(number) }
        return state.withLock { state in
            if !state.isOver { state.place = place }
            return !state.isOver
        }
    }

    private func remove(_ number: Int64) {
        let engine = store.engine
        engine.alive.withLock { _ = $0.remove(number) }
        engine.submit(
            CacheJob(run: { database throws(SQLiteError) in
                try database.abandon(number)
                return {}
            }))
    }
}
