import Foundation
import PenstockCore

/// A transport that plays a list of outcomes, one for each exchange in the order they begin, each held until it is
/// released where the test says so.
///
/// ```swift
/// let script = ScriptedTransport([.respond(.init(status: 503)), .held(.respond(.init(status: 200)))])
/// …
/// await script.waitForExchanges(count: 2)
/// script.release()
/// ```
///
/// An exchange past the end of the list fails as ``StubTransport``'s unscripted ones do.
public final class ScriptedTransport: Transport, PromptTransport {
    /// What one exchange comes to.
    public indirect enum Step: Sendable {
        /// A response, whatever its status.
        case respond(HTTPResponse)
        /// A failed exchange.
        case fail(TransportError)
        /// A response whose content comes in these pieces and ends with the failure, if there is one.
        case stream(HTTPResponse, [Data], failure: TransportError? = nil)
        /// Only once ``ScriptedTransport/release()`` was called for it. Its end counts meanwhile, and its time-outs where the
        /// script was given a clock.
        case held(Step)
    }

    private struct State {
        var steps: ArraySlice<Step>
        var held: [ScriptedExchange] = []
        var requests: [TransportRequest] = []
        var unscripted: [String] = []
        var open = 0
        var isShutDown = false
    }

    private let state: Monitor<State>
    private let time: TimeSource?
    /// The capabilities as given to the initialiser.
    public let capabilities: TransportCapabilities

    /// A transport that plays these steps.
    ///
    /// - Parameters:
    ///   - steps: one for each exchange, in the order they begin.
    ///   - capabilities: what the transport claims to be able to do; everything by default. It refuses nothing.
    ///   - time: what the time-outs of a held exchange are measured by, such as a ``TestClock``'s; `nil` for none of them, so that
    ///     a step is held for as long as a slow machine may need.
    public init(
        _ steps: [Step], capabilities: TransportCapabilities = .all, time: TimeSource? = nil
    ) {
        state = Monitor(State(steps: steps[...]))
        self.time = time
        self.capabilities = capabilities
    }

    /// Lets the exchange go on that has been held the longest of those that are still open.
    public func release() {
        let exchange = state.withLock { state in state.held.isEmpty ? nil : state.held.removeFirst() }
        exchange?.release()
    }

    // MARK: What it saw

    /// The exchanges that began, in order.
    public var requests: [TransportRequest] { state.withLock(\.requests) }
    /// How many exchanges are attached to their control now.
    public var openExchangeCount: Int { state.withLock(\.open) }
    /// How many outcomes were not played.
    public var remainingSteps: Int { state.withLock(\.steps.count) }
    /// Method and URL of each exchange that came after the end of the list.
    public var unscripted: [String] { state.withLock(\.unscripted) }

    /// Returns when at least `count` exchanges have begun, or the task is cancelled. It waits for ever if neither comes: give the
    /// test a time limit, which cancels it.
    public func waitForExchanges(count: Int) async {
        await state.waitUnlessCancelled { $0.requests.count >= count }
    }

    // MARK: Transport

    /// Plays the next step.
    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        try await play(request) { step throws(TransportError) in
            switch step {
            case .response(let response): return TransportResponse(response)
            case .stream(var response, let pieces, let failure):
                if let failure { throw failure }
                response.body = Data(pieces.joined())
                return TransportResponse(response)
            }
        }
    }

    /// Plays the next step; a response comes with its body as the only piece.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        try await play(request) { step throws(TransportError) in
            switch step {
            case .response(let response): return TransportStream(buffering: TransportResponse(response))
            case .stream(let head, let pieces, let failure):
                return TransportStream(head, content: BufferedContent(pieces, failure: failure))
            }
        }
    }

    /// What a step comes to once it is released.
    private enum Outcome {
        case response(HTTPResponse)
        case stream(HTTPResponse, [Data], TransportError?)
    }

    private func play<Output>(
        _ request: TransportRequest, _ make: (Outcome) throws(TransportError) -> Output
    ) async throws(TransportError) -> Output {
        let running = ScriptedExchange()
        guard !state.withLock(\.isShutDown), request.control.attach(running) else { throw StubAnswer.cancelled }
        state.withLock { $0.open += 1 }
        defer {
            request.control.detach(running)
            state.withLock { state in
                state.open -= 1
                state.held.removeAll { $0 === running }
            }
        }
        let step = try begin(request, running)
        let deadline = deadline(of: step, request, running)
        defer { deadline?.cancel() }
        switch await running.end(isSuspended: request.control.isSuspended) {
        case .released: return try make(outcome(of: step))
        case .cancelled: throw TransportError(.cancelled, sendState: .maybeProcessed, message: "cancelled")
        case .late(let phase):
            throw TransportError(.timeout(phase), sendState: .maybeProcessed, message: "no answer in time")
        }
    }

    /// Ends a held exchange by its time-outs, which begin once it is not suspended.
    private func deadline(
        of step: Step, _ request: TransportRequest, _ running: ScriptedExchange
    ) -> Task<Void, any Error>? {
        guard let time, case .held = step, case (let limit?, let phase) = request.timeouts.untilHead else { return nil }
        return Task { [control = request.control] in
            await control.untilResumed()
            try await time.sleep(limit)
            running.expire(phase)
        }
    }

    /// A double has no connections: does nothing.
    public func preconnect(_ request: TransportRequest) async throws(TransportError) {}

    /// Ends what is held, and refuses what comes after.
    public func shutdown() async {
        let held = state.withLock { state in
            state.isShutDown = true
            defer { state.held = [] }
            return state.held
        }
        for exchange in held { exchange.cancel() }
    }

    private func begin(
        _ exchange: TransportRequest, _ running: ScriptedExchange
    ) throws(TransportError) -> Step {
        let name = "\(exchange.request.method) \(exchange.request.url.absoluteString)"
        let step = state.withLock { state in
            let step = state.steps.popFirst()
            if step == nil { state.unscripted.append(name) }
            if case .held = step { state.held.append(running) } else { running.release() }
            state.requests.append(exchange)
            return step
        }
        guard let step else {
            throw TransportError(.unsupported(name), sendState: .unsent, message: "the script has no step for \(name)")
        }
        return step
    }

    private func outcome(of step: Step) throws(TransportError) -> Outcome {
        switch step {
        case .respond(let response): return .response(response)
        case .fail(let error): throw error
        case .stream(let head, let pieces, let failure): return .stream(head, pieces, failure)
        case .held(let inner): return try outcome(of: inner)
        }
    }
}

/// One exchange of a script: goes on once it is released and not suspended, ends at once when it is cancelled or takes too long.
final class ScriptedExchange: ControlledExchange {
    /// How its wait ends.
    enum End { case released, cancelled, late(TimeoutPhase) }

    private struct State {
        var isReleased = false
        var isSuspended = false
        var isCancelled = false
        var late: TimeoutPhase?

        /// `nil` while it must wait.
        var end: End? {
            if isCancelled { return .cancelled }
            if isReleased { return isSuspended ? nil : .released }
            return late.map { .late($0) }
        }
    }

    private let state = Monitor(State())

    func release() { state.withLock { $0.isReleased = true } }
    func expire(_ phase: TimeoutPhase) { state.withLock { $0.late = phase } }
    func cancel() { state.withLock { $0.isCancelled = true } }
    func suspend() { state.withLock { $0.isSuspended = true } }
    func resume() { state.withLock { $0.isSuspended = false } }

    func end(isSuspended: Bool) async -> End {
        if isSuspended { suspend() }
        return await state.wait { $0.end }
    }
}
