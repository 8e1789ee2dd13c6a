import Foundation
import PenstockCore

/// The rules that every vault of credentials keeps. They need no test library:
///
/// ```swift
/// for rule in VaultConformance.rules {
///     try await rule.run { try MyVault(file: file) }
/// }
/// ```
public enum VaultConformance {
    /// All rules.
    public static let rules = keeping + comparing + listing + validating

    /// One rule.
    public struct Rule: Sendable, CustomStringConvertible {
        /// What must hold.
        public let name: String
        private let check: @Sendable (Probe) async throws -> Void

        init(_ name: String, check: @escaping @Sendable (Probe) async throws -> Void) {
            self.name = name
            self.check = check
        }

        public var description: String { name }

        /// Runs the rule, and removes what it has put in. What else is in the vault stays as it is.
        ///
        /// - Parameter open: gives the vault. It is called several times, and each time must give access to the same items:
        ///   the same object, or another one as another process would open it.
        /// - Throws: ``ConformanceViolation``, which says what was expected and what was seen; or what `open` throws.
        public func run(_ open: @escaping @Sendable () async throws -> any CredentialVault) async throws {
            let probe = Probe(vault: try await open(), open: open)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await check(probe))
            } catch {
                outcome = .failure(error)
            }
            for key in try await probe.ownKeys() { try await probe.vault.delete(key, where: .anything) }
            if case .failure(let error) = outcome { throw ConformanceViolation(rule: name, explanation: "\(error)") }
        }
    }

    static func expect<Value: Equatable>(_ seen: Value, is expected: Value, _ what: String) throws {
        guard seen == expected else { throw Unmet(description: "\(what): expected \(expected), saw \(seen)") }
    }

    /// The vault under test, and names that nobody else has.
    struct Probe: Sendable {
        let vault: any CredentialVault
        let open: @Sendable () async throws -> any CredentialVault
        private let service = "conformance-\(CredentialVersion.new().text)"

        init(vault: any CredentialVault, open: @escaping @Sendable () async throws -> any CredentialVault) {
            (self.vault, self.open) = (vault, open)
        }

        func key(_ account: String = "alice", _ suffix: String = "", origin: String = "https://a.example")
            -> CredentialKey
        {
            CredentialKey(service: service + suffix, environment: "Test", origin: origin, account: account)
        }

        func ownKeys() async throws -> Set<CredentialKey> {
            Set(try await vault.keys().filter { $0.service.hasPrefix(service) })
        }

        func item(_ version: String, _ text: String = "secret") -> VaultItem {
            VaultItem(version: version, content: Data(text.utf8))
        }

        func put(_ item: VaultItem, _ key: CredentialKey) async throws {
            try expect(try await vault.save(item, for: key, over: .anything), is: true, "saved")
        }
    }
}

extension VaultConformance {
    /// What is kept comes back.
    public static let keeping: [Rule] = [
        Rule("Nothing is found where nothing was kept, and that is no error") { probe in
            try expect(try await probe.vault.load(probe.key()), is: nil, "item")
            try expect(try await probe.vault.delete(probe.key(), where: .anything), is: false, "deleted")
        },
        Rule("What was kept comes back byte by byte") { probe in
            let every = Data((0...255).map(UInt8.init))
            for (index, content) in [Data(), Data([0]), every, Data(repeating: 0xFF, count: 16 << 10)].enumerated() {
                let item = VaultItem(version: "v\(index)", content: content)
                try await probe.put(item, probe.key())
                try expect(try await probe.vault.load(probe.key()), is: item, "item \(index)")
            }
        },
        Rule("Whoever else opens the vault finds the same") { probe in
            try await probe.put(probe.item("1"), probe.key())
            let other = try await probe.open()
            try expect(try await other.load(probe.key()), is: probe.item("1"), "item")
            try expect(try await other.save(probe.item("2"), for: probe.key(), over: .version("1")), is: true, "saved")
            try expect(try await probe.vault.load(probe.key()), is: probe.item("2"), "item")
            try expect(try await other.delete(probe.key(), where: .version("2")), is: true, "deleted")
            try expect(try await probe.vault.load(probe.key()), is: nil, "item")
        },
        Rule("Keys that differ in anything are different keys") { probe in
            let keys = [
                probe.key(), probe.key(""), probe.key("Alice"), probe.key("alice/b"), probe.key("a|lice"),
                probe.key("älice\u{301}"),
                probe.key("alice", "x"), probe.key("alice", "", origin: "http://a.example"),
                probe.key("alice", "", origin: "https://a.example:8443"), probe.key("alice\nbob"), probe.key("%61lice"),
            ]
            for (index, key) in keys.enumerated() { try await probe.put(probe.item("\(index)"), key) }
            for (index, key) in keys.enumerated() {
                try expect(try await probe.vault.load(key), is: probe.item("\(index)"), "item of key \(index)")
            }
            try await probe.vault.delete(keys[0], where: .anything)
            try expect(try await probe.ownKeys(), is: Set(keys.dropFirst()), "keys")
        },
    ]

