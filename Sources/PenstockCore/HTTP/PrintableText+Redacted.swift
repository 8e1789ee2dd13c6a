extension PrintableText {
    /// The beginning of a text without its secrets, escaped.
    ///
    /// - Parameter form: how it is written, such as in quotes, once they have gone.
    static func redacted(_ text: String, as form: (String) -> String = { $0 }) -> String {
        let head = redactable(text)
        let shown = bounded(form(Redaction.text(head)))
        return head.utf8.count < text.utf8.count && !shown.hasSuffix("…") ? shown + "…" : shown
    }

    /// The same of what was taken for a host: without what stands before an `@` in it, as user information does, also where it
    /// has no scheme.
    static func redactedHost(_ text: String) -> String {
        guard let sign = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return redacted(text) }
        return redacted("\(Redaction.mark)\(text[sign...])")
    }

    /// The part of a text that is redacted where its beginning alone is shown: more than that beginning, as what a secret is may be told by
    /// what stands behind it, and not all, as nobody reads the rest.
    static func redactable(_ text: String) -> String { String(text.head(8_192)) }
}
