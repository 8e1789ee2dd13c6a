import Foundation

extension APIError {
    /// What a decoder threw, told without any value of the document.
    ///
    /// - Parameter place: where the decoding began, for errors that do not tell their own coding path.
    static func decoding(_ error: any Error, at place: JSONPath) -> APIError {
        let (path, reason) = DecodingFailure.describe(error)
        let isDeeper = path.steps.count > place.steps.count
        let text = PrintableText.bounded((isDeeper ? path : place).text)
        return APIError(.decoding(path: text, reason: reason), stage: .decoding, underlying: error)
    }
}

extension APIError {
    /// The body of the response that came, as the call would have decoded it; `nil` where none came.
    public var payload: Payload? {
        response.map { Payload($0.body, contentType: $0.fields.combined(.contentType), options: modelFormat) }
    }

    /// The server's own words about what went wrong, decoded as the call's models are: with the service's key and date
    /// formats, or by its own decoder.
    ///
    /// ```swift
    /// } catch {
    ///     show(error.decode(Problem.self)?.detail ?? error.localizedDescription)
    /// }
    /// ```
    ///
    /// - Parameter path: a dotted path in the body, for servers that write `{"error": {…}}`.
    /// - Returns: `nil` where no response came, or its body is no such model; ``payload`` tells why.
    public func decode<Model: Decodable>(_ type: Model.Type, at path: String = "") -> Model? {
        try? payload?.value(type, at: path)
    }
}

enum DecodingFailure {
    static func describe(_ error: any Error) -> (path: JSONPath, reason: String) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (JSONPath(context.codingPath + [key]), "a required field is absent")
        case DecodingError.valueNotFound(let type, let context):
            (JSONPath(context.codingPath), "nothing where \(name(of: type)) is required")
        case DecodingError.typeMismatch(let type, let context):
            (JSONPath(context.codingPath), "not \(name(of: type))")
        case DecodingError.dataCorrupted(let context):
            (JSONPath(context.codingPath), "no valid value")
        case let fault as JSONFault:
            (JSONPath(""), fault.reason)
        default:
            (JSONPath(""), "the value cannot be read (\(type(of: error)))")
        }
    }

    private static func name(of type: Any.Type) -> String {
        PrintableText.bounded("\(type)")
    }
}
