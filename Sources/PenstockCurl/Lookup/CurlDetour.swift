#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What became of an exchange that libcurl could not make a connection for at once. Few exchanges need one: most go
    /// over a connection that is there.
    final class CurlDetour {
        /// What a connection cannot be made without. A callback of libcurl's notes it and has the transfer fail; the
        /// exchange is then begun again when it is there.
        enum Lack {
            case addresses
            /// A file descriptor, for the socket or for a file that the connection needs.
            case descriptors
            /// The knowledge whether the connections that are there take no more.
            case room
            /// A place on one of them.
            case place
        }

        /// Look-ups of one exchange. More than one are needed only where it waited for so long that libcurl forgot the
        /// addresses.
        static let mostLookups = 8

        /// When it began, in nanoseconds.
        let began: UInt64
        /// What the last try lacked.
        @exclusivity(unchecked) var lack: Lack?
        /// The look-up that is under way.
        @exclusivity(unchecked) var lookup: (any HostLookup)?
        @exclusivity(unchecked) var lookups = 0
        @exclusivity(unchecked) var addresses: [HostAddress] = []
        /// When the addresses came, in nanoseconds from the beginning; `nil` when they have not.
        @exclusivity(unchecked) var foundAfter: UInt64?
        /// How much later than the exchange libcurl's own clock began, in nanoseconds.
        @exclusivity(unchecked) var delay: UInt64 = 0
        /// Whether libcurl is to tell, by the text that it would print, why it goes over no connection that is there.
        @exclusivity(unchecked) var asksForRoom = false
        /// How many exchanges a connection carries that takes no more, as it has told.
        @exclusivity(unchecked) var full: Int?
        /// Whether it waits for descriptors.
        @exclusivity(unchecked) var isStarving = false
        /// Whether an earlier try had sent some of the request.
        @exclusivity(unchecked) var hasSent = false

        init(_ now: UInt64) {
            began = now
        }

        /// Whether the exchange waits for something, and libcurl knows nothing of it.
        var isUnderWay: Bool { lookup != nil || isStarving }
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

        private var connectionPort: Int {
            switch proxy.route {
            case .http(let origin): origin.port
            case .socks5(_, let port): port
            default: request.url.port
            }
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

    extension CurlExchange {
        private var connectionHost: String { order.connectionHost }

        /// libcurl is about to look the name of the host up. Its own look-ups cannot be ended without waiting for them, so
        /// they are made elsewhere.
        ///
        /// - Returns: whether it need not look anything up.
        func hasAddress(_ now: UInt64) -> Bool {
            if HostAddress.isKnown(connectionHost) { return true }
            if (detour?.lookups ?? 0) < CurlDetour.mostLookups { lacks(.addresses, now) }
            return false
        }

        func lacks(_ lack: CurlDetour.Lack, _ now: UInt64) {
            let detour = detour ?? CurlDetour(now)
            detour.lack = lack
            self.detour = detour
        }

        /// libcurl is about to open a socket, although there are HTTP/2 connections. They may be ending, or carry as many
        /// exchanges as their server takes, and then the exchange waits. libcurl tells which of the two it is when the
        /// exchange is begun again.
        ///
        /// - Returns: whether it may.
        func mayOpenSocket(_ now: UInt64) -> Bool {
            guard let lane, !lane.mayConnect(self) else { return true }
            if detour?.asksForRoom ?? false, detour?.full == nil { return true }
            lacks(detour?.full == nil ? .room : .place, now)
            return false
        }

        /// Begins the look-up that libcurl may not make. Its end comes to the loop as a message.
        func lookUp(_ resolver: any HostResolver) {
            detour?.lookups += 1
            detour?.lookup = resolver.lookUp(connectionHost) { [weak self] in self?.tellFound($0) }
        }

        /// What was found of its host, as libcurl takes it.
        var knownAddresses: String? { order.known(detour?.addresses ?? []) }

        /// What a look-up that failed means for the exchange.
        func error(_ failure: HostFailure) -> TransportError {
            let (kind, message) = order.unreachable(failure)
            return error(kind, message)
        }

        /// The failure of an exchange that libcurl does not know at the moment.
        func errorOutside(_ kind: TransportError.Kind, _ message: String) -> TransportError {
            var timings = Timings()
            if let detour, let now = pool?.loop.now {
                timings.nameLookup = detour.foundAfter.map { .nanoseconds($0) }
                timings.total = .nanoseconds(now - detour.began)
            }
            return TransportError(
                kind, sendState: detour?.hasSent ?? false ? .maybeProcessed : .unsent,
                message: message.isEmpty ? whatItWaitsFor : message, timings: timings)
        }

        private var whatItWaitsFor: String {
            if detour?.lookup != nil { return "the look-up of the name \(connectionHost) has not ended" }
            if detour?.isStarving ?? false { return "no file descriptor is left" }
            return lane != nil && !isAdmitted ? "all connections to the host are in use" : ""
        }
    }

    extension CurlLoop {
        /// Takes an exchange away from libcurl until what it lacks is there.
        ///
        /// - Parameter code: what ended the transfer.
        /// - Returns: `false` when it lacks nothing that could be waited for.
        func setAside(_ exchange: CurlExchange, _ code: CURLcode) -> Bool {
            if code == CURLE_SSL_CACERT_BADFILE, exchange.attempts == 0, CurlDescriptors.areShort {
                exchange.lacks(.descriptors, now)
            }
            guard let detour = exchange.detour, let lack = detour.lack, lack.shows(code), let handle = exchange.handle
            else { return false }
            // A request that libcurl sends again, because its first connection was dead.
            if exchange.attempts > 0, exchange.hasSent(handle.easy) { detour.hasSent = true }
            exchange.pool?.remove(handle)
            exchange.handle = nil
            wait(for: lack, exchange, detour)
            return true
        }

        private func wait(for lack: CurlDetour.Lack, _ exchange: CurlExchange, _ detour: CurlDetour) {
            detour.lack = nil
            switch lack {
            case .addresses: exchange.lookUp(resolver)
            case .room:
                detour.asksForRoom = true
                launchIfAwake(exchange)
            case .place:
                if let full = detour.full { exchange.lane?.isFull(full) }
                (detour.asksForRoom, detour.full) = (false, nil)
                exchange.pool?.gate.takeBack(exchange, now)
            case .descriptors:
                // The more that is closed, the fewer tries it takes, but each connection is worth keeping.
                if giveUpIdle() { launchIfAwake(exchange) } else { starve(exchange, detour) }
            }
        }

        /// A look-up has ended.
        func found(_ result: HostResult, for exchange: CurlExchange) {
            guard exchange.place != nil, let detour = exchange.detour, detour.lookup != nil else { return }
            detour.lookup = nil
            switch result {
            case .success(let addresses):
                detour.addresses = addresses
                detour.foundAfter = now - detour.began
                launchIfAwake(exchange)
            case .failure(.noDescriptors): wait(for: .descriptors, exchange, detour)
            case .failure(let failure): finish(exchange, .failure(exchange.error(failure)))
            }
        }

        /// One that is suspended is launched when it is resumed.
        func launchIfAwake(_ exchange: CurlExchange) {
            if exchange.place != nil, !exchange.isSuspended { launch(exchange) }
        }
    }

    extension CurlDetour.Lack {
        /// Whether a transfer that lacked this ended by it.
        fileprivate func shows(_ code: CURLcode) -> Bool {
            switch self {
            case .addresses: code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY
            case .descriptors: code == CURLE_COULDNT_CONNECT || code == CURLE_SSL_CACERT_BADFILE
            case .room, .place: code == CURLE_COULDNT_CONNECT
            }
        }
    }
#endif
