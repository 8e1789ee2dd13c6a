import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session's delegate: hands each of its calls to the exchange it is about.
final class URLSessionBridge: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var exchanges: [Int: URLSessionExchange] = [:]
        var isInvalid = false
    }

    let trust: TrustPolicy
    let canceller = URLSessionCanceller()
    private let state = Monitor(State())

    init(trust: TrustPolicy) {
        self.trust = trust
    }

    func register(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        state.withLock { $0.exchanges[task.taskIdentifier] = exchange }
    }

    func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.exchanges[task.taskIdentifier] }
    }

    func cancelAll() {
        for exchange in state.withLock({ Array($0.exchanges.values) }) { exchange.cancel() }
    }

    /// Whether the session has let go of everything.
    var isInvalid: Bool { state.withLock(\.isInvalid) }

    /// Returns when the session has let go of everything.
    func untilInvalid() async {
        await state.wait { $0.isInvalid }
    }

    // MARK: URLSessionDelegate

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        state.withLock { $0.isInvalid = true }
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.didSend(Int(clamping: totalBytesSent))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
        exchange?.didComplete(task, error: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = URLSessionPlatform.answer(
            challenge, for: task, of: exchange(of: task), trust: trust)
        completionHandler(disposition, credential)
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.didReceive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.didReceive(data)
    }
}
