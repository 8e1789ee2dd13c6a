import Foundation
import PenstockCore

extension TransportConformance {
    /// Content of requests: whole, of its own length, or not at all (RFC 9112 §6, RFC 9110 §10.1.1).
    public static let uploads: [Rule] = [wholeUploads, brokenUploads, earlyAnswers].flatMap(\.self)

    private static let wholeUploads: [Rule] = [
        Rule("Content of any size arrives whole, with its length") { probe in
            for size in [1, 1_023, 16_384, 32_767, 32_768, 32_769, 65_535, 65_536, 1_048_579] {
                let body = bytes(size) { UInt8(truncatingIfNeeded: $0 &* 31) }
                try await probe.send(.post, body: .bytes(body))
                let request = try probe.lastRequest()
                try expect(request.body == body, "\(size) bytes were sent, \(request.body.count) other ones arrived")
                try expect(request.fields.values(of: .contentLength), is: ["\(size)"], "Content-Length")
                try expect(request.fields.values(of: .transferEncoding), is: [], "Transfer-Encoding")
            }
        },
        Rule("Content that is empty, or is not there, has the length 0 where the method mostly has some") { probe in
            for method in [HTTPMethod.post, .put, .patch] {
                for body in [HTTPBody.bytes(Data()), .none] {
                    try await probe.send(method, body: body)
                    try expect(
                        probe.lastRequest().fields.values(of: .contentLength), is: ["0"],
                        "Content-Length of \(method), \(body.isNone ? "none" : "empty")")
                }
            }
        },
        Rule("An empty file has the length 0") { probe in
            try await withFile(Data()) { file in
                try await probe.send(.put, body: .file(file))
                try expect(probe.lastRequest().fields.values(of: .contentLength), is: ["0"], "Content-Length")
                try expect(probe.lastRequest().body, is: Data(), "content")
            }
        },
        Rule("One file is sent as often as it is asked for") { probe in
            try await withFile(allBytes) { file in
                let body = HTTPBody.file(file)
                for _ in 1...3 { try await probe.send(.post, body: body) }
                try expect(probe.server.requests.allSatisfy { $0.body == allBytes }, "other content arrived")
            }
        },
        Rule("The connection of an upload is used again", needsWire: true) { probe in
            for method in [HTTPMethod.post, .put, .get, .patch] {
                try await probe.send(method, body: method == .get ? .none : .bytes(allBytes))
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Content with GET arrives, or keeps its request unsent") { probe in
            if case .failure(let error) = try await probe.outcome(of: probe.exchange(.get, body: .bytes(allBytes))) {
                return try expect(error.sendState, is: .unsent, "send state")
            }
            try expect(probe.lastRequest().method, is: .get, "method")
            try expect(probe.lastRequest().body == allBytes, "other content arrived")
        },
        Rule("Nothing is sent that would wait for 100 Continue by itself", needsWire: true) { probe in
            for body in [HTTPBody.bytes(allBytes), .bytes(Data(count: 3 << 20))] {
                try await probe.send(.post, body: body)
                try expect(probe.lastRequest().fields["Expect"], is: nil, "Expect")
            }
        },
        Rule("A request that expects 100 Continue is sent when it comes", needsWire: true) { probe in
            try await probe.send(.put, fields: ["Expect": "100-continue"], body: .bytes(allBytes))
            try expect(probe.lastRequest().body == allBytes, "other content arrived")
        },
        Rule("Pieces of a stream arrive whole, whatever their sizes", requires: .streamedRequests) { probe in
            let pieces = [0, 1, 0, 99_999, 2, 65_536, 16_384, 0].map { Data(repeating: UInt8($0 & 0xFF), count: $0) }
            for length in [nil, pieces.map(\.count).reduce(0, +)] {
                try await probe.send(.post, body: stream(pieces, length: length))
                try expect(probe.lastRequest().body == Data(pieces.joined()), "other content arrived")
            }
        },
        Rule("A stream of nothing is content of nothing", requires: .streamedRequests) { probe in
            for length in [nil, 0] {
                try await probe.send(.post, body: stream([], length: length))
                try expect(probe.lastRequest().body, is: Data(), "content")
            }
        },
        Rule("A stream may take its time", requires: .streamedRequests, needsWire: true) { probe in
            let body = HTTPBody.stream {
                let (chunks, continuation) = HTTPBody.Chunks.makeStream()
                Task {
                    for _ in 1...10 {
                        try await Task.sleep(for: .milliseconds(30))
                        continuation.yield(Data("x".utf8))
                    }
                    continuation.finish()
                }
                return chunks
            }
            let limits = Timeouts(connect: nil, firstByte: .milliseconds(100), idle: nil, total: .seconds(60))
            try await probe.send(.post, body: body, timeouts: limits)
            try expect(probe.lastRequest().body.count, is: 10, "bytes")
        },
        Rule(
            "A server that reads slowly gets everything",
            starting: {
                var slow = LoopbackServer.Configuration()
                slow.receiving = .init(bytes: 64 << 10, per: .milliseconds(5))
                return try LoopbackServer(slow) { _ in .text("ok") }
            }
        ) { probe in
            let body = Data(count: 4 << 20)
            try await probe.send(.put, body: .bytes(body))
            try expect(probe.lastRequest().body.count, is: body.count, "bytes")
        },
    ]

    // MARK: What goes wrong on this side

    private static let brokenUploads: [Rule] = [
        breaks("A stream that fails at once", stream([], failing: true)),
        breaks("A stream that fails in the middle", stream([allBytes], failing: true)),
        breaks("A stream of known length that fails", stream([allBytes], length: 300_000, failing: true)),
        breaks("A stream that is shorter than it said", stream([allBytes], length: allBytes.count + 1)),
        breaks("A stream that is longer than it said", stream([allBytes], length: allBytes.count - 1)),
        breaks("A stream that cannot be opened", .stream { throw Unmet(description: "closed") }),
        Rule("A file that has become shorter is the request's own fault", requires: .streamedRequests, needsWire: true)
        { probe in
            try await withFile(allBytes) { file in
                let body = HTTPBody.file(file)
                try allBytes.prefix(1_000).write(to: file)
                try await expect(probe.failure(.put, body: body), .requestBody)
                try expect(probe.server.requestCount, is: 0, "requests")
            }
        },
        Rule("Of a file that has become longer what was measured is sent", requires: .streamedRequests, needsWire: true)
        { probe in
            try await withFile(allBytes) { file in
                let body = HTTPBody.file(file)
                try (allBytes + allBytes).write(to: file)
                try await probe.send(.put, body: body)
                try expect(probe.lastRequest().body == allBytes, "other content arrived")
            }
        },
        Rule(
            "What the server does not read is not asked of a stream", requires: .streamedRequests,
            starting: {
                try LoopbackServer(onHead: { _ in .fault(.stall, at: .requestBody(after: 1_000)) }) { _ in .text("ok") }
            }
        ) { probe in
            let given = Locked(0)
            let body = HTTPBody.stream {
                HTTPBody.Chunks {
                    given.withLock { $0 += 1 }
                    return Data(count: 64 << 10)
                }
            }
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .seconds(1), total: .seconds(30))
            try await expect(probe.failure(.put, body: body, timeouts: limits), .timeout(.idle))
            try expect(given.withLock { $0 } < 512, "32 MiB were taken that nobody read")
            probe.server.stop()
        },
    ]

    /// The request never becomes whole, so that no server acts on half of it.
    private static func breaks(_ name: String, _ body: HTTPBody) -> Rule {
        Rule("\(name) is the request's own fault", requires: .streamedRequests, needsWire: true) { probe in
            try await expect(probe.failure(.put, body: body), .requestBody)
            try await probe.server.waitForOpenConnections(atMost: 0)
            try expect(probe.server.requestCount, is: 0, "requests")
            try await probe.send(.get, "/next")
        }
    }

    // MARK: Parts

    static func stream(_ pieces: [Data], length: Int? = nil, failing: Bool = false) -> HTTPBody {
        .stream(length: length) {
            let (chunks, continuation) = HTTPBody.Chunks.makeStream()
            for piece in pieces { continuation.yield(piece) }
            continuation.finish(throwing: failing ? Unmet(description: "broken") : nil)
            return chunks
        }
    }

    static func withFile(_ content: Data, _ body: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file)
    }
}
