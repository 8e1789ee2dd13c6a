import Foundation

/// One API as a value: where it is, what it takes, and what it gives back.
///
/// ```swift
/// struct Login: Endpoint, Encodable {
///     typealias Output = User
///     let account: String
///     let password: String
///     var route: Route { .post("/user/login") }
/// }
/// ```
///
/// Its members are asked, and its content is decoded, where the call runs: one that blocks its thread keeps the call from
/// ending until it returns, whatever ends the call. What takes its time belongs into an interceptor, for which a call does not
/// wait past its own end.
///
/// Only ``EndpointMembers/Output`` and ``route`` are required. An endpoint that is `Encodable` sends its own stored properties
/// as parameters, but for those marked ``PathArgument``; another one sends none unless it says which.
///
/// A member that is declared with another type than here does not compile, since it would be ignored: `headers` are
/// ``HeaderEdits`` and no dictionary, ``options``, ``body`` and the validators are no optionals, ``parameterRules`` are
/// ``ParameterRules`` and no array, and `static`. What cannot be seen is a member that is a method, has another name, or is
/// `static` where it must not be. Nor may a parameter have the name of one of these members; give it another, and its name
/// on the wire in `CodingKeys`.
public protocol Endpoint: EndpointMembers {
    /// A check by the compiler, not to be declared: it says which member of an endpoint has another type than this protocol gives it.
    static func _checkMembers(
        _ types: (
            _Service, _Body, _Headers, _Options, _Envelope, _PayloadValidator, _Validator, _Calls, _Attempts, _Rules,
            _RulesOfOne, _Parameters, _Placement, _Tags, _Invalidates, _Decoding, _Value
        ).Type
    )

    /// Verb and path.
    var route: Route { get }

    /// The service the path belongs to. ``ServiceID/main`` by default.
    var service: ServiceID { get }

    /// Where parameters go. By default into the query for GET, HEAD, DELETE, OPTIONS and TRACE, into a JSON body for
    /// the rest.
    var placement: ParameterPlacement { get }

    /// A body in place of one made from parameters, which then go to the query. By default ``HTTPBody/none``: the body is
    /// what the parameters make of it.
    var body: HTTPBody { get }

    /// Headers that replace common ones of the same names. Every request has an `Accept` that fits ``decoding-swift.property``
    /// and a `User-Agent` that names the app, unless they are replaced or removed here, in options, or for all calls.
    var headers: HeaderEdits { get }

    /// What this API wants different from its service; nothing by default.
    var options: CallOptions { get }

    /// The rules that are checked before anything else is done; also the documentation of the parameters.
    static var parameterRules: ParameterRules<Self> { get }

    /// Which envelope its responses have. By default the service's.
    var envelope: EnvelopeChoice { get }

    /// How the output is made from a response.
    var decoding: ResponseDecoding<Output> { get }

    /// The validator of the raw payload, before it is decoded. ``Validator/none`` by default.
    var payloadValidator: Validator<Payload> { get }

    /// Marks for what is stored of this API's responses, by which they are cleared and invalidated. What several APIs get of one
    /// URL has the marks of all. None by default.
    var cacheTags: [String] { get }

    /// What a successful call makes out of date, all at one moment: it is asked for anew before it is used again. A write that is
    /// answered by a status of 2xx or 3xx makes it so also where its answer cannot be read, but not where that is a business error.
    /// Nothing by default; the URL of a write is taken care of in any case (RFC 9111 §4.4).
    ///
    /// ```swift
    /// var invalidates: [CacheSelection] { [.tag("cart")] }
    /// ```
    ///
    /// A selection that names no partition means that of the call.
    var invalidates: [CacheSelection] { get }

    /// The validator of the decoded output. ``Validator/none`` by default.
    var validator: Validator<Output> { get }

    /// The interceptors around this API's calls alone, inside the client's and the service's own.
    var callInterceptors: [any Interceptor] { get }

    /// The interceptors around this API's attempts alone, inside the client's and the service's own.
    var attemptInterceptors: [any Interceptor] { get }
}

