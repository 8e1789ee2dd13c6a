import Foundation

/// The default `0`, for any number.
public enum Zero<Value: AdditiveArithmetic>: DefaultValue {
    public static var value: Value { .zero }
}

/// The default `false`.
public enum False: DefaultValue {
    public static var value: Bool { false }
}

/// The default `true`.
public enum True: DefaultValue {
    public static var value: Bool { true }
}

/// The default that holds nothing: `""`, `[]`, `[:]`, no bytes.
///
/// In a file that also imports Combine, write `Penstock.Empty`.
public enum Empty<Value: EmptyInitializable>: DefaultValue {
    public static var value: Value { Value() }
}

/// A type whose `init()` makes an empty value.
public protocol EmptyInitializable {
    init()
}

extension String: EmptyInitializable {}
extension Array: EmptyInitializable {}
extension Set: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}
extension Data: EmptyInitializable {}
