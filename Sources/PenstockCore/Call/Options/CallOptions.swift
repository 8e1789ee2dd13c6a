/// What may be set for a client, a service, an endpoint or one call. What a level does not set is left to the next wider
/// one, the client being the widest, and at last to the default.
///
/// ```swift
/// try await client.send(Products(), options: .timeout(.seconds(5)).cache(.http))
/// try await client.send(Products(), options: .with { $0.timeouts.idle = .seconds(5) })
/// ```
///
/// Each property of ``CallSettings`` can be set, read as it was set here, and left to the wider levels again by `nil`. Of
/// time-outs, limits, cache policy, headers and parameters each part is left to the wider levels by itself; every other value is
/// replaced whole. So ``modelFormat``, ``jsonFormat``, ``formFormat`` and ``retry`` of an endpoint take nothing of the client's:
/// who sets one field of theirs gives the others their defaults. A property that is an optional is set whole:
/// `$0.cache?.ttl = …` changes nothing where these options have no policy.
@dynamicMemberLookup
public struct CallOptions: Sendable {
    /// The changes, at most one for each property of the settings.
    private var changes: [any OptionChange] = []

    /// Nothing is set.
    public init() {}

    /// Whether nothing is set.
    public var isEmpty: Bool { changes.isEmpty }

    /// Options made in one expression.
    public static func with<Failure: Error>(
        _ change: (inout CallOptions) throws(Failure) -> Void
    ) throws(Failure) -> CallOptions {
        try CallOptions().with(change)
    }

    /// These options with a change.
    public func with<Failure: Error>(
        _ change: (inout CallOptions) throws(Failure) -> Void
    ) throws(Failure) -> CallOptions {
        var options = self
        try change(&options)
        return options
    }

    /// These options where they are set, `wider` where they are not.
    public func over(_ wider: CallOptions) -> CallOptions {
        var merged = wider
        for change in changes {
            if let index = merged.changes.firstIndex(where: { $0.path == change.path }) {
                merged.changes[index] = change.over(merged.changes[index])
            } else {
                merged.changes.append(change)
            }
        }
        return merged
    }

    /// An option as it is set here; `nil` where it is not.
    public subscript<Value: Sendable>(
        dynamicMember path: WritableKeyPath<CallSettings, Value> & Sendable
    ) -> Value? {
        get { value(at: path) }
        set { set(path, newValue.map { OptionValue<Value>(key: path, value: $0, merge: nil) }) }
    }

    /// An option of several fields as it is set here; `nil` where none of them is.
    public subscript<Value: LayeredOption>(
        dynamicMember path: WritableKeyPath<CallSettings, Value> & Sendable
    ) -> Value? {
        get { value(at: path) }
        set { set(path, newValue.map { OptionValue<Value>(key: path, value: $0) { $0.over($1) } }) }
    }

    /// Lays these options over settings of the wider levels.
    func apply(to settings: inout CallSettings) {
        for change in changes { change.apply(to: &settings) }
    }

    private func value<Value>(at path: KeyPath<CallSettings, Value>) -> Value? {
        changes.first { $0.path == path }?.setting as? Value
    }

    private mutating func set(_ path: PartialKeyPath<CallSettings>, _ change: (any OptionChange)?) {
        changes.removeAll { $0.path == path }
        if let change { changes.append(change) }
    }
}

/// One thing that is set, whatever its type.
private protocol OptionChange: Sendable {
    var path: PartialKeyPath<CallSettings> { get }
    var setting: any Sendable { get }
    func apply(to settings: inout CallSettings)
    func over(_ wider: any OptionChange) -> any OptionChange
}

/// One thing that is set.
private struct OptionValue<Value: Sendable>: OptionChange {
    let key: WritableKeyPath<CallSettings, Value> & Sendable
    let value: Value
    /// Makes one value of a narrower and a wider one; `nil` where the narrower one wins.
    let merge: (@Sendable (Value, Value) -> Value)?

    var path: PartialKeyPath<CallSettings> { key }
    var setting: any Sendable { value }

    func apply(to settings: inout CallSettings) {
        settings[keyPath: key] = merge?(value, settings[keyPath: key]) ?? value
    }

    func over(_ wider: any OptionChange) -> any OptionChange {
        guard let merge, let wider = wider as? OptionValue else { return self }
        return OptionValue(key: key, value: merge(value, wider.value), merge: merge)
    }
}

// MARK: Options with words of their own

extension CallOptions {
    /// Where the call goes in place of the service's base URL; the service's version is still appended.
    public var baseURL: String? {
        get { self[dynamicMember: \.baseURL].flatMap(\.self)?.text }
        set { self[dynamicMember: \.baseURL] = newValue.map(BaseURL.init) }
    }

    /// Where the call goes in place of the client's environment. Given for one call in a release build it must be allowed
    /// (``ClientConfiguration/allowsEnvironmentSwitch``), or the call fails as ``APIError/Kind/blocked(reason:)``.
    public var environment: ServerEnvironment? {
        get { self[dynamicMember: \.environment].flatMap(\.self) }
        set { self[dynamicMember: \.environment] = newValue.map(Optional.some) }
    }

