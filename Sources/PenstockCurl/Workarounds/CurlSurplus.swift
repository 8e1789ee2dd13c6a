#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// Has no connection used again on which bytes came behind the end of a response (``CurlFault/untoldSurplus``).
    extension CurlHandle {
        /// Listens from here on, at the end of the head, where libcurl closes the connection upon such bytes only if it is told to.
        func beginWatchingSurplus(_ transfer: CurlTransfer) {
            if transfer.state.head.mayHideSurplus(transfer.request.request.method) { watchSurplus() }
        }

        func heedSurplus(_ text: UnsafeBufferPointer<CChar>) {
            if watchesSurplus, CurlDebugText.isSurplus(text) { closeConnection() }
        }
    }

    extension CurlDebugText {
        /// Whether a text tells that there were bytes behind the end of a response. libcurl drops them, but for those behind
        /// chunks (``CurlTransfer/receiveChunks(_:_:)``).
        static func isSurplus(_ text: UnsafeBufferPointer<CChar>) -> Bool {
            let mark: StaticString = "Excess found"
            guard let base = text.baseAddress, text.count >= mark.utf8CodeUnitCount else { return false }
            return memcmp(base, mark.utf8Start, mark.utf8CodeUnitCount) == 0
        }
    }

    extension CurlSockets {
        /// Whether the TLS session of a connection that rests holds bytes that were read from its socket: a part of a record behind
        /// the one that ended the response.
        static func holdsBytes(_ easy: UnsafeMutableRawPointer) -> Bool {
            ccurl_openssl_session(easy).map { SSL_has_pending(OpaquePointer($0)) == 1 } ?? false
        }
    }
#endif
