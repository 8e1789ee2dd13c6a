/// A part of the request path, as events and errors name it.
public struct StageName: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    // MARK: Before anything is sent

    /// The endpoint's parameters are checked against its rules.
    public static let parameters = StageName(rawValue: "parameters")
    /// The parameters of all levels become one.
    public static let commonParameters = StageName(rawValue: "commonParameters")
    /// URL, fields and body are made.
    public static let prepare = StageName(rawValue: "prepare")

    // MARK: Around what is sent, from the outside in

    /// One of the app's interceptors around the call.
    public static let callInterception = StageName(rawValue: "callInterception")
    /// The call is held against others of its kind.
    public static let inFlight = StageName(rawValue: "inFlight")
    /// Redirects are followed.
    public static let redirect = StageName(rawValue: "redirect")
    /// Stored responses are looked up, and new ones noted.
    public static let cache = StageName(rawValue: "cache")
    /// Attempts that failed are repeated.
    public static let retry = StageName(rawValue: "retry")
    /// A call that found no way to its server waits for one.
    public static let connectivity = StageName(rawValue: "connectivity")
    /// Attempts wait for a place, for their turn, or for the end of a pause.
    public static let admission = StageName(rawValue: "admission")
    /// The credential is added, and a refused one renewed.
    public static let authenticate = StageName(rawValue: "authenticate")
    /// One of the app's interceptors around each attempt.
    public static let attemptInterception = StageName(rawValue: "attemptInterception")
    /// Cookies are added and kept.
    public static let cookies = StageName(rawValue: "cookies")
    /// The payload is sealed, and the response opened.
    public static let seal = StageName(rawValue: "seal")
    /// The content is compressed.
    public static let compress = StageName(rawValue: "compress")
    /// The final bytes are signed.
    public static let sign = StageName(rawValue: "sign")
    /// The request is sent and its response received.
    public static let transport = StageName(rawValue: "transport")

    // MARK: On what came

    /// The status is judged.
    public static let status = StageName(rawValue: "status")
    /// The envelope is opened.
    public static let envelope = StageName(rawValue: "envelope")
    /// The content is checked before it is decoded.
    public static let payloadValidation = StageName(rawValue: "payloadValidation")
    /// The content becomes a model.
    public static let decoding = StageName(rawValue: "decoding")
    /// The model is checked.
    public static let validation = StageName(rawValue: "validation")
    /// A reformer makes something else of the content.
    public static let reform = StageName(rawValue: "reform")
    /// The result is there, output or error, and is handed to those who wait for it. Of a streamed call, its content is read.
    public static let delivery = StageName(rawValue: "delivery")

    public var description: String { rawValue }
}

/// How a call, a stage or an attempt ended.
@nonexhaustive
public enum CallOutcome: Hashable, Sendable {
    /// It did what it was there for. Of an attempt: a response came, whatever its status.
    case success
    /// It failed of this.
    case failure(APIError.Kind)
    /// It was ended early.
    case cancelled
}

extension CallOutcome {
    init(_ kind: APIError.Kind) {
        self = kind == .cancelled ? .cancelled : .failure(kind)
    }

    init(_ error: APIError) {
        self.init(error.kind)
    }
}
