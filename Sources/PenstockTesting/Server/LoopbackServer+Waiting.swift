extension LoopbackServer {
    /// What a test waited for did not happen in time.
    public struct WaitTimeout: Error, CustomStringConvertible {
        /// What was waited for, and what was seen.
        public let description: String
    }

    /// Returns when at least `count` requests were read completely.
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForRequests(count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.requests >= count }
        guard !isThere else { return }
        throw WaitTimeout(description: "waited \(limit) for \(count) requests and saw \(requestCount)")
    }

    /// Returns when the client has closed at least `count` connections while a request was under way.
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForAborts(count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.aborts >= count }
        guard !isThere else { return }
        throw WaitTimeout(description: "waited \(limit) for \(count) aborts and saw \(abortCount)")
    }

    /// Returns when at most `count` connections are open.
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForOpenConnections(atMost count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.open <= count }
        guard !isThere else { return }
        throw WaitTimeout(description: "waited \(limit) for \(count) open connections and saw \(openConnectionCount)")
    }

    /// Returns when at least `count` faults have fired.
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForFaults(count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.faults >= count }
        guard !isThere else { return }
        throw WaitTimeout(description: "waited \(limit) for \(count) faults and saw \(faults.count)")
    }

    /// Returns when at least `count` connections were accepted.
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForConnections(count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.connections >= count }
        guard !isThere else { return }
        throw WaitTimeout(
            description: "waited \(limit) for \(count) connections and saw \(connectionCount)")
    }

    /// Returns when at least `count` handshakes of TLS were completed.
    ///
    /// A client may be done with its handshake before the server has read the end of it (RFC 8446 §2).
    ///
    /// - Throws: ``WaitTimeout`` after `limit`.
    public func waitForHandshakes(count: Int, limit: Duration = .seconds(30)) async throws {
        let isThere = await ledger.wait(upTo: limit) { $0.handshakes >= count }
        guard !isThere else { return }
        throw WaitTimeout(description: "waited \(limit) for \(count) handshakes and saw \(handshakeCount)")
    }
}
