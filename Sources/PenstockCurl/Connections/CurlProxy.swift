#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// A proxy policy as libcurl's options say it.
    final class CurlProxy {
        /// libcurl's own form: scheme, credentials, host and port; empty for no proxy.
        private let text: String
        /// Fields for the proxy alone.
        private let fields: UnsafeMutablePointer<curl_slist>?

        /// - Returns: `nil` when libcurl has no memory.
        init?(_ policy: ProxyPolicy) {
            switch policy.route {
            case .http(let origin):
                guard let fields = Self.fields(policy.credentials) else { return nil }
                text = "http://\(Self.authority(origin.host, origin.port))"
                self.fields = fields
            case .socks5(let host, let port):
                text = "socks5h://\(Self.userInformation(policy.credentials))\(Self.authority(host, port))"
                fields = nil
            default:
                (text, fields) = ("", nil)
            }
        }

        deinit {
            curl_slist_free_all(fields)
        }

        /// Whether what is sent to an origin over TLS goes through a tunnel that the proxy opens (RFC 9110 §9.3.6).
        var tunnels: Bool { fields != nil }
        /// Whether libcurl must be watched while the tunnel is opened.
        var needsWatch: Bool { tunnels && CurlFault.tirelessTunnel.isPresent }

        /// The object must outlive the handle's transfers.
        ///
        /// - Parameter keep: hears what libcurl makes of each option.
        func apply(to easy: UnsafeMutableRawPointer, _ keep: (CURLcode) -> Void) {
            keep(ccurl_set_text(easy, CURLOPT_PROXY, text))
            // Otherwise libcurl asks the environment for hosts that are reached directly, for each transfer.
            keep(ccurl_set_text(easy, CURLOPT_NOPROXY, ""))
            guard !text.isEmpty else { return }
            keep(ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1))
            keep(ccurl_set_long(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)))
            keep(ccurl_set_pointer(easy, CURLOPT_PROXYHEADER, fields))
            keep(ccurl_set_long(easy, CURLOPT_SOCKS5_AUTH, Int(ccurl_auth_basic)))
        }

        /// libcurl would take the credentials as options too, but then percent-decodes them in some of its versions.
        private static func fields(_ credentials: ProxyCredentials?) -> UnsafeMutablePointer<curl_slist>? {
            guard let list = curl_slist_append(nil, "Proxy-Connection:") else { return nil }
            guard let credentials else { return list }
            let token = Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
            // The first link of the list stays the first; without memory the list stays as it is.
            guard curl_slist_append(list, "Proxy-Authorization: Basic \(token)") != nil else {
                curl_slist_free_all(list)
                return nil
            }
            return list
        }

        fileprivate static func authority(_ host: String, _ port: Int) -> String {
            "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        }

        private static func userInformation(_ credentials: ProxyCredentials?) -> String {
            guard let credentials else { return "" }
            return "\(escaped(credentials.user)):\(escaped(credentials.password))@"
        }

        private static func escaped(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain =
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }

    // MARK: What cannot be used

    extension CurlProxy {
        /// Refuses what no transfer could be sent through.
        static func check(_ policy: ProxyPolicy) throws(TransportError) {
            switch policy.route {
            case .direct: return
            case .http(let origin):
                if origin.scheme == .https { throw refusal("a proxy that is reached over TLS") }
                if policy.credentials?.user.contains(":") ?? false { throw refusal("a colon in a proxy user's name") }
            case .socks5(let host, let port):
                let origin = try? HTTPURL("http://\(authority(host, port))/").origin
                if origin?.host != host.lowercased() || origin?.port != port { throw refusal("this name of a proxy") }
                if let credentials = policy.credentials { try checkLengths(credentials) }
            @unknown default: throw refusal("this kind of proxy")
            }
        }

        private static func checkLengths(_ credentials: ProxyCredentials) throws(TransportError) {
            for text in [credentials.user, credentials.password] where !(1...255).contains(text.utf8.count) {
                throw refusal("credentials of \(text.utf8.count) bytes at a SOCKS proxy")
            }
        }

        private static func refusal(_ what: String) -> TransportError {
            TransportError(.unsupported(what), sendState: .unsent, message: "libcurl cannot use \(what)")
        }
    }

    // MARK: What a proxy refuses

    extension CurlProxy {
        /// - Parameter isConnected: whether the request was about to be sent: the proxy had done its part.
        /// - Returns: `nil` where the failure is not the proxy's.
        static func failure(
            _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ policy: ProxyPolicy, isConnected: Bool
        ) -> TransportError.Kind? {
            guard policy != .none, !isConnected else { return nil }
            switch code {
            case CURLE_COULDNT_RESOLVE_PROXY: return .unreachable(.proxy)
            case CURLE_COULDNT_CONNECT:
                let isOffline = [ENETUNREACH, ENETDOWN].contains(Int32(ccurl_get_long(easy, CURLINFO_OS_ERRNO)))
                return .unreachable(isOffline ? .offline : .proxy)
            case CURLE_PROXY: return .unreachable(socksFailure(ccurl_get_long(easy, CURLINFO_PROXY_ERROR)))
            case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY,
                CURLE_COULDNT_RESOLVE_HOST, CURLE_OUT_OF_MEMORY:
                let status = ccurl_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
                return .unreachable(status == 407 ? .proxyAuthentication : .proxy)
            default: return nil
            }
        }

        /// What a SOCKS proxy says of the origin is as good as what the system says of it.
        private static func socksFailure(_ number: Int) -> TransportError.Reachability {
            switch CURLproxycode(UInt32(truncatingIfNeeded: number)) {
            case CURLPX_USER_REJECTED, CURLPX_NO_AUTH: .proxyAuthentication
            case CURLPX_REPLY_CONNECTION_REFUSED: .connectionRefused
            case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED: .noRoute
            default: .proxy
            }
        }
    }

    extension CurlTransfer {
        /// Whether the response is the proxy's own: only a proxy asks for credentials with 407 (RFC 9110 §15.5.8). One
        /// that asks before it opens a tunnel never gets as far as a response.
        var isRefusedByProxy: Bool {
            guard state.head.status == 407, case .http = request.proxy.route else { return false }
            return request.request.url.scheme == .http
        }
    }
#endif
