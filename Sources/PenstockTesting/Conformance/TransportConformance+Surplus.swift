import Foundation
import PenstockCore

extension TransportConformance {
    /// Bytes that nobody asked for, and connections that are not to be used again (RFC 9112 §9).
    public static let surplus = framings.flatMap(neverTaken) + unasked

    private static let unasked: [Rule] = [
        Rule(
            "What follows the content is ignored, and its connection not used again", needsWire: true,
            server: { .wire("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\(forged($0))", .keepAlive) }
        ) { probe in
            for _ in 1...3 { try expect(await probe.send().body, is: Data("ok".utf8), "content") }
            try expect(probe.server.connectionCount, is: 3, "connections")
        },
        late("content", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        late("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        late("a reply to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", to: .head),
        late("204", "HTTP/1.1 204 No Content\r\n\r\n"),
        Rule(
            "A reply that comes before its request is none", requires: [.preconnection, .idleChecks],
            starting: {
                try LoopbackServer(onConnect: { $0 == 1 ? .init(.send(forged), at: .accept) : nil }) { _ in
                    .text("true")
                }
            }
        ) { probe in
            try await probe.transport.preconnect(probe.exchange())
            try await probe.waitForBytes(forged.count)
            try expect(await probe.send(.post, body: .bytes(allBytes)).body, is: Data("true".utf8), "content")
            try expect(probe.server.connectionCount, is: 2, "connections")
        },
        diesIdle("closes", .close),
        diesIdle("resets", .reset),
        Rule(
            "A hundred dead connections are no hindrance", requires: .idleChecks, needsWire: true,
            server: { $0.path == "/first" ? .text("ok").fault(.close, at: .responseEnd) : .text("ok") }
        ) { probe in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...100 { group.addTask { try await probe.send(.get, "/first") } }
                try await group.waitForAll()
            }
            try await probe.server.waitForOpenConnections(atMost: 0)
            for _ in 1...3 { try await probe.send(.post, "/next", body: .bytes(allBytes)) }
        },
        notUsedAgain(
            "that announces its end", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
        notUsedAgain(
            "that announces its end among other things",
            "HTTP/1.1 200 OK\r\nConnection: X-A, Close\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"),
        notUsedAgain("of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        notUsedAgain(
            "that announces its end with an error",
            "HTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
    ]

    // MARK: Kinds of rules

    /// Replies of every framing that tells where the content ends.
    private static let framings: [(name: String, reply: String, method: HTTPMethod)] = [
        ("content", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", .get),
        ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", .get),
        ("trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n", .get),
        ("no chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .get),
        ("a reply to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", .head),
        ("a reply to HEAD in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .head),
        ("204", "HTTP/1.1 204 No Content\r\n\r\n", .get),
        ("204 to DELETE", "HTTP/1.1 204 No Content\r\n\r\n", .delete),
        ("304", "HTTP/1.1 304 Not Modified\r\n\r\n", .get),
        ("no content", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .get),
        ("no content of a POST's reply", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", .post),
        ("a 401 without content", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", .get),
        (
            "a reply without content after an interim one",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .get
        ),
    ]

    /// Two replies in one piece, and one with the beginning of another one, whose rest comes when the next request does.
    private static func neverTaken(_ name: String, _ reply: String, to method: HTTPMethod) -> [Rule] {
        [
            Rule(
                "What follows \(name) is never taken for the next reply",
                requires: name == "trailers" ? .trailers : [], needsWire: true,
                server: { .wire("\(reply)\(forged($0))", .keepAlive) }
            ) { probe in
                for _ in 1...3 {
                    let response = try await probe.send(method)
                    try expect(!response.fields.contains("X-Forged"), "the forged reply was taken")
                }
                try expect(probe.server.requestCount, is: 3, "requests")
                guard probe.transport.capabilities.contains(.idleChecks) else { return }
                try expect(probe.server.connectionCount, is: 3, "connections")
            },
            Rule(
                "What follows \(name) in two pieces is never taken for the next reply", requires: .idleChecks,
                needsWire: true,
                server: { request in
                    switch (request.connection, request.number) {
                    case (1, 1): .wire("\(reply)\(forged(request).prefix(4))", .keepAlive)
                    case (1, _): .wire("\(forged(request).dropFirst(4))", .keepAlive)
                    default: .text("true")
                    }
                }
            ) { probe in
                try await probe.send(method)
                try expect(await probe.send(.post, body: .bytes(allBytes)).body, is: Data("true".utf8), "content")
                try expect(probe.server.connectionCount, is: 2, "connections")
            },
        ]
    }

    /// The surplus comes while the connection rests.
    private static func late(_ name: String, _ reply: String, to method: HTTPMethod = .get) -> Rule {
        Rule(
            "A connection on which bytes come after \(name) is not used again", requires: .idleChecks,
            needsWire: true,
            server: { request in
                guard request.number == 1 else { return .text("true") }
                return .wire(reply, .keepAlive).followed { index in
                    guard index == 0 else { return nil }
                    rests.waitUntilClosed(request.path)
                    return forged
                }
            }
        ) { probe in
            let rest = rests.open()
            defer { rests.close(rest) }
            try await probe.send(method, rest)
            rests.close(rest)
            try await probe.waitForBytes(reply.utf8.count + forged.count)
            try expect(await probe.send(.post, body: .bytes(allBytes)).body, is: Data("true".utf8), "content")
            try expect(probe.server.connectionCount, is: 2, "connections")
        }
    }

    private static func diesIdle(_ name: String, _ effect: LoopbackServer.Fault.Effect) -> Rule {
        Rule(
            "A request that may be sent only once does not go over a connection that the server \(name)",
            requires: .idleChecks, needsWire: true,
            server: { $0.number == 1 ? .text("ok").fault(effect, at: .responseEnd) : .text("ok") }
        ) { probe in
            try await probe.send()
            try await probe.server.waitForOpenConnections(atMost: 0)
            try await probe.send(.post, body: .bytes(allBytes))
            try expect(probe.server.requestCount, is: 2, "requests")
        }
    }

    /// The server would keep it open.
    private static func notUsedAgain(_ name: String, _ reply: String) -> Rule {
        Rule("The connection of a reply \(name) is closed", needsWire: true, server: { _ in .wire(reply, .keepAlive) })
        {
            probe in
            for _ in 1...2 { try expect(await probe.send().body, is: Data("ok".utf8), "content") }
            try expect(probe.server.connectionCount, is: 2, "connections")
            try await probe.server.waitForOpenConnections(atMost: 0)
        }
    }

    // MARK: Parts

    /// Taps that are open until a reply was taken and its connection rests.
    private static let rests = RunningTaps()

    private static let forged = Data("HTTP/1.1 200 OK\r\nX-Forged: 1\r\nContent-Length: 6\r\n\r\nforged".utf8)

    private static func forged(_ request: LoopbackServer.Request) -> String {
        String(decoding: forged, as: UTF8.self)
    }
}
