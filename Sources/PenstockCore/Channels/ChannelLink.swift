import Foundation

/// What a channel's protocol makes of bytes, and bytes of what: WebSocket frames, or the frames of a codec. It waits for nothing.
protocol ChannelMachine: Sendable {
    associatedtype Message: Sendable

    mutating func receive(_ bytes: Data)
    /// - Returns: `nil` where more bytes are needed.
    mutating func event() throws(ChannelFault) -> ChannelEvent<Message>?
    mutating func encode(_ message: Message) throws(ChannelFault)
    /// Asks the other end for a sign of life.
    mutating func probe() throws(ChannelFault)
    /// Says goodbye; nothing is encoded behind it.
    mutating func finish() -> ChannelGoodbye
    /// Says what is owed to the other end behind its goodbye, or behind what was wrong with its bytes. Messages can go until then.
    ///
    /// - Returns: whether there is something of the kind, which the other end should get to read.
    mutating func conclude() -> Bool
    /// Bytes to be written.
    mutating func takeOutput() -> Data
    /// What it means that the connection has come to its end; `nil` where that is as it should be.
    func judgeEnd() -> ChannelFault?
}

/// How a channel says that it is done.
enum ChannelGoodbye: Sendable {
    /// Both ends have said so already.
    case none
    /// The end says so by bytes that the other end answers.
    case answered
    /// The end says so by the end of the bytes, which the other end answers with its own.
    case endOfBytes
}

enum ChannelEvent<Message: Sendable>: Sendable {
    case message(Message, bytes: Int)
    /// Something that is no message.
    case other
    /// The other end has said goodbye.
    case closed(ChannelFault?)
    /// The connection has come to its end.
    case ended(ChannelFault?)
}

/// Why a channel ended.
struct ChannelFault: Error {
    let kind: APIError.Kind
    let ending: ChannelReconnection.Ending
    let reason: (any Error)?
    /// Whether it is an end that the other side has meant.
    var isGraceful = false
}

/// One connection of a channel: its wire, and the machine of its protocol. Whoever sends writes, one at a time; the bytes of
/// the others go with the next writing, in the order of their calls.
final class ChannelLink<Machine: ChannelMachine>: Sendable {
    private struct State: Sendable {
        var machine: Machine
        var output = Data()
        /// How many bytes were given to be written, and how many of them have been.
        var given = 0
        var written = 0
        var isWriting = false
        var failure: TransportError?
        var keepAlive: KeepAlive?
        /// Whether nobody looks for bytes.
        var isHeld = false
        /// Whether this end has said all that it has to say, and the wire is to be closed once the other end has as well.
        var hasEndedWriting = false
        /// Whether it takes no more messages.
        var isLeaving = false
    }

    let wire: any TransportWire
    private let context: CallContext
    private let writeLimit: Duration?
    private let state: Monitor<State>

    /// - Parameters:
    ///   - rest: bytes that have come already.
    ///   - writeLimit: how long the system may take none of what is written.
    init(
        _ wire: any TransportWire, _ machine: Machine, rest: Data, keepAlive: KeepAlive?, writeLimit: Duration?,
        _ context: CallContext
    ) {
        self.wire = wire
        self.context = context
        self.writeLimit = writeLimit
        var machine = machine
        machine.receive(rest)
        state = Monitor(State(machine: machine, keepAlive: keepAlive))
    }

    // MARK: Reading

    /// What comes next; the answers that a machine gives by itself are written on the way.
    func next() async throws(ChannelFault) -> ChannelEvent<Machine.Message> {
        while true {
            if let event = try event() { return event }
            do throws(TransportError) {
                guard let bytes = try await wire.read() else {
                    return .ended(state.withLock { $0.machine.judgeEnd() })
                }
                let now = context.time.now()
                state.withLock { state in
                    state.machine.receive(bytes)
                    state.keepAlive?.heard(now)
                }
            } catch {
                throw ChannelFault(error)
            }
        }
    }

