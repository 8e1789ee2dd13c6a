import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Files both ways over real sockets.
@Suite(.timeLimit(.minutes(5))) struct TransfersOnTheWireTests {
    private struct Upload: Endpoint {
        typealias Output = Data
        let parts: [MultipartPart]
        var options = CallOptions()
        var route: Route { .post("/upload") }
        var body: HTTPBody { .multipart(parts) }
    }

    private struct Report: Endpoint, Encodable {
        typealias Output = String
        let text: String
        var route: Route { .post("/report") }
    }

    private static let streaming = TransportUnderTest.withWire.filter {
        $0.capabilities.isSuperset(of: [.streamedRequests, .streamedResponses])
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    // MARK: Uploads

    @Test(
        "A form in memory arrives on every transport, a form with a file where it can stream",
        .covers("S2.27"),
        arguments: TransportUnderTest.all)
    func forms(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            let content = sampleBytes(seed: 27, count: 200_000)
            try content.write(to: file)
            try await Shop.run(
                transport,
                answering: { .text($0.fields["Content-Type"] ?? "", fields: ["X-Length": "\($0.body.count)"]) }
            ) {
                server, client in
                _ = try await client.send(
                    Upload(parts: [.field("a", "b"), .data("c", Data([0, 255]), fileName: "d.bin")]))
                let form = try #require(server.requests.last)
                #expect(form.body.count == form.fields["Content-Length"].flatMap { Int($0) })
                guard transport.capabilities.contains(.streamedRequests) else { return }
                _ = try await client.send(Upload(parts: [.field("a", "b"), .file("f", file)]))
                let sent = try #require(server.requests.last)
                #expect(sent.body.range(of: content) != nil)
                #expect(sent.fields["Content-Length"] == "\(sent.body.count)")
                #expect(sent.fields["Transfer-Encoding"] == nil)
            }
        }
    }

    @Test(
        "A file that shrinks while it is sent ends the call with its typed error, and the server never has all of it",
        .covers("S2.27"),
        arguments: streaming)
    func shrinkingFile(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            let file = folder.appendingPathComponent("a.bin")
            try sampleBytes(seed: 27, count: 8 << 20).write(to: file)
            try await Shop.run(transport, answering: { _ in .text("ok") }) { server, client in
                let call = client.start(Upload(parts: [.file("f", file)], options: .retry(.none)))
                for try await case .progress(let progress) in call.updates where progress.sent > 0 {
                    call.suspend()
                    truncate(file.path, 100)
                    call.resume()
                    break
                }
                let error = await #expect(throws: APIError.self) { try await call.value }
                #expect(error?.kind == .transport(.requestBody))
                // Which of the two, the reader's lead over the wire decides.
                let cause = (error?.underlying as? TransportError)?.underlying as? SourceFileError
                #expect(cause == .shrank(file) || cause == .changed(file))
                #expect(server.requests.isEmpty)
            }
        }
    }

    // MARK: Compression

    @Test(
        "Content is sent in gzip where the call asks for it, and the response's is removed", .covers("S3.30"),
        arguments: TransportUnderTest.withWire)
    func compression(transport: TransportUnderTest) async throws {
        // What comes is given back as it came: whoever reads the answer has removed the coding that was sent.
        let echo: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            var response = LoopbackServer.Response(
                status: 200, fields: ["Content-Type": "text/plain"], body: request.body)
            response.fields["Content-Encoding"] = request.fields["Content-Encoding"]
            return response
        }
        try await Shop.run(transport, answering: echo) { server, client in
            let report = Report(text: String(repeating: "penstock ", count: 1_000))
            let plain = try await client.send(report)
            #expect(plain == "{\"text\":\"\(report.text)\"}")
            #expect(server.requests.last?.fields["Content-Encoding"] == nil)
            for compression in [RequestCompression.gzip, .zstd] {
                #expect(try await client.send(report, options: .requestCompression(compression)) == plain)
                let request = try #require(server.requests.last)
                // Foundation on Linux removes zstd from nothing, and writes neither.
                let isWritten = client.transport.encoded(Data([1]), in: compression.coding) != nil
                #expect(isWritten == (transport.name == "libcurl"))
                #expect(request.fields["Content-Encoding"] == (isWritten ? compression.coding : nil))
                #expect(isWritten == (request.body.count < 500))
            }
        }
    }

    @Test(
        "A server that has no gzip gets the content as it is, after one 415",
        .covers("S3.30"),
        arguments: TransportUnderTest.withWire.filter { $0.name == "libcurl" })
    func unsupportedCoding(transport: TransportUnderTest) async throws {
        try await Shop.run(
            transport, answering: { .text("ok", status: $0.fields["Content-Encoding"] == nil ? 200 : 415) }
        ) { server, client in
            let report = Report(text: String(repeating: "penstock ", count: 1_000))
            for _ in 0..<2 {
                let text = try await client.send(report, options: .requestCompression(.gzip))
                #expect(text == "ok")
            }
            #expect(server.requests.map { $0.fields["Content-Encoding"] } == ["gzip", nil, nil])
        }
    }

    // MARK: Downloads

    private struct Film: Endpoint {
        typealias Output = Data
        var route: Route { .get("/films/seven") }
    }

    private static let film = sampleBytes(seed: 28, count: 3_000_000)

    /// Does ranges, suggests an evil name, and cuts the connection of the first answers.
    ///
    /// - Parameter delay: what is between the last byte and the cut.
    private static func server(
        cutting cuts: Locked<[Int]>, after delay: Duration = .milliseconds(200)
    ) throws -> LoopbackServer {
        try LoopbackServer { request in
            var fields: HTTPFields = [
                "ETag": "\"v1\"", "Content-Disposition": "attachment; filename=\"../../seven.mp4\"",
            ]
            var from = 0
            if let range = request.fields["Range"], request.fields["If-Range"] == "\"v1\"" {
                from = Int(range.dropFirst(6).dropLast()) ?? 0
                fields["Content-Range"] = "bytes \(from)-\(film.count - 1)/\(film.count)"
            }
            var response = LoopbackServer.Response(
                status: from > 0 ? 206 : 200, fields: fields, body: Data(film.dropFirst(from)))
            if let cut = cuts.withLock({ $0.popLast() }) {
                response.declaredLength = film.count - from
                response.body = .bytes(Data(film.dropFirst(from).prefix(cut)))
                response.ending = .drop
                response.trailerDelay = delay
            }
            return response
        }
    }

    @Test(
        "A download goes to the folder that the app picks, under a harmless name that is free, and goes on where it was interrupted",
        .covers("S2.28"), arguments: streaming)
    func download(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            try Data("mine".utf8).write(to: folder.appendingPathComponent("seven.mp4"))
            let cuts = Locked([500_000, 1_000_000])
            try await Shop.run(transport, on: Self.server(cutting: cuts)) { server, client in
                // The process that began it has gone.
                let error = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: .folder(folder), options: .retry(.none)).value
                }
                #expect(error?.kind == .transport(.connectionLost))
                let file = try await client.download(Film(), to: .folder(folder)).value
                #expect(file.url.path == folder.appendingPathComponent("seven 2.mp4").path)
                #expect(file.wasResumed)
                #expect(try Data(contentsOf: file.url) == Self.film)
                #expect(try Data(contentsOf: folder.appendingPathComponent("seven.mp4")) == Data("mine".utf8))
                let ranges = server.requests.map { $0.fields["Range"] }
                let starts = ranges.compactMap { $0 }.compactMap { Int($0.dropFirst(6).dropLast()) }
                try #require(ranges.count == 3 && ranges[0] == nil && starts.count == 2)
                // On a busy machine the break overtakes what is still in a buffer, which is lost with the connection.
                #expect((1...1_000_000).contains(starts[0]))
                #expect((starts[0] + 1...starts[0] + 500_000).contains(starts[1]))
                #expect(server.requests.dropFirst().allSatisfy { $0.fields["If-Range"] == "\"v1\"" })
                let replaced = try await client.download(
                    Film(), to: .file(folder.appendingPathComponent("seven.mp4"), overwriting: .replace)
                ).value
                #expect(try Data(contentsOf: replaced.url) == Self.film)
                let refused = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: .file(replaced.url)).value
                }
                #expect(refused?.kind == .storage(.exists))
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                        "seven 2.mp4", "seven.mp4",
                    ])
            }
        }
    }

    @Test(
        "A download goes on behind every byte that came, where its connection breaks right behind that",
        .covers("S2.28"),
        arguments: streaming)
    func breaksAtOnce(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            let server = try Self.server(cutting: Locked(Array(repeating: 5_000, count: 40)), after: .zero)
            try await Shop.run(transport, on: server) { server, client in
                for _ in 1...40 {
                    let error = await #expect(throws: APIError.self) {
                        try await client.download(Film(), to: .folder(folder), options: .retry(.none)).value
                    }
                    #expect(error?.kind == .transport(.connectionLost))
                }
                let file = try await client.download(Film(), to: .folder(folder)).value
                #expect(try Data(contentsOf: file.url) == Self.film)
                let starts = server.requests.compactMap { $0.fields["Range"] }
                #expect(starts == (1...40).map { "bytes=\($0 * 5_000)-" })
            }
        }
    }

    @Test(
        "A hundred pauses leave the file whole", arguments: streaming.filter { $0.capabilities.contains(.suspension) })
    func pauses(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            try await Shop.run(transport, on: Self.server(cutting: Locked([]))) { _, client in
                let call = client.download(Film(), to: .folder(folder))
                for _ in 0..<100 {
                    call.suspend()
                    await Task.yield()
                    call.resume()
                }
                let file = try await call.value
                #expect(try Data(contentsOf: file.url) == Self.film)
            }
        }
    }

    @Test(
        "A transport that cannot stream refuses a download before it sends",
        arguments: TransportUnderTest.withWire.filter { !$0.capabilities.contains(.streamedResponses) })
    func refusal(transport: TransportUnderTest) async throws {
        try await Self.withFolder { folder in
            try await Shop.run(transport, on: Self.server(cutting: Locked([]))) { server, client in
                let error = await #expect(throws: APIError.self) {
                    try await client.download(Film(), to: .folder(folder)).value
                }
                #expect(error?.kind == .unsupported(feature: "streamed responses"))
                #expect(server.requests.isEmpty)
                let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(left.isEmpty)
            }
        }
    }
}
