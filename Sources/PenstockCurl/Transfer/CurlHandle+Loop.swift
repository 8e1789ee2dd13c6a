#if os(Linux)
    import CCurl

    /// What a handle tells the loop and its pool of its transfer.
    extension CurlHandle {
        /// The moment the current round of the loop began, in nanoseconds, and the round's number.
        var now: UInt64 { loop.now }
        var round: UInt64 { loop.round }

        /// A part of a head has come over HTTP/2.
        func headCame() {
            pool.headCame()
        }

        func headCompleted(_ transfer: CurlTransfer) {
            loop.headCompleted(transfer)
        }

        /// A connection was made for the transfer.
        func connected(_ transfer: CurlTransfer) {
            loop.connected(transfer, self)
        }

        /// A piece of content has come for the reader of a stream.
        func gathersContent() {
            if let transfer { loop.gathers(transfer) }
        }

        /// Asks for the transfer to be paused as soon as libcurl is not in the middle of it.
        func pauseSoon() {
            if let transfer { loop.pauseSoon(transfer) }
        }

        /// How large its collected response was, head and content; `nil` where none came.
        var responseSize: Int? {
            guard let transfer, transfer.state.head.isComplete, transfer.pipe == nil else { return nil }
            return transfer.state.head.bytes + Int(ccurl_get_received(easy))
        }
    }
#endif
