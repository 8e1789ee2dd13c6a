import Penstock

/// A transport that this build can send by. Each platform's file lists those it has, its own first.
struct TransportChoice: Sendable {
    let name: String
    let make: @Sendable () -> any Transport

    static var platform: TransportChoice { available[0] }

    static func named(_ name: String) -> TransportChoice? {
        available.first { $0.name == name }
    }

    static func names(_ separator: String) -> String {
        available.map(\.name).joined(separator: separator)
    }
}
