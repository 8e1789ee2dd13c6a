/// Makes what one view needs from a payload.
///
/// One API can have many reformers, one for each view; one view can have reformers for many APIs that all yield its value.
///
/// ```swift
/// struct ProductRows: Reformer {
///     func reform(_ payload: Payload) async throws -> [Row] { try payload.value([Row].self, at: "items") }
/// }
/// let rows = try await payload.reformed(with: ProductRows())
/// ```
public protocol Reformer<Output>: Sendable {
    /// What a view needs.
    associatedtype Output: Sendable

    /// Runs off the main actor. Long work should look at `Task.isCancelled` now and then.
    func reform(_ payload: Payload) async throws -> Output
}

/// A reformer in a closure.
public struct ClosureReformer<Output: Sendable>: Reformer {
    private let body: @Sendable (Payload) async throws -> Output

    /// A reformer that does what a closure does.
    ///
    /// - Parameter body: runs off the main actor, once for each payload.
    public init(_ body: @escaping @Sendable (Payload) async throws -> Output) {
        self.body = body
    }

    @concurrent
    public func reform(_ payload: Payload) async throws -> Output {
        try await body(payload)
    }
}

extension Payload {
    /// Runs a reformer over this payload, never on the main actor. Any number may run over one payload.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` when the task is cancelled before or during it; an ``APIError`` of the reformer
    ///   as it is; any other error of the reformer as the ``APIError/underlying`` one of
    ///   ``APIError/Kind/decoding(path:reason:)``. The stage is ``StageName/reform``.
    @concurrent
    public func reformed<R: Reformer>(with reformer: R) async throws(APIError) -> R.Output {
        do {
            try Task.checkCancellation()
            let output = try await reformer.reform(self)
            try Task.checkCancellation()
            return output
        } catch {
            throw reformFailure(error, in: R.self)
        }
    }

    /// The same with a closure.
    @concurrent
    public func reformed<Output: Sendable>(
        _ body: @escaping @Sendable (Payload) async throws -> Output
    ) async throws(APIError) -> Output {
        try await reformed(with: ClosureReformer(body))
    }

    private func reformFailure<R: Reformer>(_ error: any Error, in reformer: R.Type) -> APIError {
        if Task.isCancelled || error is CancellationError { return APIError(.cancelled, stage: .reform) }
        var failure: APIError
        if let known = error as? APIError {
            failure = known
        } else if error is DecodingError {
            failure = .decoding(error, at: JSONPath(root))
        } else {
            failure = APIError(.decoding(path: root, reason: "\(R.self) failed"), stage: .reform, underlying: error)
        }
        failure.stage = .reform
        return failure
    }
}
