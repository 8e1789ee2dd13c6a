import Foundation
import Penstock

/// One line of input: a request, and how it is to be sent.
struct DriveRequest: Decodable, Sendable {
    /// A request that cannot be made.
    struct Invalid: Error {
        let reason: String
    }

    let id: Int
    private let method: String
    private let url: String
    private let headers: [[String]]
    private let body: String?
    private let cacheMode: String?
    private let redirect: String?

    init?(_ line: String) {
        guard let request = try? JSONDecoder().decode(DriveRequest.self, from: Data(line.utf8)) else { return nil }
        self = request
    }

    var followsRedirects: Bool { redirect != "manual" }

    func http() throws(Invalid) -> HTTPRequest {
        guard let method = HTTPMethod(rawValue: method) else { throw Invalid(reason: "no such method") }
        var request = HTTPRequest(method: method, url: try target(), fields: try fields())
        if cacheMode == "no-cache" { request.fields["Cache-Control"] = "max-age=0" }
        if let body { request.body = .bytes(Data(body.utf8)) }
        return request
    }

    private func target() throws(Invalid) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(url)
        } catch {
            throw Invalid(reason: "URL: \(error)")
        }
    }

    private func fields() throws(Invalid) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            guard header.count == 2 else { throw Invalid(reason: "a header is a name and a value") }
            fields.append(header[1], for: HTTPFieldName(header[0]))
        }
        return fields
    }
}
