/// An API that is named where it is called, by teams that keep one central entry.
///
/// The request is the same, byte for byte, as that of an ``Endpoint`` with the same route and parameters.
public struct AdHocEndpoint<Output: Sendable>: Endpoint {
    public let route: Route
    public let service: ServiceID
    public let parameters: ParameterObject?
    public let placement: ParameterPlacement
    public let headers: HeaderEdits
    public let decoding: ResponseDecoding<Output>

    /// An API named where it is called.
    ///
    /// - Parameters:
    ///   - service: ``ServiceID/main`` by default.
    ///   - parameters: `nil`, the default, for none.
    ///   - placement: where they go; by verb unless told otherwise (``Endpoint/placement``).
    ///   - headers: replace common ones of the same names. None by default.
    ///   - decoding: how the output is made from a response.
    public init(
        _ route: Route, service: ServiceID = .main, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, headers: HeaderEdits = [:], decoding: ResponseDecoding<Output>
    ) {
        self.route = route
        self.service = service
        self.parameters = parameters
        self.placement = placement
        self.headers = headers
        self.decoding = decoding
    }
}
