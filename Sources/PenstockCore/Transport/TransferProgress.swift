import Foundation

/// How far a transfer has come: bytes of content moved so far, and the totals where they are known. Calls, uploads and downloads
/// tell their progress by it.
///
/// The counts are those of the present exchange, which a redirect or another attempt begins anew. ``fraction`` is of the whole
/// transfer: it never goes back, and is 1 once the transfer has succeeded and not before.
///
/// ```swift
/// for try await case .progress(let progress) in client.updates(of: UploadPicture(picture)) {
///     bar.doubleValue = progress.fraction ?? 0
/// }
/// ```
public struct TransferProgress: Hashable, Sendable {
    /// How many bytes of the request were handed to the wire: to the kernel, which may not have sent it yet. A server may still refuse
    /// all of it; see ``acknowledged``.
    public var sent: Int
    /// The body's ``HTTPBody/length``; `nil` where only the end of a stream tells.
    public var expectedToSend: Int?
    /// How much of ``sent`` the server has answered for: nothing before it has answered, and everything once the transfer has
    /// succeeded. A resumable upload has values in between, which the server names.
    public var acknowledged = 0
    /// The bytes of the response: as it came over the wire where the transport can tell, else after its codings are removed. Of a download,
    /// what is in the file, also what an earlier process has put there.
    public var received: Int
    /// The length from `Content-Length`, where ``received`` can be compared with it; of a download, the length of the whole file.
    public var expectedToReceive: Int?
    /// Whether the transfer has succeeded: its last progress.
    public private(set) var isComplete = false
    /// What was reached before, in this exchange or an earlier one.
    private var floor = 0.0

    /// Progress of an exchange, in bytes; at its beginning by default.
    ///
    /// - Parameters:
    ///   - expectedToSend: `nil`, the default, where it is not known.
    ///   - expectedToReceive: `nil`, the default, where it is not known.
    public init(sent: Int = 0, expectedToSend: Int? = nil, received: Int = 0, expectedToReceive: Int? = nil) {
        self.sent = sent
        self.expectedToSend = expectedToSend
        self.received = received
        self.expectedToReceive = expectedToReceive
    }

    /// How much is done, from 0 to 1: of what is sent where the request has content, of what is received where it has none. `nil`
    /// while the total is not known.
    ///
    /// The end of the transfer counts as one byte more. So the fraction is 1 for what has succeeded alone, and not already for
    /// what was handed to the kernel and may yet be refused.
    public var fraction: Double? {
        if isComplete { return 1 }
        guard let reached else { return floor > 0 ? floor : nil }
        return max(floor, min(reached, 1.0.nextDown))
    }

    private var reached: Double? {
        guard let total = direction.total, total >= 0 else { return nil }
        return Double(min(max(direction.done, 0), total)) / (Double(total) + 1)
    }

    /// The one that the transfer is about.
    private var direction: (done: Int, total: Int?) {
        sent > 0 || expectedToSend ?? 0 > 0 ? (sent, expectedToSend) : (received, expectedToReceive)
    }

    // MARK: One after the other

    /// This progress as the one that follows another: the fraction does not go back.
    func following(_ earlier: TransferProgress?) -> TransferProgress {
        guard let earlier else { return self }
        var next = self
        next.floor = max(floor, earlier.fraction ?? 0)
        next.isComplete = isComplete || earlier.isComplete
        return next
    }

    /// The progress of a transfer that has succeeded.
    func completed() -> TransferProgress {
        var last = self
        last.isComplete = true
        last.acknowledged = sent
        return last
    }
}

// MARK: Foundation's progress

extension TransferProgress {
    /// Shows this progress on Foundation's, in bytes; one without a total is indeterminate.
    ///
    /// `completedUnitCount` is what ``fraction`` makes of the total, so that it never goes back either, and reaches
    /// `totalUnitCount` with the end alone.
    public func show(on progress: Progress) {
        guard let fraction, isComplete || direction.total != nil else { return }
        let total = Int64(max(direction.total ?? direction.done, 1))
        progress.totalUnitCount = total
        progress.completedUnitCount = isComplete ? total : Int64(fraction * Double(total))
    }
}
