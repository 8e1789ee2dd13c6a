#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5)), .serialized) struct BombTests {
        private static let mebibyte = 1 << 20
        private static let zeros = Data(count: 10 * mebibyte)

        /// The beginning of a bomb, and what each 10 MiB of zeros add to it.
        private static func parts(_ coding: Compressor) -> (start: Data, unit: Data) {
            let pieces = coding.pieces(of: [zeros, zeros])
            return (pieces[0], pieces[1])
        }

        /// 10 MB on the wire for 10 GB of content, at least.
        private static func bomb(_ coding: Compressor) -> Data {
            let (start, unit) = parts(coding)
            var bytes = start
            bytes.reserveCapacity(11_000_000)
            while bytes.count < 10_000_000 { bytes.append(unit) }
            return bytes
        }

        /// What this process has in memory, in bytes.
        private static func resident() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return try #require(Int(pages[1])) * sysconf(Int32(_SC_PAGESIZE))
        }

        @Test(
            "10 MB that expand to 10 GB are stopped by their ratio, in bounded memory", .covers("H9"),
            arguments: [Compressor.gzip, .zlib, .brotli, .zstd], [1_000, 16 << 10, .max])
        func stopped(_ coding: Compressor, _ size: Int) throws {
            let bomb = Self.bomb(coding)
            let before = try Self.resident()
            let decoder = try ContentDecoder.of(coding.name)
            var (pushed, pulled) = (0, 0)
            let error = #expect(throws: TransportError.self) {
                while pushed < bomb.count {
                    let piece = bomb.dropFirst(pushed).prefix(size)
                    decoder.push(piece)
                    pushed += piece.count
                    while let decoded = try decoder.pull(.max) { pulled += decoded.count }
                }
            }
            #expect(error?.kind == .limitExceeded(.expansionRatio))
            #expect(error?.sendState == .answered)
            #expect(pulled <= max(Self.mebibyte, 200 * pushed))
            #expect(pulled <= 16 * Self.mebibyte)
            #expect(try Self.resident() - before < 64 * Self.mebibyte)
        }

        @Test("The bombs are bombs", arguments: [Compressor.gzip, .zlib, .brotli, .zstd])
        func genuine(_ coding: Compressor) throws {
            let (start, unit) = Self.parts(coding)
            let decoder = try ContentDecoder.of(coding.name, ratio: .max)
            decoder.push(start)
            for _ in 0..<9 { decoder.push(unit) }
            var pulled = 0
            while let piece = try decoder.pull(.max) { pulled += piece.count }
            #expect(pulled == 100 * Self.mebibyte)
            #expect(unit.count * 1_000 <= 11_000_000)
        }

        @Test(
            "A bomb on the wire is stopped, collected and streamed, in bounded memory", .covers("H9"),
            arguments: [Compressor.gzip, .zlib, .brotli, .zstd])
        func overTheWire(_ coding: Compressor) async throws {
            let bomb = Self.bomb(coding)
            let server = try LoopbackServer { _ in .init(fields: [.contentEncoding: coding.name], body: bomb) }
            defer { server.stop() }
            let transport = CurlTransport()
            let before = try Self.resident()
            var order = TransportRequest(HTTPRequest(method: .get, url: server.url), timeouts: .total(.seconds(60)))
            var error = try await failure(transport, order)
            #expect(error.kind == .limitExceeded(.expansionRatio))
            #expect(error.sendState == .answered)
            order.limits.expansionRatio = .max
            error = try await failure(transport, order)
            #expect(error.kind == .limitExceeded(.bodyBytes))
            order.limits.expansionRatio = 200
            let stream = try await transport.open(order)
            var received = 0
            let cut = await #expect(throws: TransportError.self) {
                while let piece = try await stream.content.next() { received += piece.count }
            }
            #expect(cut?.kind == .limitExceeded(.expansionRatio))
            #expect(received <= 16 * Self.mebibyte)
            // The content as it came, and of what it expands to no more than the limit.
            #expect(try Self.resident() - before < 160 * Self.mebibyte)
            await transport.shutdown()
        }

        private struct Bomb: Endpoint {
            typealias Output = Data
            var route: Route { .get("/bomb") }
        }

        @Test(
            "A call that meets a bomb fails for its ratio, sent or streamed: nothing is stored, and nobody asks again",
            .covers("H9"), arguments: [Compressor.gzip, .zstd], [false, true])
        func call(_ coding: Compressor, streams: Bool) async throws {
            let bomb = Self.bomb(coding)
            let error = try await Self.callFailure(streams: streams) { _ in
                .init(fields: [.contentEncoding: coding.name, "Cache-Control": "max-age=1000"], body: bomb)
            }
            #expect(error?.kind == .limitExceeded(.expansionRatio))
        }

        @Test(
            "A call whose content is coded ten times over is refused: nothing is stored, and nobody asks again",
            .covers("H10"), arguments: [false, true])
        func codedTenTimes(streams: Bool) async throws {
            let codings = Array(repeating: "gzip", count: 10).joined(separator: ", ")
            let bytes = (0..<10).reduce(Data("hello".utf8)) { bytes, _ in Compressor.gzip.compress(bytes) }
            let error = try await Self.callFailure(streams: streams) { _ in
                .init(fields: [.contentEncoding: codings, "Cache-Control": "max-age=1000"], body: bytes)
            }
            #expect(error?.kind == .limitExceeded(.contentCodings))
        }

        /// The error of a call that may be stored and sent again, where neither is done.
        private static func callFailure(
            streams: Bool, _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) async throws -> APIError? {
            let server = try LoopbackServer(handler: answer)
            defer { server.stop() }
            let store = MemoryCacheStore()
            var configuration = APIClient.Configuration(
                services: [Service(.main, [.development: server.url.absoluteString])], build: .debug)
            configuration.options.cleartext = .loopback
            configuration.options.cache = .http
            configuration.options.retry = RetryPolicy(limit: 3, backoff: .init(base: .zero))
            configuration.cache = .store(store)
            let client = APIClient(configuration, transport: CurlTransport())
            let error = await #expect(throws: APIError.self) {
                if streams {
                    _ = try await client.stream(Bomb()).reduce(into: 0) { $0 += $1.count }
                } else {
                    _ = try await client.send(Bomb())
                }
            }
            #expect(server.requestCount == 1)
            #expect(await store.statistics().entries == 0)
            #expect(client.callCount == 0)
            await client.transport.shutdown()
            return error
        }

        @Test("Five bombs inside each other take no more memory than their windows", .covers("H9"))
        func nested() throws {
            let content = Data(count: 100 * Self.mebibyte)
            let bytes = (0..<5).reduce(content) { bytes, _ in Compressor.gzip.compress(bytes) }
            let lines = "gzip, gzip, gzip, gzip, gzip"
            #expect(decode([bytes], try .of(lines)).error?.kind == .limitExceeded(.expansionRatio))
            let before = try Self.resident()
            let decoder = try ContentDecoder.of(lines, ratio: .max)
            decoder.push(bytes)
            var pulled = 0
            while let piece = try decoder.pull(.max) { pulled += piece.count }
            try decoder.finish(endsWithConnection: false)
            #expect(pulled == content.count)
            #expect(try Self.resident() - before < 32 * Self.mebibyte)
        }

        @Test("A bomb that comes to nothing in the end is stopped as well", .covers("H9"))
        func shrinking() throws {
            let member = Compressor.gzip.compress(Data())
            let inner = Data((0..<200_000).flatMap { _ in member })
            let result = decode([Compressor.gzip.compress(inner)], try .of("gzip, gzip"))
            #expect(result.content.isEmpty)
            #expect(result.error?.kind == .limitExceeded(.expansionRatio))
        }

        @Test("The ratio is that of the limits, and the first MiB is free")
        func ratios() throws {
            let small = Compressor.gzip.compress(Data(count: Self.mebibyte))
            #expect(decode([small], try .of("gzip", ratio: 0)).error == nil)
            let bytes = Compressor.gzip.compress(Data(count: 2 * Self.mebibyte))
            #expect(decode([bytes], try .of("gzip", ratio: 500)).error?.kind == .limitExceeded(.expansionRatio))
            #expect(decode([bytes], try .of("gzip", ratio: 2_000)).content.count == 2 * Self.mebibyte)
        }
    }
#endif
