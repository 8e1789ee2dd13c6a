#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport

    /// What a request came to.
    enum Verdict: Sendable {
        case success
        /// Typed, and one that may come of a call that failed.
        case failure(String, message: String)
        case breach(String)
    }

    /// A request that suffers.
    enum Scenario: String {
        /// The first of the process, with libcurl not set up.
        case first
        case get
        case post
        case upload
        case stream
        case gzip
        case tls
        case http2
        case pause
        case cancel
        case redirect
        case proxy
        case preconnect

        func perform(over transport: CurlTransport, _ sites: Sites) async -> Verdict {
            do throws(Trouble) {
                try await attempt(Attempt(transport: transport, sites: sites))
                return .success
            } catch {
                return error.verdict
            }
        }

        private func attempt(_ attempt: Attempt) async throws(Trouble) {
            switch self {
            case .first, .get: try await attempt.get(attempt.sites.clear, 3_000)
            case .post: try await attempt.echo(500)
            case .upload: try await attempt.echo(200_000)
            case .stream: try await attempt.stream(attempt.sites.clear, 300_000)
            case .gzip:
                try await attempt.expect(attempt.request(attempt.sites.clear, "/gzip"), Data("hello, hello\n".utf8))
            case .tls: try await attempt.get(attempt.sites.secure, 3_000)
            case .http2: try await attempt.getThree(attempt.sites.http2)
            case .pause: try await attempt.pause()
            case .cancel: try await attempt.cancel()
            case .redirect: try await attempt.redirect()
            case .proxy: try await attempt.getByProxy(2_000)
            case .preconnect: try await attempt.preconnect()
            }
        }
    }

    /// Why a request did not bring what it was to bring.
    enum Trouble: Error {
        case transport(TransportError)
        case call(APIError)
        case wrong(String)

        var verdict: Verdict {
            switch self {
            case .wrong(let what): .breach(what)
            case .call(let error): Self.verdict("\(error.kind)", error.kind == .cancelled, error.debugMessage)
            case .transport(let error): Self.verdict("\(error.kind)", error.kind == .cancelled, error.message)
            }
        }

        private static func verdict(_ kind: String, _ isCancelled: Bool, _ message: String) -> Verdict {
            if isCancelled { return .breach("cancelled by nobody") }
            return .failure(kind, message: message)
        }
    }
#endif
