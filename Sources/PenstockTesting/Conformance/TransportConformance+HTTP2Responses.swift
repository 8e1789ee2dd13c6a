import Foundation
import PenstockCore

extension TransportConformance {
    /// Responses of HTTP/2 as they should be.
    public static let http2Responses: [Rule] = [
        Rule(
            "Any status is handed up over HTTP/2 with its fields and its content", over: .http2,
            server: { request in
                .text("content", status: Int(request.path.dropFirst()) ?? 500, fields: ["X-Status": request.path])
            }
        ) { probe in
            for status in [200, 201, 204, 205, 206, 302, 304, 400, 401, 407, 418, 429, 500, 503, 599, 600, 999] {
                let response = try await probe.send(.get, "/\(status)")
                try expect(response.status, is: status, "status")
                try expect(response.fields["X-Status"], is: "/\(status)", "field of \(status)")
                try expect(response.body.isEmpty, is: [204, 304].contains(status), "no content of \(status)")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Responses without content are complete over HTTP/2, hundreds of them at once", over: .http2,
            server: { request in
                switch request.path {
                case "/204": .init(status: 204)
                case "/304": .init(status: 304, fields: ["Content-Length": "7", "ETag": "\"1\""])
                case "/empty": .init()
                default: .text("content")
                }
            }
        ) { probe in
            let cases: [(HTTPMethod, String)] = [(.get, "/204"), (.get, "/304"), (.get, "/empty"), (.head, "/head")]
            for _ in 1...4 {
                try await atOnce(100) { index in
                    let (method, path) = cases[index % cases.count]
                    let response = try await probe.send(method, path, timeouts: soon)
                    try expect(response.status, is: Int(path.dropFirst()) ?? 200, "status of \(path)")
                    try expect(response.body.count, is: 0, "bytes of \(path)")
                }
            }
            try expect(probe.server.abortCount, is: 0, "streams that were reset")
        },
        Rule(
            "A head that ends its stream is a whole response", over: .http2,
            server: { Frames(for: $0).head([("content-length", "0")], isLast: true).response }
        ) { probe in
            for method in [HTTPMethod.get, .post] {
                let response = try await probe.send(method, timeouts: soon)
                try expect(response.status == 200 && response.body.isEmpty, "\(response)")
            }
        },
        Rule(
            "An empty DATA frame ends a response as well", over: .http2,
            server: { Frames(for: $0).head().data("ok", isLast: false).data("", isLast: false).data("").response }
        ) { probe in
            try expect(await probe.send(timeouts: soon).body, is: Data("ok".utf8), "content")
        },
        Rule(
            "Padding is no content", over: .http2,
            server: { request in
                let padded = Data([5]) + Data("ok".utf8) + Data(count: 5)
                return Frames(for: request).head().frame(.data, flags: 8 | Frames.endStream, padded).response
            }
        ) { probe in
            try expect(await probe.send(timeouts: soon).body, is: Data("ok".utf8), "content")
        },
        Rule(
            "A head may come in many pieces", over: .http2,
            server: { request in
                let block = Frames.block([(":status", "200"), ("x-long", String(repeating: "v", count: 600))])
                let frames = Frames(for: request).frame(.headers, block.prefix(1))
                    .frame(.continuation, block.dropFirst(1).prefix(300))
                    .frame(.continuation, flags: Frames.endHeaders, block.dropFirst(301))
                return frames.data("ok").response
            }
        ) { probe in
            let response = try await probe.send(timeouts: soon)
            try expect(response.fields["X-Long"]?.count, is: 600, "length of the field")
            try expect(response.body, is: Data("ok".utf8), "content")
        },
        Rule(
            "Interim responses stay below over HTTP/2", over: .http2,
            server: { _ in .text("ok").preceded(by: [.init(100), .init(103, fields: ["X-Hint": "1"])]) }
        ) { probe in
            let response = try await probe.send(timeouts: soon)
            try expect(response.status, is: 200, "status")
            try expect(!response.fields.contains("X-Hint"), "a field of an interim response was handed up")
        },
        Rule(
            "Interim responses without end are stopped over HTTP/2", over: .http2,
            server: { request in
                Frames(for: request).repeated(2_000) { frames, _ in frames.head(status: 103) }.ok().response
            }
        ) { probe in
            let error = try await probe.failure(timeouts: soon)
            try expect(error, .limitExceeded(.interimResponses), sendState: .answered)
        },
        Rule(
            "Trailers are handed up over HTTP/2, apart from the head", over: .http2,
            server: { _ in .chunks([Data("ok".utf8)]).trailers(["X-Sum": "1", "X-Other": ""]) }
        ) { probe in
            let response = try await probe.send(timeouts: soon)
            try expect(response.body, is: Data("ok".utf8), "content")
            try expect(!response.fields.contains("X-Sum"), "a trailer is among the fields")
            try expect(response.trailers["X-Sum"], is: "1", "trailer")
        },
        Rule(
            "Lines of one name stay apart and in order over HTTP/2", over: .http2, and: .separateFieldLines,
            server: { _ in .init(fields: HTTPFields(["a=1", "b=2"].map { HTTPField(name: .setCookie, value: $0) })) }
        ) { probe in
            try expect(await probe.send().fields.values(of: .setCookie), is: ["a=1", "b=2"], "cookies")
        },
        Rule(
            "gzip is decoded over HTTP/2", over: .http2,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: zipped) }
        ) { probe in
            let text = String(repeating: "penstock ", count: 100)
            try expect(String(decoding: await probe.send().body, as: UTF8.self), is: text, "content")
        },
        Rule(
            "An early answer counts, though the upload is not wanted any more", over: .http2,
            onHead: { $0.path == "/early" ? .respond(.text("no", status: 413)) : .proceed }
        ) { probe in
            for count in [200_000, 5_000_000] {
                let body = HTTPBody.bytes(Data(count: count))
                let response = try await probe.send(.post, "/early", body: body, timeouts: soon)
                try expect(response.status, is: 413, "status of \(count) bytes")
                try expect(await probe.send(timeouts: soon).status, is: 200, "status of the next")
            }
        },
        Rule(
            "An answer that overtakes a short upload counts, or its call fails as one that may have been processed",
            over: .http2, onHead: { $0.path == "/early" ? .respond(.text("no", status: 413)) : .proceed }
        ) { probe in
            for _ in 1...5 {
                let body = HTTPBody.bytes(Data(count: 60_000))
                let exchange = try probe.exchange(.post, "/early", body: body, timeouts: soon)
                do throws(TransportError) {
                    let status = try await probe.transport.perform(exchange).response.status
                    if status != 413 { throw TransportError(.other, sendState: .answered, message: "\(status)") }
                } catch { try expect(error, .connectionLost, sendState: .maybeProcessed) }
                try expect(await probe.send(timeouts: soon).status, is: 200, "status of the next")
            }
        },
        Rule(
            "Content of any length comes to its end over HTTP/2", over: .http2,
            server: { request in
                let count = Int(request.path.dropFirst()) ?? 0
                let first = String(repeating: "a", count: min(count, 16_384))
                let frames = Frames(for: request).head().data(first, isLast: count <= 16_384)
                guard count > 16_384 else { return frames.response }
                return frames.data(String(repeating: "b", count: count - 16_384)).response
            }
        ) { probe in
            for count in [0, 1, 16_300, 16_350, 16_370, 16_384, 16_385, 20_000, 32_600, 32_700, 32_768] {
                let body = try await probe.send(.get, "/\(count)", timeouts: soon).body
                try expect(body.count, is: count, "bytes")
            }
        },
        Rule(
            "A large body comes intact over HTTP/2", over: .http2, server: { _ in .init(body: http2Large) }
        ) { probe in
            try expect(await probe.send(timeouts: soon).body == http2Large, "other bytes came")
        },
    ]

    private static let http2Large = noise(5 << 20)
    /// "penstock " a hundred times over.
    private static let zipped = Data(base64Encoded: "H4sIAAAAAAACAytIzSsuyU/OVigYZYwyRhkDwQAAF+aiBYQDAAA=") ?? Data()

    /// Runs so many at the same time, and fails as the first of them does.
    static func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count { group.addTask { try await body(index) } }
            try await group.waitForAll()
        }
    }
}
