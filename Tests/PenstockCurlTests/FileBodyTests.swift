#if os(Linux)
    import Foundation
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockCore
    @testable import PenstockCurl

    /// Bodies that are files, and disks that take their time.
    @Suite(.timeLimit(.minutes(5))) struct FileBodyTests {
        private let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

        @Test(
            "A file that does not open holds up its own upload and nothing else",
            arguments: [true, false])
        func hangs(drivesOnCallersThreads: Bool) async throws {
            try Data(count: 100).write(to: file)
            let body = HTTPBody.file(file)
            try FileManager.default.removeItem(at: file)
            // A pipe is opened when somebody opens its other end.
            #expect(mkfifo(file.path, 0o600) == 0)
            defer { try? FileManager.default.removeItem(at: file) }
            defer { Glibc.close(open(file.path, O_RDWR | O_NONBLOCK)) }
            let server = try LoopbackServer { _ in .text("ok") }
            let transport = CurlTransport(configuration: .init(drivesOnCallersThreads: drivesOnCallersThreads))
            let control = ExchangeControl()
            let upload = TransportRequest(
                HTTPRequest(method: .put, url: server.url, body: body), control: control)
            let uploading = Task { () -> TransportError? in
                do throws(TransportError) { _ = try await transport.perform(upload) } catch { return error }
                return nil
            }
            for _ in 0..<3 {
                let other = try await transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: server.url)))
                #expect(other.response.status == 200)
            }
            control.cancel()
            let error = await uploading.valueOfTest
            #expect(error?.kind == .cancelled)
            #expect(error?.sendState == .unsent)
            await transport.shutdown()
        }

        @Test("A file that is gone keeps its request from being sent")
        func gone() async throws {
            try Data(count: 100).write(to: file)
            let body = HTTPBody.file(file)
            try FileManager.default.removeItem(at: file)
            let server = try LoopbackServer { _ in .text("ok") }
            let transport = CurlTransport()
            let error = await #expect(throws: TransportError.self) {
                try await transport.perform(
                    TransportRequest(HTTPRequest(method: .put, url: server.url, body: body)))
            }
            #expect(error?.kind == .requestBody)
            #expect(error?.sendState == .unsent)
            #expect(server.requestCount == 0)
            await transport.shutdown()
        }

        // MARK: The source alone

        /// What a source tells, to be taken when the test likes.
        private final class Told: Sendable {
            let events = Locked<[CurlFileSource.Event]>([])

            /// Takes what is told next to the source.
            func take(to source: CurlFileSource) async {
                while !Task.isCancelled {
                    let event = events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    if let event { return source.receive(event) }
                    await Task.yield()
                }
            }
        }

        private func source(_ content: Data, _ told: Told) throws -> CurlFileSource {
            try content.write(to: file)
            return CurlFileSource(file, length: content.count) { event in
                told.events.withLock { $0.append(event) }
            }
        }

        /// Reads up to so many bytes, however they come.
        private func read(_ count: Int, of source: CurlFileSource, _ told: Told, by step: Int) async -> Data {
            var taken = Data()
            var buffer = [UInt8](repeating: 0, count: step)
            while taken.count < count, !Task.isCancelled {
                let wanted = min(step, count - taken.count)
                switch buffer.withUnsafeMutableBytes({ source.read(into: .init(rebasing: $0[..<wanted])) }) {
                case .bytes(let count): taken += buffer[..<count]
                case .later: await told.take(to: source)
                case .end, .failed: return taken
                }
            }
            return taken
        }

        @Test(
            "A file is handed out whole, from the beginning again wherever it goes back",
            arguments: [999, 70_000, 1 << 20])
        func whole(step: Int) async throws {
            defer { try? FileManager.default.removeItem(at: file) }
            let content = sampleBytes(seed: 1, count: 2_300_001)
            let told = Told()
            let source = try source(content, told)
            defer { source.close() }
            for place in [0, 1, 500_000, 524_288, 1_200_000, content.count] {
                #expect(await read(place, of: source, told, by: step) == content.prefix(place))
                #expect(source.rewind())
                #expect(!source.isFinished)
            }
            #expect(await read(.max, of: source, told, by: step) == content)
            #expect(source.isFinished)
        }

        @Test("What is read when a file goes back is not taken for its beginning")
        func stale() async throws {
            defer { try? FileManager.default.removeItem(at: file) }
            let content = sampleBytes(seed: 2, count: 2_000_000)
            let told = Told()
            let source = try source(content, told)
            defer { source.close() }
            _ = await read(600_000, of: source, told, by: 100_000)
            let late = try #require(CurlFilePiece(CurlUploadPace.most))
            #expect(source.rewind())
            source.receive(.piece(late, offset: 600_000))
            #expect(await read(.max, of: source, told, by: 100_000) == content)
        }
    }
#endif
