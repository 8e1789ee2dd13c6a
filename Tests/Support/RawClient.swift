import Foundation

/// A TCP connection to a port of 127.0.0.1 that sends and reads bytes as a test says. Reads give up after ten seconds.
public final class RawClient {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true
    /// Whether the server has reset the connection, as a read found.
    public private(set) var wasReset = false

    /// - Throws: `POSIXError` when nobody listens.
    public init(port: Int) throws {
        #if canImport(Darwin)
            let type = SOCK_STREAM
        #else
            let type = Int32(SOCK_STREAM.rawValue)
        #endif
        descriptor = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard isConnected else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit {
        close()
    }

    /// More than once does nothing more.
    public func close() {
        if isOpen { Foundation.close(descriptor) }
        isOpen = false
    }

    /// Writes the text as UTF-8.
    public func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Writes the bytes, all of them unless the server is gone.
    public func send(_ data: Data) {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The bytes until the server closes.
    public func readBytesToEnd() -> Data {
        while fill() {}
        defer { buffer = [] }
        return Data(buffer)
    }

    /// Reads until `mark` has come, and returns everything up to its end; what came when the stream ends first.
    public func read(through mark: String) -> String {
        let mark = Array(mark.utf8)
        while true {
            if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
                defer { buffer.removeFirst(end + mark.count) }
                return String(decoding: buffer.prefix(end + mark.count), as: UTF8.self)
            }
            guard fill() else { return readToEnd() }
        }
    }

    /// Everything until the server closes.
    public func readToEnd() -> String {
        while fill() {}
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// What has come, once there is something; `nil` at the end of the stream.
    public func readSome() -> Data? {
        guard !buffer.isEmpty || fill() else { return nil }
        defer { buffer = [] }
        return Data(buffer)
    }

    /// Whether nothing comes, not even the end, for so many milliseconds.
    public func isQuiet(for milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) == 0
    }

    private func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == ECONNRESET { wasReset = true }
        guard count > 0 else { return false }
        buffer.append(contentsOf: bytes.prefix(count))
        return true
    }
}
