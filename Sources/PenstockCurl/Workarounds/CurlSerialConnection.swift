#if os(Linux)
    import CCurl
    import PenstockCore

    /// Keeps a connection that carries one transfer at a time to that (``CurlFault/unaskedPipelining``).
    extension CurlHandle {
        /// Claims the connection that its request is about to go over.
        ///
        /// A transfer that libcurl has ended is at no connection, also before the loop knows that it is over, so the next
        /// one may take its connection at once.
        ///
        /// - Parameter isNew: whether the connection was made for it.
        /// - Returns: `false` where another transfer is under way there, which its own would get mixed up with.
        func takeConnection(isNew: Bool) -> Bool {
            if isNew, let isHTTP2 = agreesOnHTTP2 { carriage.connection?.way = isHTTP2 ? .stream : .alone }
            guard CurlFault.unaskedPipelining.isPresent else { return true }
            guard let connection = carriage.connection else { return isAlone }
            guard connection.way == .alone else { return true }
            if let user = connection.user, user !== self, user.session == session { return false }
            connection.user = self
            return true
        }

        /// The same of a connection that is not known, because it shares its local port with another.
        private var isAlone: Bool {
            guard let pool = transfer?.state.pool, pool.isShared, agreesOnHTTP2 == false else { return true }
            let session = session
            return !pool.handles.contains { $0 !== self && $0.session == session }
        }

        /// What no other connection has that is open.
        private var session: UnsafeMutableRawPointer? { ccurl_openssl_session(easy) }
    }
#endif
