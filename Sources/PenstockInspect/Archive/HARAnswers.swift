import Foundation
import PenstockCore

/// The responses of an archive, to answer with again.
public enum HARAnswers {
    /// What was asked and what was answered.
    public struct Answer: Sendable {
        /// As sent.
        public let method: String
        /// Path and query, with the marks of what is secret.
        public let target: String
        /// Its content where the archive has it; the fields that frame it are left out.
        public let response: HTTPResponse
    }

    /// What frames content, or speaks of a coding that the content of an archive does not have any more.
    private static let framing: Set<HTTPFieldName> = [
        .contentLength, .contentEncoding, .transferEncoding, "Connection", "Keep-Alive", "Upgrade", "Trailer",
    ]

    /// The answers of an archive in their order. What had none, and URLs that are none, are left out.
    ///
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    public static func read(_ archive: URL) throws(HARError) -> [Answer] {
        try HAR(contentsOf: archive).log.entries.compactMap { entry in
            guard (200...999).contains(entry.response.status), let url = try? HTTPURL(entry.request.url) else {
                return nil
            }
            return Answer(
                method: entry.request.method, target: comparable(url.target),
                response: response(entry.response, to: url))
        }
    }

    /// A target without the values of its secret parameters, as an archive has it.
    public static func comparable(_ target: String) -> String {
        guard let url = try? HTTPURL("http://localhost" + target), let shown = try? HTTPURL("\(url)") else {
            return target
        }
        return shown.target
    }

    /// A redirect within an origin, as one who answers in its place has to write it: by path and query alone.
    package static func relocated(_ fields: HTTPFields, of url: HTTPURL) -> HTTPFields {
        guard let location = fields[.location], let target = try? url.resolving(location),
            // Two slashes at its beginning would be a host.
            target.origin == url.origin, !target.target.hasPrefix("//")
        else { return fields }
        var fields = fields
        fields[.location] = target.target
        return fields
    }

    private static func response(_ recorded: HAR.Response, to url: HTTPURL) -> HTTPResponse {
        var response = HTTPResponse(status: recorded.status)
        for field in recorded.headers ?? [] where !framing.contains(HTTPFieldName(field.name)) {
            // HTTP/2's own, in the archives of browsers.
            if !field.name.hasPrefix(":") { response.fields.append(field.value, for: HTTPFieldName(field.name)) }
        }
        response.fields = relocated(response.fields, of: url)
        if let text = recorded.content?.text {
            response.body =
                recorded.content?.encoding == "base64" ? Data(base64Encoded: text) ?? Data() : Data(text.utf8)
        }
        return response
    }
}
