/// Why parameters could not become a query, a form or JSON, and where. It never holds the value, which may be secret.
public struct ParameterEncodingError: Error, Sendable {
    /// What is wrong with the parameters, whatever the place.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// A query, a form and common parameters need names, but these parameters are a list or a single value.
        case notAnObject
        /// Infinite, or not a number.
        case nonFiniteNumber
        /// A date outside the years 1 to 9999, or too far away for 64 bits of milliseconds.
        case unrepresentableDate
        /// The key style writes two keys of one object alike.
        case duplicateKey
        /// An array that is joined into one text holds an array or an object.
        case notJoinable
        /// A style's own closure returned another date, or data, instead of what shall be sent for it.
        case unresolvedValue
        /// More than ``ParameterEncodingError/maximumDepth`` levels.
        case tooDeep
        /// A type asked its encoder for two different kinds of container.
        case conflictingContainers
        /// The type's own `encode(to:)`, or a style's closure, failed with ``ParameterEncodingError/underlying``.
        case custom
    }

    /// How deeply arrays and objects may be nested.
    public static let maximumDepth = 128

    /// What is wrong.
    public let reason: Reason
    /// The keys and positions that lead to the value, outermost first.
    public let path: [String]
    /// The error of code that is not Penstock's. Not part of the description, as it may quote the value.
    public let underlying: (any Error)?

    /// An error, for a style's closure or a type's `encode(to:)` that knows better than ``Reason/custom``.
    ///
    /// - Parameters:
    ///   - path: the keys and positions that lead to the value, outermost first; each level above adds its own. Empty
    ///     by default.
    ///   - underlying: the error that this one was made of; never printed.
    public init(_ reason: Reason, path: [String] = [], underlying: (any Error)? = nil) {
        self.reason = reason
        self.path = path
        self.underlying = underlying
    }

    init(_ reason: Reason, at codingPath: [any CodingKey], underlying: (any Error)? = nil) {
        self.init(reason, path: codingPath.map(\.stringValue), underlying: underlying)
    }

    /// The same error as seen from the level above.
    func within(_ key: String) -> ParameterEncodingError {
        ParameterEncodingError(reason, path: [key] + path, underlying: underlying)
    }

    /// Whatever a closure or a type of the app threw, as an error of this type.
    static func wrapping(_ error: any Error, at codingPath: [any CodingKey] = []) -> ParameterEncodingError {
        switch error {
        case let error as ParameterEncodingError: error
        case EncodingError.invalidValue(_, let context):
            ParameterEncodingError(.custom, at: context.codingPath, underlying: error)
        default: ParameterEncodingError(.custom, at: codingPath, underlying: error)
        }
    }
}

extension ParameterEncodingError: CustomStringConvertible {
    public var description: String {
        path.isEmpty ? "the parameters: \(explanation)" : "the parameter \(path.joined(separator: ".")): \(explanation)"
    }

    /// The reason in words, without the path.
    var explanation: String {
        switch reason {
        case .notAnObject:
            "names are needed here, but this is a list or a single value; what has no names can be sent as a body of its own"
        case .nonFiniteNumber: "the number is infinite or not a number"
        case .unrepresentableDate: "the date is out of range"
        case .duplicateKey: "two keys are written alike"
        case .notJoinable: "only single values can be joined"
        case .unresolvedValue: "the closure returned a value that needs another conversion"
        case .tooDeep: "nested more than \(Self.maximumDepth) levels deep"
        case .conflictingContainers: "its type asked for two kinds of container"
        case .custom: "its own encoding failed"
        }
    }
}
