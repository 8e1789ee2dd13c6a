/// Which progress of a call is told: no more often than a view can follow.
///
/// The first is told, then at most thirty a second, and what ends a direction (the whole request sent, the whole response
/// received). Within an exchange the bytes never go back; where they do, a redirect or another attempt has begun, and that
/// one's first progress is told as well. The fraction is that of the whole call, and goes back nowhere.
struct ProgressGate: Sendable {
    private static let interval = Duration.seconds(1) / 30

    /// The latest progress, told or not.
    private(set) var latest: TransferProgress?
    private var told: TransferProgress?
    private var lastTime: Duration = .zero

    /// Takes a progress at a moment.
    ///
    /// - Returns: whether it is to be told.
    mutating func take(_ progress: TransferProgress, at now: Duration) -> Bool {
        let isFirst = latest.map { progress.sent < $0.sent || progress.received < $0.received } ?? true
        let progress = progress.following(latest)
        latest = progress
        guard isFirst || progress.ends(more: told) || now - lastTime >= Self.interval else { return false }
        (told, lastTime) = (progress, now)
        return true
    }

    /// What is still to be told when the call ends: of one that has succeeded, that it is complete.
    mutating func rest(succeeded: Bool = false) -> TransferProgress? {
        if succeeded { latest = latest?.completed() }
        guard latest != told else { return nil }
        told = latest
        return latest
    }
}

extension TransferProgress {
    /// Whether it ends a direction that `earlier` did not.
    fileprivate func ends(more earlier: TransferProgress?) -> Bool {
        (sent == expectedToSend && sent != earlier?.sent)
            || (received == expectedToReceive && received != earlier?.received)
    }
}
