import Foundation
import PenstockCore
import PenstockTestSupport

/// A server of resumable uploads by either protocol, without a socket. What goes wrong with which request is scripted.
final class UploadServer: Transport {
    /// What goes wrong with one request.
    enum Fault: Hashable, CustomStringConvertible {
        /// It does not arrive.
        case lost
        /// So many bytes of its content arrive.
        case cut(after: Int)
        /// It is done, and its answer does not arrive.
        case unanswered
        /// It is not done, and this is the answer.
        case status(Int)
        /// It is done, and the resource is gone before the answer arrives, as the answer is.
        case forgotten

        var description: String {
            switch self {
            case .lost: "lost"
            case .cut(let count): "cut after \(count)"
            case .unanswered: "unanswered"
            case .status(let status): "status \(status)"
            case .forgotten: "forgotten"
            }
        }
    }

    struct Resource {
        var content = Data()
        var length: Int
        var isComplete = false
        var fields: HTTPFields
    }

    struct State {
        var resources: [String: Resource] = [:]
        var created = 0
        /// The objects that have come of uploads.
        var objects: [Data] = []
        var requests: [String] = []
        var fields: [HTTPFields] = []
        var urls: [String] = []
        var received = 0
        var faults: [Fault?] = []
        var limit: String?
        var maximumAppend: Int?
        /// Sent before the answer to a creation.
        var announces = false
        /// Looked at before each request, by its number.
        var onRequest: @Sendable (Int) -> Void = { _ in }
        /// Called for each piece of content, with how much has come of the request.
        var onPiece: @Sendable (Int) -> Void = { _ in }
        /// In place of the true one.
        var offset: Int?
        /// What becomes of an answer before it is given.
        var alters: @Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse = { $1 }
        /// What it answers to a request that completes an upload.
        var status = 200
        var isLocked = false
        /// What the client must say who it is with.
        var token: String?
    }

    let form: ResumableUploadProtocol
    let state = Locked(State())

    init(_ form: ResumableUploadProtocol, faults: [Fault?] = []) {
        self.form = form
        state.withLock { $0.faults = faults }
    }

    var objects: [Data] { state.withLock(\.objects) }
    var requests: [String] { state.withLock(\.requests) }

    // MARK: Transport

