import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One session for each isolation key, made when it is first needed: sessions share no connection.
final class URLSessionPool: Sendable {
    private struct Entry: Sendable {
        let session: URLSession
        let bridge: URLSessionBridge
    }

    private struct State {
        var isClosed = false
        var entries: [IsolationKey: Entry] = [:]
    }

    private let state = Locked(State())
    private let connectionsPerHost: Int

    init(connectionsPerHost: Int) {
        self.connectionsPerHost = connectionsPerHost
    }

    /// - Throws: `cancelled` after the pool was closed.
    func session(for exchange: TransportRequest) throws(TransportError) -> (URLSession, URLSessionBridge) {
        let key = exchange.isolation
        let entry: Entry? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if let entry = state.entries[key] { return entry }
            let entry = makeEntry(trust: exchange.trust)
            state.entries[key] = entry
            return entry
        }
        guard let entry else { throw URLSessionErrors.cancelledBeforeStart }
        return (entry.session, entry.bridge)
    }

    /// Ends every exchange and lets the sessions go. Returns at once.
    @discardableResult
    func close() -> [URLSessionBridge] {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return Array(state.entries.values)
        }
        for entry in entries {
            entry.bridge.cancelAll()
            entry.session.invalidateAndCancel()
        }
        return entries.map(\.bridge)
    }

    func shutdown() async {
        for bridge in close() { await bridge.untilInvalid() }
    }

    private func makeEntry(trust: TrustPolicy) -> Entry {
        let bridge = URLSessionBridge(trust: trust)
        let session = URLSession(configuration: configuration, delegate: bridge, delegateQueue: nil)
        return Entry(session: session, bridge: bridge)
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
