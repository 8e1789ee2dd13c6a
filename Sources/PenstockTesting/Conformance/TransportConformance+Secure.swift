extension TransportConformance {
    /// What TLS asks of a client: whom it believes, and when it does not take an end for an end.
    public static let secure: [Rule] =
        secureHandshakes + secureContent + secureConnections + securePolicies + secureFaults

    /// The effects and triggers of the fault server over HTTP/1.1 with TLS; those of streams mean nothing there.
    public static let secureFaults: [Rule] = Injury.effects.prefix(4).flatMap { effect in
        Injury.triggers.map { trigger in Injury(effect: effect.value, name: effect.name, trigger: trigger).rule(.tls) }
    }
}
