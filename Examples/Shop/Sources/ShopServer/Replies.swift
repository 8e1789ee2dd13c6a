import Foundation
import PenstockTesting

extension LoopbackServer.Response {
    private struct Envelope<Content: Encodable>: Encodable {
        let retcode: Int
        let retdesc: String
        let data: Content?
    }

    static func success(_ data: some Encodable) -> Self {
        enveloped(Envelope(retcode: 0, retdesc: "", data: data))
    }

    static func failure(_ code: Int, _ text: String) -> Self {
        enveloped(Envelope<String>(retcode: code, retdesc: text, data: nil))
    }

    /// A success without any data.
    static var done: Self { .json(#"{"retcode":0,"retdesc":""}"#) }

    static var notLoggedIn: Self { failure(1002, "not logged in") }

    static var malformed: Self { .text("That is not what this address takes.", status: 400) }

    private static func enveloped(_ envelope: some Encodable) -> Self {
        guard let data = try? JSONEncoder().encode(envelope) else { return .init(status: 500) }
        return .init(fields: [.contentType: "application/json"], body: data)
    }
}

extension LoopbackServer.Request {
    /// The JSON content as a value; `nil` when it is something else.
    func form<Form: Decodable>(_ type: Form.Type) -> Form? {
        try? JSONDecoder().decode(type, from: body)
    }

    /// The first value of a name in the query.
    func parameter(_ name: String) -> String? {
        var components = URLComponents()
        components.percentEncodedQuery = query
        return components.queryItems?.first { $0.name == name }?.value
    }
}
