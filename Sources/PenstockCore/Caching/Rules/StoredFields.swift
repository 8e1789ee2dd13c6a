import Foundation

/// The fields that are stored of a response, and how later ones change them (RFC 9111 §3.1, §3.2).
enum StoredFields {
    /// They are about one connection (RFC 9110 §7.6.1) or one proxy (§11.7).
    private static let connectionFields: HTTPFieldNames = [
        .connection, "Keep-Alive", "Proxy-Connection", "TE", .transferEncoding, "Upgrade", "Proxy-Authenticate",
        "Proxy-Authentication-Info", .proxyAuthorization,
    ]

    /// They describe the stored body, which an update leaves as it is.
    private static let bodyFields: HTTPFieldNames = [
        .contentLength, .contentEncoding, .contentType, .contentRange,
    ]

    /// The cache's own bearings, which `no-cache="…"` cannot take away.
    private static let cacheFields: [HTTPFieldName] = [.cacheControl, .date, .expires, .age, .vary]

    /// The fields of a response that are stored. A response without a date gets the time it came (RFC 9110 §6.6.1).
    static func of(_ arrival: CacheArrival) -> HTTPFields {
        var fields = storable(arrival.fields)
        if !fields.contains(.date) { fields[.date] = HTTPDate.format(arrival.responseTime) }
        return fields
    }

    /// Stored fields after a response without the representation: each field of the response replaces those of its name.
    static func merged(_ stored: HTTPFields, with arrival: CacheArrival) -> HTTPFields {
        let update = of(arrival).without(bodyFields)
        var fields = stored
        // An age is of the response it came with; kept, it would make the new one old.
        fields.remove(.age)
        fields.merge(update)
        return storable(fields)
    }

    /// The fields of a response without the representation that `no-cache="…"` keeps out of the store: they are of the answer
    /// which that response has made possible, and of no later one (§5.2.2.4).
    ///
    /// - Parameter stored: the fields that are stored now.
    static func withheld(from arrival: CacheArrival, besides stored: HTTPFields) -> HTTPFields {
        let names = HTTPFieldNames(withheldNames(stored))
        guard arrival.fields.first(of: names) != nil else { return [:] }
        let others = arrival.fields.without(connectionNames(arrival.fields)).without(bodyFields)
        return HTTPFields(others.filter { names.contains($0.name) })
    }

    private static func storable(_ fields: HTTPFields) -> HTTPFields {
        fields.without(connectionNames(fields) + withheldNames(fields))
    }

    private static func withheldNames(_ fields: HTTPFields) -> [HTTPFieldName] {
        ResponseControl(fields).withheldFields.filter { !cacheFields.contains($0) }
    }

    private static func connectionNames(_ fields: HTTPFields) -> HTTPFieldNames {
        var others: [HTTPFieldName] = []
        // By far the most common `Connection` names no field.
        for field in fields where field.name == .connection && !field.value.isWritten(as: "keep-alive") {
            // No field has a name that is no token.
            others += FieldList.members(field.value).filter { $0.utf8.allSatisfy(HTTPSyntax.isTokenByte) }
                .map { HTTPFieldName(String($0)) }
        }
        return connectionFields + others
    }
}

/// Names of the fields that caching is about.
extension HTTPFieldName {
    static let age: HTTPFieldName = "Age"
    static let cacheControl: HTTPFieldName = "Cache-Control"
    static let connection: HTTPFieldName = "Connection"
    static let contentLanguage: HTTPFieldName = "Content-Language"
    static let contentLocation: HTTPFieldName = "Content-Location"
    static let contentRange: HTTPFieldName = "Content-Range"
    static let date: HTTPFieldName = "Date"
    static let eTag: HTTPFieldName = "ETag"
    static let expires: HTTPFieldName = "Expires"
    static let ifMatch: HTTPFieldName = "If-Match"
    static let ifModifiedSince: HTTPFieldName = "If-Modified-Since"
    static let ifNoneMatch: HTTPFieldName = "If-None-Match"
    static let ifRange: HTTPFieldName = "If-Range"
    static let ifUnmodifiedSince: HTTPFieldName = "If-Unmodified-Since"
    static let lastModified: HTTPFieldName = "Last-Modified"
    static let pragma: HTTPFieldName = "Pragma"
    static let range: HTTPFieldName = "Range"
    static let vary: HTTPFieldName = "Vary"
    static let warning: HTTPFieldName = "Warning"
}
