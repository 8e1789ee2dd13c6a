import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What holds where nobody has said anything: the values of the code, each as its doc comment has it.
@Suite(.timeLimit(.minutes(1))) struct DefaultValueTests {
    private static let client = CallSupport.client(ScriptedTransport([]))

    /// What a value keeps to itself.
    private func kept<Value>(_ type: Value.Type, _ name: String, _ more: String..., in owner: Any) throws -> Value {
        var found = try #require(Mirror(reflecting: owner).descendant(name))
        for name in more { found = try #require(Mirror(reflecting: found).descendant(name)) }
        return try #require(found as? Value)
    }

    // MARK: Calls

    @Test("A connection has 10 s, the head of a response and each silence 30 s, and the whole call no limit")
    func timeouts() {
        let timeouts = Timeouts()
        #expect(timeouts.connect == .seconds(10) && timeouts.firstByte == .seconds(30))
        #expect(timeouts.idle == .seconds(30) && timeouts.total == nil)
        #expect(CallSettings().timeouts == timeouts)
    }

    @Test("A response has 64 MiB of content, 256 KiB and 1,000 lines of header, 32 interim ones and 200 times its size")
    func limits() {
        let limits = ResponseLimits()
        #expect(limits.bodyBytes == 64 << 20 && limits.headerBytes == 256 << 10 && limits.headerCount == 1_000)
        #expect(limits.interimResponses == 32 && limits.expansionRatio == 200)
        #expect(limits.minimumThroughput == ResponseLimits.Throughput(bytes: 300, per: .seconds(30)))
        #expect(CallSettings().limits == limits)
    }

    @Test(
        "What fails for the moment is repeated twice, after 250 ms and up to 20 s, or up to 60 s where the server asks")
    func retries() {
        let policy = RetryPolicy()
        #expect(policy.limit == 2 && policy.longestHint == .seconds(60) && policy.hedging == nil)
        #expect(policy.statuses == [408, 425, 429, 502, 503, 504] && policy.timeouts == [.connect])
        #expect(policy.backoff == Backoff() && Backoff().base == .milliseconds(250) && Backoff().cap == .seconds(20))
        #expect(RetryPolicy.standard == policy && CallSettings().retry == policy)
        #expect(RetryPolicy.limit(4).statuses == policy.statuses && RetryPolicy.none.limit == 0)
    }

    @Test("An origin has ten retries in reserve, one more for five successes or 10 s, and a hundred at most")
    func budget() {
        let policy = RetryBudget.Policy()
        #expect(policy.ratio == 0.2 && policy.reserve == 10 && policy.refill == .seconds(10) && policy.capacity == 100)
    }

    @Test(
        "A throttle looks back two minutes and lets twice through what was taken; a hedge is one, and five seconds age")
    func shedding() {
        let throttle = AdaptiveThrottle.Policy()
        #expect(throttle.multiplier == 2 && throttle.window == .seconds(120))
        #expect(HedgingPolicy(after: .seconds(1)).limit == 1)
        let admission = AdmissionPolicy()
        #expect(admission.ageing == .seconds(5) && !admission.heedsServer)
        #expect(admission.total == nil && admission.perHost == nil && admission.rate == nil)
    }

    @Test("Redirects are followed, 20 at most, and take neither a body nor fields of the app's to another origin")
    func redirects() {
        let policy = RedirectPolicy()
        #expect(policy.isFollowing && policy.limit == 20 && !policy.sendsBodyAcrossOrigins)
        #expect(
            policy.crossOriginFields.isEmpty && RedirectPolicy.follow == policy && !RedirectPolicy.never.isFollowing)
    }

    @Test("A call goes by itself, over TLS, straight to its server, with what is stored where the network fails")
    func settings() {
        let settings = CallSettings()
        #expect(settings.redirects == .follow && settings.cleartext == .refused && settings.trust == .system)
        #expect(settings.proxy == .none && settings.resolver.isSystem && settings.cache == .networkElseCache)
        #expect(settings.inFlight == .independent && settings.priority == .normal && settings.idempotency == .byMethod)
        #expect(settings.authentication == .automatic && settings.sealing == .automatic)
        #expect(settings.waitsForConnectivity == .no && settings.requestCompression == nil)
        #expect(settings.cacheTags.isEmpty && settings.tags.isEmpty)
        #expect(settings.modelFormat.maximumDepth == 128 && settings.modelFormat.decoder == nil)
    }

    @Test(
        "A client has cookies, a cache, a budget and a breaker, and neither a throttle nor a vault nor anything of the app's"
    )
    func configuration() {
        let configuration = APIClient.Configuration("https://api.example.com", build: .release)
        #expect(configuration.retryBudget == .init() && configuration.circuitBreaker == .init())
        #expect(configuration.throttle == nil && configuration.admission == .init() && configuration.cookies != nil)
        #expect(configuration.vault == nil && configuration.reachability == nil && configuration.sinks.isEmpty)
        #expect(configuration.callInterceptors.isEmpty && configuration.attemptInterceptors.isEmpty)
        #expect(configuration.options.isEmpty && configuration.identity().isEmpty)
        #expect(configuration.environment == .production && !configuration.allowsEnvironmentSwitch)
        guard case .standard = configuration.cache else { return #expect(Bool(false), "\(configuration.cache)") }
    }

    @Test("A coding of the app's is for content of 1,024 bytes, as the others are")
    func compression() {
        #expect(RequestCompression("own") { $0 }.minimumLength == 1_024)
        #expect(RequestCompression.gzip.minimumLength == 1_024 && RequestCompression.zstd.minimumLength == 1_024)
    }

    // MARK: What is kept

    @Test(
        "A memory has 32 MiB and 10,000 responses, a disk 256 MiB, 200,000 and 90 days, and each 32 variants of a key")
    func caching() {
        let (memory, disk) = (CacheLimits.memory, CacheLimits.disk)
        #expect(memory.bytes == 32 << 20 && memory.entries == 10_000 && memory.age == nil && memory.variants == 32)
        #expect(disk.bytes == 256 << 20 && disk.entries == 200_000 && disk.age == .seconds(7_776_000))
        #expect(disk.variants == 32 && memory.bodyBytes == 4 << 20 && disk.bodyBytes == 32 << 20)
        #expect(CachePolicy.defaultMaxStale == .seconds(604_800))
        let store = TieredCacheStore(over: MemoryCacheStore())
        #expect(store.limits == .memory)
        #expect(store.coherence == .milliseconds(100) && store.writeDelay == .milliseconds(50))
    }

    @Test("A jar has 50 cookies of a host and 3,000 in all")
    func cookies() {
        let limits = CookieJar.Limits()
        #expect(limits.perHost == 50 && limits.total == 3_000)
    }

    @Test("A credential is renewed 30 s before its end, in 20 s, and a failure holds for 5 s")
    func credentials() {
        let policy = RefreshPolicy()
        #expect(
            policy.leeway == .seconds(30) && policy.minimumLifetime == .seconds(5) && policy.timeout == .seconds(20))
        #expect(
            policy.grace == .seconds(30) && policy.pause == .seconds(5) && policy.pollInterval == .milliseconds(250))
    }

    @Test("An outbox sends four lanes at once, holds a lease for 15 s, and takes bodies of 192 KiB")
    func outbox() {
        let configuration = Outbox.Configuration(endpoints: [])
        #expect(configuration.lanes == 4 && configuration.lease == .seconds(15))
        #expect(configuration.bodyBytes == 192 << 10 && configuration.cipher == nil)
    }

    // MARK: Transfers and streams

    @Test("An upload bears eight failures in a row, and begins anew three times")
    func uploads() {
        let policy = ResumableUploadPolicy()
        #expect(policy.patience == 8 && policy.restarts == 3 && ResumableUploadPolicy.standard == policy)
    }

    @Test("A stream of events connects again after 3 s, later 30 s, or what the server says from 100 ms to 10 min")
    func reconnection() {
        let policy = EventStreamReconnection()
        #expect(policy.delay == .seconds(3) && policy.maxDelay == .seconds(30) && policy.maxFailures == nil)
        #expect(policy.serverDelays == .milliseconds(100) ... .seconds(600))
    }

    @Test("An event has 1 MiB, and a line of values as well")
    func streams() async throws {
        let events = Self.client.events(of: Hello())
        #expect(try kept(Int.self, "source", "limits", "maxEventBytes", in: events) == 1 << 20)
        let head = HTTPResponse(status: 200, fields: [.contentType: "application/x-ndjson"])
        let client = CallSupport.client(ScriptedTransport([.stream(head, [], failure: nil)]))
        let lines = try await client.lines(of: Hello())
        #expect(try kept(Int.self, "maxLineLength", in: lines) == 1 << 20)
        var iterator = lines.makeAsyncIterator()
        #expect(try await iterator.next() == nil)
    }

    @Test("Keys are collected for 10 ms")
    func merging() throws {
        let merger = RequestMerger<Int, Hello, Message>(Self.client) { _ in
            Hello()
        } values: { _ in
            [:]
        }
        #expect(try kept(Duration.self, "window", in: merger) == .milliseconds(10))
    }

    // MARK: Names

    @Test("A resolver waits 2 s for a source, and asks the system in the end; each host has 32 addresses")
    func names() {
        let resolver = HostResolver([])
        #expect(resolver.patience == .seconds(2) && resolver.fallsBackToSystem && HostCache.maxAddresses == 32)
    }

    // MARK: Channels

    @Test("A line keeps 1 MiB for its reader, does not connect again, and has no heartbeat; one has 20 s and 20 s")
    func lines() {
        let options = TCPOptions<String>()
        #expect(options.bufferedBytes == 1 << 20 && options.heartbeat == nil && options.reconnection == nil)
        let heartbeat = Heartbeat("ping")
        #expect(heartbeat.interval == .seconds(20) && heartbeat.patience == .seconds(20) && !heartbeat.isBeat("pong"))
    }

    @Test("A frame has 16 MiB behind four bytes of length, and a line 64 KiB")
    func codecs() {
        let codec = LengthPrefixCodec()
        #expect(codec.width == .four && codec.isBigEndian && !codec.countsItself && codec.maxFrameBytes == 16 << 20)
        #expect(LineCodec().maxLineBytes == 64 << 10 && !LineCodec().endsWithCRLF)
    }

    @Test("A reply is waited for 30 s, and 1,024 messages are kept that answer nothing")
    func replies() throws {
        let base = Self.client.tcp("api.example.com", port: 1, codec: LineCodec())
        let channel = ReplyChannel(base) { $0 }
        #expect(try kept(Duration.self, "timeout", in: channel) == .seconds(30))
        #expect(try kept(Int.self, "bufferedMessages", in: channel) == 1_024)
    }

    @Test("A WebSocket is pinged after 20 s, has 20 s to answer, keeps 1 MiB, and takes 16 MiB in 131,072 frames")
    func webSockets() {
        let options = WebSocketOptions()
        #expect(options.pingInterval == .seconds(20) && options.pongTimeout == .seconds(20))
        #expect(options.bufferedBytes == 1 << 20 && options.reconnection == nil && options.subprotocols.isEmpty)
        #expect(options.deflate == WebSocketDeflate() && options.limits == WebSocketLimits())
        #expect(options.limits.messageBytes == 16 << 20 && options.limits.fragments == 131_072)
    }

    @Test("A channel that connects again does so after up to 1 s, later 30 s, however often it fails")
    func channelReconnection() {
        let policy = ChannelReconnection()
        #expect(policy.backoff.base == .seconds(1) && policy.backoff.cap == .seconds(30) && policy.maxFailures == nil)
        #expect(ChannelTerms.goodbye == .seconds(5) && ChannelTerms.lasting == .seconds(5))
        #expect(ChannelTerms.bufferedMessages == 1_024)
    }

    @Test("A datagram connection has 10 s to be made and 30 s of silence; a listener has 1,024, and 64 of a host")
    func datagrams() {
        let limits = DatagramLimits()
        #expect(limits.payloadBytes == 16 << 20 && limits.reorderWindow == .milliseconds(20))
        #expect(limits.connect == .seconds(10) && limits.idle == .seconds(30))
        let listener = DatagramListener()
        #expect(listener.mostPeers == 1_024 && listener.mostPeersPerHost == 64 && listener.mostBytes == 64 << 20)
    }

    @Test("Rules below the app are for debug builds, and lead to this machine alone over plain http")
    func rules() throws {
        #expect(try RequestRules([]).cleartext == .loopback)
        #expect(throws: APIError.self) { try RequestRules([], build: .release) }
    }
}

