/// The bodies that this process is reading. Such a body outlives its response, until its last reader has let go of it: it counts as
/// one under way then, so that what a crash leaves of it is swept away like any of those.
struct CacheHolds: Sendable {
    /// How many read each of them.
    private var readers: [Int64: Int] = [:]
    /// Those among them whose responses have gone.
    private var orphans: Set<Int64> = []
    /// Those that the transaction under way removes: nobody may begin to read one, who would see it still.
    private var leaving: Set<Int64> = []

    /// All that are being read.
    var bodies: Set<Int64> { Set(readers.keys) }

    /// Enters one who reads a body, to be called before a last look at whether it is still there.
    ///
    /// - Returns: `false` when it is about to go.
    mutating func begin(_ body: Int64) -> Bool {
        guard !leaving.contains(body) else { return false }
        readers[body, default: 0] += 1
        return true
    }

    /// Takes out one who has read.
    ///
    /// - Returns: whether the body is to be removed, since nobody reads it any more and its response has gone.
    mutating func end(_ body: Int64) -> Bool {
        guard let count = readers[body], count <= 1 else {
            readers[body]? -= 1
            return false
        }
        readers[body] = nil
        return orphans.remove(body) != nil
    }

    /// Notes that the response of a body goes.
    ///
    /// - Returns: whether the body stays.
    mutating func outlives(_ body: Int64) -> Bool {
        guard readers[body] != nil else {
            leaving.insert(body)
            return false
        }
        orphans.insert(body)
        return true
    }

    /// The transaction is over.
    mutating func settle() {
        leaving = []
    }
}
