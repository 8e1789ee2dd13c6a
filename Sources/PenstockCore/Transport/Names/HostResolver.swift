import Foundation

/// Where the names of a client's hosts lead, in place of the system's look-ups.
///
/// ```swift
/// let resolver = HostResolver(
///     [try StaticHosts(["api.shop.example": ["203.0.113.7", "203.0.113.8"]]), ProvidersNames()], file: caches.appending(path: "hosts"))
/// let client = APIClient("https://api.shop.example", options: .resolver(resolver))
/// ```
///
/// Sources are asked in their order until one knows the name. What they say is used for as long as it holds, then for a while
/// longer during which they are asked again; nobody waits for that. Of several addresses the fastest is connected to, by the
/// time that connecting took; those that did not answer rest, and so does a source that did not answer in time, or failed for more
/// than the one name (``HostSourceError/unanswered(_:)``): 30 s, twice as long each further time, ten minutes at most. That nobody
/// knows a name is believed for 5 s. Where no source knows the name, or all its addresses are dead, the system is asked, unless
/// that is switched off.
///
/// `localhost` and the names below it are this machine, and nobody is asked for them (RFC 6761 §6.3); ``StaticHosts`` may say which
/// of its own addresses is meant.
///
/// A transport that cannot connect to where it is told refuses the call before anything is sent:
/// ``TransportCapabilities/hostResolvers``. Make one resolver and keep it: two are two ways to the network, which share no
/// connection.
public final class HostResolver: Sendable {
    /// The system's look-ups and nothing else: the default.
    public static let system = HostResolver([])

    private struct State: Sendable {
        var cache: HostCache
        var ranking: AddressRanking
        var asking: [HostCache.Key: SharedTask<Reply>] = [:]
        var isRestored = false
        /// How often a source has failed in a row, and until when it is not asked, by its number.
        var rests: [Int: (failures: Int, until: Duration)] = [:]
        /// Names that nobody knows, and until when that is believed.
        var unknown: [HostCache.Key: Duration] = [:]
    }

    /// What has come of a source.
    private enum Outcome: Sendable {
        case answered(HostAnswer?)
        /// It has answered that it cannot say anything of this name.
        case silent
        /// It has thrown, or not answered in time.
        case failed
        /// Nobody waits any more.
        case abandoned
    }

    /// What the sources say of a name, taken together.
    private enum Reply: Sendable {
        case known(HostAnswer)
        /// All of them were asked, and none knows it.
        case unknown
        /// None has answered that knows it, and some have not answered.
        case unanswered

        var addresses: [HostAddress] { if case .known(let answer) = self { answer.addresses } else { [] } }
    }

    private static let rest = Duration.seconds(30)
    private static let longestRest = Duration.seconds(600)
    private static let unknownLifetime = Duration.seconds(5)
    /// The most names that nobody knows which are kept: as many as a cache keeps of the others by default.
    private static let mostUnknown = 128

    private let sources: [any HostSource]
    /// The lists that come before all other sources: nothing that those have said comes before what is in them.
    private let lists: [StaticHosts]
    let patience: Duration
    private let file: HostFile?
    private let network: @Sendable () -> String
    private let time: TimeSource
    private let state: Locked<State>
    /// Whether the system is asked where the sources do not help. Without it such calls fail as
    /// ``TransportError/Reachability/nameNotResolved``.
    public let fallsBackToSystem: Bool

    /// A resolver.
    ///
    /// - Parameters:
    ///   - sources: asked in this order.
    ///   - fallsBackToSystem: whether the system is asked where they do not help; it is by default.
    ///   - patience: how long a source is waited for before the next one is asked. 2 s by default, a fifth of the time that
    ///     connecting has.
    ///   - cache: keeps what the sources say.
    ///   - ranking: chooses among the addresses.
    ///   - file: a copy on disk of what the sources say, so that the app's next start need not wait for them; none by default.
    ///     Nobody but its owner can read it. What is wrong with it is no failure: the sources are asked. It is written behind the
    ///     answers, and no look-up waits for that.
    ///   - network: a name for the network that the machine is in, where what the sources say depends on it. Asked for each
    ///     look-up.
    ///   - time: the machine's clocks unless a test gives others.
    public init(
        _ sources: [any HostSource], fallsBackToSystem: Bool = true, patience: Duration = .seconds(2),
        cache: HostCache = HostCache(), ranking: AddressRanking = AddressRanking(), file: URL? = nil,
        network: @escaping @Sendable () -> String = { "" }, time: TimeSource = .system
    ) {
        self.sources = sources
        lists = sources.prefix { $0 is StaticHosts }.compactMap { $0 as? StaticHosts }
        self.fallsBackToSystem = fallsBackToSystem
        self.patience = patience
        self.file = file.map(HostFile.init)
        self.network = network
        self.time = time
        state = Locked(State(cache: cache, ranking: ranking))
    }

