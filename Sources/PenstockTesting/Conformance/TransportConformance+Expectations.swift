import Foundation
import PenstockCore

extension TransportConformance {
    /// A server that does not wait for the content of a request which expects `100-continue`: it answers at once, and goes on to read
    /// the content that was announced (RFC 9110 §10.1.1), so that what comes next on the connection is content to it.
    static let expectations: [Rule] = Announced.allCases.map { announced in
        Rule(
            "What follows a request that was answered before its content is never taken for that: \(announced.rawValue)",
            requires: announced.requires, starting: { try LoopbackServer.serving { wire, _ in answerAtOnce(wire) } }
        ) { probe in
            for status in [200, 201, 302, 401, 404, 417, 500] {
                let (body, file) = try announced.body()
                defer { if let file { try? FileManager.default.removeItem(at: file) } }
                let exchange = try probe.exchange(
                    .put, "/\(status)", fields: ["Expect": "100-continue"], body: body, timeouts: soon)
                let answer = try await probe.transport.perform(exchange)
                try expect(answer.response.status, is: status, "status")
                // What would be followed, a redirect or a refusal of the expectation, a platform may keep the content of.
                if status != 302, status != 417 {
                    try expect(answer.response.body, is: Data("/\(status)".utf8), "content")
                }
                try expect(answer.connection.resends, is: [], "what was sent before")
                try expect(
                    await probe.send(.post, "/next", body: .bytes(Data("order".utf8)), timeouts: soon).body,
                    is: Data("/next".utf8), "the next content")
            }
        }
    }

    /// Content that the head of a request announces.
    private enum Announced: String, CaseIterable {
        case tiny = "a few bytes"
        case memory = "content in memory"
        case file = "a file"
        case stream = "a stream"
        case measured = "a stream of known length"
        case once = "a body that can be read once"

        var requires: TransportCapabilities {
            switch self {
            case .tiny, .memory, .file: []
            case .stream, .measured, .once: .streamedRequests
            }
        }

        func body() throws -> (HTTPBody, URL?) {
            let content = Data(repeating: UInt8(ascii: "\n"), count: self == .tiny ? 10 : 100_000)
            switch self {
            case .tiny, .memory: return (.bytes(content), nil)
            case .stream: return (.stream { Self.chunks(of: content) }, nil)
            case .measured: return (.stream(length: content.count) { Self.chunks(of: content) }, nil)
            case .once: return (.onceOnly(Self.chunks(of: content)), nil)
            case .file:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try content.write(to: file)
                return (.file(file), file)
            }
        }

        private static func chunks(of content: Data) -> HTTPBody.Chunks {
            let rest = Locked(content)
            return HTTPBody.Chunks {
                rest.withLock { rest in
                    let chunk = rest.prefix(10_000)
                    rest = rest.dropFirst(chunk.count)
                    return chunk.isEmpty ? nil : Data(chunk)
                }
            }
        }
    }

    /// Answers each head with its status and path, and then reads past its content, until the client closes.
    private static func answerAtOnce(_ wire: LoopbackWire) {
        var input = ByteQueue(wire)
        while let head = input.line(endingWith: "\r\n\r\n") {
            let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let status = Int(path.dropFirst()) ?? 200
            wire.send(Data("HTTP/1.1 \(status) X\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)".utf8))
            let fields = head.lowercased()
            let length = fields.firstMatch(of: #/\r\ncontent-length: *(\d+)/#).flatMap { Int($0.output.1) }
            if fields.contains("\r\ntransfer-encoding: chunked") {
                guard input.line(endingWith: "0\r\n\r\n") != nil else { return }
            } else if !input.drop(length ?? 0) {
                return
            }
        }
    }

    /// What comes from a client, taken apart by hand.
    private struct ByteQueue {
        private let wire: LoopbackWire
        private var bytes = Data()

        init(_ wire: LoopbackWire) {
            self.wire = wire
        }

        private mutating func more() -> Bool {
            guard let next = wire.receive() else { return false }
            bytes += next
            return true
        }

        /// - Returns: what comes before the mark, which goes with it; `nil` where the client has closed before.
        mutating func line(endingWith mark: String) -> String? {
            while true {
                if let range = bytes.range(of: Data(mark.utf8)) {
                    defer { bytes = Data(bytes[range.upperBound...]) }
                    return String(decoding: bytes[..<range.lowerBound], as: UTF8.self)
                }
                guard more() else { return nil }
            }
        }

        mutating func drop(_ count: Int) -> Bool {
            while bytes.count < count { guard more() else { return false } }
            bytes = Data(bytes.dropFirst(count))
            return true
        }
    }
}
