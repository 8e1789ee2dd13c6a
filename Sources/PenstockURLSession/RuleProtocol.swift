import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What stands between a session and the wire for the requests that a rule of one installation is for.
final class RuleProtocol<Number: NumberType>: URLProtocol {
    private let control = ExchangeControl()
    private var thread: ProtocolThread?

    override class func canInit(with request: URLRequest) -> Bool {
        guard let rules = RuleInstallation.parts(Number.value)?.transport.rules else { return false }
        return RuleMessages.head(of: request).map { rules.decide(on: $0).isTaken } ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let parts = RuleInstallation.parts(Number.value) else {
            client?.urlProtocol(self, didFailWithError: URLError(.cancelled))
            return
        }
        thread = ProtocolThread()
        let loading = Handover(self)
        Task { await loading.value.load(by: parts) }
    }

    override func stopLoading() {
        control.cancel()
    }

    // MARK: Loading

    private func load(by parts: RuleInstallation.Parts) async {
        let transport = parts.transport
        do throws(TransportError) {
            let whole = RuleMessages.whole(self.request, of: task, in: parts.configuration)
            guard var request = RuleMessages.head(of: whole) else {
                throw TransportError(.unsupported("this request"), sendState: .unsent)
            }
            request.body = try await body()
            let timeouts = RuleMessages.timeouts(of: self.request)
            let exchange = TransportRequest(request, timeouts: timeouts, control: control)
            if transport.capabilities.contains(.streamedResponses), !URLSessionPlatform.limitsProtocols {
                try await receive(transport.open(exchange), to: request)
            } else {
                let response = try await transport.perform(exchange).response
                if begin(response, to: request) { end(with: response.body) }
            }
        } catch {
            tell { $0.urlProtocol(self, didFailWithError: RuleMessages.error(error, for: self.request.url)) }
        }
    }

    private func receive(_ stream: TransportStream, to request: HTTPRequest) async throws(TransportError) {
        guard begin(stream.response, to: request) else { return stream.content.discard() }
        while let piece = try await stream.content.next() { tell { $0.urlProtocol(self, didLoad: piece) } }
        end(with: Data())
    }

    /// - Returns: whether the content is wanted. That of a redirect is not, where the session is told of it and follows.
    private func begin(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard let head = RuleMessages.head(response, for: request.url) else {
            tell { $0.urlProtocol(self, didFailWithError: URLError(.badServerResponse)) }
            return false
        }
        if !URLSessionPlatform.limitsProtocols, let next = RuleMessages.redirect(response, to: request) {
            tell { $0.urlProtocol(self, wasRedirectedTo: next, redirectResponse: head) }
            tell { $0.urlProtocol(self, didFailWithError: CocoaError(.userCancelled)) }
            return false
        }
        tell { $0.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed) }
        return true
    }

    private func end(with content: Data) {
        if !content.isEmpty { tell { $0.urlProtocol(self, didLoad: content) } }
        tell { $0.urlProtocolDidFinishLoading(self) }
    }

    /// Tells the session, where it may be told. One that has stopped the loading is told no more; since it stops it on that same
    /// thread, it does not do so meanwhile.
    private func tell(_ body: @escaping (any URLProtocolClient) -> Void) {
        let (loading, body) = (Handover(self), Handover(body))
        thread?.perform {
            guard !loading.value.control.isCancelled, let client = loading.value.client else { return }
            body.value(client)
        }
    }

    // MARK: The request's content

    private func body() async throws(TransportError) -> HTTPBody {
        if let data = request.httpBody { return .bytes(data) }
        guard request.httpBodyStream != nil else {
            guard task is URLSessionUploadTask, URLSessionPlatform.limitsProtocols else { return .none }
            throw TransportError(
                .unsupported("the content of an upload task"), sendState: .unsent,
                message: "Foundation does not show a rule the content of an upload task here; a data task's it does")
        }
        let loading = Handover(self)
        let content: Data? = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: loading.value.request.httpBodyStream.flatMap(RuleMessages.content))
            }
        }
        guard let content else {
            throw TransportError(.requestBody, sendState: .unsent, message: "the body's stream failed")
        }
        return .bytes(content)
    }
}

