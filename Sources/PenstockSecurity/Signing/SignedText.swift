import PenstockCore

/// What was signed, as it is printed: it may hold secrets, such as an `Authorization` field, a session token or a parameter. The members
/// say it to whoever asks for them by name; what prints, also by reflection, shows the request as it is redacted everywhere, and of
/// the rest its size.
enum SignedText {
    static func printed(_ kind: String, _ request: HTTPRequest, _ text: String) -> String {
        "\(kind) over \(text.utf8.count) bytes of \(request)"
    }
}
