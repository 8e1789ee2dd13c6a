/// The parameters of one call from everyone who has a say in them.
///
/// Where a top-level key comes from several, the nearest to the call wins: call, endpoint, service, client. Values are
/// never merged into each other. A `.null` wins like any value; in a form with ``FormFormat/Nulls/dropKey`` it thereby
/// takes a common parameter out of a call.
public struct ParameterLayers: Sendable {
    /// Those in the options of the call, over those in the options of its endpoint.
    public var call: ParameterObject
    /// The endpoint's own parameters; `nil` when it has none.
    public var endpoint: ParameterValue?
    /// Those in the options of the service, over what its ``Service/parameters`` gives.
    public var service: ParameterObject
    /// Those in the options of the client, over what its ``ClientConfiguration/parameters`` gives.
    public var client: ParameterObject

    /// The layers of a call; those that are left out are empty.
    ///
    /// - Parameter endpoint: `nil`, the default, for an endpoint without parameters.
    public init(
        call: ParameterObject = [:], endpoint: ParameterValue? = nil, service: ParameterObject = [:],
        client: ParameterObject = [:]
    ) {
        self.call = call
        self.endpoint = endpoint
        self.service = service
        self.client = client
    }

    /// One value, or `nil` when nobody has parameters. An endpoint's list or single value stays as it is when it is
    /// alone.
    ///
    /// - Throws: ``ParameterEncodingError/Reason/notAnObject`` when the endpoint's parameters are not an object and
    ///   there are others to add to them.
    public func merged() throws(ParameterEncodingError) -> ParameterValue? {
        let common = service.merging(over: client)
        switch endpoint {
        case nil:
            let merged = call.merging(over: common)
            return merged.isEmpty ? nil : .object(merged)
        case .object(let object): return .object(call.merging(over: object).merging(over: common))
        case .some(let value):
            guard call.isEmpty, common.isEmpty else { throw ParameterEncodingError(.notAnObject) }
            return value
        }
    }
}
