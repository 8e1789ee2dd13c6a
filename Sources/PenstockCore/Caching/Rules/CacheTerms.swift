import Foundation

/// What the fields of a stored response say about its reuse, read once: all that does not depend on the present time.
/// A class, since they are asked for many times.
package final class CacheTerms: Sendable {
    let control: ResponseControl
    /// Seconds the server's fields give it, by an explicit time or by the heuristic.
    let lifetime: TimeInterval
    /// Its age in seconds when it came (RFC 9111 §4.2.3).
    let initialAge: TimeInterval
    /// When the server made it.
    let date: Date
    let tag: EntityTag?
    /// The text of `Last-Modified`, when it is one valid date.
    let lastModified: String?
    /// Whether its content was coded, so that the stored body is not what byte ranges count in.
    let isCoded: Bool

    init(_ response: CachedResponse) {
        let (fields, responseTime) = (response.fields, response.responseTime)
        control = ResponseControl(fields)
        let sent = HTTPDate.only(in: fields, .date, at: responseTime)
        date = sent ?? responseTime
        let modified = HTTPDate.only(in: fields, .lastModified, at: responseTime)
        lifetime = FreshnessLifetime.of(
            fields, status: response.status, control: control, date: date, modified: modified, at: responseTime)
        initialAge = InitialAge.of(fields, date: sent, requestTime: response.requestTime, responseTime: responseTime)
        tag = EntityTag.of(fields)
        lastModified = modified == nil ? nil : fields[.lastModified]
        isCoded = ContentCoding.isCoded(fields)
    }

    /// The date of `Last-Modified`.
    var modified: Date? {
        lastModified.flatMap { HTTPDate.parse($0, at: date) }
    }

    /// Whether the server can be asked about it.
    var hasValidator: Bool { tag != nil || lastModified != nil }

    /// §3.4 asks for a strong one before parts are joined. A date is never taken for strong here.
    var strongTag: EntityTag? {
        tag.flatMap { $0.isWeak ? nil : $0 }
    }
}

extension HTTPDate {
    /// The date of a field that stands in exactly one line.
    static func only(in fields: HTTPFields, _ name: HTTPFieldName, at now: Date) -> Date? {
        let lines = fields.values(of: name)
        return lines.count == 1 ? parse(lines[0], at: now) : nil
    }
}
