import Foundation

extension HTTPBody {
    /// JSON of no type of the app's, such as a list that is the whole of it; its members are sorted. An endpoint that is
    /// `Encodable` needs none: its parameters are sent as JSON already. A number that JSON has no form for fails the call as
    /// ``APIError/TransportFault/requestBody``.
    public static func json(_ value: JSONValue) -> HTTPBody {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            var body = bytes(try encoder.encode(value))
            body.contentType = "application/json"
            return body
        } catch {
            return .defective(error)
        }
    }
}
