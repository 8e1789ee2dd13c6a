#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What transfers take of a process's memory and of a disk.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct TransferOwnProcessTests {
        private struct Upload: Endpoint {
            typealias Output = Data
            let file: URL
            var route: Route { .post("/upload") }
            var body: HTTPBody { .multipart([.field("title", "large"), .file("file", file)]) }
        }

        /// Reads one request to its end, keeps nothing of it, and answers.
        private static func sink() throws -> (port: UInt16, thread: Thread) {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    bind(listener, name, size) == 0 && listen(listener, 1) == 0
                        && getsockname(listener, name, &size) == 0
                }
            }
            try #require(isBound)
            let thread = Thread {
                let connection = accept(listener, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                var head = Data()
                var left: Int?
                while left != 0 {
                    let count = recv(connection, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    if let known = left {
                        left = known - count
                        continue
                    }
                    head.append(contentsOf: buffer[..<count])
                    guard let end = head.range(of: Data("\r\n\r\n".utf8)) else { continue }
                    let line = String(decoding: head[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                        .first { $0.lowercased().hasPrefix("content-length:") }
                    left = line.flatMap { Int($0.split(separator: " ").last ?? "") }.map {
                        $0 - (head.count - end.upperBound)
                    }
                    if left == nil { break }
                }
                let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".utf8)
                if left == 0 { send(connection, answer, answer.count, 0) }
                close(connection)
                close(listener)
            }
            thread.start()
            return (UInt16(bigEndian: address.sin_port), thread)
        }

        /// The most that was resident, in bytes.
        private static func peak() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(line.split(separator: " ").compactMap { Int($0) }.first) * 1_024
        }

        @Test("A large file is uploaded in flat memory, and its progress rises to 1", .covers("S2.27"))
        func flatMemory() async throws {
            await #expect(processExitsWith: .success) {
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "penstock-\(UUID().uuidString)")
                let size = 512 << 20
                #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
                defer { try? FileManager.default.removeItem(at: file) }
                // Without blocks on the disk.
                #expect(truncate(file.path, off_t(size)) == 0)
                let (port, thread) = try Self.sink()
                let client = APIClient(
                    BaseURLs("http://127.0.0.1:\(port)"), options: .cleartext(.loopback), transport: CurlTransport())
                let before = try Self.peak()
                var fractions: [Double] = []
                var last: TransferProgress?
                var output: Data?
                for try await update in client.updates(of: Upload(file: file)) {
                    switch update {
                    case .progress(let progress):
                        fractions.append(try #require(progress.fraction))
                        last = progress
                    case .response(let response): output = response.value
                    default: break
                    }
                }
                #expect(output == Data("ok".utf8))
                #expect(fractions == fractions.sorted())
                #expect(fractions.count > 3)
                #expect(fractions.last == 1)
                #expect(fractions.dropLast().allSatisfy { $0 < 1 })
                #expect(last?.acknowledged == last?.expectedToSend)
                #expect(last.map { $0.sent > size } == true)
                #expect(try Self.peak() - before < 24 << 20)
                await client.transport.shutdown()
                while !thread.isFinished { try await Task.sleep(for: .milliseconds(1)) }
            }
        }

        /// Not everybody may make a disk that only these programs see.
        private static let makesDisks: Bool = {
            let script = "d=$(mktemp -d) && mount -t tmpfs -o size=2m none $d; rc=$?; umount $d; rmdir $d; exit $rc"
            let made = try? Subprocess.runAndWait(
                URL(fileURLWithPath: "/usr/bin/unshare"),
                ["--user", "--map-root-user", "--mount", "sh", "-c", script])
            return made?.status == 0
        }()

        @Test(
            "A full disk is told as such, and what has come is gone on with once there is room",
            .enabled(if: makesDisks, "this system does not let the test make a disk (unshare, mount)"))
        func fullDisk() async throws {
            let content = Data(repeating: 7, count: 3 << 20)
            let server = try LoopbackServer { request in
                guard let range = request.fields["Range"], let from = Int(range.dropFirst(6).dropLast()) else {
                    return .init(fields: ["ETag": "\"v1\""], body: content)
                }
                let place = "bytes \(from)-\(content.count - 1)/\(content.count)"
                return .init(
                    status: 206, fields: ["ETag": "\"v1\"", "Content-Range": place],
                    body: Data(content.dropFirst(from)))
            }
            defer { server.stop() }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let program = try #require(BuiltProgram.url("file-fetcher"))
            let script = """
                mount -t tmpfs -o size=2m none "$3"
                "$1" "$2" "$3/a"; ls "$3"
                mount -o remount,size=8m none "$3"
                "$1" "$2" "$3/a"; ls -A "$3"; wc -c < "$3/a"
                """
            let run = try await Subprocess.run(
                URL(fileURLWithPath: "/usr/bin/unshare"),
                [
                    "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", program.path,
                    server.url.absoluteString, folder.path,
                ])
            #expect(run.output == "storage: noSpace\ndone\na\n\(content.count)\n")
            let ranges = server.requests.map { $0.fields["Range"] }
            #expect(ranges.count == 2 && ranges.first == .some(nil) && ranges.last?.map { $0 > "bytes=1" } == true)
        }
    }
#endif
