#if os(Linux)
    import Foundation
    import PenstockCore

    /// One request on its way in, and what has become of it. On the connection's thread.
    struct HTTP2Request {
        let stream: HTTP2Stream
        var request: LoopbackServer.Request
        private(set) var body = Data()
        private var path: String?
        private var method: HTTPMethod?
        private var headBytes = 0

        var fault: LoopbackServer.Fault?
        var hasFired = false
        /// Nothing more is read.
        var isStalled = false
        /// All of it was read.
        var isComplete = false
        /// A reply is made.
        var isAnswered = false
        /// The reply has gone out, or the stream was ended on purpose: a close is no abort.
        var isDone = false

        init(id: Int32, connection: Int) {
            stream = HTTP2Stream(id: id)
            request = .init(method: .get, target: "", fields: [:], body: Data(), connection: connection)
            request.stream = Int(id)
        }

        /// The host comes as a pseudo-field, and stands first among the fields as it does in HTTP/1.1.
        mutating func take(_ name: String, _ value: String) {
            headBytes += name.utf8.count + value.utf8.count + 32
            switch name {
            case ":method": method = HTTPMethod(rawValue: value)
            case ":path": path = value
            case ":authority": request.fields.append(value, for: .host)
            case ":scheme": request.scheme = value
            default: request.fields.append(value, for: HTTPFieldName(name))
            }
        }

        /// The request without its content; `nil` when it is malformed or too large.
        func head(limit: Int) -> LoopbackServer.Request? {
            guard let method, let path, headBytes <= limit, request.fields.rejected.isEmpty else { return nil }
            var request = request
            (request.method, request.target) = (method, path)
            return request
        }

        /// - Returns: whether anybody wants it.
        mutating func take(_ content: Data) -> Bool {
            guard !isAnswered, !hasFired else { return false }
            body.append(content)
            return true
        }
    }
#endif
