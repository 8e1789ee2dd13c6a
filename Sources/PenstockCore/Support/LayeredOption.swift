/// An option of several fields, each of which may be set at a level of its own.
///
/// ```swift
/// Service(.main, "https://a.example", options: .with { $0.timeouts.connect = .seconds(2) })
/// try await client.send(Cart(), options: .timeout(.seconds(5)))       // connecting may take 2 s still
/// ```
public protocol LayeredOption: Sendable {
    /// This value where it is set, `wider` where it is not.
    func over(_ wider: Self) -> Self
}
