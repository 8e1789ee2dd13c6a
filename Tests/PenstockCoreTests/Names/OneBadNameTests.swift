import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A name that something is wrong with keeps nobody from asking name servers over HTTPS for the others.
@Suite(.timeLimit(.minutes(5))) struct OneBadNameTests {
    private static let one = HostAddress(trusted: "1.0.0.1")
    private static let two = HostAddress(trusted: "1.0.0.2")

    /// A name server that has one address for each name, of both kinds as it is told.
    private final class Server: Transport {
        enum Reply: Sendable { case address, none, failure, nothing, loss }

        let capabilities = TransportCapabilities.all
        /// How many questions nobody waits for any more.
        let abandoned = Monitor(0)
        let asked = Monitor(0)
        private let reply: @Sendable (String, DNSMessage.Kind) -> Reply

        /// - Parameter reply: given the name and the kind of address that is asked for.
        init(_ reply: @escaping @Sendable (String, DNSMessage.Kind) -> Reply) {
            self.reply = reply
        }

        func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
            guard case .bytes(let question) = exchange.request.body.source, question.count > 17,
                let kind = DNSMessage.Kind(rawValue: UInt16(question[question.count - 3]))
            else { throw TransportError(.other, sendState: .unsent) }
            let name = String(decoding: question.dropFirst(13).prefix(Int(question[12])), as: UTF8.self)
            asked.withLock { $0 += 1 }
            var records: [[UInt8]] = []
            var flags = 0x8180
            switch reply(name, kind) {
            case .address:
                let bytes: [UInt8] = kind == .a ? [1, 0, 0, 1] : [UInt8](repeating: 0, count: 15) + [1]
                records = [DNSBytes.record(DNSBytes.asked, Int(kind.rawValue), bytes)]
            case .none: break
            case .failure: flags = 0x8182
            case .loss: throw TransportError(.connectionLost, sendState: .maybeProcessed)
            case .nothing:
                let hangs = Monitor(true)
                await withTaskCancellationHandler {
                    await hangs.wait { !$0 }
                } onCancel: {
                    hangs.withLock { $0 = false }
                }
                abandoned.withLock { $0 += 1 }
                throw TransportError(.cancelled, sendState: .maybeProcessed)
            }
            let body = DNSBytes.answer(flags: flags, to: "\(name).example", type: Int(kind.rawValue), records)
            return TransportResponse(
                HTTPResponse(status: 200, fields: [.contentType: "application/dns-message"], body: body))
        }

        func shutdown() async {}
    }

    private struct Other: HostSource {
        func answer(for host: String, port: Int) async -> HostAnswer? { HostAnswer([two]) }
    }

    private static func source(_ server: Server, _ clock: TestClock = TestClock()) throws -> DNSOverHTTPS {
        var source = try DNSOverHTTPS("https://dns.example/dns-query", over: server)
        source.time = clock.timeSource
        return source
    }

    @Test("A name that a name server has not found out goes to the next source, and no other name does")
    func failure() async throws {
        let server = Server { name, kind in name == "bad" ? .failure : kind == .a ? .address : .none }
        let resolver = HostResolver([try Self.source(server), Other()])
        for _ in 0..<2 { #expect(await resolver.addresses(of: "bad.example", port: 443) == [Self.two]) }
        #expect(await resolver.addresses(of: "good.example", port: 443) == [Self.one])
        let alone = HostResolver([try Self.source(server)], fallsBackToSystem: false)
        #expect(await alone.addresses(of: "bad.example", port: 443) == nil)
        #expect(await alone.addresses(of: "good.example", port: 443) == [Self.one])
    }

    @Test("What was known of a name stays where the name server has not found out", .covers("X17"))
    func stale() async throws {
        let (clock, isBad) = (TestClock(), Locked(false))
        let server = Server { _, kind in isBad.withLock { $0 } ? .failure : kind == .a ? .address : .none }
        let resolver = HostResolver([try Self.source(server, clock)], time: clock.timeSource)
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        isBad.withLock { $0 = true }
        clock.advance(by: .seconds(301))
        while !Task.isCancelled, server.asked.withLock({ $0 }) < 6 {
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            // Who asks anew is given time to, since what is known does not hold for ever.
            for _ in 0..<100 { await Task.yield() }
            clock.advance(by: .seconds(6))
        }
    }

    @Test("A server that is well answers for both kinds, or says that it does not know, whatever became of one of them")
    func oneKind() async throws {
        for (new, old, isFailure) in [
            (.failure, .none, false), (.none, .failure, false), (.failure, .loss, false), (.loss, .failure, false),
            (.loss, .none, true), (.loss, .loss, true),
        ] as [(Server.Reply, Server.Reply, Bool)] {
            let source = try Self.source(Server { _, kind in kind == .aaaa ? new : old })
            let error = await #expect(throws: (any Error).self) { try await source.answer(for: "a.example", port: 443) }
            #expect((error as? HostSourceError == .unanswered("a.example")) == !isFailure)
        }
        let source = try Self.source(Server { _, kind in kind == .aaaa ? .failure : .address })
        #expect(try await source.answer(for: "a.example", port: 443)?.addresses == [Self.one])
    }

    @Test("Once the addresses of one kind have come, the others have 50 ms", arguments: [true, false])
    func slowKind(isNewSlow: Bool) async throws {
        let clock = TestClock()
        let server = Server { name, kind in name == "slow" && (kind == .aaaa) == isNewSlow ? .nothing : .address }
        let resolver = HostResolver([try Self.source(server, clock), Other()], time: clock.timeSource)
        let answer = Monitor<[HostAddress]??>(nil)
        let asking = Task {
            let addresses = await resolver.addresses(of: "slow.example", port: 443)
            answer.withLock { $0 = .some(addresses) }
        }
        // The resolver's patience, and what is left of the source's.
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(50) - .nanoseconds(1))
        for _ in 0..<200 { await Task.yield() }
        #expect(answer.withLock { $0 } == nil)
        clock.advance(by: .nanoseconds(1))
        await asking.valueOfTest
        #expect(answer.withLock { $0 } == [isNewSlow ? Self.one : HostAddress(trusted: "::1")])
        await server.abandoned.waitUnlessCancelled { $0 >= 1 }
        let both = await resolver.addresses(of: "quick.example", port: 443)
        #expect(both.map(Set.init) == [Self.one, HostAddress(trusted: "::1")])
    }

    @Test("That there are no addresses of one kind says nothing of the other, which is waited for")
    func noneOfOneKind() async throws {
        let clock = TestClock()
        let server = Server { _, kind in kind == .aaaa ? .none : .nothing }
        let resolver = HostResolver(
            [try Self.source(server, clock), Other()], patience: .seconds(2), time: clock.timeSource)
        async let addresses = resolver.addresses(of: "a.example", port: 443)
        await server.asked.waitUnlessCancelled { $0 >= 2 }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        #expect(await addresses == [Self.two])
    }
}
