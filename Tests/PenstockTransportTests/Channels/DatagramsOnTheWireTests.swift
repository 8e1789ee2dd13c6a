#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// The datagram connection on real sockets; what goes wrong on the way is tested without any.
    @Suite(.timeLimit(.minutes(5))) struct DatagramsOnTheWireTests {
        /// A listener on a port of this machine, which answers each payload with what `answer` makes of it.
        final class Echo: Sendable {
            let port: Int
            private let socket: Int32
            private let state = Locked((isStopped: false, peers: 0))
            private let thread = Monitor(false)

            init(dropping isLost: @escaping @Sendable (Int) -> Bool = { _ in false }) throws {
                let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
                    }
                }
                guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
                socket = descriptor
                port = Int(UInt16(bigEndian: address.sin_port))
                Thread.detachNewThread { [self] in run(isLost) }
            }

            var peers: Int { state.withLock(\.peers) }

            func stop() async {
                state.withLock { $0.isStopped = true }
                await thread.wait { $0 }
                Glibc.close(socket)
            }

            private func run(_ isLost: (Int) -> Bool) {
                var listener = DatagramListener()
                var number = 0
                let time = TimeSource.system
                var buffer = [UInt8](repeating: 0, count: 2_048)
                while !state.withLock(\.isStopped) {
                    let wait =
                        listener.wakesAt.map { Int32(max(0, min(20, ($0 - time.now()) / .milliseconds(1)))) } ?? 20
                    var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                    if Glibc.poll(&poll, 1, wait) > 0 {
                        var from = Data(count: 16)
                        var size = socklen_t(16)
                        let count = from.withUnsafeMutableBytes { bytes in
                            recvfrom(
                                socket, &buffer, buffer.count, 0, bytes.bindMemory(to: sockaddr.self).baseAddress, &size
                            )
                        }
                        number += 1
                        if count > 0, !isLost(number) {
                            for answer in listener.receive(Data(buffer[..<count]), from: from, at: time.now()) {
                                send(answer, from)
                            }
                        }
                    }
                    for peer in listener.peers {
                        let datagrams = listener.with(peer) { machine -> [Data] in
                            while let event = machine.next() {
                                if case .received(let payload) = event { _ = machine.send(Data(payload.reversed())) }
                            }
                            return machine.takeDatagrams(at: time.now())
                        }
                        for datagram in datagrams ?? [] { send(datagram, peer.address) }
                    }
                    let count = listener.peerCount
                    state.withLock { $0.peers = count }
                }
                thread.withLock { $0 = true }
            }

            private func send(_ datagram: Data, _ address: Data) {
                _ = datagram.withUnsafeBytes { bytes in
                    address.withUnsafeBytes { address in
                        sendto(
                            socket, bytes.baseAddress, bytes.count, 0,
                            address.bindMemory(to: sockaddr.self).baseAddress,
                            socklen_t(address.count))
                    }
                }
            }
        }

        private func run(
            dropping: @escaping @Sendable (Int) -> Bool = { _ in false }, _ body: (APIClient, Echo) async throws -> Void
        ) async throws {
            let echo = try Echo(dropping: dropping)
            let client = APIClient(.init(services: [], options: .cleartext(.loopback)), transport: CurlTransport())
            do { try await body(client, echo) } catch {
                await echo.stop()
                await client.transport.shutdown()
                throw error
            }
            await echo.stop()
            await client.transport.shutdown()
        }

        @Test(
            "Payloads go both ways over a real socket, also where every fifth datagram is lost", .covers("S3.41"),
            arguments: [false, true])
        func echo(loses: Bool) async throws {
            try await run(dropping: { loses && $0 % 5 == 0 }) { client, echo in
                let peer = client.datagrams("127.0.0.1", port: echo.port)
                var iterator = peer.messages.makeAsyncIterator()
                for size in [0, 1, 2_000, 300_000] {
                    let payload = sampleBytes(seed: 1, count: size)
                    try await peer.send(payload)
                    let answer = try await iterator.next()
                    #expect(answer == Data(payload.reversed()))
                }
                #expect(client.callCount == 1)
                await peer.close()
                let last = try await iterator.next()
                #expect(last == nil)
                #expect(client.callCount == 0)
                // Where the word of it is lost, the other end notices by the silence alone.
                while !loses, echo.peers > 0 { try await Task.sleep(for: .milliseconds(5)) }
            }
        }

        @Test(
            "Nobody there is found out by the time to connect; a host that is not allowed is refused", .covers("S3.42"))
        func nobody() async throws {
            try await run { client, echo in
                let silent = client.datagrams(
                    "127.0.0.1", port: 9, options: .with { $0.timeouts.connect = .milliseconds(300) })
                let error = await #expect(throws: APIError.self) { try await silent.open() }
                #expect(error?.kind == .timeout(.connect))
                let refused = client.datagrams("127.0.0.1", port: echo.port, options: .cleartext(.refused))
                let blocked = await #expect(throws: APIError.self) { try await refused.open() }
                guard case .blocked(let reason) = blocked?.kind else { return #expect(Bool(false)) }
                #expect(reason.hasPrefix("a channel without encryption to 127.0.0.1 is not allowed; "))
                #expect(client.callCount == 0)
            }
        }

        @Test("Cancelling ends it at once, wherever it is", arguments: 0..<4)
        func cancellation(way: Int) async throws {
            try await run { client, echo in
                var peer: DatagramChannel? = client.datagrams("127.0.0.1", port: echo.port)
                try await peer?.open()
                let reader = Task { [peer] in
                    guard way < 3 else { return APIError.Kind.cancelled }
                    do throws(APIError) {
                        var iterator = peer?.messages.makeAsyncIterator()
                        while try await iterator?.next() != nil {}
                        return .cacheMiss
                    } catch {
                        return error.kind
                    }
                }
                switch way {
                case 0: reader.cancel()
                case 1: client.cancelAll()
                case 2: peer?.cancel()
                default: peer = nil
                }
                #expect(await reader.value == .cancelled)
                while client.callCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
        }

        @Test("A payload larger than the limit is refused before anything is sent")
        func tooLarge() async throws {
            try await run { client, echo in
                let peer = client.datagrams("127.0.0.1", port: echo.port, DatagramLimits(payloadBytes: 10))
                let error = await #expect(throws: APIError.self) { try await peer.send(Data(count: 11)) }
                guard case .invalidParameter = error?.kind else { return #expect(Bool(false)) }
                try await peer.send(Data(count: 10))
                await peer.close()
            }
        }
    }
#endif
