import Foundation

/// An error in the shape of a reply, for code that knows failures only as `{"retcode": …, "retdesc": …}`.
///
/// The library itself never makes one: it is for teams that move old call sites over one by one.
public struct LegacyEnvelope: Codable, Hashable, Sendable {
    /// The app's own code when its ``ErrorMapper`` gave one; else the number that the server sent; else the negative of
    /// ``APIError/errorCode``, so that no local failure looks like a server's code. Never `0`.
    public let retcode: Int
    /// The text for users.
    public let retdesc: String

    /// An error as a reply. ``retcode`` and ``retdesc`` tell what of it becomes what; nothing else of it is kept.
    public init(_ error: APIError) {
        let code = error.presentation?.code ?? error.businessNumber ?? -error.errorCode
        retcode = code == 0 ? -error.errorCode : code
        retdesc = error.userText
    }

    /// As JSON with sorted keys.
    public var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }
}
