import Foundation
import PenstockCore

/// Exchanges with a server, as a value that can be kept as JSON: what a ``RecordingTransport`` writes and a
/// ``ReplayTransport`` plays.
///
/// What is secret by ``Redaction`` is not in it: fields, parameters of queries and forms, members of JSON.
public struct Recording: Hashable, Codable, Sendable {
    /// In the order they began.
    public var exchanges: [Exchange]

    /// A recording of exchanges, or an empty one.
    public init(_ exchanges: [Exchange] = []) {
        self.exchanges = exchanges
    }

    /// Reads a recording that ``write(to:)`` has written.
    ///
    /// - Throws: what Foundation says when the file cannot be read or is no recording.
    public init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(Recording.self, from: Data(contentsOf: file))
    }

    /// Writes the recording as JSON with sorted keys, fit for version control.
    ///
    /// - Throws: what Foundation says when the file cannot be written.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}

extension Recording {
    /// One request and what came of it.
    public struct Exchange: Hashable, Codable, Sendable {
        /// What was asked.
        public var request: Request
        /// What came of it.
        public var outcome: Outcome

        /// An exchange, recorded or made up.
        public init(_ request: Request, _ outcome: Outcome) {
            self.request = request
            self.outcome = outcome
        }
    }

    /// A request as it went to the transport.
    public struct Request: Hashable, Codable, Sendable {
        /// As sent.
        public var method: String
        /// Absolute.
        public var url: String
        /// In their order, with duplicates.
        public var fields: [Field]
        /// `nil` when it was a file or a stream, which are not kept.
        public var content: Content?

        /// A request, without fields and content unless they are given.
        public init(method: String, url: String, fields: [Field] = [], content: Content? = .text("")) {
            (self.method, self.url) = (method, url)
            (self.fields, self.content) = (fields, content)
        }
    }

    /// What came of a request.
    public enum Outcome: Hashable, Codable, Sendable {
        /// It was answered.
        case response(Response)
        /// It was not.
        case failure(Failure)
    }

    /// A response, whatever its status.
    public struct Response: Hashable, Codable, Sendable {
        /// 200 to 999, as ``HTTPResponse/status``.
        public var status: Int
        /// As ``HTTPVersion`` names it.
        public var version: String
        /// In their order, with duplicates.
        public var fields: [Field]
        /// With its codings removed, as a transport delivers it.
        public var content: Content
        /// After the content.
        public var trailers: [Field]

        /// A response, without fields and content unless they are given.
        public init(
            status: Int, version: String = "http/1.1", fields: [Field] = [], content: Content = .text(""),
            trailers: [Field] = []
        ) {
            (self.status, self.version) = (status, version)
            (self.fields, self.content, self.trailers) = (fields, content, trailers)
        }
    }

    /// Why there was no response.
    public struct Failure: Hashable, Codable, Sendable {
        /// The case of ``TransportError/Kind``, and after a colon what it is about: `timeout:connect`, for instance.
        public var kind: String
        /// As ``SendState`` names it.
        public var sendState: String
        /// For developers.
        public var message: String

        /// A failure, recorded or made up.
        public init(kind: String, sendState: String, message: String = "") {
            (self.kind, self.sendState, self.message) = (kind, sendState, message)
        }
    }

    /// One field line.
    public struct Field: Hashable, Codable, Sendable {
        /// As written.
        public var name: String
        /// Without the white space around it; secret ones are replaced.
        public var value: String

        /// A field line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Content, which stands as text in JSON where it is text.
    public enum Content: Hashable, Codable, Sendable {
        /// UTF-8.
        case text(String)
        /// Base64 in JSON.
        case bytes(Data)

        /// As text when it is UTF-8.
        public init(_ data: Data) {
            self = String(data: data, encoding: .utf8).map(Content.text) ?? .bytes(data)
        }

        /// The bytes.
        public var data: Data {
            switch self {
            case .text(let text): Data(text.utf8)
            case .bytes(let data): data
            }
        }
    }
}

// MARK: From and to a transport's values

extension Recording.Request {
    init(_ request: HTTPRequest) {
        method = request.method.rawValue
        url = request.url.description
        fields = RecordingRedaction.fields(request.fields)
        switch request.body.source {
        case .none: content = .text("")
        case .bytes(let data): content = .init(RecordingRedaction.content(data, of: request.fields[.contentType]))
        default: content = nil
        }
    }
}

extension Recording.Response {
    init(_ response: HTTPResponse) {
        status = response.status
        version = response.version.rawValue
        fields = RecordingRedaction.fields(response.fields)
        content = .init(RecordingRedaction.content(response.body, of: response.fields[.contentType]))
        trailers = RecordingRedaction.fields(response.trailers)
    }

    var response: HTTPResponse {
        var response = HTTPResponse(status: status, body: content.data, version: HTTPVersion(rawValue: version))
        for field in fields { response.fields.append(field.value, for: HTTPFieldName(field.name)) }
        for field in trailers { response.trailers.append(field.value, for: HTTPFieldName(field.name)) }
        return response
    }
}

extension Recording.Failure {
    init(_ error: TransportError) {
        kind = RecordedKind.text(error.kind)
        sendState = error.sendState.rawValue
        message = error.message
    }

    var error: TransportError {
        TransportError(
            RecordedKind.kind(kind), sendState: SendState(rawValue: sendState) ?? .maybeProcessed, message: message)
    }
}
