#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// What Foundation's session can do on Apple's systems.
    enum URLSessionPlatform {
        static let capabilities: TransportCapabilities = [
            .trustPolicy, .timings, .streamedRequests, .http2, .suspension, .partitions,
            .streamedResponses, .noticesAll, .channels,
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

        /// The server's certificate is judged by the trust policy. No other challenge is answered, so that a 401 or 407 is
        /// a response like any other.
        static func answer(
            _ challenge: URLAuthenticationChallenge, for task: URLSessionTask, of exchange: URLSessionExchange?,
            trust policy: TrustPolicy
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard policy != .system, let trust = challenge.protectionSpace.serverTrust else {
                return (.performDefaultHandling, nil)
            }
            if let failure = ServerTrust.failure(of: trust, under: policy) {
                exchange?.fail(.tls(failure), "the server's certificate was refused")
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, URLCredential(trust: trust))
        }
    }

    /// Ends the tasks of one session.
    struct URLSessionCanceller: Sendable {
        func cancel(_ task: URLSessionTask) {
            task.cancel()
        }
    }
#endif
