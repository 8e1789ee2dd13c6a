import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("X14")) struct WebSocketHandshakeTests {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private func answer(
        _ change: (inout HTTPResponse) -> Void = { _ in }
    ) -> HTTPResponse {
        var response = HTTPResponse(
            status: 101,
            fields: [
                "Upgrade": "websocket", "Connection": "Upgrade",
                "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            ])
        change(&response)
        return response
    }

    @Test("The standard's own key is proved as it is there, and each key is new")
    func keys() {
        #expect(WebSocketHandshake.accept(for: Self.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        var random = RandomSource.system
        let (one, other) = (WebSocketHandshake.key(using: &random), WebSocketHandshake.key(using: &random))
        #expect(Data(base64Encoded: one)?.count == 16)
        #expect(one != other)
    }

    @Test("An answer is taken whatever its case and its other tokens")
    func good() throws {
        let plain = try WebSocketHandshake.check(answer(), key: Self.key)
        #expect(plain == WebSocketHandshake.Agreement())
        let mixed = answer {
            $0.fields["Upgrade"] = "WebSocket"
            $0.fields["Connection"] = "keep-alive, upgrade"
            $0.fields["Sec-WebSocket-Protocol"] = "chat"
            $0.fields["Sec-WebSocket-Extensions"] = "permessage-deflate; server_max_window_bits=\"10\""
        }
        let agreed = try WebSocketHandshake.check(
            mixed, key: Self.key, subprotocols: ["other", "chat"], deflate: WebSocketDeflate())
        #expect(agreed.subprotocol == "chat")
        #expect(agreed.deflate?.serverMaxWindowBits == 10)
    }

    @Test("An answer that is not the one that was asked for is refused")
    func bad() {
        let changes: [(inout HTTPResponse) -> Void] = [
            { $0.status = 200 }, { $0.version = .http10 }, { $0.fields["Upgrade"] = nil },
            { $0.fields["Upgrade"] = "h2c" },
            { $0.fields["Connection"] = nil }, { $0.fields["Connection"] = "close" },
            { $0.fields["Sec-WebSocket-Accept"] = nil }, { $0.fields["Sec-WebSocket-Accept"] = Self.key },
            { $0.fields.append("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", for: "Sec-WebSocket-Accept") },
            { $0.fields["Sec-WebSocket-Protocol"] = "news" },
            { $0.fields["Sec-WebSocket-Protocol"] = "chat, chat" },
            { for _ in 0..<2 { $0.fields.append("chat", for: "Sec-WebSocket-Protocol") } },
            { $0.fields["Sec-WebSocket-Extensions"] = "x-other" },
            { $0.fields["Sec-WebSocket-Extensions"] = "permessage-deflate" },
        ]
        for change in changes {
            let failure = #expect(throws: WebSocketFailure.self) {
                try WebSocketHandshake.check(answer(change), key: Self.key, subprotocols: ["chat"])
            }
            #expect(failure?.kind == .handshake)
        }
    }

    // MARK: permessage-deflate

    @Test("What is offered says what is wanted")
    func offers() {
        #expect(WebSocketDeflate().offer == "permessage-deflate; client_max_window_bits")
        var deflate = WebSocketDeflate()
        (deflate.serverNoContextTakeover, deflate.clientNoContextTakeover) = (true, true)
        (deflate.serverMaxWindowBits, deflate.clientMaxWindowBits) = (9, 10)
        #expect(
            deflate.offer == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=9; client_max_window_bits=10")
    }

    private static let small = make { $0.clientMaxWindowBits = 8 }
    private static let forgetfulServer = make { $0.serverNoContextTakeover = true }
    private static let forgetfulClient = make { $0.clientNoContextTakeover = true }
    static let answers: [(String, WebSocketDeflate?, Bool)] = [
        ("", nil, true), ("permessage-deflate", WebSocketDeflate(), true),
        ("permessage-deflate; client_max_window_bits=8", small, true),
        ("permessage-deflate; client_max_window_bits=15", WebSocketDeflate(), true),
        ("permessage-deflate; server_no_context_takeover", forgetfulServer, true),
        ("permessage-deflate; client_no_context_takeover", forgetfulClient, true),
        ("permessage-deflate; client_max_window_bits", nil, false),
        ("permessage-deflate; server_max_window_bits", nil, false),
        ("permessage-deflate; server_max_window_bits=7", nil, false),
        ("permessage-deflate; server_max_window_bits=16", nil, false),
        ("permessage-deflate; server_max_window_bits=08", nil, false),
        ("permessage-deflate; server_max_window_bits=x", nil, false),
        ("permessage-deflate; server_no_context_takeover=1", nil, false),
        ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil, false),
        ("permessage-deflate; other", nil, false), ("permessage-deflate, permessage-deflate", nil, false),
        ("x-webkit-deflate-frame", nil, false), ("permessage-deflate;;", nil, false),
        ("permessage-deflate; a b", nil, false), (" ,, permessage-deflate ,", WebSocketDeflate(), true),
        (" , ", nil, true),
        ("; client_no_context_takeover", nil, false),
        ("permessage-deflate; server_no_context_takeover=1=2", nil, false),
        ("permessage-deflate; server_no_context_takeover=", nil, false), ("permessage-deflate; =8", nil, false),
        ("permessage-deflate; client_max_window_bits=\"8\"", small, true),
        ("permessage-deflate; client_max_window_bits=x8\"", nil, false),
        ("permessage-deflate; client_max_window_bits=\"8x", nil, false),
        ("permessage-deflate; client_max_window_bits=\"", nil, false),
        ("permessage-deflate; client_max_window_bits=\"\"", nil, false),
    ]

    @Test(
        "Of a server's answer a client takes what it may say, and nothing else",
        arguments: answers)
    func acceptance(answer: String, deflate: WebSocketDeflate?, isGood: Bool) throws {
        guard isGood else {
            #expect(throws: WebSocketFailure.self) { try WebSocketDeflate().accepted([answer]) }
            return
        }
        #expect(try WebSocketDeflate().accepted([answer]) == deflate)
    }

    @Test("A server that leaves out what was asked of itself is refused; a client keeps to what it said of itself")
    func askedOfTheServer() throws {
        let strict = Self.make {
            ($0.serverNoContextTakeover, $0.serverMaxWindowBits) = (true, 10)
            ($0.clientNoContextTakeover, $0.clientMaxWindowBits) = (true, 11)
        }
        let bare = "permessage-deflate"
        #expect(throws: WebSocketFailure.self) { try strict.accepted([bare]) }
        #expect(throws: WebSocketFailure.self) { try strict.accepted([bare + "; server_no_context_takeover"]) }
        #expect(throws: WebSocketFailure.self) { try strict.accepted([bare + "; server_max_window_bits=10"]) }
        let both = bare + "; server_no_context_takeover; server_max_window_bits="
        #expect(throws: WebSocketFailure.self) { try strict.accepted([both + "11"]) }
        #expect(try strict.accepted([both + "10"]) == strict)
        #expect(try strict.accepted([both + "9; client_max_window_bits=9"])?.clientMaxWindowBits == 9)
    }

    @Test("A server agrees to the first offer that it can keep, and to none that it does not know")
    func serverSide() throws {
        let offers = [
            "x-other, permessage-deflate; nonsense",
            "permessage-deflate; client_max_window_bits=10, permessage-deflate",
        ]
        let agreed = try #require(WebSocketDeflate.agreed(to: offers))
        #expect(agreed.deflate.clientMaxWindowBits == 10)
        #expect(agreed.answer == "permessage-deflate; client_max_window_bits=10")
        #expect(
            WebSocketDeflate.agreed(to: ["permessage-deflate; client_max_window_bits"])?.answer == "permessage-deflate")
        #expect(WebSocketDeflate.agreed(to: ["x-other"]) == nil)
        #expect(WebSocketDeflate.agreed(to: []) == nil)
    }

    // MARK: The server

    @Test("A server answers a good request so that the client takes it, with what both know")
    func bothEnds() throws {
        var request = WebSocketHandshake.request(
            key: Self.key, subprotocols: ["a", "b"], deflate: WebSocketDeflate())
        request["Upgrade"] = "websocket"
        request["Connection"] = "Upgrade"
        let (agreement, fields) = try WebSocketHandshake.answer(
            .get, request, subprotocols: ["b", "a"], compresses: true)
        #expect(agreement == WebSocketHandshake.Agreement(subprotocol: "b", deflate: WebSocketDeflate()))
        let response = HTTPResponse(status: 101, fields: fields)
        let seen = try WebSocketHandshake.check(
            response, key: Self.key, subprotocols: ["a", "b"], deflate: WebSocketDeflate())
        #expect(seen == agreement)
        let plain = try WebSocketHandshake.answer(.get, request)
        #expect(plain.agreement == WebSocketHandshake.Agreement())
    }

    @Test("A server refuses a request that is none")
    func badRequests() throws {
        var good = WebSocketHandshake.request(key: Self.key)
        good["Upgrade"] = "websocket"
        good["Connection"] = "Upgrade"
        #expect(throws: WebSocketFailure.self) { try WebSocketHandshake.answer(.post, good) }
        for (name, value) in [
            ("Upgrade", nil), ("Connection", "close"), ("Sec-WebSocket-Version", "8"), ("Sec-WebSocket-Version", nil),
            ("Sec-WebSocket-Key", nil), ("Sec-WebSocket-Key", "short"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j"),
        ] as [(HTTPFieldName, String?)] {
            var request = good
            request[name] = value
            #expect(throws: WebSocketFailure.self) { try WebSocketHandshake.answer(.get, request) }
        }
        var twice = good
        twice.append(Self.key, for: "Sec-WebSocket-Key")
        #expect(throws: WebSocketFailure.self) { try WebSocketHandshake.answer(.get, twice) }
        #expect(try WebSocketHandshake.answer(.get, good).agreement == WebSocketHandshake.Agreement())
    }

    private static func make(_ change: (inout WebSocketDeflate) -> Void) -> WebSocketDeflate {
        var deflate = WebSocketDeflate()
        change(&deflate)
        return deflate
    }
}