extension Endpoint {
    public var service: ServiceID { .main }
    public var placement: ParameterPlacement { .automatic }
    public var body: HTTPBody { .none }
    public var headers: HeaderEdits { [:] }
    public var options: CallOptions { .init() }
    public static var parameterRules: ParameterRules<Self> { .init() }
    /// Stands in the place of rules that were declared without `static`, and would be ignored.
    public var parameterRules: RulesAreStatic { .init() }
    public var envelope: EnvelopeChoice { .ofService }
    public var cacheTags: [String] { [] }
    public var invalidates: [CacheSelection] { [] }
    public var payloadValidator: Validator<Payload> { .none }
    public var validator: Validator<Output> { .none }
    public var callInterceptors: [any Interceptor] { [] }
    public var attemptInterceptors: [any Interceptor] { [] }
}

extension Endpoint where Parameters == NoParameters {
    /// Nothing is sent.
    public var parameters: NoParameters { NoParameters() }
}

extension Endpoint where Self: Encodable {
    /// The endpoint itself: its stored properties are the parameters.
    public var parameters: Self { self }
}

extension Endpoint where Output: Decodable {
    /// A model from JSON, the bytes for `Data`, the text for `String`.
    public var decoding: ResponseDecoding<Output> { .standard }
}

extension Endpoint where _Value == Void {
    /// Nothing but the envelope is looked at, where there is one.
    public var decoding: ResponseDecoding<Output> { .same(as: ResponseDecoding<Void>.nothing) }
}

extension Endpoint where _Value == Payload {
    /// The payload itself, once the envelope says success.
    public var decoding: ResponseDecoding<Output> { .same(as: ResponseDecoding<Payload>.payload) }
}

extension Endpoint {
    /// Stands where nothing says how the output is decoded, and says what to write.
    @available(
        *, unavailable,
        message:
            "nothing says how Output is decoded: let it be Decodable (struct User: nonisolated Decodable, Sendable), or declare decoding"
    )
    public var decoding: ResponseDecoding<Output> { .same(as: ResponseDecoding<Void>.nothing) }
}

/// What ``Endpoint/parameterRules`` of an endpoint that is none of its type would have to be: they are `static`, since they say
/// what holds for all of its endpoints.
public struct RulesAreStatic: Sendable {}

/// The parameters of an API that takes none.
public struct NoParameters: Encodable, Hashable, Sendable {
    /// The only value there is.
    public init() {}
}

/// Where the parameters of a request go.
@nonexhaustive
public enum ParameterPlacement: Hashable, Sendable {
    /// The place that goes with the verb: see ``Endpoint/placement``.
    case automatic
    /// The query of the URL, written as ``CallSettings/formFormat`` says.
    case query
    /// `application/x-www-form-urlencoded`.
    case form
    /// `application/json`.
    case json
}

/// Which envelope is opened.
@nonexhaustive
public enum EnvelopeChoice: Hashable, Sendable {
    /// The envelope of the endpoint's service, or none where the service has none.
    case ofService
    /// The response is the data.
    case none
    /// This one in place of the service's.
    case custom(Envelope)
}

/// An endpoint whose type says nothing of the API.
protocol UntypedEndpoint: Endpoint {}

extension AdHocEndpoint: UntypedEndpoint {}

/// An API that is named where it is called, by teams that keep one central entry.
///
/// The request is the same, byte for byte, as that of an ``Endpoint`` with the same route and parameters.
public struct AdHocEndpoint<Output: Sendable>: Endpoint {
    public let route: Route
    public let service: ServiceID
    public let parameters: ParameterObject?
    public let placement: ParameterPlacement
    public let body: HTTPBody
    public let headers: HeaderEdits
    public let decoding: ResponseDecoding<Output>

    /// An API named where it is called.
    ///
    /// - Parameters:
    ///   - service: ``ServiceID/main`` by default.
    ///   - parameters: `nil`, the default, for none.
    ///   - placement: where they go; by verb unless told otherwise (``Endpoint/placement``).
    ///   - body: in place of one that the parameters make, which then go into the query. None by default.
    ///   - headers: replace common ones of the same names. None by default.
    ///   - decoding: how the output is made from a response.
    public init(
        _ route: Route, service: ServiceID = .main, parameters: ParameterObject? = nil,
        placement: ParameterPlacement = .automatic, body: HTTPBody = .none, headers: HeaderEdits = [:],
        decoding: ResponseDecoding<Output>
    ) {
        self.route = route
        self.service = service
        self.parameters = parameters
        self.placement = placement
        self.body = body
        self.headers = headers
        self.decoding = decoding
    }
}
