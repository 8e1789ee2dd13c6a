import Foundation
import PenstockCore

/// How a call becomes entries of an archive: one for each attempt, or one alone for a call that sent nothing.
extension HAR {
    static func entries(of record: CallRecord, keepsContent: Bool) -> [Entry] {
        let maker = EntryMaker(record: record, keepsContent: keepsContent)
        guard !record.attempts.isEmpty else { return [maker.entryOfNothingSent()] }
        return record.attempts.enumerated().map { index, attempt in
            maker.entry(attempt, isLast: index == record.attempts.count - 1)
        }
    }

    /// Times in archives are in milliseconds, to the microsecond.
    static func milliseconds(_ microseconds: Int) -> Double { Double(microseconds) / 1000 }
}

private struct EntryMaker {
    let record: CallRecord
    let keepsContent: Bool

    func entry(_ attempt: AttemptRecord, isLast: Bool) -> HAR.Entry {
        let isReused = attempt.connection.isReused ?? false
        let phases = Phases(attempt.timings, isReused: isReused, total: attempt.length)
        var call = call(attempt: attempt.number, at: attempt.started, isLast: isLast)
        call.attemptError = attempt.failure.map(Words.failure)
        call.sendState = attempt.sendState?.rawValue
        call.isReused = attempt.connection.isReused
        if !attempt.connection.resends.isEmpty { call.resends = attempt.connection.resends.count }
        return HAR.Entry(
            startedDateTime: HARDate.text(attempt.date), time: HAR.milliseconds(phases.total),
            request: request(
                attempt.request, attempt.requestSize, attempt.connection, attempt.response?.version,
                isLeftOut: attempt.isRequestLeftOut),
            response: attempt.response.map {
                response(
                    $0, to: attempt.request, attempt.responseSize, attempt.connection,
                    isLeftOut: attempt.isResponseLeftOut, isBroken: attempt.failure != nil)
            } ?? noResponse,
            cache: HAR.Cache(), timings: timings(phases), serverIPAddress: attempt.connection.remoteAddress,
            comment: comment(attempt.isRequestLeftOut || attempt.isResponseLeftOut), _call: call)
    }

    /// The cache or an interceptor answered, or the call ended before it sent anything. What has no request of its own gets
    /// the URI of the call.
    func entryOfNothingSent() -> HAR.Entry {
        let request =
            record.answer.map { self.request($0.request, $0.request.body.length, ConnectionInfo(), nil) }
            ?? HAR.Request(
                method: "NONE", url: "penstock:call/\(record.call.rawValue)", httpVersion: "unknown", cookies: [],
                headers: [], queryString: [], headersSize: -1, bodySize: 0)
        let response =
            record.answer.map {
                self.response($0.response, to: $0.request, record.answerSize, nil, isLeftOut: record.isAnswerLeftOut)
            } ?? noResponse
        let phases = Phases(Timings(), isReused: true, total: record.elapsed)
        return HAR.Entry(
            startedDateTime: HARDate.text(record.started), time: HAR.milliseconds(phases.total), request: request,
            response: response, cache: HAR.Cache(), timings: timings(phases),
            comment: comment(record.isAnswerLeftOut), _call: call(attempt: 0, at: .zero, isLast: true))
    }

    private func call(attempt: Int, at offset: Duration, isLast: Bool) -> HAR.Call {
        var call = HAR.Call(
            number: record.call.rawValue, endpoint: record.summary.endpoint, service: record.summary.service.name,
            environment: record.summary.environment.name, attempt: attempt, attempts: record.attempts.count,
            offset: HAR.milliseconds(offset.microseconds), elapsed: HAR.milliseconds(record.elapsed.microseconds),
            outcome: "success")
        switch record.outcome {
        case .success: break
        case .cancelled: call.outcome = "cancelled"
        case .failure(let kind):
            call.outcome = "failure"
            call.error = Words.failure(kind)
        }
        call.source = record.answer?.source.rawValue
        if record.answer?.isStale == true { call.isStale = true }
        if record.answer?.isJoined == true { call.isJoined = true }
        if isLast, !record.decisions.isEmpty {
            call.decisions = record.decisions.map {
                HAR.Decision(at: HAR.milliseconds($0.at.microseconds), attempt: $0.attempt, text: $0.text)
            }
        }
        return call
    }