/// The README says what the defaults are, in tables of which each number is one of the code's.
@Suite struct DocumentedDefaultTests {
    /// A line of a table: its first cell, or the beginning of that, and the numbers of its second.
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let numbers: [String]
        var testDescription: String { title }

        init(_ title: String, _ numbers: String...) {
            (self.title, self.numbers) = (title, numbers)
        }
    }

    private static let text = try? String(
        contentsOf: (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            .appendingPathComponent("README.md"), encoding: .utf8)

    /// The cells of the lines below a heading, up to the next one.
    private static func table(below heading: String) throws -> [[String]] {
        let part = try #require(text?.components(separatedBy: "\n## \(heading)\n").last)
        let lines = part.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        return lines.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    // MARK: How the README writes values

    private static func time(_ duration: Duration?) -> String {
        guard let duration else { return "no limit" }
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1_000 ? "\(Int(milliseconds)) ms" : "\(Int(milliseconds / 1_000)) s"
    }

    private static func bytes(_ count: Int) -> String {
        count.isMultiple(of: 1 << 20) ? "\(count >> 20) MiB" : "\(count >> 10) KiB"
    }

    private static func count(_ count: Int) -> String {
        count < 1_000 ? "\(count)" : "\(count / 1_000),\("\(1_000 + count % 1_000)".dropFirst())"
    }

    /// The numbers of a cell, with their units.
    private static func numbers(in cell: String) -> [String] {
        cell.matches(of: #/\d+(?:,\d{3})*(?:\.\d+)?(?: (?:ms|s|KiB|MiB)\b)?/#).map { String($0.output) }
    }

    private func check(_ row: Row, below heading: String) throws {
        let lines = try Self.table(below: heading).filter { $0.count > 2 && $0[1].hasPrefix(row.title) }
        let line = try #require(lines.first)
        #expect(lines.count == 1)
        #expect(Self.numbers(in: line[2]) == row.numbers)
    }

    // MARK: The tables

    static let callRows: [Row] = {
        let (timeouts, limits) = (Timeouts(), ResponseLimits())
        let slowest = limits.minimumThroughput ?? .init(bytes: 0, per: .zero)
        return [
            Row("connecting", time(timeouts.connect)), Row("the head of the response", time(timeouts.firstByte)),
            Row("without a byte", time(timeouts.idle)), Row("the whole call"),
            Row("slow content", count(slowest.bytes), time(slowest.span)),
            Row("collected content", bytes(limits.bodyBytes)),
            Row(
                "header lines", count(limits.headerCount), bytes(limits.headerBytes), count(limits.interimResponses)),
            // The first MiB of content is free.
            Row("compressed content", count(limits.expansionRatio), bytes(1 << 20)),
            Row("attempts", count(1 + RetryPolicy().limit)), Row("redirects", count(RedirectPolicy().limit)),
            Row("credentials", time(RefreshPolicy().leeway)), Row("responses", bytes(CacheLimits.disk.bytes)),
        ]
    }()

    @Test("The numbers of the table of defaults are the code's", arguments: callRows)
    func calls(row: Row) throws { try check(row, below: "Defaults") }

    static let retryRows: [Row] = {
        let (policy, budget, breaker) = (RetryPolicy(), RetryBudget.Policy(), CircuitBreaker.Policy())
        let backoff = policy.backoff
        return [
            Row("repetitions", count(policy.limit)),
            Row("wait", "0", time(backoff.base), time(backoff.base * 2), time(backoff.cap)),
            Row("the longest `Retry-After`", time(policy.longestHint)),
            Row("budget per origin", count(Int(budget.reserve)), time(budget.refill)),
            Row(
                "circuit breaker", count(breaker.minimumAttempts), time(breaker.window),
                "\(breaker.shortestPause / .seconds(2))", time(breaker.shortestPause), time(breaker.longestPause)),
        ]
    }()

    @Test("The numbers of the table of retries are the code's", arguments: retryRows)
    func retries(row: Row) throws { try check(row, below: "Retries") }

    static let channelRows: [Row] = {
        let (socket, again) = (WebSocketOptions(), ChannelReconnection().backoff)
        let listener = DatagramListener()
        return [
            Row("a message or a frame", bytes(socket.limits.messageBytes), bytes(LineCodec().maxLineBytes)),
            Row("frames of one WebSocket message", count(socket.limits.fragments)),
            Row("a ping after a silence", time(socket.pingInterval), time(socket.pongTimeout)),
            // Of payloads over UDP the test of their channel tells.
            Row("messages kept", bytes(socket.bufferedBytes), count(ChannelTerms.bufferedMessages), "4"),
            Row("connecting again", time(again.base), time(again.base * 2), time(again.cap)),
            Row(
                "connections of a `DatagramListener`", count(listener.mostPeers), count(listener.mostPeersPerHost),
                bytes(listener.mostBytes)),
        ]
    }()

    @Test("The numbers of the table of channels are the code's", arguments: channelRows)
    func channels(row: Row) throws { try check(row, below: "Channels") }
}