/// Hands a protocol to a task.
///
/// Unchecked because Foundation calls a protocol but to start and to stop it, and the one task that it starts is the only one
/// that uses it in between; what that task tells the session is told on the session's own thread, in the order of the telling.
private struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Turns Foundation's messages into ours and back, for protocols.
enum RuleMessages {
    /// The transport's own.
    private static let framing: [HTTPFieldName] = [
        .host, .contentLength, .transferEncoding, "Connection", "Keep-Alive", "TE", "Trailer", "Upgrade",
    ]

    /// What a request is without its content; `nil` for what is no request of HTTP.
    static func head(of request: URLRequest) -> HTTPRequest? {
        guard let url = request.url.flatMap({ try? HTTPURL($0) }),
            let method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        else { return nil }
        var fields = HTTPFields()
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            fields.append(value, for: HTTPFieldName(name))
        }
        for name in framing { fields.remove(name) }
        return HTTPRequest(method: method, url: url, fields: fields)
    }

    /// The request with the fields that the session adds to each.
    static func whole(
        _ request: URLRequest, of task: URLSessionTask?, in configuration: URLSessionConfiguration
    ) -> URLRequest {
        var request = request
        let added = (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
        let shown = (task?.currentRequest?.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) }
        for (name, value) in shown + added
        where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Foundation's one time-out is that of a moment without a byte.
    static func timeouts(of request: URLRequest) -> Timeouts {
        let seconds = Duration.seconds(min(max(request.timeoutInterval, 0.001), URLSessionRequest.never))
        return Timeouts(firstByte: seconds, idle: seconds)
    }

    /// - Returns: `nil` for a stream that fails, and for one that does not end within what is collected at most.
    static func content(of stream: InputStream) -> Data? {
        stream.open()
        defer { stream.close() }
        var content = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            if count == 0 { return content }
            guard count > 0, content.count + count <= ResponseLimits().bodyBytes else { return nil }
            content.append(contentsOf: buffer.prefix(count))
        }
    }

    /// The codings of the content are gone by now.
    static func head(_ response: HTTPResponse, for url: HTTPURL) -> HTTPURLResponse? {
        var head = response
        if head.fields.contains(.contentEncoding) {
            head.fields.remove(.contentEncoding)
            head.fields.remove(.contentLength)
        }
        if URLSessionPlatform.limitsProtocols { head.fields.remove("WWW-Authenticate") }
        return head.urlResponse(for: url)
    }

    /// The request that a redirect leads to.
    static func redirect(_ response: HTTPResponse, to request: HTTPRequest) -> URLRequest? {
        guard case .follow(let next) = RedirectPolicy.follow.decide(on: response, to: request, visited: []) else {
            return nil
        }
        return try? URLRequest(next)
    }

    static func error(_ error: TransportError, for url: URL?) -> URLError {
        var facts: [String: Any] = [NSLocalizedDescriptionKey: error.message]
        if let url { facts[NSURLErrorFailingURLErrorKey] = url }
        return URLError(code(of: error.kind), userInfo: facts)
    }

    private static func code(of kind: TransportError.Kind) -> URLError.Code {
        switch kind {
        case .cancelled: .cancelled
        case .timeout: .timedOut
        case .unreachable(.offline): .notConnectedToInternet
        case .unreachable(.nameNotResolved): .cannotFindHost
        case .unreachable: .cannotConnectToHost
        case .tls(.untrusted): .serverCertificateUntrusted
        case .tls(.expired): .serverCertificateHasBadDate
        case .tls: .secureConnectionFailed
        case .connectionLost: .networkConnectionLost
        case .protocolViolation: .badServerResponse
        case .limitExceeded: .dataLengthExceedsMaximum
        case .requestBody: .requestBodyStreamExhausted
        case .unsupported, .blocked: .resourceUnavailable
        case .other: .unknown
        }
    }
}
