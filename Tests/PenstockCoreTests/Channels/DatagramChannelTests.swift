import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A socket whose other end is a listener that a test works on.
private final class ListenerSocket: DatagramWire {
    struct State: Sendable {
        var listener = DatagramListener(secret: Data([1]))
        /// The payloads that the listener has still to send, and how many of them have arrived.
        var payloads: [Data] = []
        var delivered = 0
        var incoming: [Data] = []
        /// The time of the listener, which goes on with each datagram.
        var now = Duration.zero
        var failure: TransportError?
        /// Whether nothing that is sent arrives.
        var isDeaf = false

        mutating func serve() {
            now += .milliseconds(10)
            for peer in listener.peers {
                let (now, payloads) = (self.now, self.payloads)
                let served = listener.with(peer) { machine -> (datagrams: [Data], delivered: Int) in
                    for payload in payloads { _ = machine.send(payload) }
                    var delivered = 0
                    while let event = machine.next() { delivered += event == .delivered ? 1 : 0 }
                    return (machine.takeDatagrams(at: now), delivered)
                }
                self.payloads = []
                incoming += served?.datagrams ?? []
                delivered += served?.delivered ?? 0
            }
        }
    }

    let state = Monitor(State())

    func receive() async throws(TransportError) -> Data {
        let result = await state.wait { state -> Result<Data, TransportError>? in
            if let failure = state.failure { return .failure(failure) }
            return state.incoming.isEmpty ? nil : .success(state.incoming.removeFirst())
        }
        return try result.get()
    }

    func send(_ datagram: Data) throws(TransportError) {
        state.withLock { state in
            guard !state.isDeaf else { return }
            state.incoming += state.listener.receive(datagram, from: Data([1]), at: state.now)
            state.serve()
        }
    }

    func fail(_ kind: TransportError.Kind) {
        state.withLock { $0.failure = $0.failure ?? TransportError(kind, sendState: .maybeProcessed) }
    }

    func cancel() { fail(.cancelled) }
    func suspend() {}
    func resume() {}
}

/// A transport with one socket.
private final class OneSocket: Transport {
    let capabilities = TransportCapabilities.all
    let socket = ListenerSocket()

    func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
        guard request.control.attach(socket) else { throw TransportError(.cancelled, sendState: .unsent) }
        return socket
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("requests"), sendState: .unsent)
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        throw TransportError(.unsupported("requests"), sendState: .unsent)
    }

    func shutdown() async {}
}

/// A datagram channel above a socket that a test is the other end of.
@Suite(.timeLimit(.minutes(5))) struct DatagramChannelTests {
    private static func client(_ transport: OneSocket, _ clock: TestClock = TestClock()) -> APIClient {
        var configuration = APIClient.Configuration("http://127.0.0.1:1")
        configuration.options.cleartext = .loopback
        configuration.time = clock.timeSource
        return APIClient(configuration, transport: transport)
    }

    @Test("Four payloads are kept for a reader, and the other end waits with the next until one is taken")
    func kept() async throws {
        let transport = OneSocket()
        let channel = Self.client(transport).datagrams("127.0.0.1", port: 1)
        try await channel.open()
        let socket = transport.socket
        socket.state.withLock { state in
            state.payloads = (1...8).map { Data([$0]) }
            state.serve()
        }
        await socket.state.waitUnlessCancelled { $0.delivered >= 4 }
        for _ in 0..<200 {
            socket.state.withLock { $0.serve() }
            await Task.yield()
        }
        #expect(socket.state.withLock(\.delivered) == 4)
        var iterator = channel.messages.makeAsyncIterator()
        for number in UInt8(1)...8 {
            #expect(try await iterator.next() == Data([number]))
            while !Task.isCancelled, socket.state.withLock(\.delivered) < min(Int(number) + 4, 8) {
                socket.state.withLock { $0.serve() }
                await Task.yield()
            }
        }
        channel.cancel()
    }

    @Test("The time to connect is that of the options", .covers("S3.42"), arguments: [3, 20] as [Int64])
    func timeToConnect(seconds: Int64) async {
        let (transport, clock) = (OneSocket(), TestClock())
        transport.socket.state.withLock { $0.isDeaf = true }
        let options = CallOptions.with { $0.timeouts.connect = .seconds(seconds) }
        let client = Self.client(transport, clock)
        let channel = client.datagrams("127.0.0.1", port: 1, options: options)
        let opening = Task { () -> APIError.Kind? in
            do throws(APIError) { try await channel.open() } catch { return error.kind }
            return nil
        }
        // The first question is asked again after a quarter of a second.
        await clock.waitForSleeper(until: .init(offset: .milliseconds(250)))
        clock.advance(by: .seconds(seconds) - .nanoseconds(1))
        await clock.waitForSleeper(until: .init(offset: .seconds(seconds)))
        #expect(client.callCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(await opening.valueOfTest == .timeout(.connect))
        channel.cancel()
    }

    @Test(
        "What has come is for nobody once the client has ended its calls, and is read where the other end has closed",
        arguments: [false, true])
    func unread(byServer: Bool) async throws {
        let transport = OneSocket()
        let client = Self.client(transport)
        let channel = client.datagrams("127.0.0.1", port: 1)
        try await channel.open()
        transport.socket.state.withLock { state in
            state.payloads = [Data([1]), Data([2])]
            state.serve()
        }
        await transport.socket.state.waitUnlessCancelled { $0.delivered >= 2 }
        var iterator = channel.messages.makeAsyncIterator()
        #expect(try await iterator.next() == Data([1]))
        if byServer {
            transport.socket.state.withLock { state in
                for peer in state.listener.peers {
                    let goodbye = state.listener.with(peer) { machine -> [Data] in
                        machine.close()
                        return machine.takeDatagrams(at: .zero)
                    }
                    state.incoming += goodbye ?? []
                }
            }
            while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
            #expect(try await iterator.next() == Data([2]))
        } else {
            client.cancelAll()
            let error = await #expect(throws: APIError.self) { try await iterator.next() }
            #expect(error?.kind == .cancelled)
        }
    }
}
