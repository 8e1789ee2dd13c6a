import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One session for each isolation key, made when it is first needed: sessions share no connection. On Apple's systems they do share
/// the sessions of TLS, which belong to the process.
final class URLSessionPool: Sendable {
    private struct Entry: Sendable {
        let session: URLSession
        let bridge: URLSessionBridge
        /// What the files of its trust policy were when it was made.
        let files: [FileState]
    }

    private struct State {
        var isClosed = false
        var entries: [IsolationKey: Entry] = [:]
        /// The bridges of sessions that are over as soon as they have no task.
        var leaving: [URLSessionBridge] = []

        mutating func end(_ key: IsolationKey) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            leaving.removeAll(where: \.isInvalid)
            leaving.append(entry.bridge)
            entry.session.finishTasksAndInvalidate()
        }
    }

    private let state = Locked(State())
    private let connectionsPerHost: Int

    init(connectionsPerHost: Int) {
        self.connectionsPerHost = connectionsPerHost
    }

    /// Makes a task in the session that an exchange belongs in: with the lock held, since a session that is over takes none.
    ///
    /// - Throws: `cancelled` after the pool was closed.
    func task(
        for request: TransportRequest, _ make: (URLSession) -> URLSessionTask
    ) throws(TransportError) -> (URLSessionTask, URLSessionBridge) {
        let (key, files) = (request.isolation, request.trust.files.map(FileState.init))
        let made: (URLSessionTask, URLSessionBridge)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if let entry = state.entries[key], entry.files != files { state.end(key) }
            let entry = state.entries[key] ?? makeEntry(trust: request.trust, files)
            state.entries[key] = entry
            return (make(entry.session), entry.bridge)
        }
        guard let made else { throw URLSessionErrors.cancelledBeforeStart }
        return made
    }

    /// Ends the sessions of an identity, once they have no task.
    func forget(_ identity: String) {
        state.withLock { state in
            for key in state.entries.keys where key.identity.isWritten(as: identity) { state.end(key) }
        }
    }

    /// Ends every exchange and lets the sessions go. Returns at once.
    @discardableResult
    func close() -> [URLSessionBridge] {
        let (entries, leaving) = state.withLock { state in
            state.isClosed = true
            defer { (state.entries, state.leaving) = ([:], []) }
            return (Array(state.entries.values), state.leaving)
        }
        for bridge in leaving { bridge.cancelAll() }
        for entry in entries {
            entry.bridge.cancelAll()
            entry.session.invalidateAndCancel()
        }
        return entries.map(\.bridge) + leaving
    }

    func shutdown() async {
        for bridge in close() { await bridge.untilInvalid() }
    }

    private func makeEntry(trust: TrustPolicy, _ files: [FileState]) -> Entry {
        let bridge = URLSessionBridge(trust: trust)
        let configuration = configuration
        URLSessionPlatform.configure(configuration, for: trust)
        let session = URLSession(configuration: configuration, delegate: bridge, delegateQueue: nil)
        return Entry(session: session, bridge: bridge, files: files)
    }

    /// Time-outs are kept by the exchange: the session's own do not tell their phase, and are not kept on Linux.
    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = URLSessionRequest.never
        configuration.timeoutIntervalForResource = URLSessionRequest.never
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        return configuration
    }
}

/// What tells that a file is another than before: replaced or written to.
struct FileState: Equatable, Sendable {
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?

    /// The state of a file; of one that is not there all is `nil`.
    init(_ file: URL) {
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        number = (facts?[.systemFileNumber] as? NSNumber)?.uint64Value
        size = (facts?[.size] as? NSNumber)?.uint64Value
        changed = facts?[.modificationDate] as? Date
    }
}
