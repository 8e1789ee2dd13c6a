import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@testable import PenstockSecurity

/// The content of the encrypted file, and the text of a key in a keychain.
struct SealedItemsTests {
    private static let key = Data(0..<32)

    private static func error(_ bytes: Data, _ key: Data = key) -> VaultError? {
        do throws(VaultError) {
            _ = try SealedItems(bytes, key: key)
            return nil
        } catch {
            return error
        }
    }

    @Test("What is sealed opens with its key, and each sealing is another one")
    func roundTrip() throws {
        var items = SealedItems()
        #expect(try SealedItems(items.sealed(by: Self.key), key: Self.key) == items)
        items.items = [
            Sample.key: Sample.item("1"), Sample.key("bob\n"): VaultItem(version: "2", content: Data([0, 255])),
        ]
        let sealed = try items.sealed(by: Self.key)
        #expect(try SealedItems(sealed, key: Self.key) == items)
        let again = try items.sealed(by: Self.key)
        #expect(sealed[17..<29] != again[17..<29], "the nonce is a new one")
        #expect(sealed.dropFirst(29) != again.dropFirst(29))
    }

    @Test("No bit of it can be changed, and no byte be taken away or added")
    func tampering() throws {
        var items = SealedItems()
        items.items[Sample.key] = Sample.item("1")
        let sealed = try items.sealed(by: Self.key)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                // The fingerprint says that it is another key's.
                let expected = (9..<17).contains(index) ? VaultError.denied : .corrupt
                #expect(Self.error(changed) == expected, "bit \(bit) of byte \(index)")
            }
        }
        for count in sealed.indices { #expect(Self.error(sealed.prefix(count)) != nil, "\(count) bytes") }
        #expect(Self.error(sealed + [0]) == .corrupt)
        #expect(Self.error(Data()) == .corrupt)
    }

    @Test("Another key is denied, and a later version of the format is corrupt")
    func foreign() throws {
        let sealed = try SealedItems().sealed(by: Self.key)
        #expect(Self.error(sealed, Data(Self.key.reversed())) == .denied)
        var later = sealed
        later[8] = 2
        #expect(Self.error(later) == .corrupt)
    }

    @Test("The text of a key is that of no other, and nothing else is taken for one")
    func accountText() {
        let keys = [
            Sample.key, Sample.key(""), Sample.key("a/b"), Sample.key("a%2Fb"), Sample.key("ü\u{301}\n"),
            CredentialKey(service: "", environment: "", origin: "", account: ""),
        ]
        #expect(Set(keys.map(\.accountText)).count == keys.count)
        for key in keys { #expect(CredentialKey(accountText: key.accountText) == key) }
        for text in ["", "a/b/c", "a/b/c/d/e", "a/b/c/%zz", "a/b/c/%ff", "a/b/c/%61", "a/b/c/ü"] {
            #expect(CredentialKey(accountText: text) == nil, "\(text)")
        }
    }
}
