#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// Which transfers may share an HTTP/2 connection with others. See ``CurlFault/lostEarlyResponse``.
    enum CurlMultiplexing {
        /// What a server takes of a body before it has said anything, in bytes (RFC 9113 §6.9.2).
        private static let window = 65_535

        static func suits(_ request: HTTPRequest) -> Bool {
            guard request.url.scheme == .https, CurlFault.lostEarlyResponse.isPresent, !request.body.isNone else {
                return true
            }
            if case .stream = request.body.source { return false }
            return request.body.length.map { $0 <= window } ?? false
        }
    }

    /// Content over HTTP/2 that neither a length nor a coding tells the end of. See ``CurlFault/untoldReset``.
    extension CurlTransfer {
        /// Whether nobody knows if the content of a success is whole. That of a part says where it ends (RFC 9110 §14.4).
        ///
        /// - Parameter isEmpty: whether it has ended without a byte.
        func mayBeCutOff(isEmpty: Bool) -> Bool {
            guard state.head.version == .http2, state.head.contentLength == nil, CurlFault.untoldReset.isPresent,
                (200...299).contains(state.head.status), state.head.status != 204, state.head.status != 206,
                request.request.method != .head
            else { return false }
            return isEmpty || request.request.fields.contains(.acceptEncoding) || !isCoded
        }

        /// Whether the content has codings that are removed, which end where they say.
        private var isCoded: Bool {
            guard state.head.codings > 0 else { return false }
            return (try? ContentCoding.applied(state.head.fields)) ?? nil != nil
        }
    }

    extension CurlHandle {
        /// Whether TLS has agreed on HTTP/2 (RFC 7301); `nil` where it cannot be asked.
        var agreesOnHTTP2: Bool? {
            guard let session = ccurl_openssl_session(easy) else { return nil }
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(OpaquePointer(session), &name, &length)
            return UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
        }
    }

    /// Reads the debug text that libcurl writes about a transfer, for what it tells in no other way. See
    /// ``CurlFault/untoldLeave``.
    enum CurlDebugText {
        private static let full = "MAX_CONCURRENT_STREAMS reached, skip ("

        private static let streamNumber = "Using Stream ID: "
        // Both ways of writing it: 7.88 misspells the word.
        private static let leaving = ["recveived GOAWAY, error=", "received GOAWAY, error="]
        private static let lastStream = "last_stream="

        /// The number of the stream that a request has been given, if a text tells it.
        static func stream(in text: String) -> Int? {
            number(after: streamNumber, in: text)
        }

        /// The last stream that a server has processed or may process yet, if a text tells that it leaves (RFC 9113 §6.8).
        static func lastStream(in text: String) -> Int? {
            guard leaving.contains(where: text.hasPrefix) else { return nil }
            return number(after: lastStream, in: text)
        }

        private static let again = "retrying a fresh connect"

        /// Whether a text tells that a request is to be sent again. The transfer has no connection then, and what it tells while
        /// it looks for one is of connections that it only looks at.
        static func isAgain(_ text: String) -> Bool { text.contains(again) }

        private static let downgrade = "Downgrades to HTTP/1.1"

        /// Whether a text tells that the server wants the request over HTTP/1.1 (`HTTP_1_1_REQUIRED`, RFC 9113 §7).
        static func isDowngrade(_ text: String) -> Bool { text.hasPrefix(downgrade) }

        private static func number(after mark: String, in text: String) -> Int? {
            guard let range = text.range(of: mark) else { return nil }
            return Int(text[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
        }

        /// How many transfers a connection carries that takes no more, if a text tells it.
        static func streams(in text: String) -> Int? {
            number(after: full, in: text)
        }
    }

    /// When the transfers of a pool are to be probed: asked to look for bytes of theirs that libcurl holds although no event of
    /// the socket says so (``CurlFault/heldStream``). A transfer that has been quiet for a moment is probed, soon at first, then
    /// ever more seldom.
    struct CurlStallProbes {
        /// Nanoseconds without a byte until a transfer is probed for the first time. Doubles each time, up to ``rarest``.
        static let delay: UInt64 = 5_000_000
        static let rarest: UInt64 = 1_280_000_000

        /// When to look, in nanoseconds; `nil` when there is nothing to look at.
        private(set) var moment: UInt64?
        private var isMultiplexed = false

        /// - Parameter left: transfers still under way.
        mutating func transferEnded(isMultiplexed isOne: Bool, left: Int, _ now: UInt64) {
            isMultiplexed = isMultiplexed || (isOne && CurlFault.heldStream.isPresent)
            if left == 0 { return moment = nil }
            if isMultiplexed { moment = moment ?? now + Self.delay }
        }

        /// libcurl may hold more of a head than it has handed over, and of content that came with it.
        mutating func headCame(_ now: UInt64) {
            if CurlFault.heldStream.isPresent { moment = moment ?? now + Self.delay }
        }

        /// - Parameter next: when a transfer is due next; `nil` when none is left.
        mutating func looked(_ next: UInt64?) {
            moment = next
        }
    }

    /// The exponential back-off of the probes of one transfer.
    struct CurlProbeBackoff {
        private var lastMove: UInt64 = 0
        private var lastAsked: UInt64 = 0
        private var times: UInt64 = 0

        /// - Parameter moved: when the transfer last moved, in nanoseconds.
        /// - Returns: when it is to be probed; at once, if that is not after `now`, and then the probe is counted.
        mutating func advance(_ moved: UInt64, _ now: UInt64) -> (isDue: Bool, next: UInt64) {
            if moved != lastMove { (lastMove, lastAsked, times) = (moved, moved, 0) }
            let isDue = next <= now
            if isDue { (lastAsked, times) = (now, times + 1) }
            return (isDue, next)
        }

        private var next: UInt64 { lastAsked + min(CurlStallProbes.delay << min(times, 16), CurlStallProbes.rarest) }
    }

    extension CurlPool {
        /// Has the transfers that are due look for bytes that libcurl holds already.
        ///
        /// - Returns: when the next is due; `nil` when none is left.
        func probeStalled() -> UInt64? {
            var next: UInt64?
            for handle in handles {
                guard let transfer = handle.transfer, transfer.isOnTheWire, let moved = transfer.state.clock.lastByte
                else {
                    continue
                }
                let (isDue, moment) = transfer.state.probeBackoff.advance(moved, now)
                next = min(next ?? .max, moment)
                if isDue, transfer.isFree { look(handle) }
            }
            return next ?? (handles.isEmpty ? nil : now + CurlStallProbes.rarest)
        }

        /// Makes libcurl look at its connection by unpausing the handle; the content that the first call would pause is sent
        /// or is none of this transfer's.
        private func look(_ handle: CurlHandle) {
            let codes = [pause(handle, CURLPAUSE_SEND), pause(handle, CURLPAUSE_CONT)]
            if let code = codes.lazy.compactMap({ $0 }).first { end(handle, code) }
            act(CURL_SOCKET_TIMEOUT, 0)
        }
    }

    extension CurlTransfer {
        fileprivate var isOnTheWire: Bool { state.attempts > 0 }
        /// Whether nothing is paused that would have to stay so.
        fileprivate var isFree: Bool { !state.isSuspended && !state.isHeldBack && !state.awaitsChunk }
    }
#endif