    /// Edits of the headers, applied after the common headers, wider levels first.
    public var headers: HeaderEdits {
        get { self[dynamicMember: \.headers] ?? HeaderEdits() }
        set { self[dynamicMember: \.headers] = newValue }
    }

    /// The parameters, which win over the parameters of wider levels. The endpoint's own stand between the options of an
    /// endpoint and those of its service.
    public var parameters: ParameterObject {
        get { self[dynamicMember: \.parameters] ?? ParameterObject() }
        set { self[dynamicMember: \.parameters] = newValue }
    }

    /// How long the phases of an exchange and the whole call may take. What is not set is left to the wider levels, field
    /// by field.
    public var timeouts: Timeouts {
        get { self[dynamicMember: \.timeouts] ?? Timeouts() }
        set { self[dynamicMember: \.timeouts] = newValue }
    }

    /// How much of a response is accepted. What is not set is left to the wider levels, field by field.
    public var limits: ResponseLimits {
        get { self[dynamicMember: \.limits] ?? ResponseLimits() }
        set { self[dynamicMember: \.limits] = newValue }
    }

    /// How JSON becomes models. It is replaced whole: what is not set here has its default, whatever the wider levels say.
    ///
    /// It is never `nil` to who reads it, but the defaults where it is not set, so that one field can be set:
    /// `$0.modelFormat.keys = .convertFromSnakeCase`. `nil` leaves it to the wider levels again.
    public var modelFormat: DecodingOptions! {
        get { self[dynamicMember: \.modelFormat] ?? DecodingOptions() }
        set { self[dynamicMember: \.modelFormat] = newValue }
    }

    /// How parameters become JSON. It is replaced whole, and read and set as ``modelFormat`` is.
    public var jsonFormat: JSONFormat! {
        get { self[dynamicMember: \.jsonFormat] ?? JSONFormat() }
        set { self[dynamicMember: \.jsonFormat] = newValue }
    }

    /// How parameters become a query or a form. It is replaced whole, and read and set as ``modelFormat`` is.
    public var formFormat: FormFormat! {
        get { self[dynamicMember: \.formFormat] ?? FormFormat() }
        set { self[dynamicMember: \.formFormat] = newValue }
    }

    /// The whole call may take this long. It is held for calls to their end, and for streams until their head has come; a download,
    /// whose length nobody knows, is ended by what is slow alone (``Timeouts/total``).
    public static func timeout(_ total: Duration) -> CallOptions { CallOptions().timeout(total) }

    /// The whole call may take this long; see ``timeout(_:)-swift.type.method``.
    public func timeout(_ total: Duration) -> CallOptions { with { $0.timeouts.total = total } }

    /// When a stored response is the answer, and whether one is stored.
    public var cache: CachePolicy? {
        get { self[dynamicMember: \.cache] }
        set { self[dynamicMember: \.cache] = newValue }
    }

    /// When a stored response is the answer, and whether one is stored. What the policy leaves open is left to the wider
    /// levels: a call that says `.cache(.reload)` keeps the lifetime that its endpoint sets.
    public static func cache(_ policy: CachePolicy) -> CallOptions { CallOptions().cache(policy) }

    /// When a stored response is the answer, and whether one is stored; see ``cache(_:)-swift.type.method``.
    public func cache(_ policy: CachePolicy) -> CallOptions { with { $0.cache = policy } }

    /// Edits of the headers, applied after the common headers, wider levels first.
    public static func headers(_ edits: HeaderEdits) -> CallOptions { CallOptions().headers(edits) }

    /// Edits of the headers, applied after the common headers, wider levels first, and after those that these options have already.
    public func headers(_ edits: HeaderEdits) -> CallOptions { with { $0.headers = edits.over($0.headers) } }
}

// MARK: Options of several fields

extension HeaderEdits: LayeredOption {
    /// The wider edits, then these.
    public func over(_ wider: HeaderEdits) -> HeaderEdits { wider.followed(by: self) }
}

extension ParameterObject: LayeredOption {
    /// These members, and those of `wider` that have other names.
    public func over(_ wider: ParameterObject) -> ParameterObject { merging(over: wider) }
}

extension CachePolicy: LayeredOption {
    /// This mode; the lifetimes of `wider` where this policy has none; and it only reads where one of both says so.
    public func over(_ wider: CachePolicy) -> CachePolicy {
        CachePolicy(
            mode, ttl: ttl ?? wider.ttl, maxStale: maxStale ?? wider.maxStale, isRead: isRead || wider.isRead)
    }
}

// MARK: Printing

extension CallOptions: CustomReflectable {
    /// What is set, without secrets.
    public var customMirror: Mirror {
        let children = changes.map {
            (label: "\($0.path)".split(separator: ".").last.map(String.init), value: $0.setting as Any)
        }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension BaseURL: CustomStringConvertible, CustomReflectable {
    /// The URL without secrets.
    var description: String { Redaction.value(text, ofParameter: "baseURL") }

    var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}
