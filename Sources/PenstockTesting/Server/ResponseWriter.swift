import Foundation
import PenstockCore

/// Writes replies to a connection. Each function returns `false` when the client was gone before the end.
struct ResponseWriter {
    let socket: Socket

    /// - Parameters:
    ///   - headOnly: leaves the content out, as for `HEAD`.
    ///   - closing: announces that the connection closes.
    ///   - clientGoes: waits for the client to go, and tells whether it went.
    func write(
        _ response: LoopbackServer.Response, headOnly: Bool, closing: Bool, clientGoes: (Duration) -> Bool
    ) -> Bool {
        if case .raw(let bytes) = response.content { return socket.send(bytes) }
        let hasContent = !headOnly && ResponseWriter.allowsContent(response.status)
        switch response.body {
        case .bytes(let body):
            let length = response.declaredLength ?? body.count
            let head = head(of: response, framing: (.contentLength, String(length)), closing: closing)
            return socket.send(hasContent ? head + body : head)
        case .produced(let pause, let next):
            let head = head(of: response, framing: (.transferEncoding, "chunked"), closing: closing)
            guard socket.send(head) else { return false }
            return !hasContent || writeChunks(pause: pause, clientGoes: clientGoes, next: next)
        }
    }

    private func writeChunks(pause: Duration, clientGoes: (Duration) -> Bool, next: (Int) -> Data?) -> Bool {
        var index = 0
        while let piece = next(index) {
            if index > 0, clientGoes(pause) { return false }
            let size = String(piece.count, radix: 16)
            // A chunk of no bytes would end the content.
            if !piece.isEmpty, !socket.send(Data("\(size)\r\n".utf8) + piece + Data("\r\n".utf8)) { return false }
            index += 1
        }
        return socket.send(Data("0\r\n\r\n".utf8))
    }

    private func head(
        of response: LoopbackServer.Response, framing: (name: HTTPFieldName, value: String), closing: Bool
    ) -> Data {
        var text = "HTTP/1.1 \(response.status) \(ResponseWriter.reason(response.status))\r\n"
        for field in response.fields { text += "\(field.name): \(field.value)\r\n" }
        let isFramed = response.fields.contains(.contentLength) || response.fields.contains(.transferEncoding)
        if !isFramed, response.status != 204, response.status >= 200 { text += "\(framing.name): \(framing.value)\r\n" }
        if closing { text += "Connection: close\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// RFC 9110 §6.4.1.
    private static func allowsContent(_ status: Int) -> Bool {
        status >= 200 && status != 204 && status != 304
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 500: "Internal Server Error"
        default: "Status"
        }
    }
}
