import Foundation

/// A TCP socket that closes itself when nobody refers to it any more, so that its number cannot be given to another
/// one while a thread still waits on it.
final class Socket: Sendable {
    let descriptor: Int32

    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        SocketPlatform.prepare(descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        close(descriptor)
    }

    /// Ends both directions: whoever waits on the socket wakes up.
    func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends the sending direction after what was sent.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the close that follows a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits for bytes and returns some; `nil` once the peer has closed or the connection broke.
    func receive(upTo limit: Int = 64 << 10) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, retried { recv(descriptor, buffer.baseAddress, limit, 0) })
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// - Returns: `false` when the connection broke before all was handed to the system.
    func send(_ bytes: some ContiguousBytes) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while let address = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = retried { Foundation.send(descriptor, address, rest.count, SocketPlatform.sendFlags) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Whether there is something to read (or the end of the stream) within the time; `nil` means for ever.
    func isReadable(within duration: Duration?) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return retried { Int(poll(&entry, 1, Socket.milliseconds(duration))) } > 0
    }

    /// Waits for something to read here or at another descriptor. Whether there is something here.
    func isReadable(orWoken other: Int32) -> Bool {
        var entries = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = retried { Int(poll(&entries, 2, -1)) }
        return entries[0].revents != 0
    }

    /// Waits until the peer has gone or the server ended the connection, whatever is left to read; or until the time is
    /// over. `nil` means for ever.
    func waitForHangUp(within duration: Duration?) {
        var entry = pollfd(fd: descriptor, events: SocketPlatform.hangUp, revents: 0)
        _ = retried { Int(poll(&entry, 1, Socket.milliseconds(duration))) }
    }

    private static func milliseconds(_ duration: Duration?) -> Int32 {
        duration.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    }

    private func retried(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