    /// Whether it leaves everything to the system.
    public var isSystem: Bool { sources.isEmpty && fallsBackToSystem }

    /// Why a transport cannot go by the resolver; `nil` where it can.
    package func refusal(by capabilities: TransportCapabilities) -> String? {
        isSystem || capabilities.contains(.hostResolvers) ? nil : "a resolver of the client's own"
    }

    /// The addresses to connect to, the best first; for transports. None where the name is to be looked up by the system.
    ///
    /// - Parameters:
    ///   - host: in ASCII and lower case.
    ///   - port: of the connection.
    /// - Returns: an empty list also where all addresses are at rest and there is the system to ask, since those are dead.
    ///   `nil` where nobody knows the name.
    public func addresses(of host: String, port: Int) async -> [HostAddress]? {
        let known = Self.isLocal(host) ? local(host, port) : await known(of: host, port)
        let now = time.now()
        let (ranked, isAwake) = state.withLock { state in
            let ranked = state.ranking.ranked(known, at: now)
            return (ranked, ranked.first.map { !state.ranking.isResting($0, at: now) } ?? false)
        }
        if fallsBackToSystem { return isAwake ? ranked : [] }
        return ranked.isEmpty ? nil : ranked
    }

    private func known(of host: String, _ port: Int) async -> [HostAddress] {
        if let listed = listed(host, port) { return Array(listed.prefix(HostCache.maxAddresses)) }
        let key = HostCache.Key(host: host, port: port, network: network())
        await restore()
        switch state.withLock({ $0.cache.look(up: key, at: time.date()) }) {
        case .fresh(let addresses): return addresses
        case .stale(let addresses):
            refresh(key)
            return addresses
        case .nothing: return isUnknown(key) ? [] : Array(await ask(key).addresses.prefix(HostCache.maxAddresses))
        }
    }

    private func listed(_ host: String, _ port: Int) -> [HostAddress]? {
        lists.lazy.compactMap { $0.addresses(of: host, port: port) }.first
    }

    /// The addresses of this machine that a list has for one of its names, or those that it always has.
    private func local(_ host: String, _ port: Int) -> [HostAddress] {
        let own = listed(host, port)?.filter { $0.text == "::1" || $0.text.hasPrefix("127.") } ?? []
        return own.isEmpty && !isSystem ? Self.loopback : own
    }

    private static let loopback = ["127.0.0.1", "::1"].map { HostAddress(trusted: $0) }

