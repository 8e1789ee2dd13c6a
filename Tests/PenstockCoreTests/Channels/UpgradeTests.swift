import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A change of the protocol, from the request to what becomes of the connection.
@Suite(.timeLimit(.minutes(5))) struct UpgradeTests {
    /// What came of opening a socket over a wire that answers by the closure.
    private static func open(
        _ base: String = "http://127.0.0.1:1", over wire: ScriptedWire, _ answer: (ScriptedWire) -> Void
    ) async -> APIError? {
        var configuration = APIClient.Configuration(BaseURLs(base))
        configuration.options.cleartext = .loopback
        configuration.time = TestClock().timeSource
        let client = APIClient(configuration, transport: ScriptedWires(wire))
        let socket = client.webSocket(
            "/chat", options: .headers(["X-Own": "1"]), WebSocketOptions(deflate: nil, pingInterval: nil))
        let opening = Task { () -> APIError? in
            do throws(APIError) { try await socket.open() } catch { return error }
            return nil
        }
        await wire.state.waitUnlessCancelled { $0.written.range(of: Data("\r\n\r\n".utf8)) != nil }
        answer(wire)
        let error = await opening.valueOfTest
        socket.cancel()
        return error
    }

    @Test(
        "The request names the host, without the port that the scheme implies, the new protocol, and then its fields",
        arguments: [
            ("http://127.0.0.1:1", "127.0.0.1:1"), ("http://127.0.0.1", "127.0.0.1"),
            ("http://[::1]:8080", "[::1]:8080"),
            ("http://[::1]", "[::1]"), ("https://shop.example.com:80", "shop.example.com:80"),
            ("https://shop.example.com", "shop.example.com"),
        ])
    func request(base: String, host: String) async {
        let wire = ScriptedWire()
        _ = await Self.open(base, over: wire) { $0.state.withLock { $0.hasEnded = true } }
        let lines = String(decoding: wire.state.withLock(\.written), as: UTF8.self).components(separatedBy: "\r\n")
        #expect(
            lines.prefix(4) == ["GET /chat HTTP/1.1", "Host: \(host)", "Connection: Upgrade", "Upgrade: websocket"])
        #expect(lines.suffix(2) == ["", ""])
        for field in ["X-Own: 1", "Sec-WebSocket-Version: 13"] { #expect(lines.contains(field), "\(field)") }
    }

    @Test("A refusal is the answer, with what is said in it, and the connection is closed")
    func refused() async {
        let wire = ScriptedWire()
        let error = await Self.open(over: wire) {
            $0.send(Data("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nnop".utf8))
        }
        #expect(error?.kind == .httpStatus(403))
        #expect(wire.state.withLock(\.wasClosed))
    }

    /// The whole content of an answer that is none, and what is read of it.
    static let contents: [(String, String)] = [
        ("3\r\nnop\r\n0\r\n\r\n", "nop"), ("1\r\nn\r\n2;x=y\r\nop\r\n0\r\nX-A: b\r\n\r\n", "nop"),
        ("03\r\nnop\r\n000\r\n\r\n", "nop"), ("0\r\n\r\n", ""),
        ("3\r\nnop\r\n10000000\r\n" + String(repeating: "x", count: 70_000), ""),
        (String(repeating: "1;\(String(repeating: "x", count: 500))\r\nx\r\n", count: 200), ""),
        ("3;\(String(repeating: "x", count: 2_000))", ""),
    ]

    @Test("A refusal in chunks is read as far as one with a length, whatever its pieces", arguments: contents)
    func chunks(text: String, content: String) throws {
        let head = "HTTP/1.1 403 No\r\nTransfer-Encoding: Chunked\r\n\r\n"
        for size in [1, 7, 1 << 20] where size > 1 || text.utf8.count < 1_000 {
            var reply = UpgradeReply(ResponseLimits())
            var rest = Data((head + text).utf8)[...]
            var response: HTTPResponse?
            while response == nil, !rest.isEmpty {
                reply.receive(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                response = try reply.next()
            }
            #expect(response?.status == 403)
            #expect(reply.content == Data(content.utf8))
        }
    }

    @Test(
        "A refusal whose chunks are none breaks the rules, as any other answer", .covers("H4"),
        arguments: [
            "5g\r\nhello\r\n0\r\n\r\n", "3\nnop\r\n0\r\n\r\n", "3\r\nnop\n0\r\n\r\n", "3\r\nnopxx0\r\n\r\n",
            "3\r\nnop\r\nno chunk\r\n", "03 \r\nnop\r\n0\r\n\r\n", "0\r\nA: a\0b\r\n\r\n", "0\r\n\n",
        ])
    func badChunks(text: String) {
        let head = "HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n"
        for size in [1, 7, 1 << 20] {
            var reply = UpgradeReply(ResponseLimits())
            let error = #expect(throws: TransportError.self) {
                for start in stride(from: 0, to: (head + text).utf8.count, by: size) {
                    reply.receive(Data(Data((head + text).utf8).dropFirst(start).prefix(size)))
                    if try reply.next() != nil { return }
                }
            }
            #expect(error?.kind == .protocolViolation)
        }
    }

    @Test("A head that is no UTF-8 is read as that of any other response")
    func otherText() throws {
        var reply = UpgradeReply(ResponseLimits())
        reply.receive(Data("HTTP/1.1 101 ".utf8) + [0xE9] + Data("\r\nX-Server: caf".utf8) + [0xE9])
        reply.receive(Data("\r\nX-Tea: th\u{E9}\r\nSet-Cookie: a=".utf8) + [0xE9])
        reply.receive(Data("\r\nLocation: /".utf8) + [0xE9] + Data("\r\n\r\n".utf8))
        let response = try #require(try reply.next())
        #expect(response.fields["X-Server"] == "caf\u{E9}")
        #expect(response.fields["X-Tea"] == "th\u{E9}")
        #expect(response.fields[.location] == "/%E9")
        #expect(response.fields[.setCookie] == "\u{FFFD}")
    }

    @Test(
        "What breaks before an answer has begun may have been processed, and after that it was answered; the connection is given up",
        arguments: [
            ("", APIError.Kind.transport(.connectionLost), SendState.maybeProcessed),
            ("HTTP/1.1 1", .transport(.connectionLost), .maybeProcessed),
            ("HTTP/1.1 101 X\r\nUp", .transport(.connectionLost), .answered),
            ("HTTP/1.1 103 X\r\n\r\n", .transport(.connectionLost), .answered),
            ("HTTP/1.1 101 X\r\nno colon\r\n", .transport(.protocolViolation), .answered),
        ])
    func broken(text: String, kind: APIError.Kind, state: SendState) async {
        let wire = ScriptedWire()
        let error = await Self.open(over: wire) { wire in
            if !text.isEmpty { wire.send(Data(text.utf8)) }
            wire.state.withLock { $0.hasEnded = true }
        }
        #expect(error?.kind == kind && error?.sendState == state)
        #expect(wire.isOver && !wire.state.withLock(\.wasClosed))
    }

    @Test("A connection that nobody has taken is closed with its answer, and one that is taken is the taker's")
    func taking() async throws {
        let (dropped, discarded, taken) = (ScriptedWire(), ScriptedWire(), ScriptedWire())
        _ = UpgradedWire(dropped, rest: Data())
        #expect(dropped.state.withLock(\.wasClosed))
        let content = UpgradedWire(discarded, rest: Data())
        #expect(!discarded.isOver)
        content.discard()
        #expect(discarded.state.withLock(\.wasClosed))
        do {
            let content = UpgradedWire(taken, rest: Data("rest".utf8))
            let (wire, rest) = content.take()
            #expect(wire === taken && rest == Data("rest".utf8))
        }
        #expect(!taken.isOver)
    }
}
