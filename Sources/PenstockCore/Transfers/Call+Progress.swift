import Foundation

extension Call {
    /// Delivers the progress to a closure on the main actor, thirty times a second at most, until the call is over, was cancelled,
    /// or its scope is gone. Who comes late, or is busy meanwhile, gets the latest. The last progress comes before the result: who
    /// hears of that by a closure, a delegate or a method hears of it when this has heard of all progress.
    ///
    /// ```swift
    /// client.download(film, to: .file(place), in: page).onProgress { bar.progress = $0.fraction ?? 0 }
    /// ```
    @discardableResult
    public func onProgress(_ take: @escaping @MainActor @Sendable (TransferProgress) -> Void) -> Call {
        audience.feed.watch { [context, owner = audience.owner] progress in
            Task { @MainActor in
                for await bytes in progress {
                    if context.isCancelled || owner.isGone { return }
                    take(bytes)
                }
            }
        }
        return self
    }

    /// Foundation's form of the call's progress, for views and for a tree of several transfers. Cancelling, pausing and resuming
    /// it does the same to the call, whether or not anybody holds its handle.
    ///
    /// ```swift
    /// let call = client.start(UploadPicture(picture))
    /// overall.addChild(call.foundationProgress(), withPendingUnitCount: 1)
    /// ```
    public func foundationProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isPausable = true
        // Whoever holds the progress need not hold the handle, without which the call goes on.
        progress.cancellationHandler = { [context] in context.end(.requested) }
        progress.pausingHandler = { [context] in context.control.suspend() }
        progress.resumingHandler = { [context] in context.control.resume() }
        let updates = updates
        Task {
            for try await case .progress(let bytes) in updates { bytes.show(on: progress) }
            // A call that has moved no bytes ends as well.
            if !progress.isFinished { TransferProgress().completed().show(on: progress) }
        }
        return progress
    }
}
