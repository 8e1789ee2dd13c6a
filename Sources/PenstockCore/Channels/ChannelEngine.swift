import Foundation

/// The call that a channel is for as long as it lives: each of its connections works for it.
struct ChannelSession: Sendable {
    let context: CallContext
    /// Takes it off the client's table, and completes the error.
    let finish: @Sendable (APIError?) -> APIError?
}

/// A connection that was made for a channel.
struct ChannelConnection<Machine: ChannelMachine>: Sendable {
    let wire: any TransportWire
    let machine: Machine
    /// Bytes that have come already.
    var rest = Data()
    /// Messages that go before all others.
    var first: [Machine.Message] = []
    /// Whether somebody waits for what may have come already, and hears of the end only behind that.
    var isAwaited: @Sendable () -> Bool = { false }
    /// What is to be called at the end of the connection.
    var ended: @Sendable (APIError?) -> Void = { _ in }
}

/// How a channel behaves, whatever its protocol.
struct ChannelTerms: Sendable {
    var reconnection: ChannelReconnection?
    var pingInterval: Duration?
    var pongTimeout: Duration
    /// How many bytes of messages are kept for a reader, and how many messages.
    var bufferedBytes: Int
    static let bufferedMessages = 1_024
    /// How long the other end may take its time with the goodbye.
    static let goodbye = Duration.seconds(5)
    /// A connection that has lasted so long has worked, also where the other end had nothing to say.
    static let lasting = Duration.seconds(5)
    /// How long behind a message, and behind each that is taken, the answer to it may be sent although the other end has said
    /// goodbye.
    static let answering = Duration.seconds(1)
}

/// What all channels have in common: it connects, reads, keeps what was read for a reader, connects again, and ends.
final class ChannelEngine<Machine: ChannelMachine>: Sendable {
    typealias Message = Machine.Message

    private enum Phase: Sendable {
        case idle
        case connecting
        case open(ChannelLink<Machine>)
        /// The connection has ended, and says what it still owes to the other end. Nothing is sent over it any more.
        case leaving(ChannelLink<Machine>)
        case over(APIError?)
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var session: ChannelSession?
        var inbox: [(message: Message, bytes: Int)] = []
        var taken = 0
        var bytes = 0
        var isClosing = false
        /// Whether it is to end, be its call made already or not.
        var isCancelled = false
        /// Whether it was closed while there was no connection, so that what had come is still for its reader.
        var isLeft = false
        /// Whether the call has ended.
        var isEnded = false
        /// When a message has come last, or was taken.
        var moved: Duration?
        /// How many wait for a message, and whether anybody ever has.
        var readers = 0
        var wasRead = false
        /// The moment up to which who may answer yet was waited for.
        var waited: Duration?
        var lastWait: UInt64 = 0
        var abandoned: Set<UInt64> = []

        var count: Int { inbox.count - taken }

        mutating func add(_ message: Message, _ size: Int) {
            if taken > 256, taken * 2 > inbox.count {
                inbox.removeSubrange(..<taken)
                taken = 0
            }
            inbox.append((message, size))
            bytes += size
        }

        /// Whether its call was ended from outside, and not by the closing of a channel that has no connection.
        var isCutOff: Bool { !isLeft && (session?.context.isCancelled ?? isCancelled) }

        /// - Returns: `nil` also once its call was ended from outside, because what had come is for nobody then.
        mutating func pop() -> (message: Message, bytes: Int)? {
            guard taken < inbox.count, !isCutOff else { return nil }
            let first = inbox[taken]
            taken += 1
            bytes -= first.bytes
            if taken == inbox.count { (inbox, taken) = ([], 0) }
            return first
        }
    }

    private let terms: ChannelTerms
    private let random: RandomSource
    private let begin: @Sendable () -> ChannelSession?
    private let connect: @Sendable (ChannelSession) async throws(APIError) -> ChannelConnection<Machine>
    private let state = Monitor(State())

    /// - Parameters:
    ///   - begin: makes the call that it is; `nil` when nobody wants it any more.
    ///   - connect: makes a connection.
    init(
        _ terms: ChannelTerms, random: RandomSource, begin: @escaping @Sendable () -> ChannelSession?,
        connect: @escaping @Sendable (ChannelSession) async throws(APIError) -> ChannelConnection<Machine>
    ) {
        self.terms = terms
        self.random = random
        self.begin = begin
        self.connect = connect
    }

    // MARK: The app's side

    func open() async throws(APIError) {
        _ = try await link()
    }

    /// - Parameter willWrite: called once there is a connection that takes the message, before that is given to it.
    func send(_ message: Message, willWrite: @Sendable () -> Void = {}) async throws(APIError) {
        while true {
            let link = try await link()
            do throws(ChannelFault) {
                if try await link.send(message, willWrite) { return }
            } catch {
                throw ended(error.error)
            }
        }
    }

    func next() async throws(APIError) -> Message? {
        try await nextWithSize()?.message
    }

