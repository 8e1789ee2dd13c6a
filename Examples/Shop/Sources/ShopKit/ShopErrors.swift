import Penstock

/// What the shop's servers mean by their codes.
extension BusinessCode {
    public static let wrongPassword: BusinessCode = 1001
    public static let notLoggedIn: BusinessCode = 1002
    public static let soldOut: BusinessCode = 2001
    public static let noSuchProduct: BusinessCode = 2002
}

extension ErrorMapper {
    /// The one place where errors become words for users. What it leaves alone keeps the server's or Penstock's text.
    static let shop = ErrorMapper { error in
        switch error.kind {
        case .business(.wrongPassword, _): .init(userText: "Account and password do not match.")
        case .business(.notLoggedIn, _): .init(userText: "Please log in first.")
        case .unreachable: .init(userText: "The shop is out of reach. Are you online?")
        case .invalidParameter(let field, let reason): .init(userText: "The \(field) \(reason).")
        default: nil
        }
    }
}
