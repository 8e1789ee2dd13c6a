/// What the package uses of Apple's `os`, with Apple's documented signatures and without bodies that do anything.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private let state: State

    public init(initialState: State) where State: Sendable {
        state = initialState
    }

    public func withLockUnchecked<Output>(_ body: (inout State) throws -> Output) rethrows -> Output {
        var state = state
        return try body(&state)
    }
}

public struct OSLogType: Sendable {
    public static let `default` = OSLogType()
    public static let info = OSLogType()
    public static let debug = OSLogType()
    public static let error = OSLogType()
}

public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
}

public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(_ value: @autoclosure @escaping () -> String, privacy: OSLogPrivacy) {}
    public mutating func appendInterpolation<Value: CustomStringConvertible>(
        _ value: @autoclosure @escaping () -> Value, privacy: OSLogPrivacy
    ) {}
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) {}
    public init(stringLiteral value: String) {}
}

public struct Logger: Sendable {
    public init(subsystem: String, category: String) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
}