    var capabilities: TransportCapabilities { .all }
    func preconnect(_ request: TransportRequest) async throws(TransportError) {}
    func shutdown() async {}

    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        let request = exchange.request
        let (number, fault, look) = state.withLock { state in
            state.requests.append("\(request.method)")
            state.fields.append(request.fields)
            state.urls.append(request.url.absoluteString)
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            return (state.requests.count, fault, state.onRequest)
        }
        look(number)
        if exchange.control.isCancelled { throw TransportError(.cancelled, sendState: .unsent) }
        if fault == .lost { throw TransportError(.connectionLost, sendState: .maybeProcessed) }
        if case .status(let status) = fault { return TransportResponse(HTTPResponse(status: status)) }
        if let token = state.withLock(\.token), request.fields[.authorization] != "Bearer \(token)" {
            return TransportResponse(HTTPResponse(status: 401, fields: ["WWW-Authenticate": "Bearer"]))
        }
        let limit: Int = if case .cut(let count) = fault { count } else { .max }
        if request.method == .post, state.withLock(\.announces) { announce(to: exchange) }
        let (content, isWhole) = try await content(of: exchange, upTo: limit)
        let truth = state.withLock { answer(request, content, isWhole: isWhole, in: &$0) }
        let response = state.withLock(\.alters)(request, truth)
        switch fault {
        case .cut, .unanswered: throw TransportError(.connectionLost, sendState: .maybeProcessed)
        case .forgotten:
            state.withLock { $0.resources = [:] }
            throw TransportError(.connectionLost, sendState: .maybeProcessed)
        default: return TransportResponse(response)
        }
    }

    private func content(
        of exchange: TransportRequest, upTo limit: Int
    ) async throws(TransportError) -> (Data, isWhole: Bool) {
        var content = Data()
        let look = state.withLock(\.onPiece)
        switch exchange.request.body.source {
        case .bytes(let data): content = data
        case .stream(let open):
            do {
                for try await piece in try open() {
                    content += piece
                    look(content.count)
                    exchange.control.onProgress?(TransferProgress(sent: content.count))
                    if content.count > limit { break }
                    if exchange.control.isCancelled { return (content, false) }
                }
            } catch {
                throw TransportError(.requestBody, sendState: .maybeProcessed)
            }
        default: break
        }
        let isWhole = content.count <= limit && content.count == exchange.request.body.length
        return (content.prefix(limit), isWhole)
    }

    /// Makes the resource that the request is answered with before it is answered.
    private func announce(to exchange: TransportRequest) {
        let number = state.withLock { $0.created + 1 }
        let fields: HTTPFields = [.location: "/uploads/\(number)", "Upload-Limit": "max-age=60"]
        exchange.control.onInterim?(HTTPResponse(status: 104, fields: fields), exchange.request.url)
        exchange.control.onInterim?(HTTPResponse(status: 103, fields: [.location: "/hint"]), exchange.request.url)
    }

    // MARK: The protocols

    private func answer(_ request: HTTPRequest, _ content: Data, isWhole: Bool, in state: inout State) -> HTTPResponse {
        switch request.method {
        case .post: create(request, in: &state)
        case .head: query(request, in: &state)
        case .patch: append(request, content, isWhole: isWhole, in: &state)
        default: HTTPResponse(status: 405)
        }
    }

    private func create(_ request: HTTPRequest, in state: inout State) -> HTTPResponse {
        guard let length = request.fields["Upload-Length"].flatMap({ Int($0) }) else {
            return HTTPResponse(status: 400)
        }
        state.created += 1
        let place = "/uploads/\(state.created)"
        state.resources[place] = Resource(length: length, fields: request.fields)
        if form == .tus, length == 0 { complete(place, in: &state) }
        var response = HTTPResponse(status: 201, fields: [.location: place])
        if let limit = state.limit { response.fields["Upload-Limit"] = limit }
        return response
    }

    private func query(_ request: HTTPRequest, in state: inout State) -> HTTPResponse {
        guard let resource = state.resources[request.url.path] else { return HTTPResponse(status: 404) }
        var response = HTTPResponse(status: form == .tus ? 200 : 204)
        response.fields["Upload-Offset"] = "\(state.offset ?? resource.content.count)"
        response.fields["Upload-Length"] = "\(resource.length)"
        if form == .httpDraft { response.fields["Upload-Complete"] = resource.isComplete ? "?1" : "?0" }
        if let limit = state.limit { response.fields["Upload-Limit"] = limit }
        return response
    }

    private func append(_ request: HTTPRequest, _ content: Data, isWhole: Bool, in state: inout State) -> HTTPResponse {
        let place = request.url.path
        guard var resource = state.resources[place] else { return HTTPResponse(status: 404) }
        guard request.fields["Upload-Offset"] == "\(resource.content.count)", !resource.isComplete else {
            return HTTPResponse(status: 409, fields: ["Upload-Offset": "\(resource.content.count)"])
        }
        if let room = state.maximumAppend, content.count > room {
            return HTTPResponse(status: 413, fields: ["Upload-Limit": "max-append-size=\(room)"])
        }
        resource.content += content
        state.received += content.count
        state.resources[place] = resource
        var response = HTTPResponse(status: 204, fields: ["Upload-Offset": "\(resource.content.count)"])
        let completes =
            form == .tus
            ? resource.content.count == resource.length : isWhole && request.fields["Upload-Complete"] == "?1"
        if completes { complete(place, in: &state) }
        if form == .httpDraft { response.fields["Upload-Complete"] = completes ? "?1" : "?0" }
        if completes, form == .httpDraft {
            response.status = state.status
            response.body = Data("processed".utf8)
        }
        return response
    }

    private func complete(_ place: String, in state: inout State) {
        guard var resource = state.resources[place], !resource.isComplete else { return }
        resource.isComplete = true
        state.resources[place] = resource
        state.objects.append(resource.content)
    }
}
