/// Types of interceptors that have no part in a call.
struct SkippedInterceptors: Equatable, Sendable, LayeredOption {
    private var types: Set<ObjectIdentifier> = []

    init(_ types: [any Interceptor.Type] = []) {
        self.types = Set(types.map { ObjectIdentifier($0) })
    }

    func contains(_ interceptor: any Interceptor) -> Bool {
        !types.isEmpty && types.contains(ObjectIdentifier(type(of: interceptor)))
    }

    /// The types that either level skips.
    func over(_ wider: SkippedInterceptors) -> SkippedInterceptors {
        var all = self
        all.types.formUnion(wider.types)
        return all
    }
}

extension CallOptions {
    /// Leaves out interceptors of some types, in both positions and of every level, for the calls of one endpoint, say.
    ///
    /// ```swift
    /// struct Login: Endpoint, Encodable {
    ///     …
    ///     var options: CallOptions { .skipping(AddToken.self) }
    /// }
    /// ```
    ///
    /// What a wider level leaves out stays left out. An interceptor that decides by itself asks for
    /// ``CallContext/endpointType``, or for the ``CallSettings/tags`` of the call's settings.
    public static func skipping(_ interceptors: any Interceptor.Type...) -> CallOptions {
        CallOptions().skipping(interceptors)
    }

    /// Leaves out interceptors of some types; see ``skipping(_:)-swift.type.method``.
    public func skipping(_ interceptors: any Interceptor.Type...) -> CallOptions { skipping(interceptors) }

    private func skipping(_ interceptors: [any Interceptor.Type]) -> CallOptions {
        let wider = self[dynamicMember: \.skippedInterceptors] ?? SkippedInterceptors()
        return with { $0[dynamicMember: \.skippedInterceptors] = SkippedInterceptors(interceptors).over(wider) }
    }
}
