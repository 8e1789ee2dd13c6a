import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Nobody can keep the client busy with a field: every parser's work is linear in what it reads.
@Suite(.timeLimit(.minutes(10)), .covers("H33")) struct LinearParsingTests {
    /// Seconds for 100,000 bytes. Unoptimised, as tests mostly are, code takes some ten times as long.
    #if DEBUG
        static let limit = 1.0
    #else
        static let limit = 0.1
    #endif

    struct Parser: Sendable, CustomTestStringConvertible {
        let name: String
        var heads = [""]
        let parse: @Sendable (String) throws -> Void
        var testDescription: String { name }

        init(_ name: String, after heads: String..., parse: @escaping @Sendable (String) throws -> Void) {
            self.name = name
            self.heads = heads.isEmpty ? [""] : heads
            self.parse = parse
        }
    }

    /// All that the cache makes of one field of a response, from its arrival to its reuse.
    static func response(
        _ name: HTTPFieldName, _ value: String, status: Int = 200, method: HTTPMethod = .get, beside: HTTPFields = [:]
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=100"]
        fields.merge(beside)
        fields[name] = value
        let arrival = CacheFixtures.arrival(fields, status: status, length: 5)
        let reception = try CacheFixtures.query(method).receive(arrival)
        guard let stored = reception.insertion?.response else { return }
        let query = try CacheFixtures.query(.get, [:], [stored])
        _ = query.decide(now: CacheFixtures.start + 1)
        guard case .send(let exchange)? = query.decide(now: CacheFixtures.start + 1_000).first,
            exchange.purpose != .load
        else { return }
        fields[name] = value
        _ = query.receive(CacheFixtures.arrival(fields, status: 304, length: 0), to: exchange)
    }

    /// All that the cache makes of one field of a request.
    static func request(_ name: HTTPFieldName, _ value: String, beside: HTTPFields = [:]) throws {
        let response: HTTPFields = [
            "Cache-Control": "max-age=100", "ETag": "\"a\"", "Last-Modified": CacheFixtures.date(-100),
        ]
        var fields = beside
        fields[name] = value
        let stored = try CacheFixtures.stored(response, to: fields)
        _ = try CacheFixtures.decide(fields, [stored], after: 1)
    }

    /// What the cache makes of a field that a response varies on.
    static func variant(_ name: HTTPFieldName, _ value: String) {
        let digests = CacheFixtures.digests
        let variant = CacheVariant(response: ["Vary": name.text], request: [name: value], digests)
        _ = variant.matches([name: value], language: "de", digests)
    }

    static let responseFields: [Parser] = [
        "Cache-Control", "Age", "Connection", "Content-Encoding", "Content-Language", "Content-Type", "Date", "ETag",
        "Expires", "Last-Modified", "Pragma", "Vary", "Content-Length", "Warning",
    ].map { (name: String) in
        Parser("response's \(name)", after: "", "a=\"") { try response(HTTPFieldName(name), $0) }
    }

    static let requestFields: [Parser] =
        ["Cache-Control", "Pragma", "If-None-Match", "If-Modified-Since"].map { (name: String) in
            Parser("request's \(name)") { try request(HTTPFieldName(name), $0) }
        }
        + ["Accept-Language", "Accept-Encoding", "Authorization", "X-Other"].map { (name: String) in
            Parser("selecting \(name)") { variant(HTTPFieldName(name), $0) }
        } + [Parser("Range", after: "", "bytes=") { try request("Range", $0) }]

    static let otherFields = [
        Parser("no-cache with names", after: "no-cache=\"", "no-cache=\"a,") {
            try response("Cache-Control", $0 + "\"")
        },
        Parser("Content-Range", after: "bytes ", "bytes 0-") { try response("Content-Range", $0, status: 206) },
        Parser("If-Range", after: "", "\"") { try request("If-Range", $0, beside: ["Range": "bytes=0-1"]) },
        Parser("Location of a write") { try response("Location", $0, status: 201, method: .post) },
        Parser("Content-Location of a write") { try response("Content-Location", $0, method: .post) },
        Parser("Connection that names what is there") { value in
            let many = HTTPFields((0..<1_000).map { HTTPField(name: HTTPFieldName("a\($0)"), value: "") })
            try response("Connection", value, beside: many)
        },
        Parser("date", after: "", "Sun, ", "Sun, 06 Nov 1994 ", "Sunday, 06-", "Sun Nov ") {
            _ = HTTPDate.parse($0, at: CacheFixtures.start)
        },
        Parser("date of a cookie", after: "", "Sun, ", "Sun, 06 Nov 1994 ") { _ = CookieDate.parse($0) },
        Parser("type of an event stream", after: "", "text/event-stream", "text/event-stream;") {
            _ = EventStreamReconnection.Ending(refusing: HTTPResponse(status: 200, fields: [.contentType: $0]))
        },
        Parser("challenges", after: "", "Basic ", "Bearer a=", "Bearer a=\"", "Bearer a=b, ") { value in
            _ = Challenge.all(in: [.wwwAuthenticate: value])
        },
        Parser("many lines of challenges") { value in
            let part = String(value.prefix(max(1, value.count / 1_000)))
            let lines = (0..<1_000).map { _ in HTTPField(name: .wwwAuthenticate, value: part) }
            _ = Challenge.all(in: HTTPFields(lines))
        },
        Parser("Structured Field", after: "", "a=", "a=\"", "a=(", "a=:", "a=%\"", "a;b=") { value in
            _ = try? StructuredField.dictionary(value)
            _ = try? StructuredField.list(value)
            _ = try? StructuredField.item(value)
        },
        Parser("Repr-Digest", after: "", "sha-256=:", "sha-256=:AA==:, ", "a=(") { value in
            _ = DownloadPlan.digest(["Repr-Digest": value])
        },
        Parser("RateLimit", after: "", "\"default\";r=", "\"default\";r=0;t=", "\"a\";r=0;t=1, ") { value in
            for name in ["RateLimit", "RateLimit-Policy"] as [HTTPFieldName] {
                _ = ServerRateLimit.all(in: [name: value])
            }
        },
        Parser(
            "Content-Disposition", after: "", "attachment; filename=", "attachment; filename=\"", "a; filename*=UTF-8''"
        ) {
            _ = ContentDisposition($0)
        },
        Parser("a field's own check") { _ = HTTPFields([HTTPField(name: HTTPFieldName($0), value: $0)]) },
    ]

    /// What a server answers to the change to a WebSocket, and to content that was compressed.
    static let answers: [Parser] =
        ["Upgrade", "Connection", "Sec-WebSocket-Protocol", "Sec-WebSocket-Accept"].map { (name: String) in
            Parser("handshake's \(name)", after: "", "websocket, ", "upgrade,") { value in
                // Each of the others is as it has to be, so that all of them are read.
                var fields: HTTPFields = [
                    "Upgrade": "websocket", "Connection": "Upgrade",
                    "Sec-WebSocket-Accept": WebSocketHandshake.accept(for: "key"),
                ]
                fields[HTTPFieldName(name)] = value
                let answer = HTTPResponse(status: 101, fields: fields)
                _ = try? WebSocketHandshake.check(answer, key: "key", subprotocols: ["chat"])
            }
        } + [
            Parser(
                "extensions of a WebSocket", after: "", "permessage-deflate", "permessage-deflate; ",
                "permessage-deflate; server_max_window_bits=\""
            ) { value in
                _ = try? WebSocketExtension.list([value])
                _ = try? WebSocketDeflate().accepted([value])
            },
            Parser("many lines of extensions of a WebSocket") { value in
                let part = String(value.prefix(max(1, value.count / 1_000)))
                _ = try? WebSocketExtension.list(Array(repeating: part, count: 1_000))
            },
            Parser("codings that are welcome", after: "", "br;q=", "gzip;q=0.", "br, ") { value in
                let answer = HTTPResponse(status: 415, fields: [.acceptEncoding: value])
                _ = RequestCompression.gzip.isRefused(by: answer)
            },
            Parser("digests of content", after: "", "SHA-256=", "sha-256=:", "sha-256=\"") { value in
                for name in ["Content-Digest", "Repr-Digest", "Digest"] as [HTTPFieldName] {
                    _ = CodedDigests.fields([name: value], for: Data("b".utf8), of: Data("a".utf8))
                }
            },
        ]

    static let cookies = [
        Parser("cookie", after: "a=", "a=b;", "a=b; Expires=") { value in
            let store = MemoryCookieStore()
            try store.receive([value], from: HTTPURL("https://a.example/"), in: .init())
        },
        Parser("many cookies") { value in
            let url = try HTTPURL("https://a.example/")
            let store = MemoryCookieStore()
            // As many as there may be lines.
            let part = value.prefix(max(1, value.count / 1_000))
            store.receive((0..<1_000).map { "a\($0)=\(part)" }, from: url, in: .init())
            _ = store.field(for: url, in: .init())
        },
    ]

    static let urls = [
        Parser("URL", after: "http://a/", "http://a/?", "http://a", "http://[", "http://") { _ = try? HTTPURL($0) },
        Parser("reference", after: "", "/", "?", "//", "a:") { value in
            _ = try? HTTPURL("http://a.example/x/y").resolving(value)
        },
        Parser("escapes", after: "") { _ = PercentEncoding.normalised($0) },
    ]

    static let streams = [
        Parser("event stream", after: "", "data:", "id:", "retry:", "event:") { value in
            var parser = ServerSentEventParser(maxLineLength: .max, maxEventBytes: .max)
            parser.push(Data((value + "\n\n").utf8))
            while try parser.next() != nil {}
        },
        Parser("event stream of many lines") { value in
            var parser = ServerSentEventParser(maxLineLength: .max, maxEventBytes: .max)
            parser.push(Data(value.utf8.flatMap { Array("data:\($0)\n".utf8) }))
            while try parser.next() != nil {}
        },
        Parser("event stream in small pieces") { value in
            var parser = ServerSentEventParser(maxLineLength: .max, maxEventBytes: .max)
            for start in stride(from: 0, to: value.utf8.count, by: 7) {
                parser.push(Data(value.utf8.dropFirst(start).prefix(7)))
                while try parser.next() != nil {}
            }
        },
        Parser("JSON lines") { value in
            var parser = JSONLinesParser(maxLineLength: .max)
            parser.push(Data(value.utf8))
            parser.push(Data(String(repeating: "\n\r", count: value.utf8.count / 2).utf8))
            parser.finish()
            while try parser.next() != nil {}
        },
        Parser("JSON", after: "", "[", "\"", "[\"\\", "-", "1", "1.", "1e") { value in
            _ = try? Payload(Data(value.utf8)).json()
        },
    ]

    static let printing = [
        Parser("the printing of a field", after: "", "https://a/?", "a=") { value in
            _ = Redaction.value(value, of: "X-Other")
        },
        Parser(
            "the printing of a text", after: "", "token: a ", "token = ", "token= ", "X-Token: ", "Bearer ", "token='",
            "token=\\\"",
            "\"pin\":[\"", "\"pin\":", "a:", "pin: |\n ", "\"pin\":/*", "\"pin\":\nid:", "https:\\/\\/", "/a=%25"
        ) { value in
            _ = Redaction.text(value)
        },
        Parser(
            "the redaction of markup", after: "", "<pin>", "</pin>", "<pin>a</pin>", "<key>pin</key>", "<a name='pin'>",
            "<input name=pin value='", "<pin a='\">", "<pin><"
        ) { value in
            _ = Redaction.text(value + ">")
            _ = Redaction.text(String(value.utf8.reversed().map { Character(Unicode.Scalar($0)) }) + "</pin>")
        },
        Parser("the redaction of JSON lines", after: "", "data:{", "\n{\"pin\":1}", "\n[[", "data: [1]\n") { value in
            _ = Redaction.content(Data((value + "\n").utf8), type: "application/x-ndjson")
        },
        Parser(
            "the redaction of labelled JSON", after: "[1", ",{\"name\":\"pin\",\"value\":1}", ",[[\"pin\",1]]"
        ) { value in
            _ = Redaction.content(Data((value + "]").utf8), type: "application/json")
        },
        Parser(
            "the redaction of labelled JSON in a text", after: "{\"", "{\"name\":\"pin\",\"value\":\"a\"}",
            "{\"name\":\"pin\",\"value\":[",
            "[[\"pin\",\"", "\\\"{", "{\"loc\":[\"pin\"],", "&quot;", "&#", "{\"a\":\"{\\\"", "xoxb-", "sk_", "code_",
            "{'name':'pin','value':", "['", ",'\\'", "'   ", "{'pin':a", "{'pin':'a',", "{'pin':[", "{a:'b':",
            "{'pin':a:"
        ) { value in
            _ = Redaction.text(value)
        },
        Parser("the redaction of JSON", after: "[1", ",1", ",{\"pin\":[\"]\"]}", ",\"\\u0041\"") { value in
            _ = Redaction.content(Data((value + "]").utf8), type: "application/json")
        },
        Parser("the printing of a query", after: "", "token=", "a=https://b/?") { _ = Redaction.query($0) },
        Parser("the printing of a name") { _ = Redaction.isSecret(parameter: $0) },
    ]

    /// What looks for something that it knows in a text of a server's own: in its names and words, or in all of it.
    static let words: [Parser] = [
        Parser("bytes of a head", after: "", "a", ";") { value in
            let text = Array(value.utf8).withUnsafeBytes { HTTPSyntax.text($0) }
            _ = text.split(separator: ";").contains("a")
            _ = HTTPSyntax.trimmed(String(text.prefix { $0 != ";" })).lowercased().hasPrefix("a")
        },
        Parser("a member of JSON", after: "{\"", "{\"a", "{\"a\":1,\"a") { value in
            let data = Data((value + "\":1}").utf8)
            _ = try? Payload(data).json()
            _ = Redaction.content(data, type: "application/json")
        },
        Parser("a text in JSON", after: "[{\"path\":\"", "[{\"path\":\"/", "[{\"name\":\"p", "[\"%") { value in
            let tail = value.utf8.contains(UInt8(ascii: "{")) ? "\",\"value\":1}]" : "\"]"
            _ = Redaction.content(Data((value + tail).utf8), type: "application/json")
        },
        Parser("an error of OAuth", after: "{\"error\":\"i", "{\"error\":\"invalid_grant") { value in
            let answer = HTTPResponse(status: 400, body: Data((value + "\"}").utf8))
            _ = TokenResponse.error(of: answer)
            _ = try? TokenResponse(answer, needsProof: false)
        },
        Parser("the redaction of an element", after: "<a", "<a name='p", "<a p") { value in
            _ = Redaction.text(value + "=''>1</a>")
            _ = Redaction.text(value + ">1</a>")
        },
        Parser("the redaction of a part", after: "name=a", "a") { value in
            let text = "--b\r\nContent-Disposition: form-data; \(value)\r\nContent-Type: \(value)\r\n\r\n1\r\n--b--"
            _ = Redaction.content(Data(text.utf8), type: "multipart/form-data; boundary=b")
        },
        Parser("the name of a file", after: "", "a", "a.", ".") { _ = FileNameRules.harmless($0) },
    ]

    static let marked = urls + printing + [cookies[0], streams[0]] + words

    /// Values that end soon, in a line that goes on: who looked for the line's end first would read all of it for each of them.
    static let secrets = [
        "token='a ", "token: '' ", "'X-Token: ", "\"X-Token: a\" ", "'token': 'abc', ", "token = 'a' ", "token: 'a\\' ",
        "token: | # ", "pin: |\n # ", "token: !a ", "{token: a, ", "- token: ", "token:\n ", "\"pin\":/*\"",
        "<pin><a \"'",
    ]
    /// What may begin or end a secret in a text.
    static let signs = [
        "token", "X-Pin:", "'", "\"", ":", "=", " ", "\n", "\\", "<pin>", "</", "{", ",", "|", "Bearer ", "data:",
        "%3D", "//",
    ]

    @Test(
        "Four times the text costs redaction four times the work, whatever it is made of", .serialized, arguments: signs
    )
    func redactionIsLinear(sign: String) async {
        for unit in Self.signs.map({ "token" + sign + "a" + $0 }) + (sign == Self.signs.first ? Self.secrets : []) {
            await Task.yield()
            LinearWork.expect("the redaction of a text", unit: unit, limit: Self.limit) { text in
                _ = Redaction.content(Data(text.utf8), type: "text/plain")
            }
        }
    }

    /// What the cache compares or hashes of a response.
    static let compared: [Parser] =
        responseFields + [
            Parser("Content-Range") { try response("Content-Range", $0, status: 206) },
            Parser("Content-Type of a part") { value in
                try response("Content-Type", value, status: 206, beside: ["Content-Range": "bytes 0-4/10"])
            },
            Parser("the choice by language") { value in
                let variant = CacheVariant(selectors: [.init(name: "accept-language", value: "en")])
                _ = variant.matches(["Accept-Language": "de"], language: value, CacheFixtures.digests)
            },
            Parser("what an exchange is shared by") { value in
                _ = Set([ExactText(value), ExactText(value + "a")])
            },
        ]

    /// The canonical order of marks, which Swift's own comparison of texts brings them in, takes quadratic time.
    @Test(
        "Four times the combining marks cost the cache four times the work, in every field of a response", .serialized,
        arguments: compared)
    func comparedMarksAreLinear(parser: Parser) async throws {
        await Task.yield()
        for head in parser.heads {
            try LinearWork.expect(
                "\(parser.name) after \(head.debugDescription)", head: head, unit: "\u{301}\u{323}", limit: Self.limit,
                parser.parse)
        }
    }

    @Test(
        "Marks that combine with a character cost no more than what stands alone", .serialized, arguments: marked)
    func marksAreLinear(parser: Parser) async throws {
        for head in parser.heads {
            await Task.yield()
            // Bringing them into order is quick work, of which little cannot be told from chance.
            try LinearWork.expect(
                "\(parser.name) after \(head.debugDescription)", head: head, unit: LinearWork.marks,
                limit: 4 * Self.limit, from: 16_000, parser.parse)
        }
    }

    /// One parser at a time, with a turn for others after each input: the work waits for nothing, and sixteen of these at
    /// once would keep every other test from going on for longer than its time-outs.
    @Test(
        "Four times the input costs a parser four times the work", .serialized,
        arguments: responseFields + requestFields + otherFields + answers + cookies + urls + streams + printing)
    func isLinear(parser: Parser) async throws {
        for head in parser.heads {
            for unit in LinearWork.units {
                await Task.yield()
                try LinearWork.expect(
                    "\(parser.name) after \(head.debugDescription)", head: head, unit: unit, limit: Self.limit,
                    parser.parse)
            }
        }
    }
}
