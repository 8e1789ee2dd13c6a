#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
        @Test func hundredSequentialCallsOpenOneConnection() async throws {
            try await withServer(.answering(okay)) { transport, server in
                for number in 0..<100 {
                    let answer = try await transport.perform(
                        TransportRequest(HTTPRequest(method: .get, url: server.url())))
                    #expect(answer.connection.isReused == (number > 0))
                }
                #expect(server.connections == 1)
                #expect(server.requests.count == 100)
            }
        }

        @Test(.covers("S1.22")) func partitionsShareNoConnection() async throws {
            try await withServer(.answering(okay)) { transport, server in
                for environment in ["", "test", "production", "test"] {
                    for identity in ["", "alice", "bob", "alice"] {
                        let order = TransportRequest(
                            HTTPRequest(method: .get, url: try server.url()),
                            isolation: IsolationKey(environment: environment, identity: identity))
                        _ = try await transport.perform(order)
                    }
                }
                #expect(server.connections == 9)
            }
        }

        @Test func bytesBehindABodyEndTheConnection() async throws {
            let bytes = okay + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
            try await withServer(.answering(bytes)) { transport, server in
                for _ in 0..<2 {
                    let answer = try await transport.perform(
                        TransportRequest(HTTPRequest(method: .get, url: server.url())))
                    #expect(answer.response.body == Data("ok".utf8))
                }
                #expect(server.connections == 2)
            }
        }

        @Test func callsBeyondTheCapWaitForAConnection() async throws {
            let configuration = CurlTransport.Configuration(maxConnectionsPerHost: 2)
            try await withServer(.answering(okay), configuration) { transport, server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<50 {
                        group.addTask {
                            _ = try await transport.perform(
                                TransportRequest(HTTPRequest(method: .get, url: server.url())))
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(server.connections <= 2)
                #expect(server.requests.count == 50)
            }
        }

        @Test func tenThousandCallsLeaveNoSocket() async throws {
            let server = try WireServer.answering(okay)
            let port = server.port
            try await withServer(server, .init(maxIdleConnections: 500)) { transport, server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<500 {
                        group.addTask {
                            for _ in 0..<20 {
                                let answer = try await transport.perform(
                                    TransportRequest(HTTPRequest(method: .get, url: server.url())))
                                #expect(answer.response.body.count == 2)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(server.requests.count == 10_000)
                // More than 500 on a machine so busy that a lull closes some of them; a pool that keeps none takes 10,000.
                #expect(server.connections <= 1_500)
                #expect(try openSockets(to: port).count <= server.connections)
            }
            #expect(try openSockets(to: port).isEmpty)
        }

        @Test func refusedConnectionsAreUnsent() async throws {
            let server = try WireServer.answering(okay)
            let url = try server.url()
            server.stop()
            try await withServer(.answering(okay)) { transport, _ in
                let error = try await failure(transport, TransportRequest(HTTPRequest(method: .post, url: url)))
                #expect(error.kind == .unreachable(.connectionRefused))
                #expect(error.sendState == .unsent)
            }
        }

        @Test func unknownNamesAreUnreachable() async throws {
            try await withServer(.answering(okay)) { transport, _ in
                let url = try HTTPURL("http://name.invalid/")
                let error = try await failure(transport, TransportRequest(HTTPRequest(method: .get, url: url)))
                #expect(error.kind == .unreachable(.nameNotResolved))
                #expect(error.sendState == .unsent)
            }
        }

        @Test(arguments: ["missing", "garbage"])
        func trustThatCannotBeReadIsRefusedUnsent(_ what: String) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            if what == "garbage" { try Data("no certificate".utf8).write(to: file) }
            defer { try? FileManager.default.removeItem(at: file) }
            try await withServer(.answering(okay)) { transport, server in
                let order = TransportRequest(
                    HTTPRequest(method: .get, url: try server.url()),
                    isolation: IsolationKey(trust: .authorities(file)))
                let error = try await failure(transport, order)
                #expect(error.kind == .tls(.trustMaterial))
                #expect(error.sendState == .unsent)
                #expect(server.connections == 0)
            }
        }

        @Test func speakingTLSToAPlainServerIsAFailedHandshake() async throws {
            let server = try WireServer { connection, _ in connection.send("HTTP/1.1 400 Bad\r\n\r\n") }
            try await withServer(server) { transport, server in
                let url = try HTTPURL("https://127.0.0.1:\(server.port)/")
                let error = try await failure(transport, TransportRequest(HTTPRequest(method: .get, url: url)))
                #expect(error.kind == .tls(.handshake))
                #expect(error.sendState == .unsent)
            }
        }
    }

    /// A kept-alive connection that dies after the second request was read, without an answer.
    @Suite(.timeLimit(.minutes(5))) struct ResendTests {
        private func fickle() throws -> WireServer {
            try WireServer { connection, number in
                guard connection.readRequest() != nil else { return }
                connection.send(okay)
                guard connection.readRequest() != nil, number > 0 else { return }
                connection.send(okay)
            }
        }

        private func warm(_ transport: CurlTransport, _ server: WireServer) async throws {
            _ = try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: server.url("/first"))))
        }

        @Test(arguments: [HTTPBody.none, .bytes(Data("once".utf8)), .bytes(Data(count: 50_000))])
        func aPostIsNeverSentTwice(_ body: HTTPBody) async throws {
            try await withServer(fickle()) { transport, server in
                try await warm(transport, server)
                let request = HTTPRequest(method: .post, url: try server.url("/second"), body: body)
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.kind == .connectionLost)
                #expect(error.sendState == .maybeProcessed)
                try await warm(transport, server)
                #expect(server.requests.filter { $0.head.contains("/second") }.count == 1)
            }
        }

        @Test(arguments: [HTTPMethod.get, .put, .delete])
        func anIdempotentRequestMayBe(_ method: HTTPMethod) async throws {
            try await withServer(fickle()) { transport, server in
                try await warm(transport, server)
                let body = method == .put ? HTTPBody.bytes(Data(count: 50_000)) : .none
                let request = HTTPRequest(method: method, url: try server.url("/second"), body: body)
                let answer = try await transport.perform(TransportRequest(request))
                #expect(answer.response.status == 200)
                #expect(server.requests.filter { $0.head.contains("/second") }.count == 2)
            }
        }

        @Test func aStreamThatWasReadIsNotSentAgain() async throws {
            try await withServer(fickle()) { transport, server in
                try await warm(transport, server)
                let body = HTTPBody.stream {
                    HTTPBody.Chunks { continuation in
                        continuation.yield(Data("once".utf8))
                        continuation.finish()
                    }
                }
                let request = HTTPRequest(method: .put, url: try server.url("/second"), body: body)
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.kind == .connectionLost)
                #expect(error.sendState == .maybeProcessed)
            }
        }

        @Test func aConnectionThatWasClosedWhileIdleIsNotUsed() async throws {
            let server = try WireServer { connection, _ in
                if connection.readRequest() != nil { connection.send(okay) }
            }
            try await withServer(server) { transport, server in
                for _ in 0..<20 {
                    let request = HTTPRequest(method: .post, url: try server.url(), body: .bytes(Data("x".utf8)))
                    if let error = try? await failure(transport, TransportRequest(request)) {
                        #expect(error.kind == .connectionLost)
                    }
                }
                #expect(server.requests.count <= 20)
            }
        }
    }
#endif