    /// The next message, and how many bytes it came in.
    func nextWithSize() async throws(APIError) -> (message: Message, bytes: Int)? {
        start()
        state.withLock { state in
            state.readers += 1
            state.wasRead = true
        }
        let taken: Result<(message: Message, bytes: Int)?, APIError> = await withTaskCancellationHandler {
            await state.wait { state in
                if let first = state.pop() {
                    state.readers -= 1
                    state.moved = state.session?.context.time.now()
                    return .success(first)
                }
                guard case .over(let error) = state.phase else { return nil }
                state.readers -= 1
                return error.map { .failure($0) } ?? .success(nil)
            }
        } onCancel: {
            cancel()
        }
        // What was taken may have been what the reader of the wire has no room for.
        state.withLock { _ in }
        return try taken.get()
    }

    func close() async {
        let phase = state.withLock { state in
            state.isClosing = true
            if case .idle = state.phase { state.phase = .over(nil) }
            if case .connecting = state.phase, !state.isCutOff { state.isLeft = true }
            return state.phase
        }
        switch phase {
        case .idle, .over: return
        case .connecting: end()
        case .open(let link), .leaving(let link):
            guard let context = state.withLock({ $0.session?.context }) else { return link.wire.close() }
            // Before the goodbye is written: an end that reads nothing does not take that either.
            let alarm = context.deadlines.add(context.time.now() + ChannelTerms.goodbye) { link.wire.close() }
            if await link.finish() { await untilOver() } else { link.wire.close() }
            context.deadlines.remove(alarm)
        }
        await untilOver()
    }

    /// Ends it at once.
    func cancel() {
        state.withLock { $0.isLeft = false }
        end()
    }

    private func end() {
        let session = state.withLock { state -> ChannelSession? in
            state.isCancelled = true
            if case .idle = state.phase { state.phase = .over(APIError(.cancelled, stage: .transport)) }
            return state.session
        }
        session?.context.end(.requested)
    }

    var isOpen: Bool { openLink != nil }

    /// Whether its call was ended from outside: what had come is for nobody then.
    var isCancelled: Bool { state.withLock { $0.isCutOff } }

    /// How many bytes of messages are kept for a reader.
    var bufferedBytes: Int { terms.bufferedBytes }

    private var openLink: ChannelLink<Machine>? {
        state.withLock { if case .open(let link) = $0.phase { link } else { nil } }
    }

    private func untilOver() async {
        await state.wait { if case .over = $0.phase { true } else { false } }
    }

    /// The connection, as soon as there is one.
    private func link() async throws(APIError) -> ChannelLink<Machine> {
        if let link = openLink { return link }
        start()
        let number = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        let found: Result<ChannelLink<Machine>, APIError> = await withTaskCancellationHandler {
            await state.wait { state in
                switch state.phase {
                case .open(let link): return .success(link)
                case .over(let error): return .failure(error ?? Self.closed)
                case .idle, .connecting, .leaving:
                    return state.abandoned.contains(number) ? .failure(APIError(.cancelled, stage: .transport)) : nil
                }
            }
        } onCancel: {
            state.withLock { _ = $0.abandoned.insert(number) }
        }
        _ = state.withLock { $0.abandoned.remove(number) }
        return try found.get()
    }

    private static var closed: APIError {
        APIError(
            .transport(.connectionLost), stage: .transport,
            debugMessage: "the channel is closed, and sends nothing more")
    }

    /// The end of the whole tells more than what a sender has met with.
    private func ended(_ error: APIError) -> APIError {
        guard let ending = state.withLock({ $0.session?.context.ending }) else { return error }
        var error = error
        error.kind = ending.kind
        return error
    }

    // MARK: Its own side

    private func start() {
        let begins = state.withLock { state in
            guard case .idle = state.phase else { return false }
            state.phase = .connecting
            return true
        }
        guard begins else { return }
        guard let session = begin() else {
            return state.withLock { $0.phase = .over(APIError(.cancelled, stage: .transport)) }
        }
        let isCancelled = state.withLock { state in
            state.session = session
            return state.isCancelled
        }
        // Whoever has ended it while its call was made has found none to end.
        if isCancelled { session.context.end(.requested) }
        session.context.endsWithCall(Task { [self] in await run(session) })
    }

    private func run(_ session: ChannelSession) async {
        var failures = 0
        while true {
            let fault = await connection(session, &failures)
            failures += 1
            let isClosing = state.withLock { state in
                state.phase = .connecting
                return state.isClosing
            }
            if isClosing || session.context.isCancelled { return end(session, isClosing ? nil : fault) }
            var random = random
            guard let fault,
                let delay = terms.reconnection?.delay(after: fault.ending, failures: failures, using: &random)
            else { return end(session, fault) }
            do throws(APIError) {
                try await session.context.sleep(for: Self.wait(delay, after: fault, session.context), at: .retry)
            } catch {
                return end(session, ChannelFault(error))
            }
        }
    }

