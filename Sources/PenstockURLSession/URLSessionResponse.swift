import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads a response's head, and judges what Foundation leaves unjudged.
enum URLSessionResponse {
    /// Fields come sorted by name, as their own order is lost. Foundation joins lines of one name by commas; of them only
    /// those of `Set-Cookie` are no list, and are taken apart again.
    static func head(of response: HTTPURLResponse) -> HTTPResponse {
        let lines = response.allHeaderFields.compactMap { name, value -> (String, String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        var fields = HTTPFields()
        for (text, value) in lines.sorted(by: { $0.0 < $1.0 }) {
            let name = HTTPFieldName(text)
            for line in name == .setCookie ? JoinedSetCookie.split(value) : [value] { fields.append(line, for: name) }
        }
        return HTTPResponse(status: response.statusCode, fields: fields, version: .unknown)
    }

    static func exceededLimit(_ fields: HTTPFields, _ limits: ResponseLimits) -> ResponseLimits.Limit? {
        if fields.count > limits.headerCount { return .headerCount }
        let bytes = fields.reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 4 }
        return bytes > limits.headerBytes ? .headerBytes : nil
    }

    /// More codings, one over the other, than content may have.
    static func isCodedTooOften(_ head: HTTPResponse) -> Bool {
        let codings = head.fields.combined(.contentEncoding)?.split(separator: ",") ?? []
        return codings.count { !["", "identity"].contains(HTTPSyntax.trimmed($0.lowercased())) } > maximumCodings
    }

    private static let maximumCodings = 5

    /// How much content a head allows after its codings are removed, by the length on the wire that it claims; `nil` where
    /// it claims none, so that the ratio of the two cannot be known.
    static func expandedLimit(_ head: HTTPResponse, _ limits: ResponseLimits) -> Int? {
        guard head.fields.contains(.contentEncoding), let wire = head.fields[.contentLength].flatMap({ Int($0) })
        else { return nil }
        let (expanded, overflow) = wire.multipliedReportingOverflow(by: max(limits.expansionRatio, 1))
        return overflow ? nil : max(expanded, 1 << 20)
    }

    /// The length of the content as `Content-Length` claims it; `nil` where that says nothing of what is handed up.
    static func expectedLength(_ head: HTTPResponse, to method: HTTPMethod) -> Int? {
        guard HTTPResponse.mayHaveContent(head.status, to: method), !head.fields.contains(.contentEncoding) else {
            return nil
        }
        return head.fields[.contentLength].flatMap { Int($0) }
    }

    /// Two framings, or a length that is no number: what follows the content cannot be told from it (RFC 9112 §6.3).
    static func isMisframed(_ head: HTTPResponse) -> Bool {
        guard let length = head.fields[.contentLength] else { return false }
        let values = Set(length.split(separator: ",").map { HTTPSyntax.trimmed(String($0)) })
        let isNumber = values.first.map { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? false
        return values.count != 1 || !isNumber || head.fields.contains(.transferEncoding)
    }

    /// A connection that closes in the middle of the content is not always reported.
    static func isTruncated(_ head: HTTPResponse, received: Int, to method: HTTPMethod) -> Bool {
        guard let expected = expectedLength(head, to: method) else { return false }
        return received < expected
    }
}
