import Foundation
import Penstock

/// One line of input: a request, and how it is to be sent.
struct DriveRequest: Sendable {
    /// A request that cannot be made.
    struct Invalid: Error {
        /// The ID of the request, where that can be read: a reply has it.
        var id: Int?
        let reason: String
    }

    private enum CacheMode: String, Decodable {
        case `default`
        case noCache = "no-cache"
    }

    private enum Redirect: String, Decodable {
        case follow, manual
    }

    private struct Numbered: Decodable {
        let id: Int
    }

    private struct Parts: Decodable {
        let method: String
        let url: String
        let headers: [[String]]?
        let body: String?
        let cacheMode: CacheMode?
        let redirect: Redirect?
    }

    let id: Int
    private let parts: Parts

    /// - Throws: ``Invalid``, with the number of the request where the line has one.
    init(_ line: String) throws(Invalid) {
        let data = Data(line.utf8)
        guard let numbered = try? JSONDecoder().decode(Numbered.self, from: data) else {
            throw Invalid(reason: "it is no JSON object with a number named id")
        }
        id = numbered.id
        do {
            parts = try JSONDecoder().decode(Parts.self, from: data)
        } catch {
            throw Invalid(id: numbered.id, reason: Self.reason(error))
        }
    }

    /// Names the member, and says nothing of what stands in it.
    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _): "\(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(context.codingPath.first?.stringValue ?? "the request") is not what it may be"
        default: "it cannot be read"
        }
    }

    var followsRedirects: Bool { parts.redirect != .manual }

    func http() throws(Invalid) -> HTTPRequest {
        guard let method = HTTPMethod(rawValue: parts.method) else { throw Invalid(reason: "no such method") }
        var request = HTTPRequest(method: method, url: try target(), fields: try fields())
        if parts.cacheMode == .noCache, !request.fields.contains("Cache-Control") {
            request.fields["Cache-Control"] = "max-age=0"
        }
        if let body = parts.body { request.body = .bytes(Data(body.utf8)) }
        return request
    }

    private func target() throws(Invalid) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(parts.url)
        } catch {
            throw Invalid(reason: "URL: \(error)")
        }
    }

    private func fields() throws(Invalid) -> HTTPFields {
        var fields = HTTPFields()
        for header in parts.headers ?? [] {
            guard header.count == 2 else { throw Invalid(reason: "a header is a name and a value") }
            fields.append(header[1], for: HTTPFieldName(header[0]))
        }
        return fields
    }
}
