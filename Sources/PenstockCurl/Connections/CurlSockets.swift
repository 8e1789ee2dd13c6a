#if os(Linux)
    import CCurl
    import Foundation
    import Glibc

    /// What the transfer that opened a connection is to know of it, even after the connection is closed.
    final class CurlConnectionUse {
        /// Whether another transfer has used it since. Written with each further request, by whoever drives the loop alone, so the
        /// check of exclusive access is left out.
        @exclusivity(unchecked) var isShared = false
        /// What it carries, as far as TLS has agreed on it: many transfers at a time over HTTP/2, and one over anything else.
        @exclusivity(unchecked) var way = CurlWay.unknown
        /// The handle that was given to one that is serial last, until the handle leaves.
        @exclusivity(unchecked) var user: CurlHandle?
    }

    /// The connection that a request was given to, and its stream there, as far as they are known.
    ///
    /// The two belong together: the number of a stream says nothing on another connection, such as the one that libcurl has
    /// found for sending the request again when that is refused.
    struct CurlCarriage {
        /// The connection. Unlike the number of a socket, this is never another one's.
        private(set) var connection: CurlConnectionUse?
        /// The stream in HTTP/2, where libcurl was asked to tell it.
        private(set) var stream: Int?

        /// The request is about to go over the connection.
        mutating func meets(_ connection: CurlConnectionUse?) {
            (self.connection, stream) = (connection, nil)
        }

        mutating func begins(_ stream: Int) {
            self.stream = stream
        }

        /// The request is not with its connection any more.
        mutating func leaves() {
            (connection, stream) = (nil, nil)
        }

        /// Whether the server does not process the request: it has said so of the later streams of a connection.
        func isLeftOut(after last: Int, of connection: CurlConnectionUse) -> Bool {
            guard self.connection === connection, let stream else { return false }
            return stream > last
        }
    }

    /// Which socket carries a connection, and whether anything has come on it that nobody asked for.
    ///
    /// Before a request libcurl tells no more of a connection than its ports, so the socket is found by the local one. What has
    /// come on it would be taken for the answer to the next request (``CurlFault/unaskedBytes``).
    final class CurlSockets {
        private struct Entry {
            let port: UInt16
            let use: CurlConnectionUse
            /// Whose it is. Never looked into: the pool may be gone.
            let pool: ObjectIdentifier
            /// Whether it carries one transfer at a time, and has carried one: over TLS anything may come unless that is so.
            var isSerial = false
        }

        private static let unknown: Int32 = 0
        private static let ambiguous: Int32 = -1

        /// Descriptor + 1 by local port; 0 where it is unknown, −1 where it is ambiguous. `calloc` maps its pages lazily.
        private let descriptors: UnsafeMutablePointer<Int32>?
        /// Looked into several times with each request, by whoever drives the loop alone, and nothing is called meanwhile that
        /// comes back here. So the checks of exclusive access are left out.
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

        /// A further transfer is about to use a connection, or one of several where they cannot be told apart.
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

        /// Connections of a pool that have carried a transfer.
        func count(of pool: CurlPool) -> Int {
            let pool = ObjectIdentifier(pool)
            return entries.values.count { $0.pool == pool }
        }

        func socket(at port: UInt16) -> Int32? {
            guard let found = descriptors?[Int(port)], found > 0 else { return nil }
            return found - 1
        }

        /// The connection that a socket carries.
        func use(of descriptor: Int32) -> CurlConnectionUse? { entries[descriptor]?.use }

        /// The connection has carried a transfer, and is not one that carries many at a time.
        func carriesOneByOne(_ descriptor: Int32) {
            entries[descriptor]?.isSerial = true
        }

        /// Whether there are bytes to read, or the end, or an error.
        ///
        /// - Parameter easy: the handle whose request is about to go over the connection.
        func hasNews(_ descriptor: Int32, isPlain: Bool, _ easy: UnsafeMutableRawPointer) -> Bool {
            guard isPlain || entries[descriptor]?.isSerial == true else { return false }
            return !isPlain && Self.holdsBytes(easy) || ccurl_peek(descriptor) != ccurl_socket_quiet
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