    /// An item is replaced and deleted only as it was read.
    public static let comparing: [Rule] = [
        Rule("What must be absent is kept only where nothing is") { probe in
            let vault = probe.vault
            try expect(try await vault.save(probe.item("1"), for: probe.key(), over: .absent), is: true, "first")
            try expect(try await vault.save(probe.item("2"), for: probe.key(), over: .absent), is: false, "second")
            try expect(try await vault.load(probe.key()), is: probe.item("1"), "item")
        },
        Rule("What must be of a version is replaced only if it is") { probe in
            let vault = probe.vault
            try expect(
                try await vault.save(probe.item("2"), for: probe.key(), over: .version("1")), is: false, "over nothing")
            try expect(try await vault.load(probe.key()), is: nil, "item")
            try await probe.put(probe.item("1"), probe.key())
            try expect(try await vault.save(probe.item("3"), for: probe.key(), over: .version("2")), is: false, "wrong")
            try expect(try await vault.load(probe.key()), is: probe.item("1"), "item")
            try expect(try await vault.save(probe.item("2"), for: probe.key(), over: .version("1")), is: true, "right")
            try expect(try await vault.load(probe.key()), is: probe.item("2"), "item")
        },
        Rule("What must be of a version is deleted only if it is") { probe in
            try await probe.put(probe.item("1"), probe.key())
            try expect(try await probe.vault.delete(probe.key(), where: .version("2")), is: false, "wrong")
            try expect(try await probe.vault.delete(probe.key(), where: .absent), is: false, "absent")
            try expect(try await probe.vault.load(probe.key()), is: probe.item("1"), "item")
            try expect(try await probe.vault.delete(probe.key(), where: .version("1")), is: true, "right")
            try expect(try await probe.vault.load(probe.key()), is: nil, "item")
        },
        Rule("Of many who replace the same version at the same time one succeeds") { probe in
            try await probe.put(probe.item("old"), probe.key())
            let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<32 {
                    group.addTask {
                        let vault = try await probe.open()
                        let isSaved = try await vault.save(
                            probe.item("\(index)"), for: probe.key(), over: .version("old"))
                        return isSaved ? "\(index)" : nil
                    }
                }
                return try await group.reduce(into: [String]()) { if let winner = $1 { $0.append(winner) } }
            }
            try expect(winners.count, is: 1, "winners")
            try expect(try await probe.vault.load(probe.key())?.version, is: winners.first, "version")
        },
    ]

    /// Nothing is written that may not be kept.
    public static let validating: [Rule] = [
        Rule("What may not be kept is refused, and what was there stays") { probe in
            try await probe.put(probe.item("1"), probe.key())
            let one = probe.item("1").content
            let wrong = [
                (VaultItem(version: "", content: one), probe.key()),
                (VaultItem(version: String(repeating: "v", count: 257), content: one), probe.key()),
                (VaultItem(version: "1\n", content: one), probe.key()),
                (VaultItem(version: "\u{85}", content: one), probe.key()),
                (VaultItem(version: "2", content: Data(count: VaultItem.maximumSize + 1)), probe.key()),
                (probe.item("2"), probe.key("al\0ice")),
                (probe.item("2"), probe.key(String(repeating: "a", count: 4_097))),
            ]
            for (index, (item, key)) in wrong.enumerated() {
                for condition in [VaultCondition.anything, .version("1"), .absent] {
                    var seen: VaultError?
                    do throws(VaultError) {
                        try await probe.vault.save(item, for: key, over: condition)
                    } catch {
                        seen = error
                    }
                    try expect(seen, is: .invalid, "\(index), over \(condition)")
                }
            }
            try expect(try await probe.vault.load(probe.key()), is: probe.item("1"), "item")
            try expect(try await probe.ownKeys(), is: [probe.key()], "keys")
        },
        Rule("What is just as large as may be is kept") { probe in
            let key = probe.key(String(repeating: "a", count: 4_096))
            let item = VaultItem(
                version: String(repeating: "v", count: 256), content: Data(repeating: 7, count: VaultItem.maximumSize))
            try await probe.put(item, key)
            try expect(try await probe.vault.load(key) == item, is: true, "kept")
        },
    ]

    /// What is there can be listed.
    public static let listing: [Rule] = [
        Rule("The keys are those of what is there") { probe in
            try expect(try await probe.ownKeys(), is: [], "at first")
            let keys = (0..<20).map { probe.key("account \($0)") }
            for key in keys { try await probe.put(probe.item("1"), key) }
            try await probe.put(probe.item("2"), keys[0])
            try expect(try await probe.ownKeys(), is: Set(keys), "all")
            try expect(try await probe.vault.keys().filter { $0 == keys[0] }.count, is: 1, "listed")
            for key in keys { try await probe.vault.delete(key, where: .anything) }
            try expect(try await probe.ownKeys(), is: [], "at last")
        }
    ]
}
