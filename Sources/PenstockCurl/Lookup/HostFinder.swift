#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Finds the addresses of hosts for a transport.
    ///
    /// The loop asks only when libcurl is about to make a connection and knows no address for its host, so a transfer on
    /// a connection that is kept alive asks nothing. libcurl keeps what it is told for a minute, so a finder needs no
    /// cache for the sake of speed.
    protocol HostFinder: Sendable {
        /// Begins to look a name up, and does not wait.
        ///
        /// - Parameters:
        ///   - name: a registered name in ASCII and lower case, with its trailing dot if it has one. Numeric addresses and
        ///     the names under `localhost` are never asked for.
        ///   - completion: called once, on any thread and perhaps before this function returns, unless
        ///     ``HostLookup/cancel()`` comes first.
        /// - Returns: one caller's share in the look-up.
        func lookUp(_ name: String, _ completion: @escaping HostCompletion) -> any HostLookup
    }

    typealias HostResult = Result<[HostAddress], HostFailure>
    typealias HostCompletion = @Sendable (HostResult) -> Void

    /// One caller's share in a look-up.
    protocol HostLookup: Sendable {
        /// Ends the caller's interest at once. It does not wait for the look-up, which may go on for nobody.
        func cancel()
    }

    extension HostAddress {
        /// Whether the system needs no look-up for a host of a URL: it is an address already, or libcurl itself answers
        /// for it without asking anybody (RFC 6761 §6.3).
        static func isKnown(_ host: String) -> Bool {
            host == "localhost" || host.hasSuffix(".localhost") || isNumeric(host)
        }

        /// Whether a host of a URL is an address and no name.
        static func isNumeric(_ host: String) -> Bool {
            if host.utf8.contains(UInt8(ascii: ":")) { return true }
            var address = in_addr()
            return inet_pton(AF_INET, host, &address) == 1
        }

        /// The address that libcurl is about to connect to.
        init?(of target: UnsafeMutablePointer<curl_sockaddr>) {
            guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
            // The address goes on behind the general form that the structure has for it.
            let memory = UnsafeRawPointer(target) + offset
            switch (target.pointee.family, Int(target.pointee.addrlen)) {
            case (AF_INET, MemoryLayout<sockaddr_in>.size...):
                let address = memory.loadUnaligned(as: sockaddr_in.self).sin_addr
                self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
            case (AF_INET6, MemoryLayout<sockaddr_in6>.size...):
                let address = memory.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
            default: return nil
            }
        }

        /// Numbers its interface in an address that libcurl is about to connect to; its own form for addresses that it is
        /// given has no room for that.
        static func restoreZone(of target: UnsafeMutablePointer<curl_sockaddr>, _ zones: [String: UInt32]) {
            guard !zones.isEmpty, target.pointee.family == AF_INET6,
                target.pointee.addrlen >= MemoryLayout<sockaddr_in6>.size,
                let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
            else { return }
            // The address goes on behind the general form that the structure has for it.
            let memory = UnsafeMutableRawPointer(target) + offset
            var address = memory.loadUnaligned(as: sockaddr_in6.self)
            guard let text = SystemResolver.text(AF_INET6, &address.sin6_addr), let zone = zones[text] else { return }
            address.sin6_scope_id = zone
            memory.copyMemory(from: &address, byteCount: MemoryLayout<sockaddr_in6>.size)
        }
    }

    /// Why a look-up brought no address.
    enum HostFailure: Error, Hashable {
        /// The system's own words.
        case notFound(String)
        /// The look-up could not be made for want of file descriptors.
        case noDescriptors
        /// The system gives no thread to look names up on.
        case noThread
    }
#endif
