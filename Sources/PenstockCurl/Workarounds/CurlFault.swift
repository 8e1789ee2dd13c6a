#if os(Linux)
    import CCurl
    import COpenSSL
    import PenstockCore

    /// libcurl as this process has it.
    enum CurlLibrary {
        private static let isReady = Locked(false)
        private static var facts: curl_version_info_data? { curl_version_info(CURLVERSION_FIRST)?.pointee }

        static let version = CurlVersion(number: facts?.version_num ?? 0)
        /// Whether it was built with HTTP/2.
        static let speaksHTTP2 = (facts?.features ?? 0) & CURL_VERSION_HTTP2 != 0
        /// Whether it speaks TLS by OpenSSL, as all that ``CurlTrust`` and ``CurlReadLimit`` do needs it to.
        static let usesOpenSSL = facts?.ssl_version.map { String(cString: $0).hasPrefix("OpenSSL") } ?? false

        /// Sets libcurl up once for the process.
        ///
        /// - Returns: `false` when it cannot be used now.
        static func prepare() -> Bool {
            isReady.withLock { isReady in
                // Before libcurl does so: a process may end by `exit` while the loop's thread is in the midst of TLS.
                if !isReady { _ = copenssl_prepare() }
                isReady = isReady || curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
                return isReady
            }
        }
    }

    /// A version of libcurl, ordered as time is.
    struct CurlVersion: Comparable {
        /// The version as libcurl writes it (`LIBCURL_VERSION_NUM`): one byte each for the major, the minor and the patch number.
        let number: UInt32

        init(number: UInt32) {
            self.number = number
        }

        init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32 = 0) {
            number = major << 16 | minor << 8 | patch
        }

        static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// What libcurl does wrong, or keeps to itself, and is worked around here. The code asks this table before each workaround,
    /// so that what a workaround is for can be read here, and all of it goes when the last version with its fault is gone.
    ///
    /// "Seen with 7.88" says that it was observed there (Debian 12 has 7.88.1). A fault without a version in ``mendedIn`` is taken
    /// for present in every version: nobody has seen it gone.
    enum CurlFault: UInt32, CaseIterable {
        // MARK: HTTP/2

        /// Where a server answers before it has read the whole request and then tells the client to stop (RFC 9113 §8.1), the
        /// answer is lost, or the loop spins until a time-out. It takes a body that does not fit into the server's window, or one
        /// that is waited for. Seen with 7.88, not with 8.14. Such bodies go over HTTP/1.1, on connections of their own.
        case lostEarlyResponse
        /// A stream reads for all the others of its connection. When it ends, bytes of another, or its end, may be held without
        /// an event that would tell. Seen with 7.88 in one of forty bursts of a hundred transfers, not with 8.14. Transfers that
        /// have been quiet for a moment are asked to look for themselves (``CurlStallProbes``).
        case heldStream
        /// The end of a response is missed when the last bytes of one reading do not fit into the transfer's buffer behind its
        /// head. Seen with 7.88 and buffers of 16 KiB, not with 8.14. Transfers over shared connections have 48 KiB.
        case missedEnd
        /// A connection is read until there is something for the stream at hand or the socket runs dry, so a peer that sends
        /// frames for no stream keeps everybody waiting. Seen with 7.88. ``CurlReadLimit`` bounds what is read in one round.
        case unboundedReading
        /// A refused stream is remembered by its easy handle where the connection had carried other requests, and the handle's
        /// next failure is then taken for a refusal and its request sent again. Seen with 7.88. A handle that met with a failure
        /// is not used again, and an attempt after one over such a connection counts as refused only where a GOAWAY says so.
        case rememberedRefusal
        /// A stream that the server resets with NO_ERROR counts as ended, also in the midst of its content, and content without a
        /// length seems whole (RFC 9113 §8.1). So it does where the server breaks HTTP/2 itself. Nothing tells it from a good end.
        /// Seen with 7.88. Who asks is told that the content may be cut off: the cache does not store it, and a download asks
        /// whether there is more.
        case untoldReset
        /// A head that the socket does not take at once is kept, may be sent by another stream, and is counted only later. Seen
        /// with 7.88. What was handed over beside other streams counts as sent.
        case uncountedHead
        /// A GOAWAY is told as debug text alone, misspelt in 7.88. Requests that must not be sent twice listen to it
        /// (``CurlDebugText``).
        case untoldLeave
        /// Once a host has spoken HTTP/2 on a connection, connections to the host that speak HTTP/1.1 are given further transfers
        /// while one is under way, and each of them takes what the others are answered. Seen with 7.88. What a connection speaks is
        /// noted when it is made, and a transfer that comes upon another there connects anew (``CurlHandle/takeConnection(isNew:)``).
        case unaskedPipelining
        /// The end of a stream that is taken away is kept until there is something else to send, so that the server goes on. Seen
        /// with 7.88. The connection is closed if no other transfer uses it.
        case unsentReset

        // MARK: Any version of HTTP

        /// Content that is kept while a transfer is paused is freed neither with the transfer nor with its handle where others go
        /// on over the connection, and goes to the handle's next transfer. Seen with 7.88. It is asked for, and refused, before
        /// the handle is given back.
        case keptContent
        /// The last field line of a handle's transfer is freed before the next transfer and still pointed to, so that a head that
        /// begins with a continued line (RFC 9112 §5.2) is written into freed memory, before the line is told. Resetting the
        /// handle does not help. Seen with 7.88, mended in 8.1. A line that continues nothing is spoilt before libcurl looks at it
        /// (``CurlFirstField``), and behind a proxy that opens tunnels a handle is used for one transfer alone.
        case danglingField
        /// Where there was no memory to write a request, the connection stays open with the part that was sent, and the next
        /// request follows upon that. Seen with 7.88. The pool takes no more transfers.
        case halfSentRequest
        /// Before a request is sent again, a body goes back to its beginning only if some of it was written, and what had been
        /// read of it is forgotten. Seen with 7.88. The body is taken back to its beginning here.
        case forgottenBody
        /// Bytes, or an end, that come on an idle connection are taken for the answer to the next request (RFC 9112 §9.2,
        /// §11.2). Seen with 7.88. The socket is looked at before each request, and shut where something has come.
        case unaskedBytes
        /// Bytes behind a response without content that were read together with it are dropped, and told as debug text alone.
        /// The connection is kept, and what comes after them would be taken for the answer to the next request (RFC 9112 §6.3,
        /// §9.3). Seen with 7.88. That text is listened to from the head on, and the connection closed.
        case untoldSurplus
        /// Where a request waits for 100 Continue and another answer below 300 comes instead, its content is not sent, and the
        /// connection is kept: a server that goes on to read the content takes the next request for it (RFC 9112 §9.3). Seen with
        /// 7.88. The connection is closed where an answer comes before the end of such a request.
        case unsentContent
        /// A request with an expectation that is answered by 417 is sent again by itself, without it and maybe on another connection,
        /// once the answer has been read, whose content is dropped. Seen with 7.88. libcurl may follow nothing, and the end that it
        /// makes of that is the answer's; its content stays lost.
        case followedRefusal
        /// While sending is paused, the end of an early response is not told. Seen with 7.88. Sending is resumed so that it is.
        case silentEnd
        /// An end of the socket without TLS's `close_notify` counts as the end of content that only the connection delimits
        /// (RFC 9112 §9.8). Seen with 7.88. The TLS session is looked at as the content comes.
        case unannouncedEnd
        /// A certificate without alternative names is accepted by its common name (RFC 9110 §4.3.4). Seen with 7.88. OpenSSL is
        /// told never to look at it.
        case commonName
        /// What a proxy answers before there is a tunnel is read byte by byte until the socket runs dry, the content of a 407 as
        /// well, so a proxy that sends without end keeps everybody waiting. Seen with 7.88. ``CurlTunnelWatch`` ends it.
        case tirelessTunnel
        /// The interface of a link-local address that was looked up is lost. Seen with 7.88. It is put back before the socket is
        /// connected.
        case lostZone

        /// The first version in which it was looked for and not found, or that its authors say they mended it in; `nil` where there
        /// is none.
        var mendedIn: CurlVersion? {
            switch self {
            case .lostEarlyResponse, .heldStream, .missedEnd: CurlVersion(8, 14)
            case .danglingField: CurlVersion(8, 1)
            default: nil
            }
        }

        func isPresent(in version: CurlVersion) -> Bool {
            mendedIn.map { version < $0 } ?? true
        }

        /// Whether the libcurl of this process has it.
        var isPresent: Bool { Self.present & (1 << rawValue) != 0 }

        private static let present = allCases.reduce(UInt32(0)) { bits, fault in
            fault.isPresent(in: CurlLibrary.version) ? bits | 1 << fault.rawValue : bits
        }
    }
#endif
