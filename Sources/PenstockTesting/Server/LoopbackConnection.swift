import Foundation

/// One connection of the server from its accept on: what goes wrong before the first request, TLS, and then the protocol.
struct LoopbackConnection {
    let wire: Wire
    let service: LoopbackService
    let threads: ThreadGroup

    func run() {
        if let fault = service.onConnect(wire.tally.number) { return fail(fault) }
        guard let tls = service.tls(of: wire.tally.number) else { return serve() }
        let handshake = wire.secure(with: tls.makeEngine())
        service.ledger.record(handshake, of: wire.tally)
        guard handshake.isComplete else { return }
        if handshake.applicationProtocol == LoopbackServer.TLS.ApplicationProtocol.http2.rawValue {
            return HTTP2Service.serve(wire, service: service, threads: threads)
        }
        serve()
    }

    private func serve() {
        guard let serve = service.configuration.serve else { return HTTP1Connection(wire, service: service).run() }
        serve(LoopbackWire(wire), wire.tally.number)
        wire.sayGoodbye()
        wire.closeSilently()
    }

    private func fail(_ fault: LoopbackServer.ConnectionFault) {
        if fault.trigger == .firstBytes, !wire.isReadable(within: nil) { return }
        wire.tally.fault(fault)
        switch fault.effect {
        case .close: wire.closeSilently()
        case .reset: wire.resetOnClose()
        case .stall: wire.waitForHangUp()
        case .send(let bytes):
            _ = wire.send(bytes)
            wire.finish(within: .milliseconds(500))
        }
    }
}
