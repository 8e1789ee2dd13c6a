#if canImport(Darwin)
    import Foundation

    /// What differs between systems in the use of sockets.
    enum SocketPlatform {
        static let streamType = SOCK_STREAM
        static let sendFlags: Int32 = 0
        /// What `poll` is asked for to hear that the peer closed: it tells of that unasked.
        static let hangUp: Int16 = 0

        /// A peer that went away is an error, not a signal.
        static func prepare(_ descriptor: Int32) {
            var on: Int32 = 1
            _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }
#endif
