#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
    import PenstockCore

    /// What Foundation's session can do on Linux.
    enum URLSessionPlatform {
        static let capabilities: TransportCapabilities = [.partitions]

        /// Foundation takes trailers for the beginning of another head, and ends the process when the transfer is complete
        /// without one.
        static let endsProcessAtTrailers = true

        /// Where another answer comes than 100 Continue, Foundation keeps the content to itself and the connection open, and a server
        /// that goes on to read the content takes the next request for it (RFC 9112 §9.3). So nothing is said of an expectation.
        static let waitsForContinue = false

        /// A session keeps the last piece alone of the content that a protocol hands over, ends the process where one tells of a
        /// redirect, or hands over a 401 with a challenge that it does not know, and shows no protocol the content of an upload
        /// task.
        static let limitsProtocols = true

        static func task(for request: URLRequest, body: HTTPBody, in session: URLSession) -> URLSessionTask {
            switch body.source {
            case .bytes(let data): session.uploadTask(with: request, from: data)
            case .file(let file): session.uploadTask(with: request, fromFile: file)
            default: session.dataTask(with: request)
            }
        }

        /// There is nothing to set: every policy but the system's is refused.
        static func configure(_ configuration: URLSessionConfiguration, for trust: TrustPolicy) {}

        /// Called when a 401 is complete: it is handed up as it is, since none of the dispositions does that.
        static func answer(
            _ challenge: URLAuthenticationChallenge, for task: URLSessionTask, of exchange: URLSessionExchange?,
            trust: TrustPolicy
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            exchange?.didComplete(task, error: nil)
            return (.cancelAuthenticationChallenge, nil)
        }
    }

    /// Where a protocol tells its session what came. Foundation takes that on any thread here, and starts protocols on threads without
    /// a run loop.
    struct ProtocolThread: Sendable {
        func perform(_ work: @Sendable () -> Void) {
            work()
        }
    }

    /// Ends the tasks of one session. Foundation waits here for the session's queue, which a flood of bytes keeps busy, and
    /// neither a call's thread nor the delegate's may wait with it.
    struct URLSessionCanceller: Sendable {
        private let queue = DispatchQueue(label: "penstock.urlsession.cancellations")

        func cancel(_ task: URLSessionTask) {
            queue.async { task.cancel() }
        }
    }
#endif
