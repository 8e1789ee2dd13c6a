import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite struct ChannelPolicyTests {
    @Test("After so long without a byte the other end is asked, and after so long without an answer given up")
    func keepAlive() {
        var beat = KeepAlive(interval: .seconds(10), patience: .seconds(5), now: .seconds(100))
        #expect(beat.next(.seconds(100)) == .wait(.seconds(10)))
        #expect(beat.next(.milliseconds(109_999)) == .wait(.milliseconds(1)))
        #expect(beat.next(.seconds(110)) == .ask)
        #expect(beat.next(.seconds(110)) == .wait(.seconds(5)))
        #expect(beat.next(.milliseconds(114_999)) == .wait(.milliseconds(1)))
        var silent = beat
        #expect(silent.next(.seconds(115)) == .giveUp)
        beat.heard(.seconds(114))
        #expect(beat.next(.seconds(115)) == .wait(.seconds(9)))
        #expect(beat.next(.seconds(124)) == .ask)
        var patient = KeepAlive(interval: .seconds(1), patience: .seconds(60), now: .zero)
        #expect(patient.next(.seconds(1)) == .ask)
        #expect(patient.next(.seconds(1)) == .wait(.seconds(1)))
        #expect(patient.next(.milliseconds(60_500)) == .wait(.milliseconds(500)))
    }

    @Test("The time for an answer counts from when the question is written, and has no question where bytes have come")
    func asked() {
        var beat = KeepAlive(interval: .seconds(10), patience: .seconds(5), now: .zero)
        #expect(beat.next(.seconds(10)) == .ask)
        var answered = beat
        beat.wasAsked(.seconds(40))
        #expect(beat.next(.seconds(40)) == .wait(.seconds(5)))
        #expect(beat.next(.seconds(45)) == .giveUp)
        answered.heard(.seconds(39))
        answered.wasAsked(.seconds(40))
        #expect(answered.next(.seconds(48)) == .wait(.seconds(1)))
        #expect(answered.next(.seconds(49)) == .ask)
    }

    @Test(
        "Only what another try may mend is tried again",
        arguments: [
            (.failed(.connectionLost), true), (.failed(.timeout(.idle)), true),
            (.failed(.unreachable(.connectionRefused)), true), (.failed(.tls(.handshake)), true),
            (.failed(.other), true),
            (.failed(.cancelled), false), (.failed(.tls(.untrusted)), false), (.failed(.protocolViolation), false),
            (.failed(.unsupported("x")), false), (.failed(.limitExceeded(.bodyBytes)), false), (.status(503), true),
            (.status(429), true), (.status(401), false), (.status(404), false), (.closed(.goingAway), true),
            (.closed(.abnormal), true), (.closed(.internalError), true), (.closed(.normal), false),
            (.closed(.policyViolation), false), (.closed(.protocolError), false), (.broken, false),
            (.unavailable, true),
        ] as [(ChannelReconnection.Ending, Bool)])
    func mending(ending: ChannelReconnection.Ending, helps: Bool) {
        var random = Seeded(seed: 1)
        #expect((ChannelReconnection().delay(after: ending, failures: 1, using: &random) != nil) == helps)
    }

    @Test(
        "What ends before anything is sent is an end that another try may mend where the moment is to blame",
        arguments: [
            (.unavailable(reason: "x"), .unavailable), (.authentication(.unavailable), .unavailable),
            (.authentication(.vault(.locked)), .unavailable), (.authentication(.rejected), .broken),
            (.authentication(.lost), .broken), (.authentication(.missing), .broken),
            (.unreachable(.connectionRefused), .failed(.unreachable(.connectionRefused))),
            (.timeout(.connect), .failed(.timeout(.connect))), (.cancelled, .broken), (.blocked(reason: "x"), .broken),
            (.httpStatus(503), .status(503)),
        ] as [(APIError.Kind, ChannelReconnection.Ending)])
    func endings(kind: APIError.Kind, ending: ChannelReconnection.Ending) {
        #expect(ChannelFault(APIError(kind, stage: .admission)).ending == ending)
        let told = APIError(kind, stage: .transport, underlying: TransportError(.connectionLost, sendState: .unsent))
        if ending == .broken { #expect(ChannelFault(told).ending == .failed(.connectionLost)) }
    }

    @Test("A connection is made again after these statuses and these codes, and after no others")
    func mendingNumbers() {
        var random = Seeded(seed: 1)
        func helps(_ ending: ChannelReconnection.Ending) -> Bool {
            ChannelReconnection().delay(after: ending, failures: 1, using: &random) != nil
        }
        #expect((100..<600).filter { helps(.status($0)) } == [408, 425, 429, 500, 502, 503, 504])
        #expect(
            (1_000..<5_000).filter { helps(.closed(WebSocketCloseCode(rawValue: $0))) }
                == [1_001, 1_005, 1_006, 1_011, 1_012, 1_013, 1_014])
        #expect(ChannelReconnection() == ChannelReconnection(backoff: Backoff(base: .seconds(1), cap: .seconds(30))))
        #expect(ChannelReconnection().maxFailures == nil)
    }

    @Test("The wait grows as the retry policy's does, and ends with so many failures in a row")
    func backoff() {
        let reconnection = ChannelReconnection(backoff: Backoff(base: .seconds(1), cap: .seconds(4)), maxFailures: 3)
        for failures in 1...4 {
            var (one, other) = (Seeded(seed: 7), Seeded(seed: 7))
            let delay = reconnection.delay(after: .failed(.connectionLost), failures: failures, using: &one)
            let expected = Backoff(base: .seconds(1), cap: .seconds(4)).delay(before: failures, using: &other)
            #expect(delay == (failures <= 3 ? expected : nil))
        }
    }

    // MARK: The answer to an upgrade

    private func reply(_ text: String, limits: ResponseLimits = .init(), step: Int = .max) throws -> (
        HTTPResponse?, UpgradeReply
    ) {
        var reply = UpgradeReply(limits)
        var rest = Data(text.utf8)
        var response: HTTPResponse?
        while !rest.isEmpty, response == nil {
            reply.receive(rest.prefix(step))
            rest = rest.dropFirst(step)
            response = try reply.next()
        }
        return (response, reply)
    }

    @Test("The head of a 101 is read however it is cut, and what follows is left", arguments: [1, 3, Int.max])
    func upgradeReply(step: Int) throws {
        let text =
            "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 199 Early\r\nLink: x\r\n\r\n"
            + "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nA: b\r\n\r\nrest"
        let (response, reply) = try reply(text, step: step)
        #expect(response?.status == 101 && response?.version == .http11)
        #expect(response?.fields.map { "\($0.name)=\($0.value)" } == ["Upgrade=websocket", "A=b"])
        #expect(Data("rest".utf8).starts(with: reply.rest))
        #expect(step != .max || reply.rest == Data("rest".utf8))
    }

    @Test("Of any other answer as much content is read as is announced")
    func refusal() throws {
        let (response, whole) = try reply("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nnopeX", step: 1)
        #expect(response?.status == 403)
        #expect(whole.content == Data("nop".utf8))
        let (early, _) = try reply("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nno")
        #expect(early == nil)
        let (bare, empty) = try reply("HTTP/1.0 500\r\n\r\n")
        #expect(bare?.version == .http10)
        #expect(empty.content.isEmpty)
        for length in ["-1", "x", "65537", "99999999999999999999"] {
            let (refused, unread) = try reply("HTTP/1.1 403 No\r\nContent-Length: \(length)\r\n\r\nabc")
            #expect(refused?.status == 403 && unread.content.isEmpty, "\(length)")
        }
        #expect(try reply("HTTP/1.1 403 No\r\nContent-Length: 65536\r\n\r\nabc").0 == nil)
        let (exact, all) = try reply("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnop")
        #expect(exact?.status == 200 && all.content == Data("nop".utf8))
        #expect(try reply("HTTP/1.1 999 What\r\n\r\n").0?.status == 999)
    }

    @Test("What follows a 101 is of the new protocol, whatever length is announced")
    func lengthOfSwitching() throws {
        let (response, reply) = try reply("HTTP/1.1 101 X\r\nContent-Length: 9\r\n\r\nrest")
        #expect(response?.status == 101)
        #expect(reply.content.isEmpty && reply.rest == Data("rest".utf8))
    }

    @Test(
        "An answer has begun with its status line, or with an interim one before it",
        arguments: [
            ("HTTP/1.1 10", false), ("HTTP/1.1 101 X\r\n", true), ("HTTP/1.1 103 X\r\n", true),
            ("HTTP/1.1 103 X\r\n\r\n", true), ("HTTP/1.1 103 X\r\n\r\nHTTP/1.1", true),
        ])
    func begun(text: String, hasBegun: Bool) throws {
        #expect(try reply(text).1.hasBegun == hasBegun)
        #expect(!UpgradeReply(.init()).hasBegun)
    }

    @Test("A head that breaks HTTP's grammar is refused, and the error says why")
    func brokenHeads() {
        for text in [
            "HTTP/1.1 101 X\nA: b\r\n\r\n", "HTTP/2 101 X\r\n\r\n", "HTTP/1.1 1001 X\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n",
            "HTTP/1.1 +10 X\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 101 X\r\nno colon\r\n\r\n",
            "HTTP/1.1 101 X\r\n: b\r\n\r\n",
            "HTTP/1.1 101 X\r\nA b: c\r\n\r\n", "HTTP/1.1 101 X\r\nA: b\u{0}\r\n\r\n", " HTTP/1.1 101 X\r\n\r\n",
            "\nHTTP/1.1 101 X\r\n\r\n", "HTTP/1.1 101 X\r\n\n", "HTTP/1.1 10: X\r\n\r\n", "HTTP/1.1 +99 X\r\n\r\n",
            "HTTP/1.1 11 X\r\n\r\n", "HTTP/1.1 101 X\r\nA: b\r\n c: d\r\n\r\n",
        ] {
            let error = #expect(throws: TransportError.self) { try reply(text) }
            #expect(error?.kind == .protocolViolation, "\(text)")
            #expect(error?.message.isEmpty == false, "\(text)")
        }
    }

    @Test("A head has its limits of bytes and of fields")
    func headLimits() throws {
        var limits = ResponseLimits()
        limits.headerCount = 2
        #expect(try reply("HTTP/1.1 101 X\r\nA: b\r\nC: d\r\n\r\n", limits: limits).0 != nil)
        #expect(throws: TransportError.self) {
            try reply("HTTP/1.1 101 X\r\nA: b\r\nC: d\r\nE: f\r\n\r\n", limits: limits)
        }
        limits.headerBytes = 20
        // To the byte, of whole lines and of one that has not ended, interim answers included.
        for (text, isRefused) in [
            ("HTTP/1.1 101 1234567", false), ("HTTP/1.1 101 12345678", true), ("HTTP/1.1 101 X\r\n1234", false),
            ("HTTP/1.1 101 X\r\n12345", true), ("HTTP/1.1 101 XYZ\r\n\r\n", false), ("HTTP/1.1 101 WXYZ\r\n\r\n", true),
            ("HTTP/1.1 103\r\n\r\n1234", false), ("HTTP/1.1 103\r\n\r\n12345", true),
        ] {
            for step in [1, Int.max] {
                do {
                    _ = try reply(text, limits: limits, step: step)
                    #expect(!isRefused, "\(text)")
                } catch let error as TransportError {
                    #expect(isRefused && error.kind == .limitExceeded(.headerBytes), "\(text)")
                }
            }
        }
        #expect(try reply("HTTP/1.1 101 XYZ\r\n\r\n", limits: limits).0 != nil)
    }

    // MARK: Replies

    @Test(
        "A reply goes to the request with its id, once; those to callers that have gone are nobody's", .covers("S3.40"))
    func replies() {
        var table = ReplyTable<Int, String>()
        let (one, other) = (Promise<Result<String, APIError>>(), Promise<Result<String, APIError>>())
        let taken = [table.expect(1, one), table.expect(2, other), table.expect(1, other)]
        #expect(taken == [true, true, false])
        guard case .expected(let found) = table.take(2), found === other else { return #expect(Bool(false)) }
        guard case .unknown = table.take(2) else { return #expect(Bool(false)) }
        table.forget(2, other)
        guard case .unknown = table.take(2) else { return #expect(Bool(false)) }
        table.forget(1, other)
        table.forget(1, one)
        guard case .late = table.take(1) else { return #expect(Bool(false)) }
        guard case .unknown = table.take(1) else { return #expect(Bool(false)) }
        _ = (table.expect(3, one), table.expect(4, other))
        table.noteSent(3, one)
        table.noteSent(4, one)
        let (sent, areAwaited) = (table.takeSent(), table.isAwaited)
        #expect(sent.count == 1 && sent.first === one && !areAwaited)
        let lost = [table.takeAll().count, table.takeAll().count]
        #expect(lost == [1, 0])
    }

    @Test("Of the callers that have gone 1,024 are remembered", .covers("S3.40"))
    func forgottenReplies() {
        var table = ReplyTable<Int, String>()
        let caller = Promise<Result<String, APIError>>()
        for id in 0...1_024 {
            _ = table.expect(id, caller)
            table.forget(id, caller)
        }
        guard case .unknown = table.take(0), case .late = table.take(1) else { return #expect(Bool(false)) }
    }
}
