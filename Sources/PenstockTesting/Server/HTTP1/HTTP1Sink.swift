import Foundation
import PenstockCore

/// Writes replies to a connection of HTTP/1.1.
final class HTTP1Sink: ReplySink {
    private let wire: Wire
    private let reader: RequestReader
    /// Whether heads announce that the connection closes.
    private let isClosing: Bool
    private var isChunked = false
    private var heldBack = Data()

    init(_ wire: Wire, reader: RequestReader, isClosing: Bool) {
        self.wire = wire
        self.reader = reader
        self.isClosing = isClosing
    }

    func send(_ interim: LoopbackServer.Interim) -> Bool {
        wire.send(HTTP1Sink.head(interim.status, interim.fields))
    }

    func sendHead(of response: LoopbackServer.Response) -> Bool {
        var fields = response.fields
        let isFramed = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        if !isFramed, !response.omitsLength, response.status != 204, response.status >= 200 {
            let (name, value) = framing(of: response)
            fields.append(value, for: name)
        }
        isChunked = !fields.contains(.contentLength) && fields.contains(.transferEncoding)
        if isClosing, response.status != 101 { fields.append("close", for: "Connection") }
        heldBack = HTTP1Sink.head(response.status, fields)
        return true
    }

    func flush() -> Bool {
        guard !heldBack.isEmpty else { return true }
        defer { heldBack = Data() }
        return wire.send(heldBack)
    }

    func send(_ content: Data) -> Bool {
        defer { heldBack = Data() }
        guard isChunked else { return wire.send(heldBack + content) }
        return wire.send(
            heldBack + Data("\(String(content.count, radix: 16))\r\n".utf8) + content + Data("\r\n".utf8))
    }

    func finish(_ response: LoopbackServer.Response) -> Bool {
        if isChunked { heldBack += Data("0\r\n\(HTTP1Sink.lines(response.trailers))\r\n".utf8) }
        return flush()
    }

    func sendRaw(_ bytes: Data) -> Bool {
        wire.send(bytes)
    }

    func takeOver(_ serve: (LoopbackWire) -> Void) -> Bool {
        serve(LoopbackWire(wire, rest: reader.takeRest()))
        return true
    }

    func clientGoes(within duration: Duration) -> Bool {
        // Without a wait there is nothing to read ahead: an upload that is under way would be taken for too much of it.
        duration > .zero && reader.clientGoes(within: duration)
    }

    // MARK: Text

    private func framing(of response: LoopbackServer.Response) -> (HTTPFieldName, String) {
        guard case .bytes(let body) = response.body, response.trailers.isEmpty else {
            return (.transferEncoding, "chunked")
        }
        return (.contentLength, String(response.declaredLength ?? body.count))
    }

    private static func head(_ status: Int, _ fields: HTTPFields) -> Data {
        Data("HTTP/1.1 \(status) \(reason(status))\r\n\(lines(fields))\r\n".utf8)
    }

    private static func lines(_ fields: HTTPFields) -> String {
        fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 500: "Internal Server Error"
        default: "Status"
        }
    }
}
