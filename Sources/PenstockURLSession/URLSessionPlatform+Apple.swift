#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// What Foundation's session can do on Apple's systems.
    enum URLSessionPlatform {
        static let capabilities: TransportCapabilities = [
            .trustPolicy, .timings, .streamedRequests, .http2, .suspension, .partitions,
            .streamedResponses, .noticesAll, .pinning, .clientCertificates, .channels,
        ]

        /// Trailers are left out, and do no harm.
        static let endsProcessAtTrailers = false

        /// A session follows the redirect that a protocol tells it of, takes content in pieces, and shows the content of an
        /// upload task.
        static let limitsProtocols = false

        static func task(for request: URLRequest, body: HTTPBody, in session: URLSession) -> URLSessionTask {
            switch body.source {
            case .none: return session.dataTask(with: request)
            case .bytes(let data): return session.uploadTask(with: request, from: data)
            case .file(let file): return session.uploadTask(with: request, fromFile: file)
            case .stream:
                var request = request
                // Without a length the session sends chunks.
                if let length = body.length { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
                return session.uploadTask(withStreamedRequest: request)
            }
        }

        static func configure(_ configuration: URLSessionConfiguration, for trust: TrustPolicy) {
            configuration.tlsMinimumSupportedProtocolVersion = trust.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
        }

        /// The server's certificate is judged by the trust policy, and shown the client's where it asks for that. No other
        /// challenge is answered, so that a 401 or 407 is a response like any other.
        static func answer(
            _ challenge: URLAuthenticationChallenge, for task: URLSessionTask, of exchange: URLSessionExchange?,
            trust policy: TrustPolicy
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            if policy != .system, let trust = space.serverTrust {
                guard let failure = ServerTrust.failure(of: trust, for: exchange?.host ?? space.host, under: policy)
                else {
                    return (.useCredential, URLCredential(trust: trust))
                }
                exchange?.fail(.tls(failure), "the server's certificate was refused")
                return (.cancelAuthenticationChallenge, nil)
            }
            guard let identity = policy.identity,
                space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
            else { return (.performDefaultHandling, nil) }
            guard let credential = ClientCredential.make(identity) else {
                exchange?.fail(.tls(.clientCertificate), "the client's certificate cannot be read")
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, credential)
        }
    }

    /// Ends the tasks of one session.
    struct URLSessionCanceller: Sendable {
        func cancel(_ task: URLSessionTask) {
            task.cancel()
        }
    }
#endif
