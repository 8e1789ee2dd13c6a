import Foundation
import PenstockCore

/// Exchanges with a server, as a value that can be kept as JSON: what a ``RecordingTransport`` writes and a
/// ``ReplayTransport`` plays.
///
/// What is secret by ``Redaction`` is not in it: fields, parameters of queries and forms, members of JSON.
public struct Recording: Hashable, Codable, Sendable {
    /// The exchanges in the order they began.
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
    /// The user alone may read the file (0600), and enter those of its folders that are made for it (0700): what only the app
    /// knows to be secret may be in it. It takes the place of one that is there as a whole, and of a link instead of what that
    /// leads to.
    ///
    /// - Throws: what the system says when the file cannot be written. What was there is there still.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let place = PrivateFile(file)
        try place.makeFolder()
        try place.replace(with: encoder.encode(self))
    }
}

extension Recording {
    /// One request and what came of it.
    public struct Exchange: Hashable, Codable, Sendable {
        /// What was asked.
        public var request: Request
        /// What came of it.
        public var outcome: Outcome
        /// When it came, in whole seconds and in the form of HTTP (RFC 9110 §5.6.7). Where it is `nil`, the `Date` of the response
        /// stands for it.
        public var date: String?

        /// An exchange, recorded or made up.
        public init(_ request: Request, _ outcome: Outcome, date: String? = nil) {
            self.request = request
            self.outcome = outcome
            self.date = date
        }
    }

    /// A request as it went to the transport.
    public struct Request: Hashable, Codable, Sendable {
        /// The method as sent.
        public var method: String
        /// The URL, which is absolute.
        public var url: String
        /// The fields in their order, with duplicates.
        public var fields: [Field]
        /// `nil` when it was not kept; ``withheld`` tells why.
        public var content: Content?
        /// What is told of content that was not kept: a file, a stream, or bytes in which what is secret cannot be found.
        public var withheld: Withheld?

        /// A request, without fields and content unless they are given.
        public init(
            method: String, url: String, fields: [Field] = [], content: Content? = .text(""), withheld: Withheld? = nil
        ) {
            (self.method, self.url, self.fields) = (method, url, fields)
            (self.content, self.withheld) = (content, withheld)
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
        /// The version as ``HTTPVersion`` names it.
        public var version: String
        /// The fields in their order, with duplicates.
        public var fields: [Field]
        /// The content with its codings removed, as a transport delivers it.
        public var content: Content
        /// What is told of content that was not kept, since what is secret in it cannot be found. Such a response is not played.
        public var withheld: Withheld?
        /// The fields after the content.
        public var trailers: [Field]

        /// A response, without fields and content unless they are given.
        public init(
            status: Int, version: String = "http/1.1", fields: [Field] = [], content: Content = .text(""),
            trailers: [Field] = [], withheld: Withheld? = nil
        ) {
            (self.status, self.version) = (status, version)
            (self.fields, self.content, self.trailers) = (fields, content, trailers)
            self.withheld = withheld
        }
    }

    /// Why there was no response.
    public struct Failure: Hashable, Codable, Sendable {
        /// The case of ``TransportError/Kind``, and after a colon what it is about: `timeout:connect`, for instance.
        public var kind: String
        /// How far the request got, as ``SendState`` names it.
        public var sendState: String
        /// What happened, for developers.
        public var message: String

        /// A failure, recorded or made up.
        public init(kind: String, sendState: String, message: String = "") {
            (self.kind, self.sendState, self.message) = (kind, sendState, message)
        }
    }

    /// One field line.
    public struct Field: Hashable, Codable, Sendable {
        /// The name as written.
        public var name: String
        /// The value without the white space around it; secret ones are replaced.
        public var value: String

        /// A field line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What is known of content that is not in the recording.
    public struct Withheld: Hashable, Codable, Sendable {
        /// How many bytes it had; `nil` for a stream that did not say.
        public var bytes: Int?
        /// Why it is not there: `its coding is gzip`, for instance.
        public var reason: String

        /// A note in the place of content.
        public init(bytes: Int?, reason: String) {
            (self.bytes, self.reason) = (bytes, reason)
        }
    }

    /// Content, which stands as text in JSON where it is text.
    public enum Content: Hashable, Codable, Sendable {
        /// UTF-8.
        case text(String)
        /// Base64 in JSON.
        case bytes(Data)

        /// The content as text when it is UTF-8.
        public init(_ data: Data) {
            self = String(utf8: data).map(Content.text) ?? .bytes(data)
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

extension Recording.Exchange {
    /// A response of this exchange, its dates moved as if it came at `now`.
    func shifted(_ response: HTTPResponse, to now: Date) -> HTTPResponse {
        let date = date ?? response.fields["Date"]
        guard let recorded = date.flatMap({ HTTPDate.parse($0, at: now) }) else { return response }
        var response = response
        let seconds = now.timeIntervalSince1970.rounded(.down) - recorded.timeIntervalSince1970
        response.fields = response.fields.shifted(by: seconds, recorded: recorded)
        return response
    }
}

extension Recording.Request {
    init(_ request: HTTPRequest) {
        method = request.method.rawValue
        url = request.url.description
        fields = RecordingRedaction.fields(request.fields)
        switch request.body.source {
        case .none: content = .text("")
        case .bytes(let data):
            do throws(WithheldContent) {
                content = .init(try Redaction.content(of: request, data))
            } catch {
                withheld = .init(bytes: data.count, reason: error.reason)
            }
        case .file: withheld = .init(bytes: request.body.length, reason: "it is a file")
        default: withheld = .init(bytes: request.body.length, reason: "it is a stream")
        }
    }
}

extension Recording.Response {
    init(_ response: HTTPResponse, to request: HTTPRequest) {
        status = response.status
        version = response.version.rawValue
        fields = RecordingRedaction.fields(response.fields)
        trailers = RecordingRedaction.fields(response.trailers)
        do throws(WithheldContent) {
            content = .init(try Redaction.content(of: response, to: request))
        } catch {
            content = .text("")
            withheld = .init(bytes: response.body.count, reason: error.reason)
        }
    }

    /// The response, its dates as they were recorded.
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
