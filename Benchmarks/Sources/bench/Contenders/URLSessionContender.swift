import Foundation
import FoundationNetworking

/// Foundation's URLSession, used directly, without cache and cookies, and with leave to open as many
/// connections as there are calls in flight.
enum URLSessionContender {
    static func runner(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        guard let url = URL(string: target.url) else { return nil }
        let session = URLSession(configuration: configuration(inFlight))
        let document = target.document
        return { calls in
            await Contender.crowd(calls, inFlight) { _ in
                guard let (data, response) = try? await session.data(for: URLRequest(url: url)) else { return false }
                return (response as? HTTPURLResponse)?.statusCode == 200 && document.isRight(data.count)
            }
        }
    }

    private static func configuration(_ inFlight: Int) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, inFlight)
        return configuration
    }
}
