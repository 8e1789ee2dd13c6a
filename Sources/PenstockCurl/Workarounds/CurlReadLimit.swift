#if os(Linux)
    import COpenSSL
    import PenstockCore

    /// Bounds how much libcurl reads from one TLS connection in one round of the loop.
    ///
    /// A peer that never pauses and sends frames that are for no stream (empty DATA, PRIORITY, WINDOW_UPDATE) would keep
    /// libcurl reading for ever (``CurlFault/unboundedReading``), and every deadline, cancellation and other host would wait. So
    /// the connection's BIO says that
    /// nothing is there once its share of the round is read. epoll reports the rest in the next round, after the others.
    final class CurlReadLimit {
        private struct Connection {
            /// The number of the current round; it belongs to the loop, which outlives its connections.
            let current: UnsafePointer<UInt64>
            /// The round that ``left`` is for.
            var round: UInt64
            var left: Int
        }

        /// Bytes from one connection in one round.
        private static let share = 128 << 10
        private static let retry = BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY
        private static let knownIndex = Locked<Int32>(-1)

        private let current = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

        init() {
            current.initialize(to: 0)
        }

        deinit {
            current.deallocate()
        }

        /// The number of the current round.
        var round: UInt64 { current.pointee }

        /// Gives each connection a new share.
        func beginRound() {
            current.pointee &+= 1
        }

        /// Has a connection keep to its share.
        ///
        /// - Parameter context: OpenSSL's object for this connection alone.
        /// - Returns: `false` when there is no memory for it.
        func apply(to context: OpaquePointer) -> Bool {
            let connection = UnsafeMutablePointer<Connection>.allocate(capacity: 1)
            connection.initialize(to: Connection(current: UnsafePointer(current), round: 0, left: 0))
            guard SSL_CTX_set_ex_data(context, Self.index(), connection) == 1 else {
                connection.deallocate()
                return false
            }
            // The session, whose BIO is the one to hold back, does not exist before the handshake begins.
            SSL_CTX_set_info_callback(context) { session, event, _ in
                if event == SSL_CB_HANDSHAKE_START { CurlReadLimit.watch(session) }
            }
            return true
        }

        /// - Returns: where a context keeps its ``Connection``; negative while OpenSSL has no memory to say so.
        private static func index() -> Int32 {
            knownIndex.withLock { index in
                guard index < 0 else { return index }
                index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) { _, pointer, _, _, _, _ in
                    pointer?.assumingMemoryBound(to: Connection.self).deallocate()
                }
                return index
            }
        }

        private static func watch(_ session: OpaquePointer?) {
            guard let bio = SSL_get_rbio(session), BIO_get_callback_arg(bio) == nil,
                let connection = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), index())
            else { return }
            BIO_set_callback_arg(bio, connection.assumingMemoryBound(to: CChar.self))
            BIO_set_callback_ex(bio) { bio, operation, _, _, _, _, result, count in
                switch operation {
                case BIO_CB_READ: CurlReadLimit.permitRead(bio) ? Int(result) : -1
                case BIO_CB_READ | BIO_CB_RETURN: CurlReadLimit.note(bio, result > 0 ? count?.pointee : nil, result)
                default: Int(result)
                }
            }
        }

        private static func connection(of bio: OpaquePointer?) -> UnsafeMutablePointer<Connection>? {
            guard let pointer = BIO_get_callback_arg(bio) else { return nil }
            return UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Connection.self)
        }

        /// - Returns: `false` when the connection has had its share, which OpenSSL is told as if nothing had come yet.
        private static func permitRead(_ bio: OpaquePointer?) -> Bool {
            guard let connection = connection(of: bio) else { return true }
            let round = connection.pointee.current.pointee
            if connection.pointee.round != round {
                connection.pointee.round = round
                connection.pointee.left = share
            }
            guard connection.pointee.left <= 0 else { return true }
            BIO_clear_flags(bio, retry)
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return false
        }

        private static func note(_ bio: OpaquePointer?, _ count: Int?, _ result: Int32) -> Int {
            if let count, let connection = connection(of: bio) { connection.pointee.left -= count }
            return Int(result)
        }
    }
#endif