    private func comment(_ isLeftOut: Bool) -> String? {
        isLeftOut ? "\(record.leftOutSoFar) contents have been left out so far, \(Self.noRoom)" : nil
    }

    private static let noRoom = "since too much waited to be written"

    // MARK: The messages

    private func request(
        _ request: HTTPRequest, _ size: Int?, _ connection: ConnectionInfo, _ version: HTTPVersion?,
        isLeftOut: Bool = false
    ) -> HAR.Request {
        HAR.Request(
            method: request.method.rawValue, url: "\(request.url)", httpVersion: Self.name(version),
            cookies: request.fields.values(of: .cookie).flatMap(HARCookies.sent), headers: pairs(request.fields),
            queryString: HARQuery.pairs(request.url.query), postData: postData(request, size, isLeftOut: isLeftOut),
            headersSize: -1,
            bodySize: connection.bytesSent > 0 ? connection.bytesSent : size ?? -1)
    }

    private func postData(_ request: HTTPRequest, _ size: Int?, isLeftOut: Bool) -> HAR.PostData? {
        guard size != 0 else { return nil }
        let type = Self.type(request.fields) ?? "application/octet-stream"
        func note(_ reason: String = "") -> HAR.PostData {
            let amount = size.map { "\($0) bytes" } ?? "a stream"
            return HAR.PostData(mimeType: type, text: "", comment: "\(amount), not kept\(reason)")
        }
        if isLeftOut { return note(", \(Self.noRoom)") }
        guard keepsContent, case .bytes(let data) = request.body.source else { return note() }
        do throws(WithheldContent) {
            let shown = try Redaction.content(of: request, data)
            return String(utf8: shown).map { HAR.PostData(mimeType: type, text: $0) } ?? note()
        } catch {
            return note(": \(error.reason)")
        }
    }

    /// The type of content, in which a parameter may be a secret.
    private static func type(_ fields: HTTPFields) -> String? {
        fields[.contentType].map { Redaction.value($0, of: .contentType) }
    }

    /// - Parameters:
    ///   - connection: `nil` for what came from no wire.
    ///   - isBroken: whether its content has broken off.
    private func response(
        _ response: HTTPResponse, to request: HTTPRequest, _ size: Int, _ connection: ConnectionInfo?, isLeftOut: Bool,
        isBroken: Bool = false
    ) -> HAR.Response {
        let wire = connection.map { $0.bytesReceived > 0 || size == 0 ? $0.bytesReceived : -1 } ?? 0
        return HAR.Response(
            status: response.status, statusText: "", httpVersion: Self.name(response.version),
            cookies: response.fields.values(of: .setCookie).compactMap(HARCookies.received),
            headers: pairs(response.fields),
            content: content(response, to: request, size, wire: wire, isLeftOut: isLeftOut, isBroken: isBroken),
            redirectURL: response.fields[.location].map { Redaction.value($0, of: .location) } ?? "", headersSize: -1,
            bodySize: wire)
    }

    private func content(
        _ response: HTTPResponse, to request: HTTPRequest, _ size: Int, wire: Int, isLeftOut: Bool, isBroken: Bool
    ) -> HAR.Content {
        var content = HAR.Content(size: size, mimeType: Self.type(response.fields) ?? "x-unknown")
        if wire > 0, size > wire { content.compression = size - wire }
        if isBroken {
            let received = max(size, wire, 0)
            (content.size, content.comment) = (received, "it broke off, \(received) bytes were received")
            return content
        }
        // Of an answer that is followed by another attempt nobody reads the content.
        if size == 0, wire > 0, !(200...299).contains(response.status) {
            (content.size, content.comment) = (wire, "\(wire) bytes, not read")
            return content
        }
        guard keepsContent, !response.body.isEmpty else {
            // What had no content is answered without when the archive is replayed. A call that was cancelled may have had some.
            if keepsContent, size == 0, record.outcome != .cancelled { content.text = "" }
            if size > 0 { content.comment = "\(size) bytes, not kept\(isLeftOut ? ", \(Self.noRoom)" : "")" }
            return content
        }
        do throws(WithheldContent) {
            let data = try Redaction.content(of: response, to: request)
            content.text = String(utf8: data)
            if content.text == nil {
                content.text = data.base64EncodedString()
                content.encoding = "base64"
            }
        } catch {
            content.comment = "\(size) bytes, not kept: \(error.reason)"
        }
        return content
    }

