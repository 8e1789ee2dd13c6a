import Foundation
import PenstockCore

/// The responses of an archive, to answer with again.
public enum HARAnswers {
    /// What was asked and what was answered.
    public struct Answer: Sendable {
        /// The method as sent.
        public let method: String
        /// Path and query, with the marks of what is secret.
        public let target: String
        /// When it came, as far as the archive tells.
        public let date: Date?

        /// What was answered, without the fields that frame its content. What has no content keeps the `Content-Length` that it
        /// tells of another answer: to `HEAD`, and of status 304.
        ///
        /// - Throws: ``HARError/missingContent(entry:)`` where it had content that the archive does not have. A redirect is
        ///   whole without its content, which nobody reads who follows it.
        public var response: HTTPResponse {
            get throws(HARError) { try result.get() }
        }

        /// What was answered, with its dates moved as if it came at `now`: `Date`, `Expires`, `Retry-After` and a cookie's
        /// `Expires`, so that what was fresh is fresh. `Age` and `Last-Modified` stay.
        ///
        /// - Throws: as ``response`` does.
        public func response(at now: Date) throws(HARError) -> HTTPResponse {
            var response = try response
            guard let date = date ?? response.fields["Date"].flatMap({ HTTPDate.parse($0, at: now) }) else {
                return response
            }
            let seconds = now.timeIntervalSince1970.rounded(.down) - date.timeIntervalSince1970.rounded(.down)
            response.fields = response.fields.shifted(by: seconds, recorded: date)
            return response
        }

        private let result: Result<HTTPResponse, HARError>

        fileprivate init(
            method: String, target: String, date: Date?, _ result: Result<HTTPResponse, HARError>
        ) {
            (self.method, self.target, self.date, self.result) = (method, target, date, result)
        }
    }

    /// What frames content, or speaks of a coding that the content of an archive does not have any more.
    private static let framing: Set<HTTPFieldName> = [
        .contentLength, .contentEncoding, .transferEncoding, "Connection", "Keep-Alive", "Upgrade", "Trailer",
    ]

    /// The answers of an archive in their order. What had none or half of one, and URLs that are none, are left out.
    ///
    /// - Parameter onProblem: told of an archive that was cut off, ``HARError/cutOff(wholeEntries:lostBytes:)``, whose whole
    ///   entries are read, and of entries that are none, ``HARError/unreadable(entries:)``.
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    public static func read(
        _ archive: URL, onProblem: (HARError) -> Void = { _ in }
    ) throws(HARError) -> [Answer] {
        let har = try HAR(contentsOf: archive, onProblem: onProblem)
        return har.log.entries.enumerated().compactMap { index, entry in
            let isWhole = entry._call?.attemptError == nil
            guard isWhole, (200...999).contains(entry.response.status), let url = try? HTTPURL(entry.request.url)
            else { return nil }
            let content = content(entry.response, to: entry.request.method, isLeft: entry.isLeft)
            let result = content.map { content -> Result<HTTPResponse, HARError> in
                var given = response(entry.response, to: entry.request.method, url, content)
                if !har.isOwn { sayUTF8(&given.fields, entry.response) }
                return .success(given)
            }
            let name = "\(entry.request.method) \(url), entry \(index + 1)"
            return Answer(
                method: entry.request.method, target: comparable(url.target), date: date(entry),
                result ?? .failure(.missingContent(entry: name)))
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

    /// When it ended. The head came earlier: how much, few archives tell.
    private static func date(_ entry: HAR.Entry) -> Date? {
        HARDate.date(entry.startedDateTime)?.addingTimeInterval(max(entry.time, 0) / 1000)
    }

    /// `nil` where there was content, and the archive does not have it.
    ///
    /// - Parameter isLeft: whether nobody knows how much there was.
    private static func content(_ recorded: HAR.Response, to method: String, isLeft: Bool) -> Data? {
        let content = recorded.content
        if let text = content?.text {
            return content?.encoding == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
        }
        let hadContent = isLeft || (content?.size ?? 0) > 0 || (recorded.bodySize ?? 0) > 0
        return hadContent && carriesContent(recorded, to: method) ? nil : Data()
    }

    /// Has the type of an answer say UTF-8 where its content was a text that the archive has in UTF-8, whatever it was in before (HAR 1.2,
    /// `content`). Archives of Penstock's have the bytes as they came, since what is no UTF-8 stands there in Base64.
    private static func sayUTF8(_ fields: inout HTTPFields, _ recorded: HAR.Response) {
        guard let content = recorded.content, content.encoding != "base64",
            content.text?.utf8.allSatisfy({ $0 < 0x80 }) == false, let type = fields[.contentType],
            let parts = ParameterizedValue(type), parts.parameters["charset"] != nil || parts.value.hasPrefix("text/")
        else { return }
        let others = type.split(separator: ";").dropFirst().filter {
            !$0.trimmingCharacters(in: .whitespaces).lowercased().hasPrefix("charset=")
        }
        fields[.contentType] = ([Substring(parts.value)] + others + [" charset=utf-8"]).joined(separator: ";")
    }

    /// Whether the content belongs to the answer (RFC 9110 §6.4.1), and is read.
    private static func carriesContent(_ recorded: HAR.Response, to method: String) -> Bool {
        let isRedirect =
            (300...399).contains(recorded.status)
            && recorded.headers?.contains { HTTPFieldName($0.name) == .location } == true
        return HTTPResponse.mayHaveContent(recorded.status, to: HTTPMethod(rawValue: method) ?? .get) && !isRedirect
    }

    private static func response(
        _ recorded: HAR.Response, to method: String, _ url: HTTPURL, _ content: Data
    ) -> HTTPResponse {
        var response = HTTPResponse(status: recorded.status, body: content)
        // Those with a colon are HTTP/2's own, in the archives of browsers.
        for field in recorded.headers ?? [] where !field.name.hasPrefix(":") {
            response.fields.append(field.value, for: HTTPFieldName(field.name))
        }
        let length = length(in: response, toMethod: method)
        for name in framing { response.fields.remove(name) }
        response.fields[.contentLength] = length
        response.fields = relocated(response.fields, of: url)
        return response
    }

    /// The length that an answer without content tells of another one's content; `nil` where that had a coding, since it is served
    /// without.
    package static func length(in response: HTTPResponse, toMethod method: String) -> String? {
        guard tellsLength(response.status, toMethod: method), !response.fields.contains(.contentEncoding) else {
            return nil
        }
        return response.fields[.contentLength]
    }

    /// Whether the length of an answer is that of another one's content, as `GET` brings it (RFC 9110 §8.6).
    package static func tellsLength(_ status: Int, toMethod method: String) -> Bool {
        method == HTTPMethod.head.rawValue || status == 304
    }
}
