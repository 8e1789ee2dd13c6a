import Foundation

/// Where credentials are kept: in memory, in a keychain, in a sealed file.
///
/// ```swift
/// configuration.vault = EncryptedFileVault(file: file)
/// ```
///
/// Several processes may share one, such as an app and its extensions. What keeps them from renewing one credential twice is
/// that an item is written only over the version that was read: ``save(_:for:over:)`` compares and writes in one step, and
/// ``delete(_:where:)`` compares and deletes in one. A vault that cannot do so by itself holds a lock of its own meanwhile.
///
/// `VaultConformance` in `PenstockTesting` is the suite that every vault passes.
public protocol CredentialVault: AnyObject, Sendable {
    /// - Returns: `nil` when there is nothing under the key.
    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem?

    /// Keeps an item, where what is there satisfies the condition. It is safe when this returns.
    ///
    /// - Returns: whether the condition was satisfied; otherwise nothing has changed.
    /// - Throws: ``VaultError/invalid`` for what ``VaultItem/validate(for:)`` refuses.
    @discardableResult
    func save(_ item: VaultItem, for key: CredentialKey, over condition: VaultCondition) async throws(VaultError)
        -> Bool

    /// Deletes an item, where it satisfies the condition.
    ///
    /// - Returns: whether something was deleted; otherwise nothing has changed.
    @discardableResult
    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool

    /// The keys of all items, in no particular order.
    func keys() async throws(VaultError) -> [CredentialKey]
}

/// What a credential is kept under: it can be found for this service, at this origin, for this account alone. Two are equal
/// where their parts are, byte by byte: Unicode may call the names of two accounts equivalent.
public struct CredentialKey: Hashable, Sendable {
    /// The name of the ``ServiceID``.
    public var service: String
    /// The name of the ``ServerEnvironment``.
    public var environment: String
    /// Scheme, host and port of the service there, as ``HTTPURL/Origin/text`` has them. An app that is moved to another
    /// server does not show it what it had from the old one.
    public var origin: String
    /// The user it speaks for: the client's ``ClientConfiguration/identity``; empty for nobody in particular.
    public var account: String

    /// - Parameter account: empty for nobody in particular.
    public init(service: String, environment: String, origin: String, account: String = "") {
        self.service = service
        self.environment = environment
        self.origin = origin
        self.account = account
    }

    public static func == (left: CredentialKey, right: CredentialKey) -> Bool {
        left.account.isWritten(as: right.account) && left.service.isWritten(as: right.service)
            && left.environment.isWritten(as: right.environment) && left.origin.isWritten(as: right.origin)
    }
}

/// The bytes that a vault keeps, and their version. What they mean is no business of the vault.
public struct VaultItem: Hashable, Sendable {
    /// Another one each time that the item is written; any text without control characters.
    public var version: String
    /// What is secret.
    public var content: Data

    /// The bytes, under a version that no other bytes were given.
    public init(version: String, content: Data) {
        self.version = version
        self.content = content
    }
}

/// What an item must be before it is replaced or deleted.
@nonexhaustive
public enum VaultCondition: Hashable, Sendable {
    /// Whatever it is, also nothing.
    case anything
    /// There is none.
    case absent
    /// It has this version.
    case version(String)

    /// - Parameter version: of what is there; `nil` when nothing is.
    public func allows(_ version: String?) -> Bool {
        switch self {
        case .anything: true
        case .absent: version == nil
        case .version(let expected): version == expected
        }
    }
}

extension VaultItem {
    /// How many bytes the content may have at most: 1 MiB, hundreds of times what the longest tokens take.
    public static let maximumSize = 1 << 20

    /// Whether it may be kept under a key, which every vault asks before it writes: the version is 1 to 256 bytes of UTF-8
    /// without control characters, the content has at most ``maximumSize`` bytes, the key names a service, and none of its
    /// parts is longer than 4,096 bytes or has a NUL in it, at which what is written in C would take it for ended.
    ///
    /// - Throws: ``VaultError/invalid``.
    public func validate(for key: CredentialKey) throws(VaultError) {
        let parts = [key.service, key.environment, key.origin, key.account]
        guard (1...256).contains(version.utf8.count), version.unicodeScalars.allSatisfy({ !$0.isControl }),
            content.count <= Self.maximumSize, !key.service.isEmpty,
            parts.allSatisfy({ $0.utf8.count <= 4_096 && !$0.utf8.contains(0) })
        else { throw .invalid }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}

extension VaultItem: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The version and the size.
    public var description: String { "version \(version), \(content.count) bytes" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["item": description], displayStyle: .struct) }
}

/// Keeps credentials for as long as the process lives: the default, and what tests use.
public final class MemoryVault: CredentialVault {
    private let items = Locked<[CredentialKey: VaultItem]>([:])

    /// An empty one.
    public init() {}

    public func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        items.withLock { $0[key] }
    }

    @discardableResult
    public func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try item.validate(for: key)
        return items.withLock { items in
            guard condition.allows(items[key]?.version) else { return false }
            items[key] = item
            return true
        }
    }

    @discardableResult
    public func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        items.withLock { items in
            guard let item = items[key], condition.allows(item.version) else { return false }
            items[key] = nil
            return true
        }
    }

    public func keys() async throws(VaultError) -> [CredentialKey] {
        items.withLock { Array($0.keys) }
    }
}
