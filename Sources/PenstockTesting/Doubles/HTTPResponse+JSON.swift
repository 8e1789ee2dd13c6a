import Foundation
import PenstockCore

/// Responses for stubs.
///
/// ```swift
/// stub.on(.get, "/products/7", .json(["id": 7, "name": "tea"]))
/// stub.on(.get, "/products/8", .json(#"{"error":"sold out"}"#, status: 410))
/// stub.on(.get, "/products/9", try .json(encoding: Product(id: 9)))
/// ```
extension HTTPResponse {
    /// A response with a JSON text, as it stands.
    ///
    /// - Parameters:
    ///   - status: 200 by default.
    ///   - fields: besides `Content-Type: application/json`, which they may replace.
    public static func json(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        json(Data(text.utf8), status, fields)
    }

    /// A response with JSON that is written as a literal. A number that JSON has no form for becomes a string.
    ///
    /// - Parameters:
    ///   - status: 200 by default.
    ///   - fields: besides `Content-Type: application/json`, which they may replace.
    public static func json(_ value: JSONValue, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        // With that strategy there is no tree that cannot be written.
        return json((try? encoder.encode(value)) ?? Data("null".utf8), status, fields)
    }

    /// A response with a model as JSON.
    ///
    /// - Parameters:
    ///   - status: 200 by default.
    ///   - fields: besides `Content-Type: application/json`, which they may replace.
    ///   - encoder: as the server writes it; by default dates are as ISO 8601 has them, and keys are sorted.
    /// - Throws: what the encoder throws.
    public static func json(
        encoding model: some Encodable, status: Int = 200, fields: HTTPFields = [:], with encoder: JSONEncoder? = nil
    ) throws -> HTTPResponse {
        json(try (encoder ?? serverLike()).encode(model), status, fields)
    }

    private static func serverLike() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private static func json(_ body: Data, _ status: Int, _ fields: HTTPFields) -> HTTPResponse {
        var all: HTTPFields = [.contentType: "application/json"]
        all.merge(fields)
        return HTTPResponse(status: status, fields: all, body: body)
    }
}
