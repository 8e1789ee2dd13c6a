/// A value that lives outside its owner: for large ones that pass through many functions, each of which would make room
/// for it, and keep that room while its call waits.
@dynamicMemberLookup
struct Boxed<Value: Sendable>: Sendable {
    /// Unchecked because the compiler does not see that a value is changed only while it has one owner.
    private final class Storage: @unchecked Sendable {
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    init(_ value: Value) {
        storage = Storage(value)
    }

    var value: Value { storage.value }

    /// Whether both are one box, which neither has changed.
    func isShared(with other: Boxed) -> Bool { storage === other.storage }

    subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member {
        storage.value[keyPath: path]
    }

    subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Member {
        get { storage.value[keyPath: path] }
        // In place: what the member owns alone is not copied to be changed.
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value[keyPath: path]
        }
    }
}

extension Boxed: Equatable where Value: Equatable {
    static func == (left: Boxed, right: Boxed) -> Bool {
        left.isShared(with: right) || left.value == right.value
    }
}

extension Boxed: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        value.hash(into: &hasher)
    }
}

extension Boxed: CustomStringConvertible, CustomReflectable {
    var description: String { String(describing: value) }

    var customMirror: Mirror { Mirror(reflecting: value) }
}
