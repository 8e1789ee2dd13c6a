import Foundation

/// What an app wants transferred until it is: a list that survives the process. The transfers themselves are calls; the list says after
/// a relaunch which to make again, and what has come of the others.
///
/// ```swift
/// struct FilmOrder: Codable, Sendable { var id: Int }
///
/// let wanted = try await TransferList<FilmOrder>.open(url)
/// try await wanted.add(FilmOrder(id: 7), as: "film/7")
/// for item in await wanted.items where item.state == .waiting {         // after a relaunch as well
///     let call = client.download(Film(id: item.order.id), to: .folder(movies))
///     await wanted.follow(call, as: item.id)
/// }
/// ```
///
/// A download that is made again goes on where it was interrupted. Every change is on the disk when the function that makes it returns, and
/// is none where that throws.
/// One list has the file, in one process.
public actor TransferList<Order: Codable & Sendable> {
    /// Something that is wanted, or was.
    public struct Item: Codable, Identifiable, Sendable {
        /// The app's own name for it.
        public let id: String
        /// What the app makes the call of.
        public let order: Order
        /// When it was added.
        public let added: Date
        /// What became of it.
        public fileprivate(set) var state: TransferState
    }

    private struct Content: Codable {
        var version = 1
        var items: [Item]
    }

    /// The longest file that is read, in bytes: more than any list of an app, and less than a process notices.
    private static var longest: Int { 64 << 20 }

    /// The items in the order in which they were added.
    public private(set) var items: [Item]
    private let path: String
    private let lock: FileDescriptor
    /// The last change under way: each waits for the one before it.
    private var lane: Task<Result<Bool, APIError>, Never>?
    private var listeners: [Int: AsyncStream<[Item]>.Continuation] = [:]
    private var lastListener = 0

    private init(_ path: String, _ lock: FileDescriptor, _ items: [Item]) {
        self.path = path
        self.lock = lock
        self.items = items
    }

    deinit {
        for listener in listeners.values { listener.finish() }
    }

    /// Opens the list in a file, or makes one.
    ///
    /// - Throws: ``APIError/Kind/storage(_:)``: ``APIError/StorageFault/inUse`` where another list has the file,
    ///   ``APIError/StorageFault/failed`` where it holds something else, which is left as it is.
    public static func open(_ file: URL) async throws(APIError) -> TransferList {
        let path = file.path
        let (lock, items) = try await DiskWork.run { () throws(APIError) -> (FileDescriptor, [Item]) in
            do throws(SystemError) {
                // Nothing is left beside what is somebody else's.
                if !PrivateFile(path: path).hasLock { _ = try Self.items(at: path) }
                let lock = try FileDescriptor.open(path + ".lock", O_RDWR | O_CREAT, mode: 0o600)
                _ = try SystemError.check { Int(flock(lock.raw, LOCK_EX | LOCK_NB)) }
                return (lock, try Self.items(at: path))
            } catch {
                throw APIError(error)
            }
        }
        return TransferList(path, lock, items)
    }

    private static func items(at path: String) throws(SystemError) -> [Item] {
        let kept = try SystemError.ofFile { () throws(PrivateFileError) in
            try PrivateFile(path: path).contents(limit: longest, .narrows { content(of: $0) != nil })
        }
        guard let kept else { return [] }
        guard let content = content(of: kept) else { throw SystemError(code: EINVAL) }
        return content.items
    }

    /// - Returns: `nil` for what is no list.
    private static func content(of text: Data) -> Content? {
        guard let content = try? JSONDecoder().decode(Content.self, from: text), content.version == 1 else {
            return nil
        }
        return content
    }

    /// Puts something on the list, to be waited for. What is on it by that name already stays as it is.
    ///
    /// - Returns: whether it was not on the list.
    @discardableResult
    public func add(_ order: Order, as id: String, at date: Date = Date()) async throws(APIError) -> Bool {
        try await change { items in
            guard !items.contains(where: { $0.id == id }) else { return false }
            items.append(Item(id: id, order: order, added: date, state: .waiting))
            return true
        }
    }

    /// Notes what became of something; nothing where it is not on the list.
    public func set(_ state: TransferState, of id: String) async throws(APIError) {
        try await change { items in
            guard let index = items.firstIndex(where: { $0.id == id }), items[index].state != state else {
                return false
            }
            items[index].state = state
            return true
        }
    }

    /// Takes something off the list; nothing where it is not on it.
    public func remove(_ id: String) async throws(APIError) {
        try await change { items in
            let count = items.count
            items.removeAll { $0.id == id }
            return items.count < count
        }
    }

    /// Waits for the end of a call and notes it: finished, or failed and of what. One that was cancelled, or that a full disk, a lost or
    /// slow connection or a time-out has ended, is waiting still, and the next launch makes it again.
    ///
    /// - Returns: what was noted.
    @discardableResult
    public func follow<Output>(_ call: Call<Output>, as id: String) async throws(APIError) -> TransferState {
        let state = TransferState(await call.result)
        try await set(state, of: id)
        return state
    }

    /// The items now, and after each change; the end once the list is gone.
    public var changes: AsyncStream<[Item]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [Item].self, bufferingPolicy: .bufferingNewest(1))
        lastListener += 1
        let number = lastListener
        listeners[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { [weak self] in await self?.forget(number) } }
        continuation.yield(items)
        return stream
    }

    private func forget(_ listener: Int) {
        listeners[listener] = nil
    }

    /// Makes a change on the disk, and then in the list.
    ///
    /// - Parameter body: changes the items, and returns whether it has.
    /// - Returns: what the body has returned.
    @discardableResult
    private func change(_ body: @escaping @Sendable (inout [Item]) -> Bool) async throws(APIError) -> Bool {
        let step = Task { [lane] () -> Result<Bool, APIError> in
            _ = await lane?.value
            do throws(APIError) { return .success(try await self.apply(body)) } catch { return .failure(error) }
        }
        lane = step
        return try await step.value.get()
    }

    /// One at a time, since each begins with what the one before it has left.
    private func apply(_ body: (inout [Item]) -> Bool) async throws(APIError) -> Bool {
        var changed = items
        guard body(&changed) else { return false }
        try await DiskWork.run { [path, changed] () throws(APIError) in try Self.write(changed, to: path) }
        items = changed
        for listener in listeners.values { listener.yield(changed) }
        return true
    }

    private static func write(_ items: [Item], to path: String) throws(APIError) {
        let text: Data
        do {
            text = try JSONEncoder().encode(Content(items: items))
        } catch {
            throw APIError(
                .invalidParameter(field: "order", reason: "cannot be encoded"), stage: .file, underlying: error)
        }
        do throws(SystemError) {
            try SystemError.ofFile { () throws(PrivateFileError) in
                _ = try PrivateFile(path: path).replace(with: text)
            }
        } catch {
            throw APIError(error)
        }
    }
}

/// What became of something on a ``TransferList``.
public enum TransferState: Codable, Hashable, Sendable {
    /// It is still to be transferred, from the beginning or from where it was interrupted.
    case waiting
    /// The app wants it to stand still.
    case paused
    /// It was transferred; `file` is the path of a download, which may be another one once the app was installed anew.
    case finished(file: String?)
    /// It will not be otherwise next time: the name of the ``APIError/Kind``.
    case failed(String)

    init<Output>(_ result: Result<APIResponse<Output>, APIError>) {
        switch result {
        case .success(let response): self = .finished(file: (response.value as? DownloadedFile)?.url.path)
        case .failure(let error): self = Self.isPassing(error.kind) ? .waiting : .failed(error.kind.name)
        }
    }

    /// Whether it may be otherwise another time, without anybody doing anything but waiting or making room.
    private static func isPassing(_ kind: APIError.Kind) -> Bool {
        switch kind {
        case .cancelled, .unreachable, .timeout, .unavailable, .transport(.connectionLost),
            .limitExceeded(.minimumThroughput), .storage(.noSpace), .storage(.inUse):
            true
        case .httpStatus(let status): HTTPResponse.isPassing(status)
        default: false
        }
    }
}
