import Foundation

/// The rule for what of keys and responses may stand in a file: nothing that ``Redaction`` would hide. Files outlive the process, are
/// copied into backups, and are read by whoever finds them.
///
/// - A URL with a secret in it is written as it would be printed, followed by `#` and a keyed digest of the whole. So it is
///   found by whoever knows all of it, and its path can still be selected. Keys have no fragments, so that `#` stands in no other.
/// - A digest of a request's content is keyed as well: short content could be guessed from a plain one.
/// - Fields whose values would be hidden are left out, `Set-Cookie` and `Authentication-Info` among them. A cached response
///   sets no cookie again, and what it said of one user's authentication is over (RFC 9111 §7.3). `WWW-Authenticate` stays: it
///   asks for credentials, and is none.
/// - A response that refers to a URL with a secret in it (`Location`, `Content-Location`, `Link`, `Refresh`) means nothing without
///   it, and is not written at all.
///
/// The content of a response is none of this: a server that sends secrets as content says `no-store`, or seals it.
package struct CacheAtRest: Sendable {
    /// What digests are made with. It stands in the file itself, so that other processes find what is stored: whoever holds the
    /// file can try out guesses one by one, and reads nothing.
    private let secret: Data

    /// - Parameter secret: random, and kept with what is stored.
    package init(secret: Data) {
        self.secret = secret
    }

    // MARK: Keys

    /// A key as it may be written. What has been written already stays as it is.
    package func key(_ key: CacheKey) -> CacheKey {
        let text = url(key.url)
        let content = key.contentDigest.map { isDigest($0) ? $0 : Self.mark + digest("content", $0) }
        guard text != key.url || content != key.contentDigest else { return key }
        return CacheKey(
            storedMethod: key.method, url: text, partition: key.partition, contentDigest: content,
            credentialDigest: key.credentialDigest)
    }

    /// A URL as keys have it, as it may be written.
    package func url(_ url: String) -> String {
        guard SecretHint.stands(in: url), !url.utf8.contains(UInt8(ascii: "#")) else { return url }
        let end = url.utf8.firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex
        let path = SecretHint.path(of: url)
        // As ``HTTPURL`` prints itself: the name of a file may be long and random.
        let place = [url[..<path], url[path..<end]].map { RedactedText.make(of: String($0), byShape: false) }.joined()
        let query = url[end...].isEmpty ? "" : "?" + Redaction.query(String(url[end...].dropFirst()))
        return place + query == url ? url : "\(place)\(query)#\(digest("url", url))"
    }

    private static let mark = "keyed "

    private func isDigest(_ text: String) -> Bool { text.hasPrefix(Self.mark) }

    private func digest(_ use: String, _ text: String) -> String {
        SHA256.hex(Array(use.utf8) + [0] + Array(text.utf8), key: secret)
    }

    // MARK: Responses

    /// A response as it may be written; `nil` for one that is not to be written.
    package func response(_ response: CachedResponse) -> CachedResponse? {
        var kept = HTTPFields()
        var left = false
        for field in response.fields {
            guard field.name != "WWW-Authenticate", Redaction.value(field.value, of: field.name) != field.value else {
                kept.add(field)
                continue
            }
            if Self.references.contains(field.name) { return nil }
            left = true
        }
        let key = key(response.key)
        return left || key != response.key ? response.with(key, left ? kept : response.fields) : response
    }

    private static let references: Set<HTTPFieldName> = [.location, "Content-Location", "Link", "Refresh"]
}

extension CachedResponse {
    /// The same with another key and other fields.
    package func with(_ key: CacheKey, _ fields: HTTPFields) -> CachedResponse {
        CachedResponse(
            key: key, variant: variant, status: status, fields: fields, version: version, requestTime: requestTime,
            responseTime: responseTime, bodyLength: bodyLength, part: part, tags: tags, appTTL: appTTL,
            appMaxStale: appMaxStale, isInvalidated: isInvalidated)
    }
}
