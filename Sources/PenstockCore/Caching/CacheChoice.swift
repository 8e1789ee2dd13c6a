/// Which cache a client has.
@nonexhaustive
public enum CacheChoice: Sendable {
    /// The platform's: on disk with a memory over it for clients of the module `Penstock`, in memory alone for clients
    /// that are given a transport, and in processes that run tests.
    case standard
    /// Nothing is stored or read; ``CachePolicy`` still says what may be sent.
    case none
    /// This store. It may serve several clients: what is stored is kept apart by environment and identity in any case.
    case store(any CacheStore)
}
