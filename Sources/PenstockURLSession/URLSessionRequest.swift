import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a request into Foundation's, or refuses one that Foundation would change.
enum URLSessionRequest {
    /// A time-out that never comes, in seconds: a week.
    static let never: TimeInterval = 604_800

    static func make(_ request: TransportRequest) throws(TransportError) -> URLRequest {
        let source = request.request
        try refuse(request)
        guard let url = URL(string: source.url.absoluteString), url.absoluteString == source.url.absoluteString else {
            throw unsupported("this URL")
        }
        var made = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: never)
        made.httpMethod = source.method.rawValue
        made.httpShouldHandleCookies = false
        guard made.httpMethod == source.method.rawValue else { throw unsupported("the method \(source.method)") }
        for field in source.fields where URLSessionPlatform.waitsForContinue || field.name != "Expect" {
            made.addValue(field.value, forHTTPHeaderField: field.name.text)
        }
        return made
    }

    private static func refuse(_ request: TransportRequest) throws(TransportError) {
        let source = request.request
        if let name = source.fields.rejected.first { throw unsupported("the header field \(name)") }
        for name in [HTTPFieldName.contentLength, .transferEncoding, .host] where source.fields.contains(name) {
            throw unsupported("a header field \(name) of the request's own")
        }
        let missing = needed(request).subtracting(URLSessionPlatform.capabilities)
        if let policy = request.trust.refusal(by: URLSessionPlatform.capabilities) { throw unsupported(policy) }
        if let names = request.resolver.refusal(by: URLSessionPlatform.capabilities) { throw unsupported(names) }
        if missing.contains(.proxies) { throw unsupported("anything through a proxy of the request's own") }
        if missing.contains(.streamedRequests) { throw unsupported("a streamed request body") }
        if !source.body.isNone, source.method == .get || source.method == .head {
            throw unsupported("a body in a \(source.method) request")
        }
    }

    private static func needed(_ request: TransportRequest) -> TransportCapabilities {
        var needed: TransportCapabilities = []
        if request.proxy != .none { needed.insert(.proxies) }
        if case .stream = request.request.body.source { needed.insert(.streamedRequests) }
        return needed
    }

    private static func unsupported(_ what: String) -> TransportError {
        TransportError(.unsupported(what), sendState: .unsent, message: "URLSession cannot send \(what)")
    }
}
