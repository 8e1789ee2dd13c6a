import Foundation

/// The bridge to `NSError`.
///
/// The domain is `Penstock.APIError`. The codes never change:
///
/// | code | kind                 | code | kind              |
/// |------|----------------------|------|-------------------|
/// | 1001 | invalidParameter     | 2005 | limitExceeded     |
/// | 1002 | invalidConfiguration | 3001 | httpStatus        |
/// | 1003 | blocked              | 3002 | malformedEnvelope |
/// | 1004 | unsupported          | 3003 | business          |
/// | 1005 | cacheMiss            | 3004 | validation        |
/// | 2001 | unreachable          | 3005 | decoding          |
/// | 2002 | timeout              | 4001 | cancelled         |
/// | 2003 | tls                  | 3006 | decryption        |
/// | 2004 | transport            | 2006 | unavailable       |
/// | 4002 | dropped              | 5001 | storage           |
/// | 1006 | authentication       |      |                   |
extension APIError: CustomNSError {
    public static var errorDomain: String { "Penstock.APIError" }

    /// The key of the kind's name in `userInfo`.
    public static let kindKey = "Penstock.Kind"
    /// The key of the stage's name in `userInfo`.
    public static let stageKey = "Penstock.Stage"
    /// The key of the HTTP status in `userInfo`, an `Int`, when a response came.
    public static let statusKey = "Penstock.HTTPStatus"
    /// The key of the envelope's code in `userInfo`, an `Int`, when it is a number.
    public static let businessCodeKey = "Penstock.BusinessCode"

    /// The kind's number from the table.
    public var errorCode: Int { kind.entry.code }

    /// Nothing but numbers, names and the text for users; the request and the response stay in the error itself. An `NSError` prints
    /// that text as users read it, which of a business error is what the server has written, secrets included: logs print the
    /// ``APIError`` itself.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: userText, Self.kindKey: kind.entry.name, Self.stageKey: stage.rawValue,
        ]
        info[Self.statusKey] = status
        info[Self.businessCodeKey] = businessNumber
        return info
    }

    /// The HTTP status, when a response came.
    public var status: Int? {
        if case .httpStatus(let status) = kind { status } else { response?.status }
    }

    var businessNumber: Int? {
        if case .business(.int(let number), _) = kind { number } else { nil }
    }
}

extension APIError.Kind {
    /// One row for each kind: its number, its name, and the English text for users.
    struct Entry {
        let code: Int
        let name: String
        let text: String

        /// The text, under the kind's name.
        var words: Words { Words(key: name, text: text) }
    }

    /// A text for users, and the name that the app's own translation of it has.
    struct Words: Equatable {
        let key: String
        let text: String
    }

    /// What users read. A case that means something else to them than the rest of its kind has words of its own, or those of
    /// the kind that means the same.
    var words: Words {
        switch self {
        case .authentication(let failure): Self.words(of: failure)
        case .dropped(.alreadyLoading): Words(key: "dropped.alreadyLoading", text: "This is being loaded already.")
        case .dropped(.tooSoon): Words(key: "dropped.tooSoon", text: "Please wait a moment.")
        case .transport(.protocolViolation): Self.malformedEnvelope(reason: "").entry.words
        case .transport(.requestBody):
            Words(key: "transport.requestBody", text: "What was to be sent could not be read.")
        default: entry.words
        }
    }

    private static func words(of failure: AuthenticationFailure) -> Words {
        switch failure {
        case .unavailable, .notRenewed: Self.httpStatus(401).entry.words
        case .loginCancelled: Self.cancelled.entry.words
        case .vault:
            Words(key: "authentication.vault", text: "What is needed to sign in cannot be read on this device.")
        case .rejected, .lost, .missing, .signedOut: Self.authentication(failure).entry.words
        }
    }

    /// The case's name without what it holds, for example `timeout`: for logs, reports and tables. It never changes.
    public var name: String { entry.name }

    var entry: Entry {
        switch self {
        case .invalidParameter: Entry(code: 1001, name: "invalidParameter", text: "Please check what you entered.")
        case .invalidConfiguration: Entry(code: 1002, name: "invalidConfiguration", text: Self.cannotDo)
        case .blocked: Entry(code: 1003, name: "blocked", text: "This request is not allowed.")
        case .unsupported: Entry(code: 1004, name: "unsupported", text: Self.cannotDo)
        case .cacheMiss: Entry(code: 1005, name: "cacheMiss", text: "This is not available offline.")
        case .unavailable: Entry(code: 2006, name: "unavailable", text: "The server has too much to do at the moment.")
        case .authentication: Entry(code: 1006, name: "authentication", text: "Please sign in.")
        case .unreachable: Entry(code: 2001, name: "unreachable", text: "The server cannot be reached.")
        case .timeout: Entry(code: 2002, name: "timeout", text: "The server took too long to answer.")
        case .tls: Entry(code: 2003, name: "tls", text: "A secure connection could not be made.")
        case .transport: Entry(code: 2004, name: "transport", text: "The connection was lost.")
        case .limitExceeded: Entry(code: 2005, name: "limitExceeded", text: "The server's answer is too large.")
        case .httpStatus: Entry(code: 3001, name: "httpStatus", text: "The server could not answer the request.")
        case .malformedEnvelope: Entry(code: 3002, name: "malformedEnvelope", text: Self.notUnderstood)
        case .business: Entry(code: 3003, name: "business", text: "The server refused the request.")
        case .validation: Entry(code: 3004, name: "validation", text: Self.notUnderstood)
        case .decoding: Entry(code: 3005, name: "decoding", text: Self.notUnderstood)
        case .decryption: Entry(code: 3006, name: "decryption", text: Self.notUnderstood)
        case .storage: Entry(code: 5001, name: "storage", text: "The file could not be saved.")
        case .cancelled: Entry(code: 4001, name: "cancelled", text: "Cancelled.")
        case .dropped: Entry(code: 4002, name: "dropped", text: "Another request took the place of this one.")
        }
    }

    private static var cannotDo: String { "The app cannot make this request." }
    private static var notUnderstood: String { "The server's answer could not be understood." }
}
