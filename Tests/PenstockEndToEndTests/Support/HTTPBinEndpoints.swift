import Foundation
import Penstock

/// Answered with everything that httpbin received.
struct Anything: Endpoint {
    var method = HTTPMethod.get
    var path: RoutePath = "/anything"
    var parameters: ParameterObject?
    var placement = ParameterPlacement.automatic
    var headers: HeaderEdits = [:]
    var body = HTTPBody.none

    var route: Route { Route(method, path) }
    typealias Output = JSONValue
}

/// A JSON document at a path.
struct Document: Endpoint {
    let path: RoutePath
    var parameters: ParameterObject?
    var headers: HeaderEdits = [:]

    init(_ path: RoutePath, parameters: ParameterObject? = nil, headers: HeaderEdits = [:]) {
        self.path = path
        self.parameters = parameters
        self.headers = headers
    }

    var route: Route { .get(path) }
    typealias Output = JSONValue
}

extension JSONValue {
    /// The body as httpbin says it: text, or base64 where it is none.
    var receivedBody: Data? {
        guard let text = self["data"]?.string else { return nil }
        let mark = "data:application/octet-stream;base64,"
        return text.hasPrefix(mark) ? Data(base64Encoded: String(text.dropFirst(mark.count))) : Data(text.utf8)
    }
}
