/// What every connection of a server needs: its limits, its script and its record.
struct LoopbackService: Sendable {
    let configuration: LoopbackServer.Configuration
    let ledger: LoopbackLedger
    let tls: TLSContext?
    let onConnect: @Sendable (Int) -> LoopbackServer.ConnectionFault?
    let onHead: @Sendable (LoopbackServer.Request) -> LoopbackServer.HeadDecision
    let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    /// Gives a request whose head was read its number.
    func number(_ request: inout LoopbackServer.Request, on tally: ConnectionTally) {
        request.number = ledger.recordHead()
        tally.request()
    }
}
