#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Payloads over real sockets, through a relay that does to datagrams what a bad radio link does.
    @Suite(.timeLimit(.minutes(5))) struct DatagramRelayTests {
        /// Hands datagrams on between one client and a listener: of each direction 30 % are lost, 5 % are 12 ms later than the
        /// others and 2 % come twice, and all take 25 ms.
        private final class Relay: Sendable {
            let port: Int
            private let front: Int32
            private let back: Int32
            private let isStopped = Locked(false)
            private let hasEnded = Monitor(false)
            private let count = Locked((datagrams: 0, bytes: 0))

            init(to target: Int, seed: UInt64) throws {
                (front, port) = try Self.bound()
                (back, _) = try Self.bound()
                var address = Self.address(target)
                withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = connect(back, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                Thread.detachNewThread { [self] in run(Seeded(seed: seed)) }
            }

            /// What the client has sent.
            var sent: (datagrams: Int, bytes: Int) { count.withLock { $0 } }

            func stop() async {
                isStopped.withLock { $0 = true }
                await hasEnded.wait { $0 }
                Glibc.close(front)
                Glibc.close(back)
            }

            private static func address(_ port: Int) -> sockaddr_in {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                address.sin_port = in_port_t(port).bigEndian
                return address
            }

            private static func bound() throws -> (Int32, Int) {
                let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                var (address, size) = (Self.address(0), socklen_t(MemoryLayout<sockaddr_in>.size))
                let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
                    }
                }
                guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
                return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
            }

            /// What is on its way, by when it arrives.
            private struct Flying {
                let at: ContinuousClock.Instant
                let order: Int
                let datagram: Data
                let isToServer: Bool
            }

            private func run(_ seeded: Seeded) {
                var (random, flying, order) = (seeded, [Flying](), 0)
                var client = sockaddr_in()
                var buffer = [UInt8](repeating: 0, count: 2_048)
                while !isStopped.withLock({ $0 }) {
                    var wishes = [front, back].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                    _ = poll(&wishes, 2, 1)
                    for isToServer in [true, false] {
                        while let datagram = Self.received(isToServer ? front : back, &buffer, &client, isToServer) {
                            if isToServer {
                                count.withLock { $0 = ($0.datagrams + 1, $0.bytes + datagram.count) }
                            }
                            guard Double.random(in: 0..<1, using: &random) >= 0.3 else { continue }
                            let isLate = Double.random(in: 0..<1, using: &random) < 0.05
                            let copies = Double.random(in: 0..<1, using: &random) < 0.02 ? 2 : 1
                            for _ in 0..<copies {
                                order += 1
                                let at = ContinuousClock.now + .milliseconds(isLate ? 37 : 25)
                                flying.append(
                                    Flying(at: at, order: order, datagram: datagram, isToServer: isToServer))
                            }
                        }
                    }
                    let now = ContinuousClock.now
                    let due = flying.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
                    flying.removeAll { $0.at <= now }
                    for item in due { hand(item.datagram, item.isToServer, &client) }
                }
                hasEnded.withLock { $0 = true }
            }

            private static func received(
                _ descriptor: Int32, _ buffer: inout [UInt8], _ client: inout sockaddr_in, _ isFromClient: Bool
            ) -> Data? {
                var (from, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
                let count = withUnsafeMutablePointer(to: &from) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, &buffer, buffer.count, 0, $0, &size)
                    }
                }
                guard count >= 0 else { return nil }
                if isFromClient { client = from }
                return Data(buffer[..<count])
            }

            private func hand(_ datagram: Data, _ isToServer: Bool, _ client: inout sockaddr_in) {
                datagram.withUnsafeBytes { bytes in
                    if isToServer {
                        _ = Glibc.send(back, bytes.baseAddress, bytes.count, 0)
                    } else {
                        withUnsafePointer(to: &client) { pointer in
                            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                                _ = sendto(
                                    front, bytes.baseAddress, bytes.count, 0, $0,
                                    socklen_t(MemoryLayout<sockaddr_in>.size))
                            }
                        }
                    }
                }
            }
        }

        @Test(
            "A payload comes back whole over a path that loses 30 %, delays 5 % and doubles 2 %, at 50 ms",
            .covers("S3.41"))
        func badPath() async throws {
            let environment = ProcessInfo.processInfo.environment
            let count = environment["PENSTOCK_SOAK"] == "full" ? 10 << 20 : 1 << 20
            let seed = Seeded.printed("datagrams over a bad path").seed
            let echo = try DatagramsOnTheWireTests.Echo()
            let relay = try Relay(to: echo.port, seed: seed)
            let options = CallOptions.with { options in
                options.cleartext = .loopback
                // Greetings are lost as well, and a busy machine holds up those that are not.
                options.timeouts.connect = .seconds(60)
            }
            let client = APIClient(.init(services: [], options: options), transport: CurlTransport())
            let payload = sampleBytes(seed: seed, count: count)
            let peer = client.datagrams("127.0.0.1", port: relay.port)
            let start = ContinuousClock.now
            func end() async {
                await peer.close()
                await relay.stop()
                await echo.stop()
                await client.transport.shutdown()
            }
            var iterator = peer.messages.makeAsyncIterator()
            do { try await peer.send(payload) } catch {
                await end()
                throw error
            }
            let (took, sent) = (ContinuousClock.now - start, relay.sent)
            let answer = try? await iterator.next()
            #expect(answer == Data(payload.reversed()))
            await end()
            let overhead = Double(sent.bytes) / Double(count)
            print("\(count) bytes in \(took): \(sent.datagrams) datagrams, \(overhead) × the bytes")
            // Each chunk that is lost has to go again: 1 / 0.7 is the least that could do; a busy machine is late with reports.
            #expect(overhead < 2.5)
        }
    }
#endif
