import PenstockCore
import Testing

/// What a transport says of an exchange.
@Suite struct TransportValueTests {
    @Test func `how far a request got is a matter of more or less`() {
        let states: [SendState] = [.unsent, .unprocessed, .maybeProcessed, .answered]
        for (index, state) in states.enumerated() {
            for (other, later) in states.enumerated() { #expect((state < later) == (index < other)) }
        }
    }

    @Test func `of a connection nothing is known unless it is told`() {
        let none = ConnectionInfo()
        #expect(none.isReused == nil && none.remoteAddress == nil && none.remotePort == nil && none.resends.isEmpty)
        #expect((none.bytesSent, none.bytesReceived) == (0, 0))
        let full = ConnectionInfo(
            isReused: true, remoteAddress: "::1", remotePort: 443, bytesSent: 1, bytesReceived: 2,
            resends: [.unprocessed])
        #expect(full.isReused == true && full.remoteAddress == "::1" && full.remotePort == 443)
        #expect((full.bytesSent, full.bytesReceived) == (1, 2) && full.resends == [.unprocessed])
    }

    @Test func `each phase has its own time`() {
        let none = Timings()
        for phase in [\.nameLookup, \.connected, \.secured, \.requestStart, \.responseStart, \.total]
            as [KeyPath<Timings, Duration?>]
        {
            #expect(none[keyPath: phase] == nil)
        }
        let all = Timings(
            nameLookup: .seconds(1), connected: .seconds(2), secured: .seconds(3), requestStart: .seconds(4),
            responseStart: .seconds(5), total: .seconds(6))
        let phases = [all.nameLookup, all.connected, all.secured, all.requestStart, all.responseStart, all.total]
        #expect(phases == (1...6).map { .seconds($0) })
    }

    @Test func `what comes more slowly than 300 bytes in 30 seconds is too slow by default`() {
        #expect(ResponseLimits.Throughput.trickle == .init(bytes: 300, per: .seconds(30)))
        #expect(ResponseLimits().minimumThroughput == .init(bytes: 300, per: .seconds(30)))
        let unlimited = ResponseLimits(minimumThroughput: nil)
        #expect(unlimited.minimumThroughput == nil && unlimited.hashValue != ResponseLimits().hashValue)
    }
}
