#if os(Linux)
    import Foundation
    import PenstockCore

    /// Puts the reply to one request on its stream. On the stream's thread.
    final class HTTP2Sink: ReplySink {
        private let stream: HTTP2Stream
        private let inbox: HTTP2Inbox
        private var head: [(String, String)]?

        init(_ stream: HTTP2Stream, inbox: HTTP2Inbox) {
            self.stream = stream
            self.inbox = inbox
        }

        func send(_ interim: LoopbackServer.Interim) -> Bool {
            let head = HTTP2Sink.head(interim.status, interim.fields)
            let id = stream.id
            inbox.post { $0.session.submitInterim(head, on: id) }
            return isThere
        }

        func sendHead(of response: LoopbackServer.Response) -> Bool {
            var fields = response.fields
            if case .bytes(let body) = response.body, response.trailers.isEmpty, response.status != 204,
                response.status >= 200, !fields.contains(.contentLength), !response.omitsLength
            {
                fields[.contentLength] = String(response.declaredLength ?? body.count)
            }
            head = HTTP2Sink.head(response.status, fields)
            let length = fields[.contentLength].flatMap { Int($0) }
            stream.change { $0.left = length }
            return isThere
        }

        func flush() -> Bool {
            submitHead(isAll: false)
            return stream.wait { $0.outgoing.isEmpty }
        }

        func send(_ content: Data) -> Bool {
            stream.change { $0.outgoing.append(content) }
            submitHead(isAll: false)
            resume()
            return stream.wait { $0.outgoing.isEmpty }
        }

        func finish(_ response: LoopbackServer.Response) -> Bool {
            // A reply that ends too early, with its connection, has no end.
            if response.isShort { return flush() }
            let trailers = response.trailers
            stream.change { state in
                state.isFinished = true
                state.trailers = trailers
            }
            submitHead(isAll: trailers.isEmpty)
            resume()
            return stream.wait { $0.isEnded }
        }

        /// Returns when the bytes are handed to the system: bytes without end must not pile up.
        func sendRaw(_ bytes: Data) -> Bool {
            let stream = stream
            stream.change { $0.hasRaw = true }
            inbox.post { connection in
                connection.sendRaw(bytes)
                stream.change { $0.hasRaw = false }
            }
            return stream.wait { !$0.hasRaw }
        }

        /// A stream among others has no connection to hand over.
        func takeOver(_ serve: (LoopbackWire) -> Void) -> Bool { false }

        func clientGoes(within duration: Duration) -> Bool {
            !stream.wait(within: duration) { _ in false }
        }

        private var isThere: Bool { stream.wait { !$0.isGone } }

        private func resume() {
            let id = stream.id
            inbox.post { $0.session.resume(id) }
        }

        private func submitHead(isAll: Bool) {
            guard let fields = head else { return }
            head = nil
            let id = stream.id
            inbox.post { $0.session.submitHead(fields, on: id, isAll: isAll) }
        }

        /// RFC 9113 §8.2: names in lower case, and no field that tells of the connection.
        private static func head(_ status: Int, _ fields: HTTPFields) -> [(String, String)] {
            [(":status", String(status))] + lines(fields.filter { !connectionFields.contains($0.name) })
        }

        static func lines(_ fields: some Sequence<HTTPField>) -> [(String, String)] {
            fields.map { ($0.name.text.lowercased(), $0.value) }
        }

        private static let connectionFields: Set<HTTPFieldName> = [
            "Connection", "Keep-Alive", "Proxy-Connection", .transferEncoding, "Upgrade",
        ]
    }

    extension LoopbackServer.Response {
        /// Whether it claims more content than it has, and ends with its connection.
        fileprivate var isShort: Bool {
            guard let declaredLength, case .bytes(let body) = body, ending != .keepAlive else { return false }
            return declaredLength > body.count
        }
    }
#endif