    private static func isLocal(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Notes that a connection was made; for transports.
    ///
    /// - Parameter time: how long that took, from its first packet on.
    public func connected(to address: HostAddress, in time: Duration) {
        let now = self.time.now()
        state.withLock { $0.ranking.connected(address, in: time, at: now) }
    }

    /// Notes that no connection could be made; for transports.
    public func failed(_ address: HostAddress) {
        let now = time.now()
        state.withLock { $0.ranking.failed(address, at: now) }
    }

    // MARK: Asking

    /// Begins to ask, unless somebody does already. Nobody waits for it.
    private func refresh(_ key: HostCache.Key) {
        guard !isUnknown(key), state.withLock({ $0.asking[key] == nil }) else { return }
        Task { _ = await ask(key) }
    }

    /// All that ask for one name at the same time are given one answer. The work ends when nobody waits for it.
    private func ask(_ key: HostCache.Key) async -> Reply {
        let (asking, isNew) = state.withLock { state in
            if let known = state.asking[key], known.join() { return (known, false) }
            let new = SharedTask<Reply>()
            _ = new.join()
            state.asking[key] = new
            return (new, true)
        }
        if isNew {
            asking.start { [self] in
                let reply = await reply(key)
                finish(key, reply, asking)
                return reply
            }
        }
        return await asking.value() ?? .unanswered
    }

    /// What was said before makes room for what is said now, be it for no time or that nobody knows the name. It stays where
    /// nothing is said (RFC 8767 §5).
    private func finish(_ key: HostCache.Key, _ reply: Reply, _ asking: SharedTask<Reply>) {
        let date = time.date()
        let cache = state.withLock { state -> HostCache? in
            if state.asking[key] === asking { state.asking[key] = nil }
            switch reply {
            case .known(let answer) where answer.lifetime > .zero: state.cache.keep(answer, for: key, at: date)
            case .known, .unknown: if !state.cache.forget(key) { return nil }
            case .unanswered: return nil
            }
            return state.cache
        }
        if let cache { file?.write(cache) }
    }

    private func reply(_ key: HostCache.Key) async -> Reply {
        let begun = time.now()
        let resting = state.withLock { state in
            Set(sources.indices.filter { state.rests[$0].map { begun < $0.until } ?? false })
        }
        // Where there is no system to ask, who rests is better than nobody.
        let last = fallsBackToSystem ? [] : sources.indices.filter(resting.contains)
        var haveAllAnswered = resting.count == last.count
        for number in sources.indices.filter({ !resting.contains($0) }) + last {
            let outcome = await outcome(of: sources[number], key)
            if Task.isCancelled { return .unanswered }
            note(outcome, of: number)
            switch outcome {
            case .answered(let answer?) where !answer.addresses.isEmpty: return .known(answer)
            case .answered: break
            case .silent, .failed, .abandoned: haveAllAnswered = false
            }
        }
        noteUnknown(key)
        return haveAllAnswered ? .unknown : .unanswered
    }

    private func note(_ outcome: Outcome, of number: Int) {
        let now = time.now()
        state.withLock { state in
            switch outcome {
            case .answered, .silent: state.rests[number] = nil
            case .failed:
                let before = state.rests[number]
                // Those who asked it at the same time have met with the same failure.
                if let before, now < before.until { return }
                let failures = (before?.failures ?? 0) + 1
                let length = min(Self.rest * (1 << min(failures - 1, 20)), Self.longestRest)
                state.rests[number] = (failures, now + length)
            case .abandoned: break
            }
        }
    }

    private func isUnknown(_ key: HostCache.Key) -> Bool {
        let now = time.now()
        return state.withLock { $0.unknown[key].map { now < $0 } ?? false }
    }

    private func noteUnknown(_ key: HostCache.Key) {
        let now = time.now()
        state.withLock { state in
            if state.unknown.count >= Self.mostUnknown { state.unknown = state.unknown.filter { now < $0.value } }
            if state.unknown.count >= Self.mostUnknown { state.unknown = [:] }
            state.unknown[key] = now + Self.unknownLifetime
        }
    }

    /// One that does not answer in time is ended, if it lets itself be, and not waited for.
    private func outcome(of source: any HostSource, _ key: HostCache.Key) async -> Outcome {
        let promise = Promise<Outcome>()
        let work = Task {
            do {
                promise.keep(.answered(try await source.answer(for: key.host, port: key.port)))
            } catch HostSourceError.unanswered {
                promise.keep(.silent)
            } catch {
                promise.keep(.failed)
            }
        }
        let timer = Task { [time, end = time.now() + patience] in
            try? await time.sleep(until: end)
            promise.keep(.failed)
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        let outcome = await withTaskCancellationHandler {
            await promise.value()
        } onCancel: {
            promise.abandon()
        }
        return outcome ?? .abandoned
    }

    // MARK: On disk

    /// Returns when the copy on disk has all that was said by now.
    package func flush() async {
        await file?.flush()
    }

    /// Reads the copy before the first look-up.
    private func restore() async {
        guard let file, state.withLock({ !$0.isRestored }) else { return }
        let data = await file.read()
        state.withLock { state in
            guard !state.isRestored else { return }
            state.isRestored = true
            if let data { state.cache.restore(data) }
        }
    }
}

extension HostResolver: Hashable, CustomStringConvertible {
    public static func == (left: HostResolver, right: HostResolver) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    public var description: String { isSystem ? "the system" : "\(sources.count) sources" }
}

/// The copy on disk of what sources have said. Whatever goes wrong with it goes unsaid: the sources are asked then. The disk is
/// waited for on threads that serve no tasks.
private final class HostFile: Sendable {
    /// The most bytes of a file that is read: many times what the largest cache by default takes.
    private static let most = 1 << 20
    private let file: SerialState<PrivateFile>
    /// What is still to be written; what comes before it is written takes its place.
    private let newest = Locked<HostCache?>(nil)

    init(_ url: URL) {
        file = SerialState(PrivateFile(url), label: "penstock.hosts")
    }

    /// One that others could have written leads nowhere.
    func read() async -> Data? {
        await file.result { try? $0.contents(limit: Self.most, .refuses) }
    }

    /// Returns at once.
    func write(_ cache: HostCache) {
        let isWritten = newest.withLock { newest in
            defer { newest = cache }
            return newest == nil
        }
        if isWritten { file.run { [self] in writeNewest(to: $0) } }
    }

    /// Returns when all that was asked for is written.
    func flush() async {
        await file.result { _ in }
    }

    /// A writer that finds another at work leaves it alone: the next answer is written again, with all that is known then.
    private func writeNewest(to file: PrivateFile) {
        let cache = newest.withLock { newest in
            defer { newest = nil }
            return newest
        }
        guard let data = try? cache?.encoded(), (try? file.makeFolder()) != nil,
            let lock = try? FileLock(beside: file)
        else { return }
        withExtendedLifetime(lock) { _ = try? file.replace(with: data) }
    }
}
