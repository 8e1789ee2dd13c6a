import Foundation

extension HTTPBody {
    /// JSON of no type of the app's, such as a list that is the whole of it; its members are sorted. An endpoint that is
    /// `Encodable` needs none: its parameters are sent as JSON already. A number that JSON has no form for fails the call as
    /// ``APIError/TransportFault/requestBody``.
    public static func json(_ value: JSONValue) -> HTTPBody {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return json { try encoder.encode(value) }
    }

    /// JSON of an object whose members are variables, as parameters are written:
    ///
    /// ```swift
    /// var body: HTTPBody { .json(["name": name, "age": age]) }
    /// ```
    @_disfavoredOverload
    public static func json(_ object: ParameterObject) -> HTTPBody {
        json { try JSONFormat().data(.object(object)) }
    }

    /// JSON of a model. Where the model is all that is sent, an endpoint whose ``EndpointMembers/parameters`` it is does the same, and
    /// in the format of its client. What cannot be encoded fails the call as ``APIError/TransportFault/requestBody``.
    ///
    /// - Parameter format: how dates, keys and nulls are written; the defaults are those of a client that sets none.
    public static func json(encoding model: some Encodable, format: JSONFormat = JSONFormat()) -> HTTPBody {
        json { try format.data(ParameterEncoder().encode(model)) }
    }

    /// A model is named as one, since a ``JSONValue`` would be written in another way.
    @available(*, unavailable, message: "a model is .json(encoding: model), or the endpoint's parameters")
    @_disfavoredOverload
    public static func json(_ model: some Encodable) -> HTTPBody {
        json(encoding: model)
    }

    private static func json(_ write: () throws -> Data) -> HTTPBody {
        do {
            var body = bytes(try write())
            body.contentType = "application/json"
            return body
        } catch {
            return .defective(error)
        }
    }
}
