/// What an app makes of errors, in one place: its own code, the text for users, the text for developers.
///
/// ```swift
/// let mapper = ErrorMapper { error in
///     if case .business(401, _) = error.kind { .init(code: 401, userText: "Please log in again.") } else { nil }
/// }
/// let forShop = shopMapper.or(mapper)      // the service's first; what it leaves alone goes to the client's
/// ```
public struct ErrorMapper: Sendable {
    private let map: @Sendable (APIError) -> APIError.Presentation?

    /// A mapper that asks a closure about each error that a client tells: of its calls, of the managers, pagers, mergers,
    /// batches and graphs that make them, and of what it is asked about credentials and environments.
    ///
    /// What has no client does not know the mapper: the errors of ``Payload/value(_:at:)`` and ``Payload/reformed(with:)``
    /// outside a call, of channels, and of lists of transfers are mapped by ``APIError/presented(by:)``.
    ///
    /// - Parameter map: `nil` for an error that it leaves alone.
    public init(_ map: @escaping @Sendable (APIError) -> APIError.Presentation?) {
        self.map = map
    }

    /// Leaves every error alone.
    public static let none = ErrorMapper { _ in nil }

    /// What the app wants to be seen of an error; `nil` when the mapper leaves it alone.
    public func presentation(of error: APIError) -> APIError.Presentation? {
        map(error)
    }

    /// This mapper, and `fallback` for the errors that it leaves alone.
    public func or(_ fallback: ErrorMapper) -> ErrorMapper {
        ErrorMapper { map($0) ?? fallback.map($0) }
    }
}

extension APIError {
    /// The error with what `mapper` makes of it; unchanged when the mapper leaves it alone.
    public func presented(by mapper: ErrorMapper) -> APIError {
        guard let presentation = mapper.presentation(of: self) else { return self }
        var error = self
        error.presentation = presentation
        return error
    }
}
