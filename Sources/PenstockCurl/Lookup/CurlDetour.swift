#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What a transfer lacked when libcurl could not make a connection for it at once, and what has become of that. Few
    /// transfers have one: most go over a connection that is there.
    final class CurlDetour {
        /// What a connection cannot be made without. A callback of libcurl's notes it and has the transfer fail; the
        /// transfer is then begun again when it is there.
        enum Lack {
            case addresses
            /// A file descriptor, for the socket or for a file that the connection needs.
            case descriptors
            /// The knowledge whether the connections that are there take no more.
            case room
            /// A place on one of them.
            case place
            /// A connection that no other transfer is under way on.
            case ownConnection
        }

        /// Look-ups of one transfer. More than one are needed only where it waited for so long that libcurl forgot the
        /// addresses.
        static let mostLookups = 8

        /// When it began, in nanoseconds.
        let began: UInt64
        /// What the last try lacked.
        var lack: Lack?
        /// The look-up that is under way.
        var lookup: (any HostLookup)?
        var lookups = 0
        var addresses: [HostAddress] = []
        /// What becomes of them, where the client's own resolver has chosen them; `nil` where the system has.
        var choice: CurlChoice?
        /// Whether the resolver's addresses are dead, and the system is asked.
        var asksSystem = false
        /// When the addresses came, in nanoseconds from the beginning; `nil` when they have not.
        var foundAfter: UInt64?
        /// How much later than the transfer libcurl's own clock began, in nanoseconds.
        var delay: UInt64 = 0
        /// Whether libcurl is to tell, by the text that it would print, why it goes over no connection that is there.
        var asksForRoom = false
        /// How many transfers a connection carries that takes no more, as it has told.
        var full: Int?
        /// Whether it goes over a new connection, whatever connections are there.
        var goesAlone = false
        /// Whether it waits for descriptors.
        var awaitsDescriptors = false
        /// Whether an earlier try had sent some of the request.
        var hasSent = false

        init(_ now: UInt64) {
            began = now
        }

        /// Whether the transfer waits for something, and libcurl knows nothing of it.
        var isUnderWay: Bool { lookup != nil || awaitsDescriptors }
    }

    extension TransportRequest {
        /// The host that the connection is made to.
        var connectionHost: String {
            switch proxy.route {
            case .http(let origin): origin.host
            case .socks5(let host, _): host.lowercased()
            default: request.url.host
            }
        }

        var connectionPort: Int {
            switch proxy.route {
            case .http(let origin): origin.port
            case .socks5(_, let port): port
            default: request.url.port
            }
        }

        /// The resolver that looks the host up: the client's own resolver where there is one.
        func finder(_ system: any HostFinder) -> any HostFinder {
            resolver.isSystem ? system : ClientFinder(resolver: resolver, port: connectionPort, system: system)
        }

        /// Looks the host up.
        ///
        /// - Parameters:
        ///   - asksSystem: whether the client's own resolver is passed over.
        ///   - completion: is told as well whether that resolver has chosen the addresses.
        func lookUp(
            _ system: any HostFinder, asksSystem: Bool = false,
            _ completion: @escaping @Sendable (HostResult, _ isChosen: Bool) -> Void
        ) -> any HostLookup {
            if asksSystem || resolver.isSystem { return system.lookUp(connectionHost) { completion($0, false) } }
            let isChosen = Locked(false)
            let finder = ClientFinder(resolver: resolver, port: connectionPort, system: system) {
                isChosen.withLock { $0 = true }
            }
            return finder.lookUp(connectionHost) { completion($0, isChosen.withLock { $0.self }) }
        }

        /// Whether the host needs no look-up.
        var hasKnownHost: Bool {
            resolver.isSystem ? HostAddress.isKnown(connectionHost) : HostAddress.isNumeric(connectionHost)
        }

        /// Addresses of the host as libcurl takes them (`CURLOPT_RESOLVE`): an entry of its cache that ages as those of its own
        /// look-ups do. `nil` where there are none.
        func known(_ addresses: [HostAddress]) -> String? {
            guard !addresses.isEmpty else { return nil }
            let list = addresses.map { $0.text.utf8.contains(UInt8(ascii: ":")) ? "[\($0.text)]" : $0.text }
            return "+\(connectionHost):\(connectionPort):\(list.joined(separator: ","))"
        }

        /// What a look-up of it that failed is called.
        func unreachable(_ failure: HostFailure) -> (kind: TransportError.Kind, message: String) {
            switch failure {
            case .notFound(let reason):
                let kind: TransportError.Reachability = proxy == .none ? .nameNotResolved : .proxy
                return (.unreachable(kind), "the name \(connectionHost) was not found: \(reason)")
            case .noDescriptors: return (.unreachable(.noDescriptors), "no file descriptor is left")
            case .noThread: return (.other, "the system has no thread to look a name up on")
            }
        }
    }

    extension CurlTransfer {
        private var connectionHost: String { request.connectionHost }

        /// libcurl is about to look the name of the host up. Its own look-ups cannot be ended without waiting for them, so
        /// they are made elsewhere.
        ///
        /// - Returns: whether it need not look anything up.
        func skipLookup(_ now: UInt64) -> Bool {
            if request.hasKnownHost { return true }
            if (state.detour?.lookups ?? 0) < CurlDetour.mostLookups { lacks(.addresses, now) }
            return false
        }

        func lacks(_ lack: CurlDetour.Lack, _ now: UInt64) {
            let detour = state.detour ?? CurlDetour(now)
            detour.lack = lack
            state.detour = detour
        }

        /// libcurl is about to open a socket, although there are HTTP/2 connections. They may be ending, or carry as many
        /// transfers as their server takes, and then the transfer waits. libcurl tells which of the two it is when the
        /// transfer is begun again.
        ///
        /// - Returns: whether it may.
        func claimSocket(_ now: UInt64) -> Bool {
            guard let originQueue = state.originQueue, !originQueue.mayConnect(self) else { return true }
            if state.detour?.asksForRoom ?? false, state.detour?.full == nil { return true }
            lacks(state.detour?.full == nil ? .room : .place, now)
            return false
        }

        /// Begins the look-up that libcurl may not make. Its end comes to the loop as a message.
        func lookUp(_ system: any HostFinder) {
            guard let detour = state.detour else { return }
            detour.lookups += 1
            let finder = detour.asksSystem ? system : request.finder(system)
            detour.lookup = finder.lookUp(connectionHost) { [weak self] in self?.tellFound($0) }
        }

        /// A connection is about to be made to an address.
        func tries(_ target: UnsafeMutablePointer<curl_sockaddr>) {
            guard let detour = state.detour, detour.choice != nil, let address = HostAddress(of: target) else { return }
            detour.choice?.tries(address, CurlClock.now())
        }

        /// The connection that the transfer goes over was made for it.
        func tellConnected(_ easy: UnsafeMutableRawPointer) {
            guard let choice = state.detour?.choice else { return }
            let facts = ccurl_get_facts(easy)
            choice.tell(
                request.resolver, facts.address.map { String(cString: $0) } ?? "", connected: Int(facts.connected))
        }

        /// The transfer ends, or is begun again, without a connection.
        ///
        /// - Parameter isLate: whether its time was up.
        func tellUnreached(isLate: Bool) {
            guard state.attempts == 0, let choice = state.detour?.choice else { return }
            choice.tellFailure(request.resolver, isLate: isLate, CurlClock.now())
            state.detour?.choice = nil
        }

        /// How long connecting to the addresses may take that the resolver has chosen, in milliseconds. Where the system can be
        /// asked after them, half of the time is left for that. libcurl gives each address half of what is left, while there
        /// are others.
        func patienceWithChoice(_ now: UInt64) -> Int {
            let left = min(state.clock.connectingEnds - min(state.clock.connectingEnds, now), Self.mostPatience)
            // Where nothing comes after, the transfer's own clock is to end it, which knows what took too long.
            return Int(request.resolver.fallsBackToSystem ? left / 2 : left + Self.haste) / 1_000_000 + 1
        }

        private static let mostPatience: UInt64 = 20_000_000_000
        private static let haste: UInt64 = 100_000_000

        /// The addresses that are known, as libcurl takes them (`CURLOPT_RESOLVE`): an entry of its cache that ages as those of its own
        /// look-ups do. Under a resolver of the client's own a transfer uses no entry but its own, since the resolver chooses for each
        /// connection.
        var knownAddresses: String? {
            guard let addresses = state.detour?.addresses, !addresses.isEmpty else {
                guard !request.resolver.isSystem, !HostAddress.isNumeric(connectionHost) else { return nil }
                return "-\(connectionHost):\(request.connectionPort)"
            }
            return request.known(addresses)
        }

        /// What a look-up that failed means for the transfer.
        func error(_ failure: HostFailure) -> TransportError {
            let (kind, message) = request.unreachable(failure)
            return error(kind, message)
        }

        /// The failure of a transfer that libcurl does not know at the moment.
        func errorOutside(_ kind: TransportError.Kind, _ message: String) -> TransportError {
            let timings = Timings(
                nameLookup: state.detour?.foundAfter.map { .nanoseconds($0) }, total: elapsed)
            return TransportError(
                kind, sendState: state.detour?.hasSent ?? false ? .maybeProcessed : .unsent,
                message: message.isEmpty ? whatItWaitsFor : message, timings: timings)
        }

        private var whatItWaitsFor: String {
            if state.detour?.lookup != nil { return "the look-up of the name \(connectionHost) has not ended" }
            if state.detour?.awaitsDescriptors ?? false { return "no file descriptor is left" }
            if state.source?.isOpen == false { return "the file of its body has not been opened" }
            return state.originQueue != nil && !state.isAdmitted ? "all connections to the host are in use" : ""
        }
    }

    extension CurlLoop {
        /// Takes a transfer away from libcurl until what it lacks is there.
        ///
        /// - Parameter code: what ended the transfer.
        /// - Returns: `false` when it lacks nothing that could be waited for.
        func setAside(_ transfer: CurlTransfer, _ code: CURLcode) -> Bool {
            if isUnreached(transfer, code) { return asksSystem(transfer, isLate: code == CURLE_OPERATION_TIMEDOUT) }
            if code == CURLE_SSL_CACERT_BADFILE, transfer.state.attempts == 0, CurlDescriptors.areShort {
                transfer.lacks(.descriptors, now)
            }
            guard let detour = transfer.state.detour, let lack = detour.lack, lack.shows(code),
                let handle = transfer.state.handle
            else { return false }
            // A request that libcurl sends again, because its first connection was dead.
            if transfer.state.attempts > 0, transfer.hasSent(handle.easy) { detour.hasSent = true }
            transfer.state.pool?.remove(handle)
            transfer.state.handle = nil
            wait(for: lack, transfer, detour)
            return true
        }

        /// Whether none of the addresses that a resolver has chosen was connected to.
        private func isUnreached(_ transfer: CurlTransfer, _ code: CURLcode) -> Bool {
            guard code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT, transfer.state.attempts == 0 else {
                return false
            }
            return transfer.state.detour?.choice != nil && transfer.state.detour?.lack == nil
        }

        /// - Returns: `false` where the resolver does not leave it to the system.
        private func asksSystem(_ transfer: CurlTransfer, isLate: Bool) -> Bool {
            transfer.tellUnreached(isLate: isLate)
            guard transfer.request.resolver.fallsBackToSystem, let detour = transfer.state.detour,
                let handle = transfer.state.handle
            else { return false }
            detour.asksSystem = true
            transfer.state.pool?.remove(handle)
            transfer.state.handle = nil
            wait(for: .addresses, transfer, detour)
            return true
        }

        private func wait(for lack: CurlDetour.Lack, _ transfer: CurlTransfer, _ detour: CurlDetour) {
            detour.lack = nil
            switch lack {
            case .addresses: transfer.lookUp(finder)
            case .room:
                detour.asksForRoom = true
                launchIfAwake(transfer)
            case .place:
                if let full = detour.full { transfer.state.originQueue?.lowerPlaces(to: full) }
                (detour.asksForRoom, detour.full) = (false, nil)
                transfer.state.pool?.takeBack(transfer)
            case .ownConnection:
                // One that waits may find an idle connection when its turn comes.
                detour.goesAlone = mayGoAlone(transfer)
                if detour.goesAlone { launchIfAwake(transfer) }
            case .descriptors:
                // The more that is closed, the fewer tries it takes, but each connection is worth keeping.
                if closeIdle() { launchIfAwake(transfer) } else { queueForDescriptors(transfer, detour) }
            }
        }

        /// A look-up has ended.
        func found(_ result: HostResult, for transfer: CurlTransfer) {
            guard transfer.isUnderWay, let detour = transfer.state.detour, detour.lookup != nil else { return }
            let isChosen = (detour.lookup as? ClientLookup).map { !$0.isSystems } ?? false
            detour.lookup = nil
            switch result {
            case .success(let addresses):
                detour.choice = isChosen ? CurlChoice(now) : nil
                detour.addresses = addresses
                detour.foundAfter = now - detour.began
                launchIfAwake(transfer)
            case .failure(.noDescriptors): wait(for: .descriptors, transfer, detour)
            case .failure(let failure): finish(transfer, .failure(transfer.error(failure)))
            }
        }

        /// One that is suspended is launched when it is resumed.
        func launchIfAwake(_ transfer: CurlTransfer) {
            if transfer.isUnderWay, !transfer.state.isSuspended { launch(transfer) }
        }
    }

    extension CurlDetour.Lack {
        /// Whether a transfer that lacked this ended by it.
        fileprivate func shows(_ code: CURLcode) -> Bool {
            switch self {
            case .addresses: code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY
            case .descriptors: code == CURLE_COULDNT_CONNECT || code == CURLE_SSL_CACERT_BADFILE
            case .room, .place: code == CURLE_COULDNT_CONNECT
            case .ownConnection: code == CURLE_ABORTED_BY_CALLBACK
            }
        }
    }

    extension CurlHandle {
        /// Prepares for what a transfer has learnt on its way.
        func note(_ detour: CurlDetour) {
            detour.delay = loop.now - detour.began
            if detour.asksForRoom { watchText() }
            if detour.goesAlone { goAlone() }
            for address in detour.addresses { pool.noteZone(of: address) }
        }
    }
#endif
