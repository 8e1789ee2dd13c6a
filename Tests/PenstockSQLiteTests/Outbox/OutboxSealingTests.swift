import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// What is sealed on its way does not lie on the disk in plain.
@Suite(.timeLimit(.minutes(2))) struct OutboxSealingTests {
    private static let scan = CanaryScan(["account": "swordfishaccount"])

    private struct Transfer: OutboxEndpoint {
        typealias Output = Void
        var account = "swordfishaccount"
        var choice: String?
        var route: Route { .post("/transfers") }
        var options: CallOptions {
            switch choice {
            case "sealed": .sealed
            case "plain": .plain
            default: .init()
            }
        }
    }

    private struct NoSealer: Sealer {
        func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest { request }
        func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse { response }
    }

    private struct Cipher: OutboxCipher {
        func seal(_ plain: Data, for context: String) throws -> Data { Data(plain.reversed()) }
        func open(_ sealed: Data, for context: String) throws -> Data { Data(sealed.reversed()) }
    }

    private static func outbox(_ store: any OutboxStore, cipher: (any OutboxCipher)?, seals: Bool) -> Outbox {
        let service = Service(.main, "https://api.example.com", sealer: seals ? NoSealer() : nil)
        let client = APIClient(.init(services: [service]), transport: StubTransport { _ in HTTPResponse(status: 200) })
        return Outbox(client, store: store, .init(endpoints: [Transfer.self], cipher: cipher))
    }

    @Test(
        "A write that is sealed is refused where it would be kept in plain, and the error says what to set",
        arguments: [
            (true, nil, true), (true, "sealed", true), (true, "plain", false), (false, nil, false),
            (false, "sealed", true),
        ] as [(Bool, String?, Bool)])
    func refused(seals: Bool, choice: String?, isRefused: Bool) async throws {
        let write = Transfer(choice: choice)
        let (plain, sealed) = (try Folder(), try Folder())
        let kept = Self.outbox(SQLiteOutboxStore(.init(file: plain.file)), cipher: nil, seals: seals)
        do throws(OutboxError) {
            _ = try await kept.put(write)
            #expect(!isRefused)
        } catch {
            guard case .request(let reason) = error, case .invalidConfiguration(let text) = reason.kind else {
                Issue.record("\(error)")
                return
            }
            #expect(isRefused && reason.stage == .seal && reason.sendState == .unsent)
            #expect(text.contains("cipher") && text.contains("Transfer"))
        }
        await kept.close()
        #expect(try Self.scan.found(inFolder: plain.url).values.allSatisfy(\.isEmpty) == isRefused)
        // With a cipher, or where nothing leaves the memory, it is taken.
        let hidden = Self.outbox(SQLiteOutboxStore(.init(file: sealed.file)), cipher: Cipher(), seals: seals)
        _ = try await hidden.put(write)
        await hidden.close()
        #expect(try Self.scan.found(inFolder: sealed.url).values.allSatisfy(\.isEmpty))
        #expect(try !sealed.bytes.isEmpty)
        _ = try await Self.outbox(MemoryOutboxStore(), cipher: nil, seals: seals).put(write)
    }
}
