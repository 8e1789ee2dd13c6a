#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// HTTP/2 of the server, against libcurl: what goes well, and that streams do not wait for each other.
    @Suite(.timeLimit(.minutes(5)))
    struct HTTP2ServerTests {
        @Test func `A request arrives as on HTTP 1.1, and says its stream`() async throws {
            let rig = try HTTP2Rig { request in
                .text(
                    "\(request.method) \(request.target) \(request.text)",
                    fields: ["X-Answer": "1", "Connection": "close"])
            }
            defer { rig.server.stop() }
            let response = try await rig.send(
                .post, "/a%20b?x=1", fields: ["X-Ask": "2"], body: .bytes(Data("hi".utf8)))
            #expect(String(decoding: response.body, as: UTF8.self) == "POST /a%20b?x=1 hi")
            #expect(response.fields["X-Answer"] == "1" && response.fields["Content-Length"] == "18")
            #expect(!response.fields.contains("Connection"))
            let request = try #require(rig.server.requests.first)
            #expect(request.fields[.host] == "127.0.0.1:\(rig.server.url.port)" && request.fields["X-Ask"] == "2")
            #expect(request.stream == 1 && request.number == 1)
            #expect(rig.server.connections.first?.handshake?.applicationProtocol == "h2")
            await rig.transport.shutdown()
        }

        @Test func `A server that does not offer HTTP 2 speaks HTTP 1.1 to a client that asks for it`() async throws {
            let rig = try HTTP2Rig(protocols: [.http1]) { _ in .text("ok") }
            defer { rig.server.stop() }
            #expect(try await rig.send().status == 200)
            #expect(rig.server.requests.first?.stream == nil)
            await rig.transport.shutdown()
        }

        @Test func `Content of some megabytes goes through both ways`() async throws {
            let rig = try HTTP2Rig { .init(body: $0.body) }
            defer { rig.server.stop() }
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 255) })
            #expect(try await rig.send(.post, body: .bytes(content)).body == content)
            await rig.transport.shutdown()
        }

        @Test(arguments: [204, 304, 200])
        func `What has no content ends with its head`(status: Int) async throws {
            let rig = try HTTP2Rig { _ in .init(status: status) }
            defer { rig.server.stop() }
            #expect(try await rig.send(status == 200 ? .head : .get).status == status)
            await rig.transport.shutdown()
        }

        @Test func `Content that is produced, interim responses, delays and trailers`() async throws {
            let pieces = ["ab", "", "cd"].map { Data($0.utf8) }
            let rig = try HTTP2Rig { _ in
                .chunks(pieces, pause: .milliseconds(2)).preceded(by: [.init(103, fields: ["Link": "</a>"])])
                    .trailers(["X-Sum": "4"]).delayed(by: .milliseconds(5)).delayed(
                        by: .milliseconds(5), before: .content
                    )
                    .delayed(by: .milliseconds(5), before: .trailers).throttled(to: 1, per: .milliseconds(1))
            }
            defer { rig.server.stop() }
            let response = try await rig.send()
            #expect(response.status == 200 && response.body == Data("abcd".utf8))
            #expect(!response.fields.contains(.contentLength) && response.trailers["X-Sum"] == "4")
            await rig.transport.shutdown()
        }

        @Test func `A client that expects 100 gets it, and sends its content`() async throws {
            let rig = try HTTP2Rig { .text($0.text) }
            defer { rig.server.stop() }
            let response = try await rig.send(.put, fields: ["Expect": "100-continue"], body: .bytes(Data("hi".utf8)))
            #expect(response.body == Data("hi".utf8))
            await rig.transport.shutdown()
        }

        @Test func `A hundred streams wait at a time on one connection, and none holds up another`() async throws {
            let gate = HTTP2Rig.Gate()
            let rig = try HTTP2Rig { request in
                if request.path != "/quick" { gate.wait() }
                return .text(request.path)
            }
            defer { rig.server.stop() }
            #expect(try await rig.send(.get, "/quick").status == 200)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<99 { group.addTask { try await rig.send(.get, "/\(index)").status } }
                try await rig.server.waitForRequests(count: 100)
                #expect(try await rig.send(.get, "/quick").status == 200)
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
            #expect(rig.server.connectionCount == 1)
            #expect(Set(rig.server.requests.compactMap(\.stream)).count == 101)
            await rig.transport.shutdown()
        }

        @Test func `No more streams are open at a time than the server allows`() async throws {
            let most = HTTP2Rig.Gate()
            var configuration = LoopbackServer.Configuration()
            configuration.http2.concurrentStreams = 3
            configuration.http2.initialWindow = 100
            let rig = try HTTP2Rig(configuration) { _ in
                most.count { Thread.sleep(forTimeInterval: 0.003) }
                return .text("ok")
            }
            defer { rig.server.stop() }
            _ = try await rig.send()
            try await withThrowingTaskGroup(of: Int.self) { group in
                // On a connection whose settings have not come yet the server may refuse a stream, and libcurl sends again
                // what may be sent twice.
                for _ in 0..<30 {
                    group.addTask { try await rig.send(.put, body: .bytes(Data(count: 1_000))).status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(most.peak <= 3 * rig.server.connectionCount)
            await rig.transport.shutdown()
        }

        @Test func `A stream that the client leaves counts as aborted, the connection goes on`() async throws {
            let rig = try HTTP2Rig { $0.path == "/hold" ? .hold : .text("ok") }
            defer { rig.server.stop() }
            let held = Task { try await rig.send(.get, "/hold").status }
            // One that stays, or the client would close a connection that nothing uses any more.
            let other = Task { try await rig.send(.get, "/hold").status }
            try await rig.server.waitForRequests(count: 2)
            held.cancel()
            await #expect(throws: (any Error).self) { try await held.value }
            #expect(try await rig.send().status == 200)
            try await rig.server.waitForAborts(count: 1)
            other.cancel()
            await #expect(throws: (any Error).self) { try await other.value }
            #expect(rig.server.connectionCount == 1)
            await rig.transport.shutdown()
        }

        @Test func `A stop ends held streams`() async throws {
            let rig = try HTTP2Rig { _ in .hold }
            let held = Task { try await rig.send().status }
            try await rig.server.waitForRequests(count: 1)
            rig.server.stop()
            await #expect(throws: (any Error).self) { try await held.value }
            #expect(rig.server.abortCount == 0 && rig.server.openConnectionCount == 0)
            await rig.transport.shutdown()
        }

        @Test func `A head or content beyond the limit is refused`() async throws {
            var configuration = LoopbackServer.Configuration()
            configuration.maximumHeadBytes = 1_000
            configuration.maximumBodyBytes = 1_000
            let rig = try HTTP2Rig(configuration) { _ in .text("ok") }
            defer { rig.server.stop() }
            let long = String(repeating: "a", count: 2_000)
            #expect(try await rig.send(fields: ["X-Long": long]).status == 431)
            #expect(try await rig.send(.post, body: .bytes(Data(long.utf8))).status == 413)
            #expect(rig.server.refusalCount == 2 && rig.server.requestCount == 0)
            await rig.transport.shutdown()
        }
    }

    /// A server of HTTP/2 and a transport that trusts it.
    struct HTTP2Rig: Sendable {
        let authority: TestCertificateAuthority
        let server: LoopbackServer
        let transport = CurlTransport()

        init(
            _ configuration: LoopbackServer.Configuration = .init(),
            protocols: [LoopbackServer.TLS.ApplicationProtocol] = [.http2, .http1],
            onHead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision = { _ in .proceed },
            handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) throws {
            authority = try TestCertificateAuthority()
            var configuration = configuration
            configuration.tls = .init(try authority.issue(), protocols: protocols)
            server = try LoopbackServer(configuration, onHead: onHead, handler: handler)
        }

        @discardableResult
        func send(
            _ method: HTTPMethod = .get, _ target: String = "/", fields: HTTPFields = [:], body: HTTPBody = .none
        ) async throws -> HTTPResponse {
            let url = try server.url.resolving(target)
            let exchange = TransportRequest(
                HTTPRequest(method: method, url: url, fields: fields, body: body),
                isolation: IsolationKey(trust: .authorities(authority.file)))
            return try await withTaskCancellationHandler {
                try await transport.perform(exchange).response
            } onCancel: {
                exchange.control.cancel()
            }
        }

        func failure(
            _ method: HTTPMethod = .get, _ target: String = "/", body: HTTPBody = .none
        ) async -> TransportError? {
            do {
                try await send(method, target, body: body)
                return nil
            } catch {
                return error as? TransportError
            }
        }

        /// Holds handlers back, and counts how many are inside.
        final class Gate: Sendable {
            private let lock = NSCondition()
            private nonisolated(unsafe) var isOpen = false
            private nonisolated(unsafe) var inside = 0
            private nonisolated(unsafe) var most = 0

            var peak: Int { lock.withLock { most } }

            func wait() {
                lock.withLock { while !isOpen { lock.wait() } }
            }

            func open() {
                lock.withLock {
                    isOpen = true
                    lock.broadcast()
                }
            }

            func count(_ body: () -> Void) {
                lock.withLock {
                    inside += 1
                    most = max(most, inside)
                }
                body()
                lock.withLock { inside -= 1 }
            }
        }
    }
#endif
