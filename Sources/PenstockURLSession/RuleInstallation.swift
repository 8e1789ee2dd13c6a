import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RequestRules {
    /// Puts the rules below sessions that are not Penstock's: all that are made of a configuration from now on.
    ///
    /// ```swift
    /// let installation = rules.install(in: configuration)
    /// let library = SomeLibrary(session: URLSession(configuration: configuration))
    /// ```
    ///
    /// They are put before the protocol classes that the configuration has, which still see each request that no rule is for.
    /// One that a rule is for leaves the session: it goes by `transport`, without the session's cookies, cache, credentials and
    /// trust. Requests to anything but http and https are no rule's.
    ///
    /// On Linux the content of an upload task cannot be seen below a session: each that a rule is for fails, with
    /// `URLError.resourceUnavailable`, and sends nothing. That of a data task can.
    ///
    /// It has no effect on watchOS, whose sessions ask no protocol class of an app's.
    ///
    /// - Parameters:
    ///   - configuration: of sessions that are made later. Foundation copies it into each; sessions that exist already do
    ///     not change.
    ///   - transport: sends what is to be sent. Content that it collects has its default limit, 64 MiB, and so have request
    ///     bodies. By default a session of its own, which has no rules.
    ///   - time: what delays are measured by.
    /// - Returns: what takes them away again. Letting go of it does not.
    public func install(
        in configuration: URLSessionConfiguration, transport: any Transport = URLSessionTransport(),
        time: TimeSource = .system
    ) -> RuleInstallation {
        let installation = RuleInstallation(RuleTransport(transport, rules: self, time: time), configuration)
        configuration.protocolClasses = [installation.protocolClass] + (configuration.protocolClasses ?? [])
        return installation
    }
}

/// Rules below the sessions of one configuration. No other session has them, so that tests that run at a time do not meet.
public final class RuleInstallation: Sendable {
    /// What the protocol of an installation needs of it.
    struct Parts: Sendable {
        let transport: RuleTransport
        /// Asked for the fields that it adds to each request, since Foundation on Linux shows a protocol none of them.
        let configuration: URLSessionConfiguration
    }

    private static let all = Locked<(count: Int, parts: [Int: Parts])>((0, [:]))

    private let number: Int
    private let transport: RuleTransport

    fileprivate init(_ transport: RuleTransport, _ configuration: URLSessionConfiguration) {
        self.transport = transport
        let parts = Parts(transport: transport, configuration: configuration)
        number = Self.all.withLock { all in
            all.count += 1
            all.parts[all.count] = parts
            return all.count
        }
    }

    /// The rules for requests that begin from now on.
    public var rules: RequestRules {
        get { transport.rules }
        set { transport.rules = newValue }
    }

    /// Takes the rules away, from the sessions that have them as well; requests under way are answered by them still. What else
    /// has been done to the configuration since stays.
    ///
    /// - Parameter configuration: that which they were put in; `nil`, the default, where no more sessions are made of it.
    public func uninstall(from configuration: URLSessionConfiguration? = nil) {
        _ = Self.all.withLock { $0.parts.removeValue(forKey: number) }
        configuration?.protocolClasses?.removeAll { ObjectIdentifier($0) == ObjectIdentifier(protocolClass) }
    }

    /// The parts of an installation that was not taken away.
    static func parts(_ number: Int) -> Parts? {
        all.withLock { $0.parts[number] }
    }

    // MARK: A class for each

    /// Foundation tells a protocol's class what is asked for, and not by which session. So each installation has a class of its
    /// own, which the language's runtime makes when it is first needed: one generic class, for a number that is written as a
    /// type, bit by bit.
    fileprivate var protocolClass: AnyClass { Self.protocolClass(for: Self.numeral(for: number)) }

    private static func numeral(for number: Int) -> any NumberType.Type {
        guard number > 0 else { return Zero.self }
        let rest = numeral(for: number / 2)
        return number.isMultiple(of: 2) ? even(rest) : odd(rest)
    }

    private static func even<Rest: NumberType>(_ rest: Rest.Type) -> any NumberType.Type { TwiceOf<Rest>.self }
    private static func odd<Rest: NumberType>(_ rest: Rest.Type) -> any NumberType.Type { OneMoreThanTwice<Rest>.self }
    private static func protocolClass<Number: NumberType>(for number: Number.Type) -> AnyClass {
        RuleProtocol<Number>.self
    }
}

/// A number that is a type.
protocol NumberType: SendableMetatype {
    static var value: Int { get }
}

private enum Zero: NumberType {
    static var value: Int { 0 }
}

private enum TwiceOf<Rest: NumberType>: NumberType {
    static var value: Int { 2 * Rest.value }
}

private enum OneMoreThanTwice<Rest: NumberType>: NumberType {
    static var value: Int { 2 * Rest.value + 1 }
}
