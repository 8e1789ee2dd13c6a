import Foundation

/// A listening socket on a free port of 127.0.0.1, and the pipe that wakes the thread which accepts.
final class Listener: Sendable {
    let port: Int
    private let socket: Socket
    private let wakeReader: Int32
    private let wakeWriter: Int32

    /// - Parameter receiveBuffer: in bytes, where the system's own would let a client run ahead of a throttle.
    /// - Throws: `POSIXError` when the system gives no socket.
    init(receiveBuffer: Int32? = nil) throws {
        let descriptor = Foundation.socket(AF_INET, SocketPlatform.streamType, 0)
        guard descriptor >= 0 else { throw Listener.systemError() }
        socket = Socket(adopting: descriptor)
        if var size = receiveBuffer {
            _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        port = try Listener.bind(descriptor)
        // A wait that a signal ends, and a client that is gone again, must not leave the thread waiting in `accept`.
        Listener.setBlocking(descriptor, false)
        var ends: [Int32] = [0, 0]
        guard listen(descriptor, 1024) == 0, pipe(&ends) == 0 else { throw Listener.systemError() }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// Waits for the next connection, whose descriptor is the caller's; `nil` after ``wake()``.
    func accept() -> Int32? {
        while true {
            var entries = [socket.descriptor, wakeReader].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&entries, 2, -1)
            if entries[1].revents != 0 { return nil }
            let descriptor = Foundation.accept(socket.descriptor, nil, nil)
            if descriptor >= 0 {
                Listener.prepare(descriptor)
                return descriptor
            }
            // Out of descriptors: those that close soon make room.
            if errno == EMFILE || errno == ENFILE { usleep(5_000) }
        }
    }

    /// Makes ``accept()`` return `nil`, now and from now on.
    func wake() {
        var byte: UInt8 = 0
        _ = write(wakeWriter, &byte, 1)
    }

    private static func prepare(_ descriptor: Int32) {
        // Where it is inherited from the listening socket.
        setBlocking(descriptor, true)
        var on: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func setBlocking(_ descriptor: Int32, _ isBlocking: Bool) {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, isBlocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK)
    }

    private static func bind(_ descriptor: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, size) != 0 || getsockname(descriptor, $0, &size) != 0
            }
        }
        guard !failed else { throw systemError() }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func systemError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
