#if !canImport(Darwin)
    import Foundation

    /// What differs between systems in the use of sockets.
    enum SocketPlatform {
        static let streamType = Int32(SOCK_STREAM.rawValue)
        /// A peer that went away is an error, not a signal.
        static let sendFlags = Int32(MSG_NOSIGNAL)

        /// What `poll` is asked for to hear that the peer closed while there are bytes left to read (`POLLRDHUP`).
        static let hangUp: Int16 = 0x2000

        static func prepare(_ descriptor: Int32) {}
    }
#endif
