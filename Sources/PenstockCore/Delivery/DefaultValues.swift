import Foundation

/// The default `0`, for any number.
public enum Zero<Value: AdditiveArithmetic>: DefaultValue {
    /// The number's own zero.
    public static var value: Value { .zero }
}

/// The default `false`.
public enum False: DefaultValue {
    /// Always `false`.
    public static var value: Bool { false }
}

/// The default `true`.
public enum True: DefaultValue {
    /// Always `true`.
    public static var value: Bool { true }
}

/// The default that holds nothing: `""`, `[]`, `[:]`, no bytes.
///
/// In a file that also imports Combine, write `Penstock.Empty`.
public enum Empty<Value: EmptyInitializable>: DefaultValue {
    /// What the type's `init()` makes.
    public static var value: Value { Value() }
}

/// A type whose `init()` makes an empty value.
public protocol EmptyInitializable {
    /// A value without characters, elements or bytes.
    init()
}

extension String: EmptyInitializable {}
extension Array: EmptyInitializable {}
extension Set: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}
extension Data: EmptyInitializable {}
