/// What every connection of a server needs: its limits, its script and its record.
struct LoopbackService: Sendable {
    let configuration: LoopbackServer.Configuration
    let ledger: LoopbackLedger
    let tls: TLSContext?
    /// What every second connection has in its place, where that is something else.
    let otherTLS: TLSContext?
    let onConnect: @Sendable (Int) -> LoopbackServer.ConnectionFault?
    let onHead: @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision
    let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    init(
        _ configuration: LoopbackServer.Configuration, _ ledger: LoopbackLedger,
        onConnect: @escaping @Sendable (Int) -> LoopbackServer.ConnectionFault?,
        onHead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws {
        (self.configuration, self.ledger) = (configuration, ledger)
        (self.onConnect, self.onHead, self.handler) = (onConnect, onHead, handler)
        tls = try configuration.tls.map(TLSContext.init)
        var others = configuration.tls
        if let protocols = others?.others { others?.protocols = protocols } else { others = nil }
        otherTLS = try others.map(TLSContext.init)
    }

    /// The TLS of a connection, by its number counted from 1.
    func tls(of connection: Int) -> TLSContext? {
        connection.isMultiple(of: 2) ? otherTLS ?? tls : tls
    }

    /// Gives a request whose head was read its number.
    func number(_ request: inout LoopbackServer.Request, on tally: ConnectionTally) {
        request.number = ledger.recordHead()
        tally.request()
    }
}
