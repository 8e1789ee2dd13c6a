import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a client of HTTP/1.1 sees of each effect at each trigger.
@Suite(.timeLimit(.minutes(5)))
struct FaultTests {
    typealias Fault = LoopbackServer.Fault

    private static let triggers: [Fault.Trigger] = [
        .requestStart, .requestBody(after: 3), .responseStart, .responseBody(after: 4), .responseEnd,
    ]
    private static let post = "POST /a HTTP/1.1\r\nContent-Length: 6\r\n\r\nabcdef"

    /// What has come by the time the fault fires.
    private func check(_ text: String, at trigger: Fault.Trigger) {
        switch trigger {
        case .requestStart, .requestBody, .responseStart: #expect(text.isEmpty)
        case .responseBody: #expect(text.contains("Content-Length: 10\r\n") && text.hasSuffix("\r\n\r\n0123"))
        case .responseEnd: #expect(text.hasSuffix("\r\n\r\n0123456789"))
        }
    }

    private func makeServer(_ fault: Fault) throws -> (LoopbackServer, RawClient) {
        let server = try LoopbackServer(faults: [fault]) { _ in .text("0123456789") }
        let client = try RawClient(port: server.url.port)
        client.send(Self.post)
        return (server, client)
    }

    @Test(arguments: triggers)
    func `A connection closes at each trigger, without a word before`(trigger: Fault.Trigger) throws {
        let (server, client) = try makeServer(.init(.close, at: trigger))
        defer { server.stop() }
        let text = client.readToEnd()
        check(text, at: trigger)
        #expect(!text.contains("Connection"))
        #expect(server.faults.map(\.fault) == [.init(.close, at: trigger)])
        #expect(server.faults.map(\.request) == [1] && server.faults.map(\.connection) == [1])
    }

    @Test(arguments: triggers, [Fault.Effect.reset, .closeStream(.refusedStream)])
    func `A connection is reset at each trigger`(trigger: Fault.Trigger, effect: Fault.Effect) throws {
        let (server, client) = try makeServer(.init(effect, at: trigger))
        defer { server.stop() }
        check(client.readToEnd(), at: trigger)
        #expect(client.wasReset)
    }

    @Test(arguments: triggers, [Fault.Effect.shutDown, .goAway(lastStream: 0, .noError)])
    func `A connection shuts down at each trigger, and announces it where it can`(
        trigger: Fault.Trigger, effect: Fault.Effect
    ) async throws {
        let (server, client) = try makeServer(.init(effect, at: trigger))
        defer { server.stop() }
        let text = client.readToEnd()
        check(text, at: trigger)
        #expect(!client.wasReset)
        #expect(text.contains("Connection: close\r\n") == !text.isEmpty)
        // The other direction is still open.
        client.send("more")
        client.close()
        try await server.waitForOpenConnections(atMost: 0)
        let record = try #require(server.connections.first)
        #expect(record.bytesReceived == Self.post.utf8.count + 4)
    }

    @Test(arguments: triggers)
    func `A connection stalls at each trigger until the client goes`(trigger: Fault.Trigger) async throws {
        let (server, client) = try makeServer(.init(.stall, at: trigger))
        defer { server.stop() }
        try await server.waitForFaults(count: 1)
        switch trigger {
        case .responseBody: check(client.read(through: "0123"), at: trigger)
        case .responseEnd: check(client.read(through: "0123456789"), at: trigger)
        case .requestStart, .requestBody, .responseStart: break
        }
        #expect(client.isQuiet(for: 20))
        #expect(server.openConnectionCount == 1)
        client.close()
        try await server.waitForOpenConnections(atMost: 0)
        #expect(server.abortCount == (trigger == .responseEnd ? 0 : 1))
        #expect(server.connections.first?.closedByClient == true)
    }

    @Test func `A server that stops ends a stall`() async throws {
        let (server, client) = try makeServer(.init(.stall, at: .requestStart))
        try await server.waitForFaults(count: 1)
        server.stop()
        #expect(client.readToEnd().isEmpty)
        #expect(server.abortCount == 0 && server.connections.first?.closedByClient == false)
    }

