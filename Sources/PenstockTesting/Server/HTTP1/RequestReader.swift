import Foundation
import PenstockCore

/// Reads one HTTP/1.1 request after the other from a connection (RFC 9112), strictly: what two parsers could read
/// differently is refused. For one thread.
final class RequestReader {
    private var source: ByteSource
    private let configuration: LoopbackServer.Configuration

    init(_ wire: Wire, configuration: LoopbackServer.Configuration) {
        source = ByteSource(wire)
        self.configuration = configuration
    }

    /// Waits for the first byte of a request. `false` when the client closes between two requests.
    func waitForRequest() -> Bool {
        !source.isEmpty || source.fill()
    }

    /// What has come behind the request.
    func takeRest() -> Data {
        source.takeAll()
    }

    func clientGoes(within duration: Duration?) -> Bool {
        source.clientGoes(within: duration)
    }

    /// Everything but the content.
    func readHead(connection: Int) throws(ReadFailure) -> (LoopbackServer.Request, isPersistent: Bool) {
        let (method, target, version) = try readRequestLine()
        let fields = try readFields()
        if let expectation = fields["Expect"], expectation.lowercased() != "100-continue" {
            throw .refused(status: 417)
        }
        let request = LoopbackServer.Request(
            method: method, target: target, fields: fields, body: Data(), connection: connection)
        let asksToClose = fields.values(of: "Connection").contains { value in
            value.split(separator: ",").contains { HTTPSyntax.trimmed(String($0)).lowercased() == "close" }
        }
        return (request, version == "HTTP/1.1" && !asksToClose)
    }

    // MARK: Head

    private func readRequestLine() throws(ReadFailure) -> (HTTPMethod, String, Substring) {
        let line = try source.line(limit: configuration.maximumHeadBytes, tooLong: 414)
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, let method = HTTPMethod(rawValue: String(parts[0])), !parts[1].isEmpty,
            HTTPSyntax.isFieldValue(String(parts[1]))
        else { throw .refused(status: 400) }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw .refused(status: 505) }
        return (method, String(parts[1]), parts[2])
    }

    private func readFields() throws(ReadFailure) -> HTTPFields {
        var fields = HTTPFields()
        var size = 0
        while true {
            let line = try source.line(limit: configuration.maximumHeadBytes, tooLong: 431)
            if line.isEmpty { return fields }
            size += line.utf8.count
            guard size <= configuration.maximumHeadBytes else { throw .refused(status: 431) }
            guard let colon = line.firstIndex(of: ":") else { throw .refused(status: 400) }
            fields.append(String(line[line.index(after: colon)...]), for: HTTPFieldName(String(line[..<colon])))
            guard fields.rejected.isEmpty else { throw .refused(status: 400) }
        }
    }

    // MARK: Content

    /// The content that the fields announce, asked for with `100 Continue` where the client expects that.
    ///
    /// - Parameter end: how many bytes to stop after, if there are more.
    func readContent(_ fields: HTTPFields, upTo end: Int = .max) throws(ReadFailure) -> Data {
        if fields.contains("Expect"), !source.wire.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) {
            throw .closed
        }
        let lengths = Set(fields.values(of: .contentLength))
        let codings = fields.values(of: .transferEncoding)
        switch (lengths.count, codings.count) {
        case (0, 0): return Data()
        case (1, 0): return try readSized(lengths.first ?? "", upTo: end)
        case (0, 1) where codings[0].lowercased() == "chunked": return try readChunked(upTo: end)
        default: throw .refused(status: 400)
        }
    }

    private func readSized(_ text: String, upTo end: Int) throws(ReadFailure) -> Data {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .refused(status: 400)
        }
        guard let length = Int(text), length <= configuration.maximumBodyBytes else {
            throw .refused(status: 413)
        }
        return try source.take(min(length, end))
    }

    private func readChunked(upTo end: Int) throws(ReadFailure) -> Data {
        var body = Data()
        while body.count < end {
            let line = try source.line(limit: 4096, tooLong: 400)
            guard let size = Int(line.prefix { $0 != ";" }, radix: 16), size >= 0, !line.hasPrefix("+") else {
                throw .refused(status: 400)
            }
            if size == 0 {
                _ = try readFields()
                return body
            }
            guard size <= configuration.maximumBodyBytes - body.count else { throw .refused(status: 413) }
            body.append(try source.take(min(size, end - body.count)))
            if body.count >= end { return body }
            guard try source.line(limit: 0, tooLong: 400).isEmpty else { throw .refused(status: 400) }
        }
        return body
    }
}
