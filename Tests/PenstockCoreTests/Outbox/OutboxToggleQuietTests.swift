import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A like that is tapped again and again before a server that answers at once.
@Suite(.timeLimit(.minutes(5)), .covers("S3.12"))
struct OutboxToggleQuietTests {
    private static func toggle(
        _ rig: OutboxRig, quiet: Duration? = nil
    ) async throws -> OutboxToggle<SetLike> {
        guard let quiet else {
            return try await OutboxToggle("like/1", initially: false, in: rig.outbox) {
                SetLike(product: 1, isLiked: $0)
            }
        }
        return try await OutboxToggle("like/1", initially: false, in: rig.outbox, quiet: quiet) {
            SetLike(product: 1, isLiked: $0)
        }
    }

    /// One whose first tap the server has, and whose second one rests.
    private static func resting(_ rig: OutboxRig) async throws -> OutboxToggle<SetLike> {
        rig.outbox.start()
        let like = try await toggle(rig)
        like.set(true)
        try await like.settled()
        like.set(false)
        try await like.stored()
        return like
    }

    /// A server that answers at once.
    private static func server() -> StubTransport {
        StubTransport { $0.method == .post ? .json(#"{"id":7,"name":"tea"}"#) : HTTPResponse(status: 200) }
    }

    /// What the server was told, in order.
    private static func told(_ stub: StubTransport) -> [Bool] {
        stub.requests.map { $0.text.contains(#""isLiked":true"#) }
    }

    @Test(
        "Ten taps before a server that answers at once are two writes, and the server has the last", arguments: [10, 9])
    func spread(taps: Int) async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        for tap in 1...taps {
            like.toggle()
            #expect(like.value == !tap.isMultiple(of: 2), "shown at once")
            try await like.stored()
            if tap == 1 {
                try await like.settled()
                #expect(Self.told(stub) == [true], "the first is sent at once")
            } else {
                // The sender waits for the end of the quiet period.
                await rig.clock.waitForSleepers(count: 1)
            }
            rig.clock.advance(by: .milliseconds(150))
        }
        #expect(Self.told(stub) == [true])
        await rig.advance(by: .milliseconds(50)) { stub.requests.count == 2 }
        try await like.settled()
        #expect(Self.told(stub) == [true, !taps.isMultiple(of: 2)])
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    @Test("Ten taps at one moment are two writes at most, and the server has the last", arguments: [10, 9])
    func together(taps: Int) async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        for _ in 1...taps { like.toggle() }
        let isSettled = Locked(false)
        async let end: Void = {
            defer { isSettled.withLock { $0 = true } }
            try await like.settled()
        }()
        await rig.advance(by: .milliseconds(50)) { isSettled.withLock { $0 } }
        try await end
        #expect((1...2).contains(stub.requests.count))
        #expect(Self.told(stub).last == !taps.isMultiple(of: 2))
        await rig.outbox.close()
    }

    @Test(
        "A tap after a quiet period is sent at once, and so is each where none is asked for", arguments: [true, false])
    func apart(isQuiet: Bool) async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let like = try await Self.toggle(rig, quiet: isQuiet ? .seconds(2) : .zero)
        for tap in 1...4 {
            like.toggle()
            // The clock stands still.
            try await like.settled()
            #expect(stub.requests.count == tap)
            if isQuiet { rig.clock.advance(by: .seconds(2)) }
        }
        #expect(Self.told(stub) == [true, false, true, false])
        await rig.outbox.close()
    }

    @Test("When the write after the quiet period fails, what the first has set is shown")
    func rolledBack() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: request.text.contains(#""isLiked":true"#) ? 200 : 403)
        }
        let rig = OutboxRig(stub)
        let like = try await Self.resting(rig)
        #expect(!like.value)
        await rig.advance(by: .milliseconds(50)) { stub.requests.count == 2 }
        await #expect {
            try await like.settled()
        } throws: { error in
            if case .undeliverable(let failure, _) = error as? OutboxError { failure.status == 403 } else { false }
        }
        #expect(like.value, "what the server has")
        await rig.outbox.close()
    }

    @Test("What is tapped within the quiet period survives the end of the app, and is sent without a wait by the next")
    func restart() async throws {
        let (store, stub) = (MemoryOutboxStore(), Self.server())
        let first = OutboxRig(stub, store: store)
        first.outbox.start()
        do {
            let like = try await Self.toggle(first)
            like.set(true)
            try await like.settled()
            like.set(false)
            try await like.stored()
        }
        await first.outbox.close()
        #expect(Self.told(stub) == [true])
        let rig = OutboxRig(stub, store: store)
        let like = try await Self.toggle(rig)
        #expect(!like.value, "the last tap")
        rig.outbox.start()
        // The clock stands still.
        try await like.settled()
        #expect(Self.told(stub) == [true, false])
        await rig.outbox.close()
    }

    @Test("Whoever wakes the outbox does not wait for the quiet period")
    func woken() async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        let like = try await Self.resting(rig)
        rig.outbox.wake()
        try await like.settled()
        #expect(Self.told(stub) == [true, false])
        await rig.outbox.close()
    }

    @Test("A clock that is set back while a tap rests has nobody wait for that", arguments: [299.0, 5, 1.5])
    func clockSetBack(by seconds: TimeInterval) async throws {
        let (stub, behind) = (Self.server(), Locked(0.0))
        let rig = OutboxRig(stub) { configuration in
            let base = configuration.time
            configuration.time = TimeSource(
                now: base.now, date: { base.date().addingTimeInterval(-behind.withLock { $0 }) }, sleep: base.sleep)
        }
        let like = try await Self.resting(rig)
        behind.withLock { $0 = seconds }
        let start = rig.clock.now.offset
        await rig.advance(by: .milliseconds(1)) { stub.requests.count == 2 }
        #expect(rig.clock.now.offset - start < .seconds(seconds))
        try await like.settled()
        #expect(Self.told(stub) == [true, false])
        await rig.outbox.close()
    }

    @Test(
        "What rests is discarded, and forgotten when its user signs out, and nothing of it is sent",
        arguments: [true, false])
    func removed(isDiscarded: Bool) async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        let like = try await Self.resting(rig)
        if isDiscarded {
            let id = try #require(try await rig.outbox.pending().first?.id)
            #expect(try await rig.outbox.discard(id))
        } else {
            rig.user.withLock { $0 = "ben" }
            #expect(try await rig.outbox.forget(identity: "anna") == 1)
        }
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(like.value, "what the server has")
        rig.clock.advance(by: .seconds(1))
        // Whatever was to be sent is sent before another one's.
        _ = try await rig.outbox.put(BookOrder()).value
        #expect(stub.requests.count == 2)
        await rig.outbox.close()
    }

    @Test("Writes behind what rests in its lane are sent after it, and other lanes go on")
    func others() async throws {
        let stub = Self.server()
        let rig = OutboxRig(stub)
        let like = try await Self.resting(rig)
        _ = try await rig.outbox.put(BookOrder()).value
        #expect(stub.requests.map(\.url.path).last == "/carts/1/orders")
        #expect(stub.requests.count == 2)
        await rig.advance(by: .milliseconds(50)) { stub.requests.count == 3 }
        try await like.settled()
        await rig.outbox.close()
    }
}
