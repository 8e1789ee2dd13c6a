#if os(Linux)
    import Foundation
    import Glibc
    import PenstockCore
    import PenstockInspect
    import PenstockTestSupport
    import Testing

    /// The journal's socket, played by the test.
    @Suite(.timeLimit(.minutes(5))) struct JournalLogTests {
        @Test("An entry is one datagram of the journal's protocol, with a priority and every field")
        func datagram() async throws {
            let folder = URL(fileURLWithPath: "/tmp/pj-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appendingPathComponent("socket").path
            let descriptor = try Self.bound(path)
            defer { close(descriptor) }
            let log = JournalLog(identifier: "shop", socket: path)
            let client = InspectRig.client { $0.sinks = [CallLog(to: log)] }
            _ = try await client.send(Hello())
            let text = try #require(Self.received(descriptor))
            let lines = text.split(separator: "\n")
            #expect(lines.contains("PRIORITY=6") && lines.contains("SYSLOG_IDENTIFIER=shop"))
            #expect(lines.contains("PENSTOCK_HOST=api.example.com") && lines.contains("PENSTOCK_STATUS=200"))
            #expect(
                lines.contains { $0.hasPrefix("MESSAGE=call ") && $0.contains("GET https://api.example.com/hello") })
            #expect(log.lostCount == 0)
        }

        @Test("Without a journal entries are lost and counted, and no call fails")
        func noJournal() async throws {
            let log = JournalLog(identifier: "shop", socket: "/nonexistent/socket")
            let long = JournalLog(identifier: "shop", socket: String(repeating: "x", count: 200))
            let client = InspectRig.client { $0.sinks = [CallLog(to: log), CallLog(to: long)] }
            _ = try await client.send(Hello())
            #expect(log.lostCount == 1 && long.lostCount == 1)
        }

        private static func bound(_ path: String) throws -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
            return descriptor
        }

        private static func received(_ descriptor: Int32) -> String? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }
#endif
