import Foundation

/// Where the parameters of a call go, and how they are written.
public enum ParameterEncoding: Sendable {
    /// Into the query of the URL.
    case query(FormFormat)
    /// Into the body, as `application/x-www-form-urlencoded`.
    case form(FormFormat)
    /// Into the body, as `application/json`.
    case json(JSONFormat)

    /// A query with the defaults of ``FormFormat``.
    public static let query = ParameterEncoding.query(FormFormat())
    /// A form with the defaults of ``FormFormat``.
    public static let form = ParameterEncoding.form(FormFormat())
    /// JSON with the defaults of ``JSONFormat``.
    public static let json = ParameterEncoding.json(JSONFormat())

    /// What the encoding adds to a request.
    public enum Output: Hashable, Sendable {
        /// Escaped pairs for the URL; may be empty.
        case query(String)
        /// The content of the request, and the media type for its `Content-Type`.
        case body(Data, contentType: String)
    }

    /// What the parameters add to a request.
    ///
    /// - Throws: ``ParameterEncodingError/Reason/notAnObject`` where a query or a form is to be made of what has no
    ///   names, and the errors of the value's parts.
    public func encode(_ value: ParameterValue) throws(ParameterEncodingError) -> Output {
        switch self {
        case .query(let format): .query(try format.text(value))
        case .form(let format): .body(try format.data(value), contentType: "application/x-www-form-urlencoded")
        case .json(let format): .body(try format.data(value), contentType: "application/json")
        }
    }
}
