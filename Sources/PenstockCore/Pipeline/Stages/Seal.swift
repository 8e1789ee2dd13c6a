/// Encrypts the payload on its way out and opens the reply, so that everything above sees plain text.
struct Seal: Stage {
    static let name = StageName.seal

    let sealer: any Sealer

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange {
        guard call.settings.sealing.seals(byDefault: true) else { return try await next(request) }
        guard !call.streams else {
            throw APIError(.unsupported(feature: "streaming a sealed response"), stage: .seal, request: request)
        }
        let sealed = try await call.appCode(sealer, stage: .seal) { try await sealer.seal(request, call: call) }
        var exchange = try await next(sealed)
        let response = exchange.response
        if Self.mayHaveContent(response, to: request.method) {
            exchange.response = try await call.appCode(sealer, stage: .seal) {
                try await sealer.open(response, call: call)
            }
        }
        return exchange
    }

    /// RFC 9110 §6.4.1.
    private static func mayHaveContent(_ response: HTTPResponse, to method: HTTPMethod) -> Bool {
        method != .head && response.status >= 200 && ![204, 205, 304].contains(response.status)
    }
}

/// Whether the payload of a call is sealed.
@nonexhaustive
public enum SealingChoice: Hashable, Sendable {
    /// Where the service has a sealer.
    case automatic
    /// It is, or nothing is sent: a call of a service without a sealer fails.
    case sealed
    /// It is not.
    case plain

    /// - Parameter isDefault: whether the service has a sealer.
    func seals(byDefault isDefault: Bool) -> Bool {
        switch self {
        case .automatic: isDefault
        case .sealed: true
        case .plain: false
        }
    }
}

extension CallOptions {
    /// Whether the payload of the call is sealed.
    public var sealing: SealingChoice? {
        get { self[dynamicMember: \.sealing] }
        set { self[dynamicMember: \.sealing] = newValue }
    }

    /// The payload is sealed by the sealer of the service, and the reply opened. Without a sealer nothing is sent.
    public static var sealed: CallOptions { .with { $0.sealing = .sealed } }

    /// The payload is not sealed, although the service has a sealer, and the reply is taken as it is.
    public static var plain: CallOptions { .with { $0.sealing = .plain } }
}
