import Foundation
import PenstockCore

extension TransportConformance {
    /// What the server answers is what is handed up, and nothing is decided on the way.
    public static let responses: [Rule] = [
        Rule(
            "Any status is handed up with its fields and its content",
            server: { request in
                let status = Int(request.path.dropFirst()) ?? 500
                let fields: HTTPFields = ["X-Status": "\(status)", "WWW-Authenticate": "Basic realm=\"x\""]
                return .text("content of \(status)", status: status, fields: fields)
            }
        ) { probe in
            for status in [200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 409, 410, 418, 429, 500, 503, 599] {
                let response = try await probe.send(.get, "/\(status)")
                try expect(response.status, is: status, "status")
                try expect(response.fields["x-status"], is: "\(status)", "field of \(status)")
                let content = status == 204 || status == 304 ? "" : "content of \(status)"
                try expect(String(decoding: response.body, as: UTF8.self), is: content, "content of \(status)")
            }
        },
        Rule("A reply to HEAD has its length, and no content", server: { _ in .text("twelve bytes") }) { probe in
            let response = try await probe.send(.head)
            try expect(response.fields[.contentLength], is: "12", "Content-Length")
            try expect(response.body.count, is: 0, "bytes of content")
        },
        Rule(
            "No redirect is followed",
            server: { request in
                let status = Int(request.path.dropFirst()) ?? 500
                return .text("moved", status: status, fields: ["Location": "/elsewhere"])
            }
        ) { probe in
            for (index, status) in [301, 302, 303, 307, 308].enumerated() {
                let response = try await probe.send(.post, "/\(status)", body: .bytes(Data("x".utf8)))
                try expect(response.status, is: status, "status")
                try expect(response.fields[.location], is: "/elsewhere", "Location")
                try expect(String(decoding: response.body, as: UTF8.self), is: "moved", "content")
                try expect(probe.server.requestCount, is: index + 1, "requests")
            }
        },
        Rule("No cookie is kept", server: { _ in .text("ok", fields: [.setCookie: "a=1; Path=/"]) }) { probe in
            let first = try await probe.send()
            try expect(first.fields[.setCookie], is: "a=1; Path=/", "Set-Cookie")
            try await probe.send()
            try expect(!probe.lastRequest().fields.contains(.cookie), "the cookie came back")
        },
        Rule(
            "Nothing is cached",
            server: { _ in .text("ok", fields: ["Cache-Control": "max-age=3600", "ETag": "\"1\""]) }
        ) { probe in
            for _ in 1...2 { try await probe.send() }
            try expect(probe.server.requestCount, is: 2, "requests")
            try expect(!probe.lastRequest().fields.contains("If-None-Match"), "the request became conditional")
        },
        Rule(
            "Chunks are joined",
            server: { _ in .chunks([Data("ab".utf8), Data("c".utf8), allBytes], pause: .milliseconds(2)) }
        ) { probe in
            let response = try await probe.send()
            try expect(response.body == Data("abc".utf8) + allBytes, "\(response.body.count) other bytes came")
        },
        Rule("A large body comes intact", server: { _ in .init(body: large) }) { probe in
            let response = try await probe.send()
            try expect(response.body == large, "\(response.body.count) other bytes came")
        },
        Rule(
            "gzip is decoded, and the fields still speak of the wire", needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: zipped) }
        ) { probe in
            let response = try await probe.send()
            let text = String(repeating: "penstock ", count: 100)
            try expect(String(decoding: response.body, as: UTF8.self), is: text, "content")
            try expect(response.fields[.contentEncoding], is: "gzip", "Content-Encoding")
            let accepted = try probe.lastRequest().fields.combined(.acceptEncoding) ?? ""
            try expect(accepted.contains("gzip"), "gzip was not asked for: \(accepted)")
        },
        Rule(
            "Content without a length ends with the connection", needsWire: true,
            server: { _ in .raw(Data("HTTP/1.1 200 OK\r\n\r\nto the end".utf8)) }
        ) { probe in
            try expect(String(decoding: await probe.send().body, as: UTF8.self), is: "to the end", "content")
        },
        Rule(
            "Interim replies stay below", needsWire: true,
            server: { _ in
                let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n"
                return .raw(Data((interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").utf8), ending: .keepAlive)
            }
        ) { probe in
            let response = try await probe.send()
            try expect(response.status, is: 200, "status")
            try expect(!response.fields.contains("X-Hint"), "a field of an interim reply was handed up")
        },
        Rule(
            "Response lines of one name stay apart and in order", requires: .separateFieldLines,
            server: { _ in .init(fields: HTTPFields(cookies)) }
        ) { probe in
            let seen = try await probe.send().fields.filter { $0.name == .setCookie || $0.name == "X-Between" }
            try expect(seen, is: cookies, "lines")
        },
        Rule(
            "Cookies stay apart, whatever else is joined", server: { _ in .init(fields: HTTPFields(manyCookies)) }
        ) { probe in
            let seen = try await probe.send().fields.filter { $0.name == .setCookie }
            try expect(seen, is: manyCookies, "lines")
        },
        Rule(
            "An empty header value is handed up", server: { _ in .init(fields: ["X-Empty": ""]) }
        ) { probe in
            try expect(await probe.send().fields["X-Empty"], is: "", "value")
        },
    ]

    private static let large = Data(repeating: 0xA5, count: 5 << 20)
    private static let cookies = [
        HTTPField(name: .setCookie, value: "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT"),
        HTTPField(name: "X-Between", value: "x"), HTTPField(name: .setCookie, value: "b=2"),
    ]
    private static let manyCookies = [
        "session=s3cret, x; Path=/; HttpOnly", "old=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
        "kept=\"a, b=c\"; expires=Wednesday, 09-Jun-27 10:18:14 GMT", "last=1,2",
    ].map { HTTPField(name: .setCookie, value: $0) }
    /// "penstock " a hundred times over.
    private static let zipped = Data(base64Encoded: "H4sIAAAAAAACAytIzSsuyU/OVigYZYwyRhkDwQAAF+aiBYQDAAA=") ?? Data()
}
