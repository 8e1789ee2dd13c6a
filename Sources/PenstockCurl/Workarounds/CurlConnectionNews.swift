#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// What a connection turns out to speak, as soon as that is known.
    extension CurlHandle {
        /// The protocol that TLS has agreed on (RFC 7301); `nil` where it cannot be asked.
        var agreesOnHTTP2: Bool? {
            guard let session = ccurl_openssl_session(easy) else { return nil }
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(OpaquePointer(session), &name, &length)
            return UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
        }
    }

    /// Reads libcurl's texts about a transfer.
    enum CurlTexts {
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

        private static func number(after mark: String, in text: String) -> Int? {
            guard let range = text.range(of: mark) else { return nil }
            return Int(text[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
        }

        /// How many exchanges a connection carries that takes no more, if a text tells it.
        static func streams(in text: String) -> Int? {
            number(after: full, in: text)
        }
    }
#endif
