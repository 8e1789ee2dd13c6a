import Foundation

/// A URL that a server gave, to which an endpoint is sent in place of its own: the next page, a resource that was made.
struct Link: Sendable {
    let text: String
    /// What a call fails of whose link leads to another origin, where it is for a page of a list; `nil` for any other link. A page is
    /// asked for with GET, and nothing of the endpoint's own goes with it.
    var pageRefusal: (@Sendable (HTTPURL.Origin) -> APIError)?

    var isPage: Bool { pageRefusal != nil }

    /// The URL, with the common parameters of the moment, of which what the link says itself may be out of date.
    ///
    /// - Parameters:
    ///   - base: the service's base URL: whoever has its origin may see what is for the service.
    ///   - query: escaped pairs without a `?`.
    func url(of service: Service, at base: HTTPURL, _ query: String?) throws(APIError) -> HTTPURL {
        let link = try parsed()
        guard link.origin == base.origin else {
            if let pageRefusal { throw pageRefusal(link.origin) }
            let reason =
                "\(link.origin) is not the origin of the service \(service.id), whose headers and credentials would go there;"
                + " send(HTTPRequest) sends a request of no service to any URL"
            throw APIError(.blocked(reason: reason), stage: .prepare)
        }
        return HTTPURL(origin: link.origin, path: link.path, query: LinkQuery.merged(link.query, under: query))
    }

    private func parsed() throws(APIError) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(text)
        } catch {
            throw APIError(.invalidParameter(field: "url", reason: "\(error)"), stage: .prepare, underlying: error)
        }
    }
}

extension Link: CustomStringConvertible, CustomReflectable {
    /// The URL without secrets.
    var description: String { Redaction.value(text, ofParameter: "baseURL") }

    var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}

extension CallOptions {
    /// Sends an endpoint to a URL that a server gave, in place of the one that its route makes: to the next page of a list, to
    /// the resource that was made. The rest is as ever: the service's headers and credentials, envelope, validators, decoding.
    ///
    /// ```swift
    /// let more = try await client.send(Products(), options: .at(page.next))
    /// ```
    ///
    /// The endpoint's parameters are left out where they belong in the query, since the link has its own. Common parameters of
    /// the query are those of the moment, also where the link repeats them; a body is sent as it would be.
    ///
    /// The URL must have the origin (RFC 6454) of the service's base URL, or of ``baseURL`` where that is set, or else the call
    /// fails as ``APIError/Kind/blocked(reason:)``: what is for a service goes nowhere else. A URL that is none fails as
    /// ``APIError/Kind/invalidParameter(field:reason:)``.
    public static func at(_ url: HTTPURL) -> CallOptions { CallOptions().at(url) }

    /// Sends an endpoint to a URL that a server gave; see ``at(_:)-swift.type.method-(HTTPURL)``.
    public static func at(_ url: URL) -> CallOptions { CallOptions().at(url) }

    /// Sends an endpoint to a URL that a server gave; see ``at(_:)-swift.type.method-(HTTPURL)``.
    public func at(_ url: HTTPURL) -> CallOptions {
        with { $0[dynamicMember: \.link] = Link(text: url.absoluteString) }
    }

    /// Sends an endpoint to a URL that a server gave; see ``at(_:)-swift.type.method-(HTTPURL)``.
    public func at(_ url: URL) -> CallOptions { with { $0[dynamicMember: \.link] = Link(text: url.absoluteString) } }

    /// Sends an endpoint to the link of a page of its list.
    ///
    /// - Parameter refusal: what the call fails of where the link leads to another origin.
    func onPage(_ url: HTTPURL, refusal: @escaping @Sendable (HTTPURL.Origin) -> APIError) -> CallOptions {
        with { $0[dynamicMember: \.link] = Link(text: url.absoluteString, pageRefusal: refusal) }
    }
}
