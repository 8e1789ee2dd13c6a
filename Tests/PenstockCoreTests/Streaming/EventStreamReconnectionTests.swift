import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventStreamReconnectionTests {
    typealias Policy = EventStreamReconnection

    private func decide(
        _ ending: Policy.Ending, of sent: Policy.Sent = .init(.get), id: String = "", retry: Duration? = nil,
        failures: Int = 1, seed: UInt64 = 0, _ policy: Policy = .init()
    ) -> Policy.Decision {
        var random = Seeded(seed: seed)
        return policy.decide(ending, of: sent, lastEventID: id, retry: retry, failures: failures, using: &random)
    }

    /// The delays of many decisions.
    private func delays(retry: Duration? = nil, failures: Int, _ policy: Policy = .init()) -> [Duration] {
        (UInt64(0)..<500).compactMap { seed in
            let decision = decide(.failed(.connectionLost), retry: retry, failures: failures, seed: seed, policy)
            return if case .reconnect(let delay, _) = decision { delay } else { nil }
        }
    }

    @Test("A stream that came to its end is opened again after the time the server said, or 3 s")
    func completed() {
        #expect(decide(.completed) == .reconnect(after: .seconds(3), lastEventID: nil))
        #expect(decide(.completed, retry: .seconds(7)) == .reconnect(after: .seconds(7), lastEventID: nil))
        #expect(decide(.completed, Policy(delay: .seconds(1))) == .reconnect(after: .seconds(1), lastEventID: nil))
    }

    @Test("By default it waits 3 to 30 s, a server may ask for 0.1 to 600 s, and nothing ends it")
    func defaults() {
        #expect(Policy().delay == .seconds(3) && Policy().maxDelay == .seconds(30) && Policy().maxFailures == nil)
        #expect(Policy().serverDelays == .milliseconds(100) ... .seconds(600))
    }

    @Test("A server can neither have itself flooded nor put us off for ever")
    func bounds() {
        #expect(decide(.completed, retry: .zero) == .reconnect(after: .milliseconds(100), lastEventID: nil))
        #expect(
            decide(.completed, retry: .milliseconds(Int.max)) == .reconnect(after: .seconds(600), lastEventID: nil))
    }

    @Test(
        "The last id goes along where there is one that a field can hold",
        arguments: [("", nil), ("7", "7"), ("é x", "é x"), ("a\u{1}", nil)] as [(String, String?)])
    func lastEventID(_ id: String, _ sent: String?) {
        #expect(decide(.completed, id: id) == .reconnect(after: .seconds(3), lastEventID: sent))
    }

    @Test("204 and the app end the stream")
    func stop() {
        #expect(decide(.status(204)) == .stop)
        #expect(decide(.failed(.cancelled)) == .stop)
    }

    @Test(
        "Another status or another type fails, however transient it looks", arguments: [200, 201, 301, 404, 500, 503])
    func refused(_ status: Int) {
        #expect(decide(.status(status)) == .fail(.status(status)))
        #expect(decide(.contentType("text/html")) == .fail(.contentType("text/html")))
        #expect(decide(.contentType(nil)) == .fail(.contentType(nil)))
    }

    @Test(
        "A failure is tried again",
        arguments: [
            .connectionLost, .unreachable(.offline), .unreachable(.nameNotResolved), .timeout(.connect),
            .tls(.handshake),
            .protocolViolation, .limitExceeded(.minimumThroughput), .other,
        ] as [TransportError.Kind])
    func failed(_ kind: TransportError.Kind) {
        guard case .reconnect = decide(.failed(kind)) else {
            Issue.record("not tried again")
            return
        }
    }

    @Test(
        "A failure that would come again is not tried again",
        arguments: [
            .tls(.untrusted), .tls(.expired), .tls(.wrongHost), .tls(.trustMaterial), .limitExceeded(.headerBytes),
            .limitExceeded(.expansionRatio), .requestBody, .unsupported("it"),
        ] as [TransportError.Kind])
    func futile(_ kind: TransportError.Kind) {
        #expect(decide(.failed(kind)) == .fail(.futile(kind)))
    }

    @Test(
        "After failures the delay lies anywhere between the time asked for and that time doubled for each, up to 30 s",
        arguments: [(1, 6), (2, 12), (3, 24), (4, 30), (5, 30), (1_000, 30), (Int.max, 30), (0, 6)])
    func backOff(_ failures: Int, _ longest: Int) throws {
        let delays = delays(failures: failures)
        let (least, most) = (try #require(delays.min()), try #require(delays.max()))
        let (shortest, longest) = (Duration.seconds(3), Duration.seconds(longest))
        #expect(least >= shortest && most <= longest)
        // The whole span is used.
        #expect(least < shortest + (longest - shortest) * 0.1)
        #expect(most > longest - (longest - shortest) * 0.1)
    }

    @Test("After failures nobody comes earlier than the server asked, nor in a busy loop")
    func serverTimes() {
        #expect(delays(retry: .seconds(60), failures: 3).allSatisfy { $0 == .seconds(60) })
        let eager = delays(retry: .zero, failures: 5)
        #expect(eager.allSatisfy { $0 >= .milliseconds(100) && $0 <= .seconds(30) })
        #expect(eager.contains { $0 > .seconds(20) })
        // From a second on it doubles, however soon a server wants to be asked again.
        for (failures, longest) in [(1, 2), (2, 4)] {
            let early = delays(retry: .zero, failures: failures)
            #expect(early.allSatisfy { $0 >= .milliseconds(100) && $0 <= .seconds(longest) })
            #expect(early.contains { $0 > .seconds(longest) * 0.9 })
        }
    }

    @Test("The longest delay is one that is drawn, and the time doubles 32 times at most")
    func longest() {
        func longest(_ failures: Int, _ policy: Policy) -> Policy.Decision {
            var random = RandomSource { .max }
            return policy.decide(
                .failed(.connectionLost), of: .init(.get), lastEventID: "", retry: nil, failures: failures,
                using: &random)
        }
        #expect(longest(1, .init()) == .reconnect(after: .seconds(6), lastEventID: nil))
        #expect(longest(9, .init()) == .reconnect(after: .seconds(30), lastEventID: nil))
        let patient = Policy(delay: .zero, maxDelay: .seconds(1 << 40))
        for (failures, doublings) in [(31, 31), (32, 32), (33, 32), (.max, 32)] {
            #expect(longest(failures, patient) == .reconnect(after: .seconds(1 << doublings), lastEventID: nil))
        }
        // What makes no sense neither crashes nor makes anybody come earlier than was asked.
        for most in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            #expect(longest(99, Policy(maxDelay: most)) == .reconnect(after: .seconds(3), lastEventID: nil))
        }
    }

    @Test("Failures in a row may be limited")
    func tooMany() {
        let policy = Policy(maxFailures: 2)
        #expect(delays(failures: 2, policy).count == 500)
        #expect(decide(.failed(.other), failures: 3, policy) == .fail(.tooManyFailures(3)))
        #expect(decide(.failed(.other), failures: 1, Policy(maxFailures: 0)) == .fail(.tooManyFailures(1)))
    }

    // MARK: What is sent again

    @Test(
        "After a whole answer only what is safe is asked for once more, whatever may be sent twice",
        arguments: [HTTPMethod.get, .head, .options, .trace, .put, .delete, .post, .patch], [false, true])
    func completed(method: HTTPMethod, isDeclared: Bool) {
        let again = Policy.Decision.reconnect(after: .seconds(3), lastEventID: nil)
        for state in [SendState.unprocessed, .answered] {
            let sent = Policy.Sent(method, isDeclaredIdempotent: isDeclared, state)
            #expect(decide(.completed, of: sent) == (method.isSafe ? again : .stop))
        }
    }

    @Test(
        "After a break a request is sent again that is idempotent, is declared so, or was provably not processed",
        arguments: [
            (.get, false, .answered, true), (.put, false, .answered, true), (.delete, false, .maybeProcessed, true),
            (.post, false, .answered, false), (.patch, false, .maybeProcessed, false), (.post, true, .answered, true),
            (.post, false, .unprocessed, true), (.post, false, .unsent, true),
        ] as [(HTTPMethod, Bool, SendState, Bool)])
    func broken(method: HTTPMethod, isDeclared: Bool, state: SendState, isAgain: Bool) {
        let sent = Policy.Sent(method, isDeclaredIdempotent: isDeclared, state)
        let decision = decide(.failed(.connectionLost), of: sent)
        guard case .reconnect = decision else {
            #expect(!isAgain && decision == .fail(.mayHaveBeenProcessed))
            return
        }
        #expect(isAgain)
        // What else there is to say goes first.
        #expect(decide(.failed(.cancelled), of: sent) == .stop && decide(.status(204), of: sent) == .stop)
        #expect(decide(.failed(.requestBody), of: sent) == .fail(.futile(.requestBody)))
    }

    @Test("A request was answered unless it is said how far it has come, and nothing says that it may be sent twice")
    func sentByDefault() {
        #expect(Policy.Sent(.post) == Policy.Sent(.post, isDeclaredIdempotent: false, .answered))
    }

    @Test("Who wants one connection gets no other, and hears why it ended")
    func never() {
        #expect(Policy().isAllowed && !Policy.never.isAllowed && Policy.never == Policy(isAllowed: false))
        #expect(decide(.completed, .never) == .stop)
        #expect(decide(.failed(.connectionLost), .never) == .fail(.notAllowed))
        #expect(decide(.failed(.connectionLost), of: .init(.post, .unsent), .never) == .fail(.notAllowed))
        #expect(decide(.failed(.cancelled), .never) == .stop && decide(.status(500), .never) == .fail(.status(500)))
    }

    @Test(
        "A head is that of an event stream by its status and its type, parameters aside",
        arguments: [
            (200, "text/event-stream", nil), (200, "Text/Event-Stream ; charset=latin1", nil),
            (200, "text/event-streams", .contentType("text/event-streams")), (200, nil, .contentType(nil)),
            (200, "text/plain; a=text/event-stream", .contentType("text/plain; a=text/event-stream")),
            (204, nil, .status(204)), (500, "text/event-stream", .status(500)),
        ] as [(Int, String?, Policy.Ending?)])
    func heads(_ status: Int, _ type: String?, _ ending: Policy.Ending?) {
        var fields = HTTPFields()
        fields[.contentType] = type
        #expect(Policy.Ending(refusing: HTTPResponse(status: status, fields: fields)) == ending)
    }
}
