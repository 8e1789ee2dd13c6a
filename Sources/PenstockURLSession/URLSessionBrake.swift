import PenstockCore

/// Stops what brings content while the reader of it has enough.
///
/// Who brings content and who reads it each call ``apply()`` after what they did, from threads of which either may be the quicker.
/// What is then done is what the pipe says at that moment, and is done under one lock: so the last of them leaves the task as the
/// pipe wants it, whatever order they come in.
final class URLSessionBrake: Sendable {
    private struct State {
        weak var pipe: ContentPipe?
        var stop: (@Sendable () -> Void)?
        var goOn: (@Sendable () -> Void)?
        var isOn = false
    }

    private let state = Locked(State())

    /// Attaches the brake to a pipe. Before that nothing is stopped.
    ///
    /// - Parameters:
    ///   - stop: called with the lock held, in turns with `goOn`; must return at once.
    func attach(
        _ pipe: ContentPipe, stop: @escaping @Sendable () -> Void, goOn: @escaping @Sendable () -> Void
    ) {
        state.withLock { ($0.pipe, $0.stop, $0.goOn) = (pipe, stop, goOn) }
    }

    /// Stops the task or lets it go on, as the pipe wants it now.
    func apply() {
        state.withLock { state in
            guard let pipe = state.pipe, pipe.isHoldingBack != state.isOn else { return }
            state.isOn.toggle()
            if state.isOn { state.stop?() } else { state.goOn?() }
        }
    }
}
