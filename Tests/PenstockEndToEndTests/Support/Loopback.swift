import Foundation

/// The few things that the harness does on sockets itself. All of them on 127.0.0.1.
enum Loopback {
    /// Ports that nobody listened on a moment ago, all different. Another process can take one before its server does,
    /// so whoever starts a server tries again with new ones.
    static func freePorts(_ count: Int) throws -> [UInt16] {
        var sockets: [Int32] = []
        defer { sockets.forEach { close($0) } }
        return try (0..<count).map { _ in
            let descriptor = try open()
            sockets.append(descriptor)
            return try bindToAnyPort(descriptor)
        }
    }

    /// The whole response to a plain `GET`, or `nil` where nobody answers within a second.
    static func get(_ path: String, port: UInt16) -> String? {
        guard let descriptor = try? open() else { return nil }
        defer { close(descriptor) }
        limitWaiting(of: descriptor)
        var address = loopbackAddress(port: port)
        let connected = withSocketAddress(&address) { connect(descriptor, $0, $1) }
        guard connected == 0 else { return nil }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, 0) == request.count else { return nil }
        return readToEnd(descriptor)
    }

    /// Whether somebody takes connections. Not all that do say something to a stranger.
    static func isOpen(port: UInt16) -> Bool {
        guard let descriptor = try? open() else { return false }
        defer { close(descriptor) }
        var address = loopbackAddress(port: port)
        return withSocketAddress(&address) { connect(descriptor, $0, $1) } == 0
    }

    private static func open() throws -> Int32 {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { throw HarnessError("socket: error \(errno)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func bindToAnyPort(_ descriptor: Int32) throws -> UInt16 {
        var address = loopbackAddress(port: 0)
        let bound = withSocketAddress(&address) { bind(descriptor, $0, $1) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard bound == 0, named == 0 else { throw HarnessError("no free port: error \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func limitWaiting(of descriptor: Int32) {
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    }

    private static func readToEnd(_ descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count >= 0 else { return nil }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    private static func loopbackAddress(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func withSocketAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    #if canImport(Darwin)
        private static let streamSocket = SOCK_STREAM
    #else
        private static let streamSocket = Int32(SOCK_STREAM.rawValue)
    #endif
}
