import Foundation
import PenstockCore

/// How the stub imitates an exchange.
enum StubAnswer {
    static let cancelled = TransportError(.cancelled, sendState: .unsent, message: "cancelled")

    static func refuseRejectedFields(_ request: HTTPRequest) throws(TransportError) {
        guard let name = request.fields.rejected.first else { return }
        let message = "the header field \(name) was rejected"
        throw TransportError(.unsupported("the header field \(name)"), sendState: .unsent, message: message)
    }

    static func keep(_ limits: ResponseLimits, _ response: HTTPResponse) throws(TransportError) {
        guard let exceeded = limits.exceeded(by: response) else { return }
        throw TransportError(.limitExceeded(exceeded), sendState: .answered, message: "\(exceeded.rawValue) exceeded")
    }

    static func deliver(_ response: HTTPResponse, of exchange: TransportRequest) -> TransportResponse {
        let sent = exchange.request.body.length ?? 0
        exchange.control.onProgress?(
            TransferProgress(
                sent: sent, expectedToSend: exchange.request.body.length, received: response.body.count,
                expectedToReceive: response.body.count))
        let connection = ConnectionInfo(bytesSent: sent, bytesReceived: response.body.count)
        return TransportResponse(response, connection: connection)
    }

    // MARK: A server without its sockets

    static func answer(_ request: HTTPRequest, by server: LoopbackServer) async throws(TransportError) -> HTTPResponse {
        let body = try await content(of: request.body)
        var fields = request.fields
        let port = request.url.port == request.url.scheme.defaultPort ? "" : ":\(request.url.port)"
        fields[.host] = request.url.host + port
        switch request.body.length {
        case nil: fields[.transferEncoding] = "chunked"
        case .some where request.body.isNone && !request.method.expectsContent: break
        case .some(let length): fields[.contentLength] = String(length)
        }
        let seen = LoopbackServer.Request(
            method: request.method, target: request.url.target, fields: fields, body: body, connection: 0)
        return try response(server.answer(seen), to: request.method)
    }

    private static func content(of body: HTTPBody) async throws(TransportError) -> Data {
        do {
            switch body.source {
            case .none: return Data()
            case .bytes(let data): return data
            case .file(let file): return try Data(contentsOf: file)
            case .stream(let open): return try await open().reduce(into: Data()) { $0.append($1) }
            }
        } catch {
            throw TransportError(
                .requestBody, sendState: .unsent, message: error.localizedDescription, underlying: error)
        }
    }

    private static func response(
        _ reply: LoopbackServer.Response, to method: HTTPMethod
    ) throws(TransportError) -> HTTPResponse {
        guard case .message = reply.content, reply.declaredLength == nil, reply.fault == nil else {
            throw TransportError(.unsupported("a broken answer without a wire"), sendState: .unsent)
        }
        var response = HTTPResponse(status: reply.status, fields: reply.fields)
        switch reply.body {
        case .bytes(let data): response.body = data
        case .produced(_, let next):
            var index = 0
            while let piece = next(index) {
                response.body.append(piece)
                index += 1
            }
        }
        response.trailers = reply.trailers
        if case .bytes = reply.body, reply.trailers.isEmpty, reply.status != 204 {
            response.fields[.contentLength] = "\(response.body.count)"
        }
        if !HTTPResponse.mayHaveContent(reply.status, to: method) { response.body = Data() }
        return response
    }
}

/// The stub answers at once, so that there is nothing to stop; what a call does before is read from its control.
final class StubExchange: ControlledExchange {
    static let shared = StubExchange()

    func cancel() {}
    func suspend() {}
    func resume() {}
}
