import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What was answered counts, whatever becomes of the answer on its way to the outbox.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxAnswerTests {
    private struct Orders: Endpoint {
        typealias Output = Product
        var route: Route { .get("/orders") }
        var cacheTags: [String] { ["orders"] }
    }

    @Test(
        "A write that is delivered makes the reads that it names out of date, and one that is refused does not",
        .covers("S4.21"))
    func invalidation() async throws {
        let status = Locked(422)
        let stub = StubTransport { request in
            guard request.method == .post else { return .json(Self.text, fields: ["Cache-Control": "max-age=600"]) }
            return .json(Self.text, status: status.withLock { $0 })
        }
        let rig = OutboxRig(stub) { $0.cache = .store(MemoryCacheStore(time: $0.time)) }
        @Sendable func source() async throws -> ResponseSource {
            try await rig.client.response(for: Orders(), options: .cache(.http)).source
        }
        #expect(try await source() == .network)
        #expect(try await source() == .memory)
        rig.outbox.start()
        let refused = try await rig.outbox.put(BookOrder())
        await rig.advance(until: refused)
        #expect(refused.state == .undeliverable(OutboxFailure(.refused, status: 422)))
        #expect(try await source() == .memory)
        status.withLock { $0 = 200 }
        #expect(try await rig.outbox.put(BookOrder(cart: "2")).value.name == "tea")
        #expect(try await source() == .network)
        #expect(try await source() == .memory)
        await rig.outbox.close()
    }

    private static let text = #"{"id":7,"name":"tea"}"#
    private static let answer = HTTPResponse.json(#"{"id":7,"name":"tea"}"#)

    /// How an answer is lost on its way up.
    enum Loss: CaseIterable {
        case sealer, interceptor, interceptorsError

        func change(_ configuration: inout APIClient.Configuration) {
            switch self {
            case .sealer:
                configuration.services = ServiceRegistry([
                    Service(.main, [.development: "https://api.example.com"], sealer: ClosedEnvelope())
                ])
            case .interceptor:
                configuration.callInterceptors.append(
                    .closure { request, _, next in
                        _ = try await next(request)
                        throw Unsigned()
                    })
            case .interceptorsError:
                configuration.callInterceptors.append(
                    .closure { request, _, next in
                        _ = try await next(request)
                        throw APIError(.validation(rule: "signature"), stage: .callInterception)
                    })
            }
        }
    }

    struct Unsigned: Error {}

    struct ClosedEnvelope: Sealer {
        func seal(_ request: HTTPRequest, call: CallContext) -> HTTPRequest { request }
        func open(_ response: HTTPResponse, call: CallContext) throws -> HTTPResponse {
            throw APIError(.decryption, stage: .seal, sendState: .answered)
        }
    }

    @Test("A 2xx that a sealer cannot open, or that an interceptor refuses, is delivered", arguments: Loss.allCases)
    func delivered(loss: Loss) async throws {
        let stub = StubTransport { _ in Self.answer }
        let rig = OutboxRig(stub) { loss.change(&$0) }
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        #expect(stub.requests.count == 1)
        await #expect { try await receipt.value } throws: { error in
            if case .answer = error as? OutboxError { true } else { false }
        }
        await rig.outbox.close()
    }

    @Test("A write that was answered when the outbox closes is done, and nobody sends it again")
    func closedBehindTheAnswer() async throws {
        let (store, isAnswered) = (MemoryOutboxStore(), Monitor(false))
        let rig = OutboxRig(StubTransport { _ in Self.answer }, store: store) { configuration in
            configuration.callInterceptors.append(
                .closure { request, call, next in
                    let exchange = try await next(request)
                    isAnswered.withLock { $0 = true }
                    try await call.sleep(for: .seconds(60))
                    return exchange
                })
        }
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await isAnswered.waitUnlessCancelled { $0 }
        await rig.outbox.close()
        #expect(receipt.state == .done)
        #expect(try await store.row(receipt.id) == nil)
    }

    @Test(
        "A refusal that an interceptor hides is a refusal, and the app is asked about a conflict",
        arguments: Loss.allCases)
    func refused(loss: Loss) async throws {
        for (status, note, isDone) in [(404, nil, false), (409, "done", true)] as [(Int, String?, Bool)] {
            let rig = OutboxRig(StubTransport { _ in .json("{}", status: status) }) { loss.change(&$0) }
            rig.outbox.start()
            let receipt = try await rig.outbox.put(BookOrder(note: note))
            await rig.advance(until: receipt)
            let refusal = OutboxState.undeliverable(OutboxFailure(.refused, status: status))
            #expect(receipt.state == (isDone ? .done : refusal), "\(status)")
            await rig.outbox.close()
        }
    }

    @Test("A lost answer for which an interceptor has an error of its own leaves the write in doubt")
    func blockedInDoubt() async throws {
        let lost = StubTransport { _ throws(TransportError) in
            throw TransportError(.connectionLost, sendState: .maybeProcessed)
        }
        let rig = OutboxRig(lost) { configuration in
            configuration.callInterceptors.append(
                .closure { request, _, next in
                    do { return try await next(request) } catch { throw Unsigned() }
                })
        }
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .undeliverable(OutboxFailure(.blocked, mayBeProcessed: true)))
        await rig.outbox.close()
    }

    // MARK: Redirects

    @Test("A redirect that makes a GET of a write is not followed: nobody has taken the write", arguments: [301, 302])
    func madeAGet(status: Int) async throws {
        let stub = StubTransport { request in
            request.method == .post ? .redirect(status, to: "/orders/") : Self.answer
        }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .undeliverable(OutboxFailure(.refused, status: status)))
        #expect(stub.requests.map(\.method) == [.post])
        await rig.outbox.close()
    }

    @Test("A redirect that keeps the method is followed", arguments: [(HTTPMethod.post, 308), (.put, 301)])
    func kept(method: HTTPMethod, status: Int) async throws {
        let stub = StubTransport { request in
            request.url.path == "/there" ? Self.answer : .redirect(status, to: "/there")
        }
        let rig = OutboxRig(stub)
        rig.outbox.start()
        if method == .post {
            _ = try await rig.outbox.put(BookOrder()).value
        } else {
            try await rig.outbox.put(SetLike(product: 1, isLiked: true)).value
        }
        #expect(stub.requests.map(\.method) == [method, method])
        await rig.outbox.close()
    }

    @Test("See Other that must not be followed is done all the same")
    func seeOtherToPlain() async throws {
        let rig = OutboxRig(StubTransport { _ in .redirect(303, to: "http://api.example.com/status") })
        rig.outbox.start()
        let receipt = try await rig.outbox.put(BookOrder())
        await rig.advance(until: receipt)
        #expect(receipt.state == .done)
        await rig.outbox.close()
    }
}
