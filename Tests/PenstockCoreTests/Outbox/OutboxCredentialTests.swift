import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Writes whose credential is out of date, which a server may say by a status or by a code in a 2xx.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxCredentialTests {
    /// How a server says that the credential is out of date.
    enum Word: CaseIterable {
        case unauthorised, ownStatus, code, codeOfError

        var response: HTTPResponse {
            switch self {
            case .unauthorised: HTTPResponse(status: 401)
            case .ownStatus: HTTPResponse(status: 423)
            case .code: .json(#"{"retcode":40101,"retdesc":"expired","data":null}"#)
            case .codeOfError: .json(#"{"retcode":40101,"retdesc":"expired","data":null}"#, status: 403)
            }
        }
    }

    private static let product = HTTPResponse.json(#"{"retcode":0,"data":{"id":7,"name":"tea"}}"#)

    /// Answers those who come with the new token.
    private static func stub(_ word: Word) -> StubTransport {
        StubTransport { $0.fields[.authorization] == "Bearer new" ? product : word.response }
    }

    private static func rig(
        _ transport: any Transport, store: any OutboxStore = MemoryOutboxStore(), total: Duration? = nil,
        logIn: BearerAuthenticator.LogIn? = nil, refresh: BearerAuthenticator.Refresh? = nil
    ) -> OutboxRig {
        OutboxRig(transport, store: store) { configuration in
            configuration.vault = MemoryVault()
            configuration.options.timeouts.total = total
            configuration.options.status = StatusRule.success.openingEnvelopeOfFailures()
            configuration.services = ServiceRegistry([
                Service(
                    .main, [.development: "https://api.example.com"], envelope: .retcode,
                    authenticator: BearerAuthenticator(
                        expiry: ExpiryRule(statuses: [401, 423], codes: [40101]), refresh: refresh, logIn: logIn))
            ])
        }
    }

    private static func signIn(_ rig: OutboxRig, _ token: String) async throws {
        try await rig.client.signIn(Credential(token, refreshToken: "r1", obtained: rig.clock.timeSource.date()))
    }

    /// A write that was refused for its credential is on disk without a doubt, and is delivered with the next one.
    private static func expectKept(_ rig: OutboxRig, _ receipt: OutboxReceipt<Product>, _ comment: Comment) async throws
    {
        await rig.advance { receipt.state.isWaiting || receipt.state.isLast || receipt.state.isFailed }
        #expect(receipt.state.isWaiting, comment)
        let row = try #require(try await rig.store.row(receipt.id), comment)
        #expect(row.unanswered == nil, comment)
        try await signIn(rig, "new")
        rig.outbox.wake()
        #expect(try await receipt.value.name == "tea", comment)
        await rig.outbox.close()
    }

    @Test(
        "A write waits for another credential when its own cannot be renewed, however the server and the renewal say so"
    )
    func notRenewed() async throws {
        for word in Word.allCases {
            for failure in [AuthenticationFailure.unavailable, .rejected, .lost, .missing] {
                let rig = Self.rig(Self.stub(word), refresh: { _, _ in throw failure })
                try await Self.signIn(rig, "old")
                let receipt = try await rig.outbox.put(BookOrder())
                rig.outbox.start()
                try await Self.expectKept(rig, receipt, "\(word), \(failure)")
            }
        }
    }

    @Test("A write waits for another credential when the user does not want to sign in")
    func loginCancelled() async throws {
        for word in Word.allCases {
            let rig = Self.rig(Self.stub(word), logIn: { _, _ in throw CancellationError() })
            try await Self.signIn(rig, "old")
            let receipt = try await rig.outbox.put(BookOrder())
            rig.outbox.start()
            try await Self.expectKept(rig, receipt, "\(word)")
        }
    }

    @Test("A write that goes without a credential waits for one, by a code of the envelope as by 401")
    func withoutCredential() async throws {
        for word in Word.allCases {
            let rig = Self.rig(Self.stub(word))
            let receipt = try await rig.outbox.put(BookOrder())
            rig.outbox.start()
            try await Self.expectKept(rig, receipt, "\(word)")
        }
    }

    @Test("A write that is refused with its new credential as well waits for another one")
    func refusedTwice() async throws {
        for word in Word.allCases {
            let rig = Self.rig(Self.stub(word), refresh: { _, _ in Credential("no better") })
            try await Self.signIn(rig, "old")
            let receipt = try await rig.outbox.put(BookOrder())
            rig.outbox.start()
            try await Self.expectKept(rig, receipt, "\(word)")
        }
    }

    /// A write that was refused, whose credential is being renewed for ever.
    private static func renewing(
        _ word: Word, store: any OutboxStore, total: Duration? = nil, _ desk: TokenDesk
    ) async throws -> OutboxRig {
        desk.close()
        let rig = Self.rig(
            stub(word), store: store, total: total,
            refresh: { old, _ in
                await desk.refresh(old)
                throw AuthenticationFailure.unavailable
            })
        try await signIn(rig, "old")
        return rig
    }

    @Test("A write whose credential is being renewed when the outbox closes is on disk, and the next one delivers it")
    func closedMeanwhile() async throws {
        for word in Word.allCases {
            let (store, desk) = (MemoryOutboxStore(), TokenDesk())
            let rig = try await Self.renewing(word, store: store, desk)
            let receipt = try await rig.outbox.put(BookOrder())
            rig.outbox.start()
            await desk.untilRefreshed()
            await rig.outbox.close()
            desk.open()
            #expect(receipt.state == .closed, "\(word)")
            let next = Self.rig(Self.stub(word), store: store)
            try await Self.signIn(next, "new")
            let again = try #require(try await next.outbox.receipt(for: receipt.id, BookOrder.self), "\(word)")
            next.outbox.start()
            #expect(try await again.value.name == "tea", "\(word)")
            await next.outbox.close()
        }
    }

    @Test("A write whose credential is being renewed when its time is over waits for another one")
    func timedOutMeanwhile() async throws {
        for word in Word.allCases {
            let desk = TokenDesk()
            let rig = try await Self.renewing(word, store: MemoryOutboxStore(), total: .seconds(5), desk)
            let receipt = try await rig.outbox.put(BookOrder())
            rig.outbox.start()
            await desk.untilRefreshed()
            try await Self.expectKept(rig, receipt, "\(word)")
            desk.open()
        }
    }

    @Test("A write that a logout keeps is kept, too, where its credential is being renewed meanwhile")
    func forgottenMeanwhile() async throws {
        for word in Word.allCases {
            let (store, desk) = (MemoryOutboxStore(), TokenDesk())
            let rig = try await Self.renewing(word, store: store, desk)
            let receipt = try await rig.outbox.put(KeepEntry(text: "a"))
            rig.outbox.start()
            await desk.untilRefreshed()
            #expect(try await rig.outbox.forget(identity: "anna") == 0)
            await rig.advance { receipt.state.isWaiting || receipt.state.isLast || receipt.state.isFailed }
            #expect(receipt.state.isWaiting, "\(word)")
            #expect(try await store.row(receipt.id) != nil, "\(word)")
            desk.open()
            await rig.outbox.close()
        }
    }

    @Test("The app is asked about a code that says nothing of the credential")
    func otherCode() async throws {
        let rig = Self.rig(
            StubTransport { _ in .json(#"{"retcode":5,"retdesc":"sold out"}"#) },
            refresh: { _, _ in throw AuthenticationFailure.unavailable })
        try await Self.signIn(rig, "old")
        let receipt = try await rig.outbox.put(BookOrder())
        rig.outbox.start()
        await rig.advance(until: receipt)
        #expect(receipt.state == .undeliverable(OutboxFailure(.business)))
        await rig.outbox.close()
    }
}
