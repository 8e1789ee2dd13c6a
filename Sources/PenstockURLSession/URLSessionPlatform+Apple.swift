#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// What Foundation's session can do on Apple's systems.
    enum URLSessionPlatform {
        static let capabilities = channels.union([
            .trustPolicy, .timings, .streamedRequests, .http2, .suspension, .partitions,
            .streamedResponses, .noticesAll, .pinning, .clientCertificates,
        ])

        /// Trailers are left out, and do no harm.
        static let endsProcessAtTrailers = false

        /// The system keeps to RFC 9110 §10.1.1 by itself.
        static let waitsForContinue = true

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

    /// The thread that Foundation starts a protocol on, with the modes of its run loop: by Apple's documentation the protocol tells its
    /// session there, and there alone, what came.
    ///
    /// Unchecked because the run loop is used but to hand it work and to wake it, which any thread may do.
    struct ProtocolThread: @unchecked Sendable {
        private let loop = RunLoop.current
        private let modes = [RunLoop.current.currentMode ?? .default, .default]

        /// Does it there, behind what it was given before.
        func perform(_ work: @escaping @Sendable () -> Void) {
            loop.perform(inModes: modes, block: work)
            CFRunLoopWakeUp(loop.getCFRunLoop())
        }
    }

    /// Ends the tasks of one session.
    struct URLSessionCanceller: Sendable {
        func cancel(_ task: URLSessionTask) {
            task.cancel()
        }
    }

    #if os(watchOS)
        extension URLSessionPlatform {
            /// No channels: by Apple's technical note TN3135 no connection of the Network framework comes about there in any but a few
            /// kinds of apps.
            private static let channels: TransportCapabilities = []
        }
    #else
        extension URLSessionPlatform {
            private static let channels: TransportCapabilities = .channels
        }
    #endif
#endif
