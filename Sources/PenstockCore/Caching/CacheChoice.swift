/// Which cache a client has.
@nonexhaustive
public enum CacheChoice: Sendable {
    /// The platform's: on disk with a memory over it for clients of the module `Penstock`, in memory alone for clients
    /// that are given a transport, and in processes that run tests.
    case standard
    /// Nothing is stored or read; ``CachePolicy`` still says what may be sent.
    case none
    case store(any CacheStore)
}
