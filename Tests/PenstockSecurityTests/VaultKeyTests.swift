import Foundation
import PenstockCore
import Testing

@testable import PenstockSecurity

/// Where a vault's key comes from, and what stands in for one that is not there.
@Suite(.timeLimit(.minutes(5))) struct VaultKeyTests {
    private static func error(_ body: () throws(VaultError) -> Data?) -> VaultError? {
        do throws(VaultError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    private static let good = Data(0..<32)

    // MARK: In a file

    @Test("A key that is missing is made where it may be, and is that one from then on; else the vault is locked")
    func missing() throws {
        let folder = try Folder()
        let key = VaultKey.file(folder.keyFile)
        #expect(Self.error { () throws(VaultError) in try key.bytes(nil) } == .locked)
        #expect(!FileManager.default.fileExists(atPath: folder.keyFile.deletingLastPathComponent().path))
        let made = try #require(try key.madeBytes(nil))
        #expect(made.count == VaultKey.size && Set(made).count > 1)
        #expect(try Data(contentsOf: folder.keyFile) == made)
        #expect(try Folder.mode(folder.keyFile) == 0o600)
        #expect(try key.bytes(nil) == made)
        #expect(try key.madeBytes(nil) == made)
    }

    @Test("An empty key is taken for one that is being made, where one may be made, and is corrupt elsewhere")
    func empty() throws {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("key")
        try PrivateFile(file).replace(with: Data())
        let key = VaultKey.file(file)
        #expect(Self.error { () throws(VaultError) in try key.bytes(nil) } == .corrupt)
        #expect(try Data(contentsOf: file).isEmpty)
        let made = try #require(try key.madeBytes(nil))
        #expect(try made.count == 32 && Data(contentsOf: file) == made)
    }

    @Test("A key in a file has 32 bytes, whether one may be made or not", arguments: [1, 31, 33, 4_096])
    func sizes(count: Int) throws {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("key")
        try PrivateFile(file).replace(with: Data(count: count))
        #expect(Self.error { () throws(VaultError) in try VaultKey.file(file).bytes(nil) } == .corrupt)
        #expect(Self.error { () throws(VaultError) in try VaultKey.file(file).madeBytes(nil) } == .corrupt)
        #expect(try Data(contentsOf: file) == Data(count: count))
    }

    // MARK: Elsewhere

    @Test("What the app gives is the key, and without it the vault is locked")
    func given() async throws {
        let key = VaultKey.app { Self.good }
        #expect(try await key.given() == Self.good)
        #expect(try key.bytes(Self.good) == Self.good)
        #expect(Self.error { () throws(VaultError) in try key.bytes(nil) } == .locked)
        #expect(Self.error { () throws(VaultError) in try key.madeBytes(nil) } == .locked)
        let folder = try Folder()
        #expect(try await VaultKey.file(folder.keyFile).given() == nil)
        #expect(try await VaultKey(origin: .held { Self.good }).given() == nil)
    }

    @Test("What the app gives has 32 bytes, and what it throws is thrown when it is a vault's error")
    func refused() async {
        struct Other: Error {}
        for count in [0, 31, 33] {
            #expect(await vaultError { try await VaultKey.app { Data(count: count) }.given() } == .invalid)
        }
        #expect(await vaultError { try await VaultKey.app { throw VaultError.denied }.given() } == .denied)
        #expect(await vaultError { try await VaultKey.app { throw Other() }.given() } == .locked)
    }

    @Test("Whoever waits for a key of the app's that never comes may leave, and the asking is cancelled")
    func neverGiven() async {
        let asked = Locked<(isAsked: Bool, isCancelled: Bool)>((false, false))
        let key = VaultKey.app {
            asked.withLock { $0.isAsked = true }
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            } onCancel: {
                asked.withLock { $0.isCancelled = true }
            }
            return Self.good
        }
        let waiting = Task { await vaultError { try await key.given() } }
        while !asked.withLock(\.isAsked) { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value == .unavailable)
        #expect(asked.withLock(\.isCancelled))
    }

    @Test("A key that is held is read each time, and is corrupt where it has not 32 bytes")
    func held() throws {
        let held = Box(Self.good)
        let key = VaultKey(origin: .held { held.value })
        #expect(try key.bytes(nil) == Self.good)
        for count in [0, 31, 33] {
            held.update { $0 = Data(count: count) }
            #expect(Self.error { () throws(VaultError) in try key.madeBytes(nil) } == .corrupt)
        }
        let denied = VaultKey(origin: .held { () throws(VaultError) in throw .denied })
        #expect(Self.error { () throws(VaultError) in try denied.madeBytes(nil) } == .denied)
    }

    @Test("Each new key is another one, of 32 bytes")
    func random() {
        let keys = (0..<20).map { _ in VaultKey.random() }
        #expect(Set(keys).count == 20 && keys.allSatisfy { $0.count == 32 })
    }
}
