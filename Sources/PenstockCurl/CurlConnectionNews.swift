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

        /// How many exchanges a connection carries that takes no more, if a text tells it.
        static func streams(in text: UnsafeRawBufferPointer) -> Int? {
            let text = String(decoding: text, as: UTF8.self)
            guard let range = text.range(of: full) else { return nil }
            return Int(text[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
        }
    }
#endif
