import Foundation

/// The conditions a caller's request carries, and which of them a cache may evaluate (RFC 9111 §4.3.2).
struct Preconditions {
    /// Members of `If-None-Match`; `nil` when there is none.
    private(set) var noneMatch: [EntityTag]?
    /// `If-None-Match: *`.
    private(set) var isAnyMatch = false
    private var modifiedSince: String?
    private var ifRange: String?
    /// `If-Match` and `If-Unmodified-Since` are for the origin server alone.
    private(set) var isForOrigin = false

    /// Of a request without conditions.
    init() {}

    init(_ fields: HTTPFields) {
        let tags = fields.values(of: .ifNoneMatch)
        isAnyMatch = tags.contains("*")
        noneMatch = tags.isEmpty ? nil : EntityTag.list(tags)
        modifiedSince = fields[.ifModifiedSince]
        ifRange = fields[.ifRange]
        isForOrigin = fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
    }

    /// Whether the caller asks for a 304 in any form.
    var isConditional: Bool { noneMatch != nil || modifiedSince != nil }

    /// Whether the caller holds what is stored, so that the answer is a 304. `If-None-Match` is the one that counts
    /// where both are there (RFC 9110 §13.2.2).
    func isNotModified(_ stored: CachedResponse) -> Bool {
        // RFC 9110 §13.2.1: conditions mean nothing where the answer is no success.
        guard (200...299).contains(stored.status) else { return false }
        if let noneMatch {
            return isAnyMatch || noneMatch.contains { stored.terms.tag?.matchesWeakly($0) ?? false }
        }
        // §4.3.2: without Last-Modified, the time the response was made stands for it.
        guard let modifiedSince, let since = HTTPDate.parse(modifiedSince, at: stored.responseTime) else {
            return false
        }
        return stored.terms.modified ?? stored.terms.date <= since
    }

    /// Whether a range is to be given: without `If-Range`, or where it names what is stored, strongly (RFC 9110
    /// §13.1.5). A date does when it is the stored `Last-Modified` to the letter and was over a second old.
    func allowsRange(of stored: CachedResponse) -> Bool {
        guard let ifRange else { return true }
        if let tag = EntityTag(ifRange) { return stored.terms.tag?.matchesStrongly(tag) ?? false }
        guard let modified = stored.terms.modified, ifRange == stored.terms.lastModified else { return false }
        return stored.terms.date.timeIntervalSince(modified) >= 1
    }
}