    @Test func `A fault in the request leaves the handler out, and the request uncounted`() throws {
        for trigger in [Fault.Trigger.requestStart, .requestBody(after: 6)] {
            let (server, client) = try makeServer(.init(.close, at: trigger))
            defer { server.stop() }
            #expect(client.readToEnd().isEmpty)
            #expect(server.requestCount == 0 && server.faults.count == 1)
        }
    }

    @Test func `A script has one fault for each request, and then none`() throws {
        let server = try LoopbackServer(faults: [.init(.close, at: .responseStart), nil]) { .text("\($0.number)") }
        defer { server.stop() }
        for expected in ["", "2", "3"] {
            let client = try RawClient(port: server.url.port)
            client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(client.readToEnd().hasSuffix(expected.isEmpty ? "" : "\r\n\r\n\(expected)"))
        }
        #expect(server.faults.map(\.request) == [1])
    }

    @Test func `The head of a request decides about its fault, its answer, or neither`() throws {
        let server = try LoopbackServer(onHead: { head in
            switch head.path {
            case "/reset": .fault(.reset, at: .requestBody(after: 1))
            case "/early": .respond(.text("no", status: 401))
            default: .proceed
            }
        }) { .text($0.text) }
        defer { server.stop() }
        func reply(_ path: String) throws -> (text: String, wasReset: Bool) {
            let client = try RawClient(port: server.url.port)
            client.send("PUT \(path) HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            if path != "/early" { client.send("ab") } else { #expect(client.read(through: "no").contains("401")) }
            if path == "/" { return (client.read(through: "ab"), client.wasReset) }
            return (client.readToEnd(), client.wasReset)
        }
        #expect(try reply("/").text.hasSuffix("\r\n\r\nab"))
        #expect(try reply("/reset").wasReset)
        #expect(try reply("/early").text.isEmpty)
        #expect(server.requestCount == 1)
    }

    @Test func `A fault of the content goes between the chunks, and without END where there is less`() throws {
        let pieces = ["ab", "cd", "ef"].map { Data($0.utf8) }
        let server = try LoopbackServer { request in
            .chunks(pieces).fault(.close, at: .responseBody(after: request.path == "/3" ? 3 : 99))
        }
        defer { server.stop() }
        for (path, content) in [("/3", "2\r\nab\r\n1\r\nc\r\n"), ("/99", "2\r\nab\r\n2\r\ncd\r\n2\r\nef\r\n")] {
            let client = try RawClient(port: server.url.port)
            client.send("GET \(path) HTTP/1.1\r\n\r\n")
            #expect(client.readToEnd().hasSuffix("\r\n\r\n\(content)"))
        }
    }

    @Test func `A stalled upload is not read on`() async throws {
        let server = try LoopbackServer(faults: [.init(.stall, at: .requestBody(after: 100))]) { _ in .init() }
        defer { server.stop() }
        let client = try RawClient(port: server.url.port)
        client.send("PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n\(String(repeating: "a", count: 100))")
        try await server.waitForFaults(count: 1)
        client.send("bbb")
        client.close()
        try await server.waitForOpenConnections(atMost: 0)
        #expect(server.connections.first?.bytesReceivedAfterFault == 3)
    }

    @Test func `Each server has a script of its own, whatever runs beside it`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let fault = index.isMultiple(of: 2) ? Fault(.close, at: .responseStart) : nil
                    let server = try LoopbackServer(faults: [fault]) { _ in .text("ok") }
                    defer { server.stop() }
                    let client = try RawClient(port: server.url.port)
                    client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
                    #expect(client.readToEnd().isEmpty == index.isMultiple(of: 2))
                    #expect(server.faults.count == (index.isMultiple(of: 2) ? 1 : 0))
                }
            }
            try await group.waitForAll()
        }
    }
}
