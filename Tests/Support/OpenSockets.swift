#if os(Linux)
    import Foundation

    /// Sockets of this process whose peer is the given port.
    public func openSockets(to port: UInt16) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = $0
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return code == 0 && UInt16(bigEndian: address.sin_port) == port
        }
    }
#endif
