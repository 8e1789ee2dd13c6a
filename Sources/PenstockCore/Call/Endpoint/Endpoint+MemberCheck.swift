/// The check of an endpoint's members, which is made where the compiler looks for what fulfils `_checkMembers`: the function for
/// types that are as they must be, or one that is unavailable and says which is not. Of functions that fit, the compiler takes the one
/// that leaves the least open.
extension Endpoint {
    /// Every member is as it must be.
    public static func _checkMembers(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "service is a ServiceID")
    public static func _checkMembers<Other>(
        _ types: (
            Other, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "body is an HTTPBody, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, Other, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "headers are HeaderEdits, and no dictionary or optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, Other, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "options are CallOptions, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, Other, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "envelope is an EnvelopeChoice: .custom(envelope)")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, Other, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "payloadValidator is a Validator<Payload>, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Other, Validator<Output>, [any Interceptor],
            [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "validator is a Validator<Output>, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Other, [any Interceptor],
            [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "callInterceptors are [any Interceptor]")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>, Other,
            [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "attemptInterceptors are [any Interceptor]")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], Other, ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "parameterRules are ParameterRules<Self>, and no array")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], Other, RulesAreStatic, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "parameterRules are static")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, Other, Parameters, ParameterPlacement, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "parameters are Encodable and Sendable, such as a ParameterObject")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Other, ParameterPlacement,
            [String], [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "placement is a ParameterPlacement, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, Other, [String],
            [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "cacheTags are [String]")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            Other, [CacheSelection], ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "invalidates are [CacheSelection]")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], Other, ResponseDecoding<Output>, Output
        ).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "decoding is a ResponseDecoding<Output>, and no optional")
    public static func _checkMembers<Other>(
        _ types: (
            ServiceID, HTTPBody, HeaderEdits, CallOptions, EnvelopeChoice, Validator<Payload>, Validator<Output>,
            [any Interceptor], [any Interceptor], ParameterRules<Self>, RulesAreStatic, Parameters, ParameterPlacement,
            [String], [CacheSelection], Other, Output
        ).Type
    ) {}

    /// Not even all but one are.
    @available(
        *, unavailable,
        message:
            "several members have other types than Endpoint gives them: compare service, body, headers, options, envelope, the validators, the interceptors, parameterRules, parameters, placement, cacheTags, invalidates and decoding"
    )
    public static func _checkMembers<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q>(
        _ types: (
            A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q
        ).Type
    ) {}
}
