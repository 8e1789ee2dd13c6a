import Foundation

extension Call {
    /// Foundation's form of the call's progress, for views and for a tree of several transfers. Cancelling, pausing and resuming
    /// it does the same to the call.
    ///
    /// ```swift
    /// let call = client.start(UploadPicture(picture))
    /// overall.addChild(call.foundationProgress(), withPendingUnitCount: 1)
    /// ```
    public func foundationProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        let updates = updates
        Task {
            for try await case .progress(let bytes) in updates { bytes.show(on: progress) }
        }
        return progress
    }
}
