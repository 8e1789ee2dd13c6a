#if os(Linux)
    import Foundation
    import PenstockCore
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct ResponseTests {
        private func get(_ bytes: String, limits: ResponseLimits = .init()) async throws -> TransportResponse {
            try await withServer(oneShot(Array(bytes.utf8))) { transport, server in
                try await transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: server.url()), limits: limits))
            }
        }

        private func refusal(_ bytes: String, limits: ResponseLimits = .init()) async throws -> TransportError {
            try await withServer(oneShot(Array(bytes.utf8))) { transport, server in
                try await failure(
                    transport, TransportRequest(HTTPRequest(method: .get, url: server.url()), limits: limits))
            }
        }

        /// Answers once and closes.
        private func oneShot(_ bytes: [UInt8]) throws -> WireServer {
            try WireServer { connection, _ in
                if connection.readRequest() != nil { connection.send(bytes) }
            }
        }

        @Test func theHeadIsReadAsItStands() async throws {
            let answer = try await get(
                "HTTP/1.1 404 Not here\r\nX-One:  a  \r\nx-one: b\r\nX-Long: a\r\n  b\r\nContent-Length: 0\r\n\r\n")
            #expect(answer.response.status == 404)
            #expect(answer.response.version == .http11)
            #expect(answer.response.fields.values(of: "X-One") == ["a", "b"])
            #expect(answer.response.fields["x-long"] == "a b")
            #expect(answer.connection.isReused == false)
            #expect(answer.connection.remoteAddress == "127.0.0.1")
            #expect(answer.timings.responseStart != nil)
        }

        @Test func contentThatCameTogetherIsReadTogether() async throws {
            let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n"
            let pieces = try await withServer(oneShot(Array(head.utf8) + content)) { transport, server in
                let stream = try await transport.open(
                    TransportRequest(HTTPRequest(method: .get, url: server.url())))
                var pieces: [Data] = []
                while let piece = try await stream.content.next() { pieces.append(piece) }
                return pieces
            }
            #expect(pieces.reduce(Data(), +) == Data(content))
            #expect(pieces.allSatisfy { $0.count <= 128 << 10 })
            #expect(pieces.contains { $0.count > 16 << 10 }, "no piece is larger than what libcurl gives at a time")
        }

        @Test func interimResponsesStayBelow() async throws {
            let answer = try await get(
                "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz")
            #expect(answer.response.status == 200)
            #expect(!answer.response.fields.contains("Link"))
            #expect(answer.response.body == Data("z".utf8))
        }

        @Test func endlessInterimResponsesAreCut() async throws {
            let error = try await refusal(String(repeating: "HTTP/1.1 102 Wait\r\n\r\n", count: 1_000))
            #expect(error.kind == .limitExceeded(.interimResponses))
        }

        @Test func chunksAreJoinedAndTrailersKeptApart() async throws {
            let answer = try await get(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n")
            #expect(answer.response.body == Data("abcde".utf8))
            #expect(!answer.response.fields.contains("X-T"))
            #expect(answer.response.trailers.map(\.value) == ["1"])
        }

        @Test func gzipIsRemoved() async throws {
            let packed: [UInt8] = [
                0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0,
                0,
            ]
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
            let bytes = Array(head.utf8) + packed
            try await withServer(oneShot(bytes)) { transport, server in
                let answer = try await transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: server.url())))
                #expect(answer.response.body == Data("hello".utf8))
                #expect(answer.connection.bytesReceived == packed.count)
            }
            try await withServer(oneShot(bytes)) { transport, server in
                let request = HTTPRequest(method: .get, url: try server.url(), fields: ["Accept-Encoding": "gzip"])
                let answer = try await transport.perform(TransportRequest(request))
                #expect(answer.response.body == Data(packed))
                #expect(server.requests.first?.head.contains("\r\nAccept-Encoding: gzip\r\n") == true)
            }
        }

        @Test(arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        ])
        func aBodyThatEndsEarlyIsNoBody(_ bytes: String) async throws {
            let error = try await refusal(bytes)
            #expect(error.kind == .connectionLost)
            #expect(error.sendState == .answered)
            #expect(error.partialResponse?.status == 200)
        }

        @Test func aFailureCountsTheContentOfChunksAlone() async throws {
            let error = try await refusal("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n5\r\ncd")
            #expect(error.connection.bytesReceived == 4)
        }

        @Test func closingWithoutAnAnswerLosesTheConnection() async throws {
            let error = try await refusal("")
            #expect(error.kind == .connectionLost)
            #expect(error.sendState == .maybeProcessed)
        }

        @Test(arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 099 Odd\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
        ])
        func whatIsNoResponseIsAViolation(_ bytes: String) async throws {
            #expect(try await refusal(bytes).kind == .protocolViolation)
        }

        @Test func malformedChunksAreNotTruncatedInSilence() async throws {
            for size in ["zz", "fffffffffffffffff"] {
                let error = try await refusal(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nab\r\n0\r\n\r\n")
                #expect([.protocolViolation, .connectionLost].contains(error.kind))
            }
        }

        @Test func limitsHold() async throws {
            let tight = ResponseLimits(bodyBytes: 4, headerBytes: 200, headerCount: 3)
            let exact = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"
            #expect(try await get(exact, limits: tight).response.body.count == 4)
            for (bytes, limit) in [
                ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ResponseLimits.Limit.bodyBytes),
                ("HTTP/1.1 200 OK\r\n\r\nabcde", .bodyBytes),
                ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200))\r\n\r\n", .headerBytes),
                ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n", .headerBytes),
                ("HTTP/1.1 200 OK\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n", .headerCount),
            ] {
                #expect(try await refusal(bytes, limits: tight).kind == .limitExceeded(limit))
            }
        }
    }
#endif
