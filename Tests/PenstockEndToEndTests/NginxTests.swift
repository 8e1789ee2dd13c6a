import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Plain HTTP/1.1 against nginx: replies and connections.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("S2.1"))
struct NginxTests {
    private func client(_ wire: Wire, _ body: (APIClient) async throws -> Void) async throws {
        try await wire.client(for: EndToEndServers.shared().nginx.http, body)
    }

    // MARK: Replies

    @Test("A compressed list becomes models", .covers("S1.3"), arguments: Wire.allCases)
    func compressedList(wire: Wire) async throws {
        try await client(wire) { client in
            let response = try await client.response(for: Things())
            #expect(response.value == (1...500).map { Thing(id: $0, name: "Thing \($0)") })
            #expect(areSame(response.data, Data(NginxServer.list.utf8)))
            #expect(response.http.fields[.contentEncoding] == "gzip")
            #expect(response.http.version == (wire == .libcurl ? .http11 : .unknown))
        }
    }

    @Test("A missing page is a status error that keeps the page", .covers("S4.4"), arguments: Wire.allCases)
    func missingPage(wire: Wire) async throws {
        try await client(wire) { client in
            let error = try await client.failure(Document("/missing"))
            #expect(error.kind == .httpStatus(404))
            #expect(error.stage == .status)
            let response = try #require(error.response)
            #expect(response.fields[.contentType]?.hasPrefix("text/html") == true)
            #expect(String(decoding: response.body, as: UTF8.self).contains("<h1>404 Not Found</h1>"))
        }
    }

    @Test("An unavailable server is a status error that keeps what it said", .covers("S4.4"), arguments: Wire.allCases)
    func unavailable(wire: Wire) async throws {
        try await client(wire) { client in
            let error = try await client.failure(Document("/unavailable"))
            #expect(error.kind == .httpStatus(503))
            #expect(error.response?.fields["Retry-After"] == "1")
            #expect(error.response?.body == Data("later".utf8))
        }
    }

    @Test("A reply without content is a success for who expects none", .covers("S0.2"), arguments: Wire.allCases)
    func noContent(wire: Wire) async throws {
        try await client(wire) { client in
            #expect(try await client.response(for: Ping(path: "/empty")).http.status == 204)
            #expect(try await client.send(Download("/empty")) == Data())
            let error = try await client.failure(Model(path: "/empty"))
            #expect(error.kindName == "decoding")
        }
    }

    private struct Model: Endpoint {
        let path: RoutePath
        var route: Route { .get(path) }
        typealias Output = Thing
    }

    @Test("A query reaches the server as it was encoded, byte for byte", .covers("S0.4"), arguments: Wire.allCases)
    func exactQuery(wire: Wire) async throws {
        let query: ParameterObject = [
            "text": "a b&c=d/é中", "tags": ["x", "y z"], "filter": ["shop": 1, "open": true] as ParameterObject,
        ]
        try await client(wire) { client in
            let reply = try await client.send(Echo(query: query))
            #expect(
                reply.uri
                    == "/echo?filter%5Bopen%5D=true&filter%5Bshop%5D=1&tags%5B%5D=x&tags%5B%5D=y%20z"
                    + "&text=a%20b%26c%3Dd%2F%C3%A9%E4%B8%AD")
        }
    }

    // MARK: Connections

    @Test("A hundred calls in sequence take one connection", .covers("S1.10"), arguments: Wire.allCases)
    func oneConnection(wire: Wire) async throws {
        try await client(wire) { client in
            var replies: [EchoReply] = []
            for _ in 1...100 { replies.append(try await client.send(Echo())) }
            // Foundation tells of a response now and then before its connection is free for the next one.
            #expect(Set(replies.map(\.connection)).count <= (wire == .urlSession ? 5 : 1))
            guard wire != .urlSession else { return }
            #expect(replies.map(\.request) == Array(1...100))
        }
    }

    @Test("Two identities never share a connection", arguments: Wire.allCases)
    func identities(wire: Wire) async throws {
        let base = try await EndToEndServers.shared().nginx.http
        let name = Locked("")
        try await wire.client(for: base, with: { $0.identity = { name.withLock { $0 } } }) { client in
            var connections: [Int] = []
            for next in ["alice", "bob", "alice"] {
                name.withLock { $0 = next }
                connections.append(try await client.send(Echo()).connection)
            }
            #expect(connections[0] != connections[1])
            #expect(connections[0] == connections[2])
        }
    }

    @Test("A connection that the server closes after its reply is not used again", arguments: Wire.allCases)
    func closedConnection(wire: Wire) async throws {
        try await client(wire) { client in
            let first = try await client.send(Echo())
            #expect(try await client.send(Download("/last")) == Data("last".utf8))
            let next = try await client.send(Echo())
            #expect(next.connection != first.connection)
            #expect(next.request == 1)
        }
    }

    @Test(
        "A connection cut without a reply is lost, and the client goes on", .covers("S0.21"), arguments: Wire.allCases)
    func cutConnection(wire: Wire) async throws {
        try await client(wire) { client in
            let error = try await client.failure(Ping(path: "/cut"))
            #expect(error.kind == .transport(.connectionLost))
            #expect(error.sendState == .maybeProcessed)
            #expect(try await client.send(Echo()).request == 1)
        }
    }

    @Test("A port that nobody listens on is unreachable", .covers("S0.21"), arguments: Wire.allCases)
    func unreachable(wire: Wire) async throws {
        let port = try #require(try Loopback.freePorts(1).first)
        let elsewhere = CallOptions.with { $0.baseURL = "http://127.0.0.1:\(port)" }
        try await client(wire) { client in
            let error = try await client.failure(Echo(), options: elsewhere)
            #expect(error.kind == .unreachable(.connectionRefused))
            #expect(error.sendState == .unsent)
            #expect(try await client.send(Echo()).method == "GET")
        }
    }
}