    private func event() throws(ChannelFault) -> ChannelEvent<Machine.Message>? {
        let (event, writes) = state.withLock { state -> (Result<ChannelEvent<Machine.Message>?, ChannelFault>, Bool) in
            let event = Result { () throws(ChannelFault) in try state.machine.event() }
            // While somebody writes, what the machine adds goes with that, so that a flood of pings piles nothing up here.
            guard !state.isWriting else { return (event, false) }
            Self.collect(&state)
            state.isWriting = !state.output.isEmpty
            return (event, state.isWriting)
        }
        // An answer does not hold the reader up.
        if writes { Task { [self] in await writeAll() } }
        return try event.get()
    }

    /// Writes what the protocol still has to say, and closes the wire. Where that is more than a goodbye of this end's own, or the
    /// end of the bytes is the goodbye, the other end has the chance to close first: bytes of its that come to a closed socket, or
    /// that nobody has read, would have the system take back what was written (RFC 6455 §7.1.1).
    ///
    /// - Parameter limit: how long the writing may take, and how long the other end.
    func farewell(within limit: Duration) async {
        let owes = state.withLock { state in
            state.isLeaving = true
            return state.machine.conclude() || state.hasEndedWriting
        }
        let alarm = context.deadlines.add(context.time.now() + limit) { [weak wire] in wire?.fail(.timeout(.idle)) }
        let written = await Result { () async throws(ChannelFault) in try await flush() }
        context.deadlines.remove(alarm)
        if owes, (try? written.get()) != nil { await drop(within: limit) }
        wire.close()
    }

    /// Reads and forgets what comes, until the end.
    private func drop(within limit: Duration) async {
        let alarm = context.deadlines.add(context.time.now() + limit) { [weak wire] in wire?.close() }
        while let bytes = try? await wire.read(), !bytes.isEmpty {}
        context.deadlines.remove(alarm)
    }

    /// The moment on the clock of its call.
    var now: Duration { context.time.now() }

    /// Whether nobody looks for bytes at the moment: that none come says nothing then.
    func hold(_ isHeld: Bool) {
        let now = context.time.now()
        state.withLock { state in
            state.isHeld = isHeld
            state.keepAlive?.heard(now)
        }
    }

    // MARK: Writing

    /// - Parameter willWrite: called before the message is given to be written, where it is.
    /// - Returns: `false` where the connection takes no more messages, and nothing of this one was written.
    @discardableResult
    func send(
        _ message: Machine.Message, _ willWrite: @Sendable () -> Void = {}
    ) async throws(ChannelFault) -> Bool {
        let isTaken = try state.withLock { state throws(ChannelFault) in
            guard !state.isLeaving else { return false }
            willWrite()
            try state.machine.encode(message)
            Self.collect(&state)
            return true
        }
        if isTaken { try await flush() }
        return isTaken
    }

    /// Says goodbye behind what was given to be written.
    ///
    /// - Returns: whether the other end answers the goodbye.
    func finish() async -> Bool {
        let goodbye = state.withLock { $0.machine.finish() }
        let isSent = await Result { () async throws(ChannelFault) in try await flush() }
        guard (try? isSent.get()) != nil else { return false }
        switch goodbye {
        case .none: return false
        case .answered: return true
        case .endOfBytes:
            state.withLock { $0.hasEndedWriting = true }
            return (try? await wire.endWriting()) ?? false
        }
    }

    private func write(_ change: (inout Machine) throws(ChannelFault) -> Void) async throws(ChannelFault) {
        try state.withLock { state throws(ChannelFault) in
            try change(&state.machine)
            Self.collect(&state)
        }
        try await flush()
    }

    /// Returns when all that was given so far is written.
    private func flush() async throws(ChannelFault) {
        let (goal, isWriter) = state.withLock { state -> (Int, Bool) in
            Self.collect(&state)
            defer { state.isWriting = true }
            return (state.given, !state.isWriting)
        }
        if isWriter { await writeAll() }
        let failure = await state.wait { state -> TransportError?? in
            state.written >= goal ? .some(nil) : state.failure.map { .some($0) }
        }
        if let failure { throw ChannelFault(failure) }
    }

