import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Channels over a transport of the app's that does not return with a connection when it is told to.
@Suite(.timeLimit(.minutes(5))) struct UnendingConnectionTests {
    enum Kind: CaseIterable, Sendable {
        case tcp, datagrams
    }

    enum End: CaseIterable, Sendable {
        case close, cancelAll, connect
    }

    /// A channel of either kind, and what ends of it.
    private struct Rig: Sendable {
        let stuck = Stuck()
        let clock = TestClock()
        let transport: Unconnecting
        let client: APIClient
        let channel: any Channel

        init(_ kind: Kind) {
            transport = Unconnecting(stuck: stuck)
            let clock = clock
            client = CallSupport.client(transport) { configuration in
                configuration.time = clock.timeSource
                configuration.options.cleartext = .loopback
                configuration.options.timeouts = Timeouts(connect: .seconds(3), total: nil)
            }
            channel =
                switch kind {
                case .tcp: client.tcp("127.0.0.1", port: 7, codec: LineCodec(), isSecure: false)
                case .datagrams: client.datagrams("127.0.0.1", port: 7)
                }
        }

        func open() async -> APIError.Kind? {
            do throws(APIError) { try await channel.open() } catch { return error.kind }
            return nil
        }

        func end(by end: End) async {
            switch end {
            case .close: await channel.close()
            case .cancelAll: client.cancelAll()
            case .connect:
                await clock.waitForSleeper(until: .init(offset: .seconds(3)))
                clock.advance(by: .seconds(3))
            }
        }
    }

    @Test(
        "A channel whose connection a transport of the app's does not make ends at once, and in its time",
        .covers("H38"),
        arguments: Kind.allCases, End.allCases)
    func ends(kind: Kind, end: End) async {
        let rig = Rig(kind)
        defer { rig.stuck.leave.open() }
        let opening = Task { await rig.open() }
        await rig.stuck.entered.waitUnlessCancelled { $0 == 1 }
        await withTaskCancellationHandler {
            await rig.end(by: end)
        } onCancel: {
            rig.stuck.leave.open()
        }
        let kind = await withTaskCancellationHandler {
            await opening.value
        } onCancel: {
            rig.stuck.leave.open()
        }
        switch end {
        case .close: #expect(kind == .transport(.connectionLost))
        case .cancelAll: #expect(kind == .cancelled)
        case .connect: #expect(kind == .timeout(.connect))
        }
        while !Task.isCancelled, rig.client.callCount > 0 { await Task.yield() }
        #expect(rig.stuck.wasCancelled == false)
    }

    @Test("A connection that comes after its channel was given up is ended", .covers("H38"), arguments: Kind.allCases)
    func late(kind: Kind) async {
        let rig = Rig(kind)
        defer { rig.stuck.leave.open() }
        let opening = Task { await rig.open() }
        await rig.stuck.entered.waitUnlessCancelled { $0 == 1 }
        rig.client.cancelAll()
        _ = await withTaskCancellationHandler {
            await opening.value
        } onCancel: {
            rig.stuck.leave.open()
        }
        rig.stuck.leave.open()
        #expect(await rig.transport.wire.reaches { $0.failure?.kind == .cancelled })
    }
}

/// A transport of an app's that comes with a connection when the test lets it.
private struct Unconnecting: Transport {
    let stuck: Stuck
    let wire = ScriptedWire()

    var capabilities: TransportCapabilities { .all }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("requests"), sendState: .unsent)
    }

    func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        await stuck.wait()
        return wire
    }

    func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
        await stuck.wait()
        return Datagrams(wire: wire)
    }

    func shutdown() async {}

    private final class Datagrams: DatagramWire {
        let wire: ScriptedWire

        init(wire: ScriptedWire) {
            self.wire = wire
        }

        func receive() async throws(TransportError) -> Data { try await wire.read() ?? Data() }
        func send(_ datagram: Data) throws(TransportError) {}
        func fail(_ kind: TransportError.Kind) { wire.fail(kind) }
        func cancel() { wire.cancel() }
        func suspend() {}
        func resume() {}
    }
}
