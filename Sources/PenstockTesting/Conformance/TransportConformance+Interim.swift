import Foundation
import PenstockCore

extension TransportConformance {
    /// Responses before the final one (RFC 9110 §15.2).
    public static let interim: [Rule] = [
        comesBefore("100 Continue that nobody asked for", "HTTP/1.1 100 Continue\r\n\r\n"),
        comesBefore("102 Processing", "HTTP/1.1 102 Processing\r\n\r\n"),
        comesBefore("103 Early Hints", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Hint: 1\r\n\r\n"),
        comesBefore("An interim response that nobody knows", "HTTP/1.1 199 What\r\nX-Hint: 1\r\n\r\n"),
        comesBefore(
            "An interim response of HTTP/1.1 without a reason", "HTTP/1.1 103\r\nX-Hint: 1\r\n\r\n",
            requires: .exactHeads),
        comesBefore(
            "Several interim responses", String(repeating: "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n", count: 10)),
        comesBefore(
            "An interim response that tells a length",
            "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nX-Hint: 1\r\n\r\n", requires: .exactHeads),
        comesBefore(
            "An interim response with a cookie", "HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=1\r\nX-Hint: 1\r\n\r\n"),
        Rule(
            "A final response may come long after an interim one", needsWire: true,
            server: { _ in
                .text("ok").preceded(by: [.init(102), .init(102, delay: .milliseconds(200))]).delayed(
                    by: .milliseconds(200))
            }
        ) { probe in
            try expect(await probe.send().status, is: 200, "status")
        },
        .refuses(
            "A change of protocol that nobody asked for is refused",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", requires: .exactHeads),
        .refuses(
            "A change of protocol is refused, whatever follows",
            "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            requires: .exactHeads),
        .isCutShort(
            "Nothing after an interim response is a lost reply", "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n"),
        .isCutShort(
            "Nothing after 100 Continue is a lost reply", "HTTP/1.1 100 Continue\r\n\r\n"),
    ]

    private static func comesBefore(_ name: String, _ interim: String, requires: TransportCapabilities = []) -> Rule {
        Rule(
            "\(name) is no answer", requires: requires, needsWire: true,
            server: { .wire("\(interim)HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\($0.number)!", .keepAlive) }
        ) { probe in
            for number in 1...3 {
                let response = try await probe.send(.post, body: .bytes(Data("x".utf8)))
                try expect(response.status, is: 200, "status")
                try expect(String(decoding: response.body, as: UTF8.self), is: "\(number)!", "content")
                try expect(!response.fields.contains("X-Hint"), "a field of an interim response was handed up")
                try expect(!response.fields.contains(.setCookie), "a cookie of an interim response was handed up")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        }
    }
}
