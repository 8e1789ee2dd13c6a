import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a request into Foundation's, or refuses one that Foundation would change.
enum URLSessionRequest {
    /// A time-out that never comes, in seconds: a week.
    static let never: TimeInterval = 604_800

    static func make(_ exchange: TransportRequest) throws(TransportError) -> URLRequest {
        let source = exchange.request
        try refuse(exchange)
        guard let url = URL(string: source.url.absoluteString), url.absoluteString == source.url.absoluteString else {
            throw unsupported("this URL")
        }
        var request = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: never)
        request.httpMethod = source.method.rawValue
        request.httpShouldHandleCookies = false
        guard request.httpMethod == source.method.rawValue else { throw unsupported("the method \(source.method)") }
        for field in source.fields { request.addValue(field.value, forHTTPHeaderField: field.name.text) }
        return request
    }

    private static func refuse(_ exchange: TransportRequest) throws(TransportError) {
        let request = exchange.request
        if let name = request.fields.rejected.first { throw unsupported("the header field \(name)") }
        for name in [HTTPFieldName.contentLength, .transferEncoding, .host] where request.fields.contains(name) {
            throw unsupported("a header field \(name) of the request's own")
        }
        let missing = needed(exchange).subtracting(URLSessionPlatform.capabilities)
        if let policy = exchange.trust.refusal(by: URLSessionPlatform.capabilities) { throw unsupported(policy) }
        if let names = exchange.resolver.refusal(by: URLSessionPlatform.capabilities) { throw unsupported(names) }
        if missing.contains(.proxies) { throw unsupported("anything through a proxy of the request's own") }
        if missing.contains(.streamedRequests) { throw unsupported("a streamed request body") }
        if !request.body.isNone, request.method == .get || request.method == .head {
            throw unsupported("a body in a \(request.method) request")
        }
    }

    private static func needed(_ exchange: TransportRequest) -> TransportCapabilities {
        var needed: TransportCapabilities = []
        if exchange.proxy != .none { needed.insert(.proxies) }
        if case .stream = exchange.request.body.source { needed.insert(.streamedRequests) }
        return needed
    }

    private static func unsupported(_ what: String) -> TransportError {
        TransportError(.unsupported(what), sendState: .unsent, message: "URLSession cannot send \(what)")
    }
}
