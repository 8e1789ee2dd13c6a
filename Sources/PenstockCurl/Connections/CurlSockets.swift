#if os(Linux)
    import CCurl
    import Foundation
    import Glibc

    /// What the exchange that opened a connection is to know of it, also once it is closed.
    final class CurlConnectionUse {
        /// Whether another exchange has used it since.
        @exclusivity(unchecked) var isShared = false
    }

    /// Which socket carries a connection, and whether anything has come on it that nobody asked for.
    ///
    /// libcurl uses a connection again though bytes, or its end, have come on it meanwhile, and takes such bytes for the
    /// answer to the next request (RFC 9112 §9.2 and §11.2). Before a request it tells no more of a connection than its
    /// ports, so the socket is found by the local one.
    final class CurlSockets {
        private struct Entry {
            let port: UInt16
            let use: CurlConnectionUse
            /// Whose it is. Never looked into: the pool may be gone.
            let pool: ObjectIdentifier
            /// Whether it carries one exchange at a time, and has carried one: over TLS anything may come unless that is so.
            var isSerial = false
        }

        private static let unknown: Int32 = 0
        private static let ambiguous: Int32 = -1

        /// By local port, each one more than itself. Memory of which only what is used is ever there.
        private let descriptors: UnsafeMutablePointer<Int32>?
        @exclusivity(unchecked) private var entries: [Int32: Entry] = [:]

        init() {
            descriptors = calloc(1 << 16, MemoryLayout<Int32>.size)?.assumingMemoryBound(to: Int32.self)
        }

        deinit {
            free(descriptors)
        }

        /// Finds the one of these sockets that has the local port.
        ///
        /// - Returns: `nil` when there is none.
        func learn(_ port: UInt16, from opened: [Int32], _ pool: CurlPool) -> CurlConnectionUse? {
            guard let descriptors, let descriptor = opened.first(where: { Self.localPort($0) == port }) else {
                return nil
            }
            forget(descriptor)
            // Connections to different hosts may share a local port, and cannot be told apart then.
            let isFree = descriptors[Int(port)] == Self.unknown
            descriptors[Int(port)] = isFree ? descriptor + 1 : Self.ambiguous
            let use = CurlConnectionUse()
            entries[descriptor] = Entry(port: port, use: use, pool: ObjectIdentifier(pool))
            return use
        }

        /// A further exchange is about to use a connection, or one of several where they cannot be told apart.
        func joins(_ port: UInt16) {
            guard let socket = socket(at: port) else {
                for entry in entries.values where entry.port == port { entry.use.isShared = true }
                return
            }
            entries[socket]?.use.isShared = true
        }

        func forget(_ descriptor: Int32) {
            guard let descriptors, let port = entries.removeValue(forKey: descriptor)?.port else { return }
            let isShared = descriptors[Int(port)] == Self.ambiguous
            if isShared, entries.values.contains(where: { $0.port == port }) { return }
            descriptors[Int(port)] = Self.unknown
        }

        /// Connections of a pool that have carried an exchange.
        func count(of pool: CurlPool) -> Int {
            let pool = ObjectIdentifier(pool)
            return entries.values.count { $0.pool == pool }
        }

        func socket(at port: UInt16) -> Int32? {
            guard let found = descriptors?[Int(port)], found > 0 else { return nil }
            return found - 1
        }

        /// The connection has carried an exchange, and is not one that carries many at a time.
        func carriesOneByOne(_ descriptor: Int32) {
            entries[descriptor]?.isSerial = true
        }

        /// Whether there are bytes to read, or the end, or an error.
        func hasNews(_ descriptor: Int32, isPlain: Bool) -> Bool {
            guard isPlain || entries[descriptor]?.isSerial == true else { return false }
            return ccurl_peek(descriptor) != ccurl_socket_quiet
        }

        private static func localPort(_ descriptor: Int32) -> UInt16? {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
            }
            guard isKnown else { return nil }
            // The port stands at the same place in addresses of IPv4 and of IPv6.
            return withUnsafeBytes(of: address) {
                UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            }
        }
    }
#endif
