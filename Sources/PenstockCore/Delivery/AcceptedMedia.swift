/// What a request's `Accept` field asks for by default (RFC 9110 §12.5.1): what the endpoint's output is made from. The
/// rest is accepted as well, so that no server has a reason to answer 406.
enum AcceptedMedia: Sendable {
    case json
    case text
    case anything

    /// The value of the field.
    var value: String {
        switch self {
        case .json: "application/json, */*;q=0.5"
        case .text: "text/*, */*;q=0.5"
        case .anything: "*/*"
        }
    }
}
