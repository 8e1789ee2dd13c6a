import Foundation
import Penstock

/// The APIs of the test's nginx, written as an app's author would write them.
struct Things: Endpoint {
    typealias Output = [Thing]
    var route: Route { .get("/list.json") }
}

struct Thing: Decodable, Hashable, Sendable {
    let id: Int
    let name: String
}

/// What nginx received, and on which of its connections.
struct Echo: Endpoint {
    var method = HTTPMethod.get
    var query: ParameterObject = [:]
    var body = HTTPBody.none

    var route: Route { Route(method, "/echo") }
    var parameters: ParameterObject { query }
    var placement: ParameterPlacement { .query }
    typealias Output = EchoReply
}

struct EchoReply: Decodable, Sendable {
    let method: String
    let uri: String
    let `protocol`: String
    let host: String
    let authorization: String
    let proxyAuthorization: String
    /// As a header says it: empty without one.
    let length: String
    let connection: Int
    /// Which one on its connection, from 1 on.
    let request: Int
}

/// Answered with a redirect; what comes back in the end is an echo.
struct Redirected: Endpoint {
    let way: String
    var method = HTTPMethod.get
    var body = HTTPBody.none

    init(_ way: String, method: HTTPMethod = .get, body: HTTPBody = .none) {
        self.way = way
        self.method = method
        self.body = body
    }

    var route: Route { Route(method, "/redirect/\(way, name: "way")") }
    typealias Output = EchoReply
}

/// Whatever is at a path, as bytes.
struct Download: Endpoint {
    let path: RoutePath
    /// Nothing to the server, but it stands in the log.
    let mark: String?
    let headers: HeaderEdits

    init(_ path: RoutePath, mark: String? = nil, headers: HeaderEdits = [:]) {
        self.path = path
        self.mark = mark
        self.headers = headers
    }

    var route: Route { .get(path) }
    var parameters: ParameterObject { mark.map { ["mark": $0] } ?? [:] }
    typealias Output = Data
}

/// An API whose success is all there is to know.
struct Ping: Endpoint {
    let path: RoutePath
    var route: Route { .get(path) }
    typealias Output = Void
}
