import Foundation
import PenstockCore

extension TransportConformance {
    /// A complete answer is the outcome, though the request is not over (RFC 9112 §9.3, RFC 9113 §8.1).
    static let earlyAnswers: [Rule] =
        refusals + expectations + Ending.allCases.flatMap { ending in Content.allCases.flatMap { early(ending, $0) } }

    private static let refusals: [Rule] = [
        early(403), early(413), early(500),
        Rule(
            "A refusal is taken instead of 100 Continue, and the content stays",
            starting: {
                try LoopbackServer(onHead: { _ in .respond(.text("too much", status: 413)) }) { _ in .text("ok") }
            }
        ) { probe in
            let body = HTTPBody.bytes(Data(count: 8 << 20))
            // Who has waited for a while may send it (RFC 9110 §10.1.1), as where the machine is slow to answer.
            var isKept = false
            for _ in 1...5 where !isKept {
                let response = try await probe.send(.put, fields: ["Expect": "100-continue"], body: body)
                try expect(response.status, is: 413, "status")
                isKept = probe.server.connections.last?.bytesReceived ?? 0 < 1 << 20
            }
            try expect(isKept, "the content was sent all the same")
        },
        Rule(
            "An answer that is cut off before the end of the request is none", requires: .streamedRequests,
            starting: { try LoopbackServer(onHead: { cutOff($0.path) }) { _ in .text("ok") } }
        ) { probe in
            for path in ["/length", "/chunks", "/refused"] {
                let error = try await probe.failure(.put, path, body: endless(), timeouts: soon)
                try expect(error, .connectionLost, sendState: .answered)
            }
        },
    ]

    /// What the server does when it has answered.
    private enum Ending: String, CaseIterable {
        case closing = "closes"
        case silent = "goes on and reads nothing"
    }

    /// Content that is not sent whole while the server reads nothing.
    private enum Content: String, CaseIterable {
        case memory = "content in memory"
        case file = "a file"
        case stream = "a stream that waits"
        case measured = "a stream of known length that waits"

        var requires: TransportCapabilities { self == .stream || self == .measured ? .streamedRequests : [] }

        func body(_ count: Int) throws -> (HTTPBody, URL?) {
            switch self {
            case .memory: return (.bytes(Data(count: count)), nil)
            case .stream: return (endless(), nil)
            case .measured: return (endless(length: count), nil)
            case .file:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try Data(count: count).write(to: file)
                return (.file(file), file)
            }
        }
    }

    /// Yields once, and then never again.
    private static func endless(length: Int? = nil) -> HTTPBody {
        .stream(length: length) {
            let isFirst = Locked(true)
            return HTTPBody.Chunks {
                if isFirst.withLock({ $0.take() }) { return Data(count: 1_000) }
                try await Task.sleep(for: .seconds(3_600))
                return nil
            }
        }
    }

    private static func early(_ ending: Ending, _ content: Content) -> [Rule] {
        let name = "before the end of \(content.rawValue) is the answer where the server \(ending.rawValue)"
        return [
            Rule(
                "An answer \(name)", requires: content.requires,
                starting: { try LoopbackServer(onHead: { answer($0, ending) }) { _ in .text("ok") } }
            ) { probe in try await checkEarly(probe, content, count: 32 << 20) },
            Rule(
                "An answer of HTTP/2 \(name)", over: .http2.with { $0.settings.initialWindow = 1_000 },
                and: content.requires, onHead: { answer($0, ending) }
            ) { probe in try await checkEarly(probe, content, count: 60_000) },
        ]
    }

    private static func answer(_ request: LoopbackServer.Request, _ ending: Ending) -> LoopbackServer.HeadDecision {
        guard let status = Int(request.path.dropFirst()) else { return .proceed }
        guard ending == .silent else { return .respond(.text("answer", status: status)) }
        if request.stream != nil {
            let head = Frames(for: request).head([("content-length", "6")], status: status)
            return .respond(head.data("answer").response)
        }
        let head = "HTTP/1.1 \(status) X\r\nTransfer-Encoding: chunked\r\n\r\n"
        return .respond(.wire("\(head)6\r\nanswer\r\n0\r\n\r\n", .hold))
    }

    private static func checkEarly(_ probe: Probe, _ content: Content, count: Int) async throws {
        for status in [200, 401, 403, 413] {
            let (body, file) = try content.body(count)
            defer { if let file { try? FileManager.default.removeItem(at: file) } }
            let exchange = try probe.exchange(.put, "/\(status)", body: body, timeouts: soon)
            let began = ContinuousClock.now
            let response = try await probe.transport.perform(exchange).response
            try expect(response.status, is: status, "status")
            try expect(response.body, is: Data("answer".utf8), "content")
            try expect(ContinuousClock.now - began < .seconds(10), "the answer was not handed up while it was new")
            try await checkNext(probe)
            guard probe.transport.capabilities.contains(.streamedResponses) else { continue }
            let stream = try await probe.transport.open(exchange)
            try expect(stream.response.status, is: status, "status of the stream")
            var streamed = Data()
            while let piece = try await stream.content.next() { streamed += piece }
            try expect(streamed, is: Data("answer".utf8), "content of the stream")
            try await checkNext(probe)
        }
        try expect(
            probe.server.requests.allSatisfy { $0.path == "/next" }, "a request that was cut off counts as whole")
    }

    /// The connection is as it must be for the next exchange, or is not used for it.
    private static func checkNext(_ probe: Probe) async throws {
        try expect(await probe.send(.get, "/next", timeouts: soon).body, is: Data("ok".utf8), "the next content")
    }

    private static func cutOff(_ path: String) -> LoopbackServer.HeadDecision {
        switch path {
        case "/length": .respond(.wire("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"))
        case "/chunks": .respond(.wire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"))
        case "/refused": .respond(.wire("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"))
        default: .proceed
        }
    }

    /// The server answers when it has read the head, and closes.
    private static func early(_ status: Int) -> Rule {
        Rule(
            "An answer of \(status) before the end of the request is the answer",
            starting: {
                try LoopbackServer(onHead: { $0.path == "/" ? .respond(.text("no", status: status)) : .proceed }) { _ in
                    .text("ok")
                }
            }
        ) { probe in
            let response = try await probe.send(.put, body: .bytes(Data(count: 8 << 20)))
            try expect(response.status, is: status, "status")
            try expect(String(decoding: response.body, as: UTF8.self), is: "no", "content")
        }
    }
}

extension Bool {
    /// - Returns: what it was; it is false from then on.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