    /// No response as Chromium writes it: a status of 0.
    private var noResponse: HAR.Response {
        HAR.Response(
            status: 0, statusText: "", httpVersion: "unknown", cookies: [], headers: [],
            content: HAR.Content(size: 0, mimeType: "x-unknown"), redirectURL: "", headersSize: -1, bodySize: -1)
    }

    private func pairs(_ fields: HTTPFields) -> [HAR.Pair] {
        fields.map { HAR.Pair(name: $0.name.text, value: Redaction.value($0.value, of: $0.name)) }
    }

    private func timings(_ phases: Phases) -> HAR.Timings {
        HAR.Timings(
            blocked: HAR.milliseconds(phases.blocked), dns: phases.nameLookup.map(HAR.milliseconds) ?? -1,
            connect: phases.connect.map(HAR.milliseconds) ?? -1, ssl: phases.secure.map(HAR.milliseconds) ?? -1,
            // No transport tells when the last byte of a request had left: it is a part of the wait.
            send: 0, wait: HAR.milliseconds(phases.wait), receive: HAR.milliseconds(phases.receive))
    }

    private static func name(_ version: HTTPVersion?) -> String {
        switch version {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        case .http3: "HTTP/3"
        default: "unknown"
        }
    }
}

/// The query of a URL as pairs, as far as the URL itself shows it: names and values by the rules for parameters.
enum HARQuery {
    static func pairs(_ query: String?) -> [HAR.Pair] {
        Redaction.query(query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = decoded(parts[0])
            let value = parts.count > 1 ? decoded(parts[1]) : ""
            return HAR.Pair(
                name: Redaction.text(name), value: value.isEmpty ? "" : Redaction.value(value, ofParameter: name))
        }
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }
}

/// Cookies by name; their values are secret.
enum HARCookies {
    /// The cookies of one line of `Cookie` (RFC 6265 §4.2.1).
    static func sent(_ line: String) -> [HAR.Cookie] {
        parts(line).compactMap { text in
            // What has no `=` is a value, and has no name.
            let name = text.contains("=") ? text.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces) : ""
            return text.isEmpty ? nil : HAR.Cookie(name: Redaction.text(name), value: Redaction.mark)
        }
    }

    /// The cookie of one line of `Set-Cookie` (RFC 6265 §4.1.1); `nil` for one without a name.
    static func received(_ line: String) -> HAR.Cookie? {
        let parts = parts(line)
        guard let first = parts.first, let cookie = sent(first).first, !cookie.name.isEmpty else { return nil }
        return parts.dropFirst().reduce(into: cookie) { cookie, part in
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let value = pair.count > 1 ? pair[1] : ""
            switch pair.first?.lowercased() {
            case "path": cookie.path = Redaction.text(value)
            case "domain": cookie.domain = Redaction.text(value)
            case "expires": cookie.expires = HTTPDate.parse(value, at: Date()).map(HARDate.text)
            case "httponly": cookie.httpOnly = true
            case "secure": cookie.secure = true
            default: break
            }
        }
    }

    /// What stands between semicolons, without the white space around it. A value in quotes goes on to its second quote, whatever
    /// is between: many a server reads it so, and what looks like an attribute is a part of the secret then.
    private static func parts(_ line: String) -> [String] {
        var (parts, open) = ([String](), false)
        for part in line.split(separator: ";", omittingEmptySubsequences: false) {
            let text = part.trimmingCharacters(in: .whitespaces)
            if open {
                parts[parts.count - 1] += ";\(part)"
                open = !text.hasSuffix("\"")
            } else {
                parts.append(text)
                let value = text.drop { $0 != "=" }.dropFirst().trimmingCharacters(in: .whitespaces)
                open = value.hasPrefix("\"") && (value.count == 1 || !value.hasSuffix("\""))
            }
        }
        return parts
    }
}
