import Foundation

extension HTTPURL {
    /// Foundation's URL as Penstock reads it.
    ///
    /// - Throws: what is wrong with it: it is relative, or of another scheme than `http` and `https`, or holds user information.
    public init(_ url: URL) throws(ParseError) {
        try self.init(url.absoluteString)
    }
}

extension URL {
    /// The same URL, character by character, as Foundation has it.
    ///
    /// - Returns: `nil` for the few that Foundation does not take as they are.
    public init?(_ url: HTTPURL) {
        self.init(string: url.absoluteString)
        guard absoluteString == url.absoluteString else { return nil }
    }
}
