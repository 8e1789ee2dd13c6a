import Foundation
import PenstockCore

extension HAR {
    /// Whether it says that Penstock has written it, and so that no secret is in it.
    var isOwn: Bool { log.creator?.name == "Penstock" }
}

extension HAR.Entry {
    /// The entry of another program's archive, without what is secret in its URLs, fields, cookies and contents.
    func redacted() -> HAR.Entry {
        var entry = self
        entry.request.redact()
        entry.response.redact()
        entry.comment = comment.map(Redaction.text)
        entry._call?.redact()
        return entry
    }
}

extension HAR.Request {
    fileprivate mutating func redact() {
        url = Redaction.text(url)
        headers = headers?.map { $0.redactedField() }
        cookies = cookies?.map { $0.redacted() }
        queryString = queryString?.map { $0.redactedParameter() }
        guard var data = postData else { return }
        data.text = data.text.map { HAR.redacted($0, type: data.mimeType) }
        data.mimeType = Redaction.value(data.mimeType, of: .contentType)
        data.comment = data.comment.map(Redaction.text)
        postData = data
    }
}

extension HAR.Response {
    fileprivate mutating func redact() {
        statusText = Redaction.text(statusText)
        headers = headers?.map { $0.redactedField() }
        cookies = cookies?.map { $0.redacted() }
        redirectURL = redirectURL.map { Redaction.value($0, of: .location) }
        guard var shown = content else { return }
        if shown.encoding == "base64" {
            // What cannot be read is not kept.
            let data = shown.text.flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
            shown.text = data.map { Redaction.content($0, type: shown.mimeType).base64EncodedString() }
        } else {
            shown.text = shown.text.map { HAR.redacted($0, type: shown.mimeType) }
        }
        shown.mimeType = shown.mimeType.map { Redaction.value($0, of: .contentType) }
        shown.comment = shown.comment.map(Redaction.text)
        content = shown
    }
}

extension HAR {
    fileprivate static func redacted(_ text: String, type: String?) -> String {
        String(decoding: Redaction.content(Data(text.utf8), type: type), as: UTF8.self)
    }
}

extension HAR.Pair {
    fileprivate func redactedField() -> HAR.Pair {
        HAR.Pair(name: Redaction.text(name), value: Redaction.value(value, of: HTTPFieldName(name)))
    }

    fileprivate func redactedParameter() -> HAR.Pair {
        HAR.Pair(
            name: Redaction.text(name), value: value.isEmpty ? "" : Redaction.value(value, ofParameter: name))
    }
}

extension HAR.Cookie {
    fileprivate func redacted() -> HAR.Cookie {
        var cookie = self
        cookie.name = Redaction.text(name)
        cookie.value = Redaction.mark
        cookie.path = path.map(Redaction.text)
        cookie.domain = domain.map(Redaction.text)
        return cookie
    }
}

extension HAR.Call {
    fileprivate mutating func redact() {
        error = error.map(Redaction.text)
        attemptError = attemptError.map(Redaction.text)
        decisions = decisions?.map { decision in
            HAR.Decision(at: decision.at, attempt: decision.attempt, text: Redaction.text(decision.text))
        }
    }
}