    /// Writes all that is to be written, for whoever has set that somebody writes.
    private func writeAll() async {
        while true {
            let bytes = state.withLock { state -> Data? in
                Self.collect(&state)
                guard state.failure == nil, !state.output.isEmpty else {
                    state.isWriting = false
                    return nil
                }
                defer { state.output = Data() }
                return state.output
            }
            guard let bytes else { return }
            do throws(TransportError) {
                try await writePieces(of: bytes)
            } catch {
                state.withLock { $0.failure = error }
            }
        }
    }

    /// How much is written at a time: half a second's worth of a slow path.
    private static var pieceBytes: Int { 16 << 10 }

    /// Writes bytes piece by piece. The time in which the system may take nothing begins anew with each, because a long message on
    /// a slow path is not idle while it moves.
    private func writePieces(of bytes: Data) async throws(TransportError) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceBytes)
            let alarm = writeLimit.map { limit in
                context.deadlines.add(context.time.now() + limit) { [weak wire] in wire?.fail(.timeout(.idle)) }
            }
            defer { if let alarm { context.deadlines.remove(alarm) } }
            try await wire.write(piece)
            rest = rest.dropFirst(piece.count)
            state.withLock { $0.written += piece.count }
        }
    }

    private static func collect(_ state: inout State) {
        let bytes = state.machine.takeOutput()
        state.given += bytes.count
        if state.output.isEmpty { state.output = bytes } else { state.output.append(bytes) }
    }

    // MARK: Signs of life

    /// Asks for signs of life until the wire is closed or the task cancelled.
    func keepAlive() async {
        while !Task.isCancelled {
            let now = context.time.now()
            let step = state.withLock { state -> KeepAlive.Step? in
                if state.isHeld { state.keepAlive?.heard(now) }
                return state.hasEndedWriting ? nil : state.keepAlive?.next(now)
            }
            guard let step else { return }
            switch step {
            case .wait(let duration):
                do { try await context.time.sleep(until: now + duration) } catch { return }
            case .ask:
                do throws(ChannelFault) {
                    try await write { machine throws(ChannelFault) in try machine.probe() }
                } catch {
                    return
                }
                // The question may have waited behind a long message.
                let asked = context.time.now()
                state.withLock { $0.keepAlive?.wasAsked(asked) }
            case .giveUp: return wire.fail(.timeout(.idle))
            }
        }
    }
}

extension ChannelFault {
    init(_ error: TransportError) {
        self.init(kind: APIError.Kind(error.kind), ending: .failed(error.kind), reason: error)
    }

    init(_ error: APIError) {
        let ending: ChannelReconnection.Ending =
            switch error.kind {
            case .httpStatus(let status): .status(status)
            case .unavailable, .authentication(.unavailable), .authentication(.vault(.locked)),
                .authentication(.vault(.unavailable)):
                .unavailable
            default: (error.underlying as? TransportError).map { .failed($0.kind) } ?? Self.ending(of: error.kind)
            }
        self.init(kind: error.kind, ending: ending, reason: error)
    }

    /// The ending of what failed before there was a transport to tell of it.
    private static func ending(of kind: APIError.Kind) -> ChannelReconnection.Ending {
        switch kind {
        case .unreachable(let how): .failed(.unreachable(how))
        case .timeout(let phase): .failed(.timeout(phase))
        default: .broken
        }
    }

    /// How long the server asks to be left alone, where it has refused.
    func retryAfter(at now: Date) -> Duration? {
        guard case .status = ending, let response = error.response else { return nil }
        return RetryAfter.delay(in: response.fields, at: now)
    }

    /// The error as the caller is told.
    var error: APIError {
        if let known = reason as? APIError { return known }
        return APIError(kind, stage: .transport, debugMessage: reason.map { "\($0)" } ?? "", underlying: reason)
    }
}