    /// A server that has said when to come back is not asked before, as far as retries wait for it.
    private static func wait(_ delay: Duration, after fault: ChannelFault, _ context: CallContext) -> Duration {
        let hint = fault.retryAfter(at: context.time.date()) ?? .zero
        return max(delay, min(hint, context.settings.retry.longestHint))
    }

    /// Makes one connection, and reads until its end.
    private func connection(_ session: ChannelSession, _ failures: inout Int) async -> ChannelFault? {
        let made: ChannelConnection<Machine>
        do throws(APIError) {
            made = try await connect(session)
        } catch {
            return ChannelFault(error)
        }
        let context = session.context
        let keepAlive = terms.pingInterval.map {
            KeepAlive(interval: $0, patience: terms.pongTimeout, now: context.time.now())
        }
        let link = ChannelLink(
            made.wire, made.machine, rest: made.rest, keepAlive: keepAlive, writeLimit: context.settings.timeouts.idle,
            context)
        let keeper = Task { await link.keepAlive() }
        let began = context.time.now()
        let fault = await serve(link, context, made, &failures)
        if context.time.now() - began >= ChannelTerms.lasting { failures = 0 }
        keeper.cancel()
        // Before anybody hears of the end: what is sent then goes over the next connection.
        state.withLock { state in if case .open = state.phase { state.phase = .leaving(link) } }
        await link.farewell(within: .seconds(1))
        made.ended(fault.flatMap { $0.isGraceful ? nil : $0.error })
        return fault
    }

    private func serve(
        _ link: ChannelLink<Machine>, _ context: CallContext, _ made: ChannelConnection<Machine>, _ failures: inout Int
    ) async -> ChannelFault? {
        do throws(ChannelFault) {
            for message in made.first { try await link.send(message) }
            let isWanted = state.withLock { state in
                if !state.isClosing { state.phase = .open(link) }
                return !state.isClosing
            }
            guard isWanted else { return nil }
            while true {
                switch try await link.next() {
                case .message(let message, let bytes):
                    failures = 0
                    await keep(message, bytes, link)
                case .other: failures = 0
                case .ended(let fault):
                    if made.isAwaited() { await untilAnswered(link, context) }
                    return fault
                case .closed(let fault):
                    await untilAnswered(link, context)
                    return fault
                }
            }
        } catch {
            // Nothing can be sent any more where the wire itself has failed, but what came before can still be taken.
            if error.ending == .broken || made.isAwaited() { await untilAnswered(link, context) }
            return error
        }
    }

    /// Waits, behind a goodbye or a fault of the other end, until the messages that came before it are answered: until who reads
    /// asks for the next one. Who takes his time with the answer, or reads nothing, is not waited for long.
    private func untilAnswered(_ link: ChannelLink<Machine>, _ context: CallContext) async {
        let end = context.time.now() + ChannelTerms.goodbye
        link.hold(true)
        await withTaskCancellationHandler {
            while let moved = state.withLock({ Self.mayAnswer($0) ? $0.moved : nil }) {
                let limit = min(moved + ChannelTerms.answering, end)
                guard limit > context.time.now() else { break }
                let alarm = context.deadlines.add(limit) { [state] in state.withLock { $0.waited = limit } }
                await state.wait { !Self.mayAnswer($0) || $0.waited == limit || $0.moved != moved }
                context.deadlines.remove(alarm)
            }
        } onCancel: {
            state.withLock { $0.isEnded = true }
        }
        link.hold(false)
    }

    /// Whether there is a message that nobody has taken, or one whose reader has not asked for the next.
    private static func mayAnswer(_ state: State) -> Bool {
        !state.isClosing && !state.isEnded && (state.count > 0 || state.wasRead && state.readers == 0)
    }

    /// Keeps a message for a reader, and waits while there is no room for the next.
    private func keep(_ message: Message, _ bytes: Int, _ link: ChannelLink<Machine>) async {
        let now = link.now
        let isFull = state.withLock { [terms] state in
            // Who closes waits for the goodbye, and for no messages.
            if !state.isClosing {
                state.add(message, bytes)
                state.moved = now
            }
            return !Self.hasRoom(state, terms)
        }
        guard isFull else { return }
        link.hold(true)
        await withTaskCancellationHandler {
            await state.wait { [terms] in Self.hasRoom($0, terms) }
        } onCancel: {
            state.withLock { $0.isEnded = true }
        }
        link.hold(false)
    }

    private static func hasRoom(_ state: State, _ terms: ChannelTerms) -> Bool {
        state.isClosing || state.isEnded
            || state.bytes < terms.bufferedBytes && state.count < ChannelTerms.bufferedMessages
    }

    private func end(_ session: ChannelSession, _ fault: ChannelFault?) {
        let error = fault.flatMap { $0.isGraceful ? nil : $0.error }
        let told = session.finish(error)
        state.withLock { $0.phase = .over($0.isClosing ? nil : told) }
    }
}
