import Penstock

/// A transport that this build can send by. Each platform's file lists those it has, its own first.
struct TransportChoice: Sendable {
    let name: String
    let make: @Sendable () -> any Transport

    static var platform: TransportChoice { available[0] }

    static func named(_ name: String) -> TransportChoice? {
        available.first { $0.name == name }
    }

    /// The one that an option names, or the platform's.
    static func chosen(_ name: String?) throws(UsageError) -> TransportChoice {
        guard let name else { return .platform }
        guard let choice = named(name) else {
            throw UsageError("--transport: \(UsageError.quoted(name)) is none of \(names(", "))")
        }
        return choice
    }

    static func names(_ separator: String) -> String {
        available.map(\.name).joined(separator: separator)
    }
}
