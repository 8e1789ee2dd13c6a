/// Keeps cookies, each within its origin and its partition.
public protocol CookieStore: Sendable {
    /// The value of a `Cookie` field for a request, or `nil` for none.
    func field(for url: HTTPURL, in partition: ConnectionPartition) -> String?

    /// Takes the values of the `Set-Cookie` fields of a response from `url`.
    func receive(_ setCookie: [String], from url: HTTPURL, in partition: ConnectionPartition)

    /// Forgets everything of a partition, or of all.
    func removeAll(in partition: ConnectionPartition?)

    /// Forgets everything of a user, in every environment: they have signed out.
    func removeAll(ofIdentity identity: String)
}
