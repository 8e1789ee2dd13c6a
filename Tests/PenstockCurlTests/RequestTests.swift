#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct RequestTests {
        @Test(arguments: ["GET", "DELETE", "OPTIONS", "TRACE", "PURGE", "head"])
        func aMethodWithoutABodySendsNoFraming(_ name: String) async throws {
            let method = try #require(HTTPMethod(rawValue: name))
            try await withServer(.answering(okay)) { transport, server in
                let answer = try await transport.perform(
                    TransportRequest(HTTPRequest(method: method, url: server.url("/a?b=c"))))
                #expect(answer.response.body == Data("ok".utf8))
                #expect(
                    server.requests.map(\.head) == [
                        "\(name) /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                            + "Accept-Encoding: \(ContentDecoder.accepted)\r\n\r\n"
                    ])
            }
        }

        @Test(arguments: [HTTPMethod.post, .put, .patch])
        func aMethodThatExpectsABodySaysThatThereIsNone(_ method: HTTPMethod) async throws {
            try await withServer(.answering(okay)) { transport, server in
                _ = try await transport.perform(TransportRequest(HTTPRequest(method: method, url: server.url())))
                let request = try #require(server.requests.first)
                #expect(request.head.hasPrefix("\(method) / HTTP/1.1\r\n"))
                #expect(request.head.contains("Content-Length: 0\r\n"))
                #expect(!request.head.contains("Content-Type"))
            }
        }

        @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "PURGE"], [5, 100_000])
        func anyMethodCarriesABody(_ name: String, _ size: Int) async throws {
            let method = try #require(HTTPMethod(rawValue: name))
            let body = String(repeating: "x", count: size)
            try await withServer(.answering(okay)) { transport, server in
                let request = HTTPRequest(
                    method: method, url: try server.url(), fields: ["Content-Type": "text/plain"],
                    body: .bytes(Data(body.utf8)))
                _ = try await transport.perform(TransportRequest(request))
                let sent = try #require(server.requests.first)
                #expect(sent.head.hasPrefix("\(name) / HTTP/1.1\r\n"))
                #expect(sent.head.contains("\r\nContent-Length: \(size)\r\n"))
                #expect(sent.head.contains("\r\nContent-Type: text/plain\r\n"))
                #expect(!sent.head.contains("Expect"))
                #expect(sent.body == body)
            }
        }

        @Test func headWaitsForNoBody() async throws {
            try await withServer(.answering("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")) { transport, server in
                for _ in 0..<2 {
                    let answer = try await transport.perform(
                        TransportRequest(HTTPRequest(method: .head, url: server.url())))
                    #expect(answer.response.fields[.contentLength] == "99999")
                    #expect(answer.response.body.isEmpty)
                }
                #expect(server.connections == 1)
            }
        }

        @Test func fieldsStandAsTheyWereGiven() async throws {
            try await withServer(.answering(okay)) { transport, server in
                var fields: HTTPFields = ["X-Empty": "", "x-Case": "a b", "Accept": "a/b", "User-Agent": "Test/1"]
                fields.append("1", for: "X-Twice")
                fields.append("2", for: "X-Twice")
                _ = try await transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: server.url(), fields: fields)))
                let head = try #require(server.requests.first?.head)
                for line in [
                    "X-Empty:", "x-Case: a b", "Accept: a/b", "User-Agent: Test/1", "X-Twice: 1\r\nX-Twice: 2",
                ] {
                    #expect(head.contains("\r\n\(line)\r\n"))
                }
            }
        }

        @Test func theFramingOfTheFieldsIsNotSent() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let fields: HTTPFields = ["Content-Length": "1", "Transfer-Encoding": "chunked"]
                _ = try await transport.perform(
                    TransportRequest(
                        HTTPRequest(method: .post, url: server.url(), fields: fields, body: .bytes(Data("abc".utf8)))))
                let request = try #require(server.requests.first)
                #expect(request.head.contains("Content-Length: 3\r\n"))
                #expect(!request.head.contains("Transfer-Encoding"))
                #expect(request.body == "abc")
            }
        }

        @Test func aRejectedFieldIsRefusedUnsent() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let request = HTTPRequest(method: .get, url: try server.url(), fields: ["X-A": "1\r\nX-B: 2"])
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.sendState == .unsent)
                #expect(error.message.contains("X-A"))
                #expect(server.connections == 0)
            }
        }

        @Test("CONNECT makes a tunnel, which is no request of an app's, and is refused unsent", .covers("S0.12"))
        func connectIsRefused() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let error = try await failure(
                    transport, TransportRequest(HTTPRequest(method: .connect, url: try server.url())))
                #expect(error.kind == .unsupported("the method CONNECT") && error.sendState == .unsent)
                #expect(server.connections == 0)
            }
        }

        @Test func aFileIsStreamed() async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let text = String(repeating: "0123456789", count: 30_000)
            try Data(text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await withServer(.answering(okay)) { transport, server in
                let request = HTTPRequest(method: .put, url: try server.url(), body: .file(file))
                let answer = try await transport.perform(TransportRequest(request))
                #expect(server.requests.first?.body == text)
                #expect(answer.connection.bytesSent == text.utf8.count)
            }
        }

        /// What is read before the request is sent keeps it from being sent.
        @Test(arguments: [(100_000, 10, SendState.unsent), (2_000_000, 1_000_000, .maybeProcessed)])
        func aFileThatBecameShorterFails(_ size: Int, _ rest: Int, _ sendState: SendState) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(count: size).write(to: file)
            let body = HTTPBody.file(file)
            try Data(count: rest).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await withServer(.answering(okay)) { transport, server in
                let request = HTTPRequest(method: .put, url: try server.url(), body: body)
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.kind == .requestBody)
                #expect(error.sendState == sendState)
            }
        }

        @Test(arguments: [nil, 12])
        func aStreamIsSentAsItYields(_ length: Int?) async throws {
            try await withServer(.answering(okay)) { transport, server in
                let body = HTTPBody.stream(length: length) {
                    HTTPBody.Chunks { continuation in
                        for text in ["abcd", "", "efgh", "ijkl"] { continuation.yield(Data(text.utf8)) }
                        continuation.finish()
                    }
                }
                let request = HTTPRequest(method: .post, url: try server.url(), body: body)
                _ = try await transport.perform(TransportRequest(request))
                let sent = try #require(server.requests.first)
                if length == nil {
                    #expect(sent.head.contains("Transfer-Encoding: chunked\r\n"))
                    #expect(sent.body == "4\r\nabcd\r\n4\r\nefgh\r\n4\r\nijkl\r\n0\r\n\r\n")
                } else {
                    #expect(sent.head.contains("Content-Length: 12\r\n"))
                    #expect(sent.body == "abcdefghijkl")
                }
            }
        }

        @Test(arguments: [3, 5])
        func aStreamThatLiesAboutItsLengthIsNeverComplete(_ length: Int) async throws {
            try await withServer(.answering(okay)) { transport, server in
                let body = HTTPBody.stream(length: length) {
                    HTTPBody.Chunks { continuation in
                        for text in ["abc", "d"] { continuation.yield(Data(text.utf8)) }
                        continuation.finish()
                    }
                }
                let request = HTTPRequest(method: .post, url: try server.url(), body: body)
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.kind == .requestBody)
                #expect(server.requests.isEmpty)
            }
        }

        @Test func aStreamThatFailsEndsTheExchange() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let body = HTTPBody.stream { HTTPBody.Chunks { $0.finish(throwing: CancellationError()) } }
                let request = HTTPRequest(method: .post, url: try server.url(), body: body)
                let error = try await failure(transport, TransportRequest(request))
                #expect(error.kind == .requestBody)
                #expect(server.requests.isEmpty)
            }
        }

        /// What a body that may have to be sent again comes from.
        enum Source: String, CaseIterable, Sendable {
            case memory, file, stream

            func body(_ content: Data, _ file: URL) throws -> HTTPBody {
                switch self {
                case .memory: return .bytes(content)
                case .file:
                    try content.write(to: file)
                    return .file(file)
                case .stream:
                    let pieces = stride(from: 0, to: content.count, by: 9_000).map {
                        content.dropFirst($0).prefix(9_000)
                    }
                    return .stream {
                        HTTPBody.Chunks { continuation in
                            for piece in pieces { continuation.yield(Data(piece)) }
                            continuation.finish()
                        }
                    }
                }
            }
        }

        /// A kept-alive connection that is reset while the body leaves: libcurl goes on to the next by itself, with what it
        /// has read of the body lost.
        @Test(arguments: Source.allCases)
        func aBodyThatIsSentAgainIsSentWhole(_ source: Source) async throws {
            let content = Data((0..<90_145).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            let attempts = Locked(0)
            let authority = try TestCertificateAuthority()
            var configuration = LoopbackServer.Configuration()
            configuration.tls = .init(try authority.issue(), protocols: [.http1])
            let trust = TrustPolicy(anchors: .file(authority.file))
            let server = try LoopbackServer(
                configuration,
                onHead: { head in
                    guard head.method == .put else { return .proceed }
                    let attempt = attempts.withLock { count in
                        count += 1
                        return count
                    }
                    return attempt % 2 == 0 ? .proceed : .fault(.reset, at: .requestBody(after: 45_736))
                }
            ) { request in request.method == .put ? .text(request.body == content ? "right" : "wrong") : .text("") }
            let transport = CurlTransport()
            let timeouts = Timeouts(connect: .seconds(60), firstByte: .seconds(60), idle: .seconds(60), total: nil)
            var answers = 0
            for round in 0..<40 {
                await withTaskGroup(of: Void.self) { group in
                    let post = HTTPRequest(method: .post, url: server.url, body: .bytes(content))
                    for _ in 0..<4 {
                        group.addTask {
                            _ = try? await transport.perform(
                                TransportRequest(post, isolation: IsolationKey(trust: trust)))
                        }
                    }
                }
                attempts.withLock { $0 = 0 }
                let request = HTTPRequest(method: .put, url: server.url, body: try source.body(content, file))
                do throws(TransportError) {
                    let answer = try await transport.perform(
                        TransportRequest(request, timeouts: timeouts, isolation: IsolationKey(trust: trust)))
                    #expect(answer.response.body == Data("right".utf8), "round \(round)")
                    answers += 1
                } catch {
                    #expect(error.kind == .connectionLost, "round \(round)")
                }
            }
            await transport.shutdown()
            server.stop()
            if source != .stream { #expect(answers > 0) }
        }
    }
#endif
