import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// The log is a projection of the events: what it says at which level, and that both may be changed while it runs.
@Suite(.timeLimit(.minutes(5))) struct CallLogTests {
    @Test("An attempt that was cancelled is no warning: its call tells of it")
    func cancelledAttempts() {
        func level(_ kind: APIError.Kind) -> LogLevel {
            LogLevel(of: .requestFailed(kind, sendState: .unsent, timings: .init(), connection: .init()))
        }
        #expect(level(.cancelled) == .debug && level(.timeout(.total)) == .warning)
        #expect(LogLevel(of: .callEnded(.cancelled)) == .info)
    }

    @Test("What a level says is a part of what the next level says, for every kind of event", .covers("S2.21"))
    func levelsAreNested() throws {
        var previous: [String] = []
        for level in LogLevel.allCases {
            let kept = KeptLog()
            let log = CallLog(level: level, to: kept)
            let context = EventContext(call: InspectRig.client().start(Hello()).id, attempt: 1)
            for event in try InspectRig.oneOfEach() { log.receive(event, context) }
            let said = kept.messages
            #expect(previous.allSatisfy(said.contains), "\(level) says less than the level above")
            #expect(level == .off ? said.isEmpty : said.count > previous.count, "\(level) adds nothing")
            #expect(kept.entries.allSatisfy { $0.level <= level })
            previous = said
        }
        let all = try InspectRig.oneOfEach().count
        #expect(previous.count == all)
    }

    @Test("Of the same calls each level says what the one before it says, and more", .covers("S2.21"))
    func levelsOfCallsAreNested() async throws {
        var previous: [String] = []
        for level in LogLevel.allCases {
            let (kept, clock) = (KeptLog(), TestClock())
            let lost = TransportError(.unreachable(.connectionRefused), sendState: .unsent)
            let client = InspectRig.client(
                ScriptedTransport([
                    .respond(InspectRig.greeting), .fail(lost), .respond(InspectRig.greeting), .fail(lost), .fail(lost),
                    .respond(.init(status: 404)),
                ])
            ) {
                $0.sinks = [CallLog(level: level, to: kept)]
                $0.time = clock.timeSource
                $0.cache = .none
                $0.options.retry = RetryPolicy(limit: 1, backoff: .init(base: .zero))
                $0.retryBudget = .init(refill: nil)
            }
            for isWell in [true, true, false, false] {
                let text = try? await client.send(Hello())
                #expect((text != nil) == isWell)
            }
            let said = kept.messages
            // Each as often at least.
            let more = Dictionary(grouping: said) { $0 }.mapValues(\.count)
            for (message, all) in Dictionary(grouping: previous, by: { $0 }) {
                #expect(more[message, default: 0] >= all.count, "\(level): \(message)")
            }
            #expect(level == .off ? said.isEmpty : said.count > previous.count, "\(level) adds nothing")
            previous = said
        }
    }

    @Test(
        "Nothing is formatted of what is not said: nothing at all while the log is off, also once it was on",
        .covers("S2.21"))
    func formatting() throws {
        let (kept, formatted) = (KeptLog(), Locked(0))
        let log = CallLog(level: .off, to: kept) { event, context in
            formatted.withLock { $0 += 1 }
            return LogMessage.text(event, context)
        }
        let context = EventContext(call: InspectRig.client().start(Hello()).id, attempt: 1)
        let events = try InspectRig.oneOfEach()
        for level in LogLevel.allCases + [.off, .debug, .error, .off] {
            log.level = level
            let (formattedBefore, keptBefore) = (formatted.withLock { $0 }, kept.entries.count)
            for event in events { log.receive(event, context) }
            let said = level == .off ? 0 : events.count { LogLevel(of: $0) <= level }
            #expect(formatted.withLock { $0 } - formattedBefore == said, "\(level)")
            #expect(kept.entries.count - keptBefore == said, "\(level)")
        }
    }

    @Test(
        "Every level but off has events of its own, and the levels stand in the order in which they say more",
        .covers("S2.21"))
    func levelsOfEvents() throws {
        let levels = try InspectRig.oneOfEach().map(LogLevel.init(of:))
        #expect(Set(levels) == Set(LogLevel.allCases).subtracting([.off]))
        #expect(LogLevel.allCases == LogLevel.allCases.sorted() && LogLevel.allCases.first == .off)
    }

    @Test("A call is one line at the usual level: verb, URL, status, elapsed, source, attempt", .covers("S2.21"))
    func usualLine() async throws {
        let (kept, clock) = (KeptLog(), TestClock())
        let client = InspectRig.client {
            $0.sinks = [CallLog(to: kept)]
            $0.time = clock.timeSource
        }
        _ = try await client.send(Hello())
        #expect(kept.messages == ["GET https://api.example.com/hello?name=world 200 in 0.00 ms (network, attempt 1)"])
        let entry = try #require(kept.entries.first)
        #expect(entry.level == .info && entry.method == .get && entry.status == 200 && entry.source == .network)
        let names = entry.fields.map(\.name)
        #expect(names == ["call", "attempt", "endpoint", "method", "url", "status", "elapsed_ms", "source"])
    }

    @Test("A failure is told at every level but off, with its reason, and warnings with what came of each attempt")
    func failures() async throws {
        let (errors, warnings) = (KeptLog(), KeptLog())
        let script = ScriptedTransport([
            .fail(TransportError(.unreachable(.connectionRefused), sendState: .unsent)), .respond(.init(status: 404)),
        ])
        let client = InspectRig.client(script) {
            $0.sinks = [CallLog(level: .error, to: errors), CallLog(level: .warning, to: warnings)]
            $0.options.retry = .limit(1)
            $0.retryBudget = .init(refill: nil)
            $0.random = RandomSource { 0 }
        }
        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        #expect(errors.entries.map(\.failure) == ["httpStatus"])
        #expect(errors.messages.first?.contains("404 failed: httpStatus 404") == true)
        #expect(errors.messages.first?.contains("after 2 attempts") == true)
        #expect(warnings.messages.contains { $0.contains("no response: unreachable") && $0.contains("was unsent") })
        #expect(warnings.messages.contains { $0.contains("retried after") && $0.contains("no connection") })
        #expect(warnings.messages.contains { $0.hasSuffix("; the origin's budget has 9 left") }, "\(warnings.messages)")
    }

    @Test("Level and filter change from one event to the next, on a client that is in use", .covers("S2.22"))
    func liveChanges() async throws {
        let kept = KeptLog()
        let log = CallLog(level: .off, to: kept)
        let client = InspectRig.client { $0.sinks = [log] }
        _ = try await client.send(Hello())
        #expect(kept.entries.isEmpty)
        log.level = .info
        _ = try await client.send(Hello(name: "one"))
        #expect(kept.entries.count == 1)
        log.filter = { $0.endpoint == "Order" }
        _ = try await client.send(Hello(name: "two"))
        #expect(kept.entries.count == 1)
        _ = try await client.send(Order())
        #expect(kept.entries.count == 2 && kept.entries.last?.method == .post)
        log.filter = nil
        log.level = .debug
        _ = try await client.send(Hello(name: "three"))
        #expect(kept.entries.count > 3)
    }

    @Test(
        "A call is told of as the level wants that it began at, and one that begins later as the new one",
        .covers("S2.22"))
    func raisedMeanwhile() async throws {
        let kept = KeptLog()
        let log = CallLog(to: kept)
        let script = ScriptedTransport([.held(.respond(InspectRig.greeting)), .respond(InspectRig.greeting)])
        let client = InspectRig.client(script) { $0.sinks = [log] }
        let call = client.start(Hello())
        await script.waitForExchanges(count: 1)
        log.level = .debug
        script.release()
        _ = try await call.value
        #expect(kept.entries.map(\.level) == [.info])
        _ = try await client.send(Hello(name: "later"))
        #expect(kept.entries.contains { $0.level == .debug })
    }

    @Test("A log asks for no more than its level shows, as the level is when a call begins", .covers("S2.22"))
    func interest() async throws {
        let log = CallLog(level: .off, to: KeptLog())
        let interests = LogLevel.allCases.map { level in
            log.level = level
            return log.interest
        }
        #expect(interests == [.nothing, .outcomes, .outcomes, .outcomes, .calls, .stages])
        // What a level shows is wanted by it, whatever else is.
        for event in try InspectRig.oneOfEach() {
            let kept = KeptLog()
            CallLog(level: LogLevel(of: event), to: kept).receive(event, EventContext(call: Self.call()))
            #expect(kept.entries.count == 1)
        }
        let recorder = EventRecorder()
        let kept = KeptLog()
        let quiet = CallLog(level: .off, to: kept)
        _ = try await InspectRig.client { $0.sinks = [quiet] }.send(Hello())
        _ = try await InspectRig.client { $0.sinks = [quiet, recorder] }.send(Hello())
        #expect(kept.entries.isEmpty && !recorder.records.isEmpty)
    }

    @Test("A log can be observed by anything that takes an entry", .covers("S2.22"))
    func observers() async throws {
        struct Counter: LogDestination {
            let count: Locked<Int>
            func write(_ entry: LogEntry) { count.withLock { $0 += 1 } }
        }
        let count = Locked(0)
        let client = InspectRig.client { $0.sinks = [CallLog(to: Counter(count: count))] }
        _ = try await client.send(Hello())
        #expect(count.withLock { $0 } == 1)
    }

    @Test("No line of any level shows a secret of the request, the response or an error", .covers("S2.21"))
    func secretsAreRedacted() async throws {
        let kept = KeptLog()
        let response = HTTPResponse(
            status: 500, fields: ["Set-Cookie": "sid=c4n4ry-cookie", .location: "/x?token=c4n4ry-location"],
            body: Data(#"{"token":"c4n4ry-body"}"#.utf8))
        let client = InspectRig.client(InspectRig.answering(response)) {
            $0.sinks = [CallLog(level: .trace, to: kept)]
            $0.headers = [.authorization: "Bearer c4n4ry-bearer", "X-Api-Key": "c4n4ry-key"]
            $0.parameters = CommonParameters { ["access_token": "c4n4ry-query"] }
        }
        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        await #expect(throws: APIError.self) { try await client.send(Order()) }
        let text = kept.entries.map { "\($0)" + StandardErrorLog.line($0) + "\($0.fields)" }.joined()
        #expect(text.contains("access_token="))
        #expect(!text.contains("c4n4ry"))
    }

    @Test("A line stays one line, whatever a server sends, and is not obeyed by a terminal")
    func linesAreSafe() throws {
        let kept = KeptLog()
        let log = CallLog(to: kept)
        let context = EventContext(call: InspectRig.client().start(Hello()).id)
        log.receive(.callEnded(.failure(.business(code: 1, message: "a\n\u{1B}[2Jb\u{202E}"))), context)
        log.receive(.callEnded(.failure(.blocked(reason: String(repeating: "x", count: 100_000) + "\u{7}"))), context)
        for message in kept.messages {
            #expect(message.count < 4200)
            #expect(!message.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
        }
        #expect(kept.messages.count == 2)
    }

    @Test(
        "The line of a call has what is known of it: of the last request, the last response and the answer",
        .covers("S2.21"))
    func lineOfACall() throws {
        let kept = KeptLog()
        let log = CallLog(to: kept)
        let request = HTTPRequest(method: .post, url: try InspectRig.url())
        func progress(
            _ events: [Event], _ change: (inout CallProgress) -> Void = { _ in }
        ) -> CallProgress {
            var progress = CallProgress(endpointType: Hello.self)
            for event in events { progress.note(event) }
            change(&progress)
            return progress
        }
        let sent = Event.requestSent(request)
        let received = Event.responseReceived(HTTPResponse(status: 1_204), timings: .init(), connection: .init())
        func answered(_ source: ResponseSource, isJoined: Bool = false, isStale: Bool = false) -> Event {
            .answered(
                .init(
                    request: request, response: InspectRig.greeting, source: source, isJoined: isJoined,
                    isStale: isStale))
        }
        let cases: [(CallProgress, Int, String)] = [
            (progress([]), 0, "Hello in 12 ms (no answer)"),
            (progress([sent]), 1, "POST https://api.example.com/hello in 12 ms (no answer, attempt 1)"),
            (
                progress([sent, received]), 23,
                "POST https://api.example.com/hello 1204 in 12 ms (no answer, attempt 23)"
            ),
            (
                progress([sent, received, sent]), 100,
                "POST https://api.example.com/hello in 12 ms (no answer, attempt 100)"
            ),
            (
                progress([answered(.network)]), 999,
                "POST https://api.example.com/hello 200 in 12 ms (network, attempt 999)"
            ),
            (
                progress([answered(.memory, isStale: true)]), 1_000,
                "POST https://api.example.com/hello 200 in 12 ms (cache, memory, stale, attempt 1000)"
            ),
            (
                progress([answered(.disk, isJoined: true)]), 0,
                "POST https://api.example.com/hello 200 in 12 ms (cache, disk, joined)"
            ),
            (
                progress([answered(.revalidated, isJoined: true, isStale: true)]), 10,
                "POST https://api.example.com/hello 200 in 12 ms (cache, validated, stale, joined, attempt 10)"
            ),
            (
                progress([answered(.interceptor)]) { $0.url = nil }, 0, "POST 200 in 12 ms (interceptor)"
            ),
            (
                progress([answered(.interceptor)]) { $0.method = nil }, 9,
                "https://api.example.com/hello 200 in 12 ms (interceptor, attempt 9)"
            ),
        ]
        for (progress, attempt, line) in cases {
            let context = EventContext(
                call: Self.call(), attempt: attempt, elapsed: .milliseconds(12), progress: progress)
            log.receive(.callEnded(.success), context)
            #expect(kept.messages.last == line)
            let entry = try #require(kept.entries.last)
            #expect(entry.endpoint == "Hello" && entry.attempt == attempt && entry.elapsed == .milliseconds(12))
            #expect(entry.method == progress.method && entry.url == progress.url && entry.status == progress.status)
            #expect(entry.source == progress.source && entry.call == context.call && entry.date == context.date)
        }
    }

    @Test("A line has a bound, however many scalars a character of a server's has")
    func longCharacters() {
        let text = "a" + String(repeating: "\u{301}", count: 1_000_000)
        #expect(LogText.oneLine(text).unicodeScalars.elementsEqual(Array(text.unicodeScalars.prefix(4_096)) + ["…"]))
        #expect(LogText.oneLine(String(repeating: "é", count: 4_096)) == String(repeating: "é", count: 4_096))
    }

    @Test("Standard error gets the time of the day, the level, the call and the message")
    func standardErrorLine() throws {
        let kept = KeptLog()
        let call = InspectRig.client().start(Hello()).id
        let log = CallLog(to: kept)
        for seconds in [0, 3_723.004, -0.001] {
            log.receive(
                .callEnded(.success), EventContext(call: call, date: Date(timeIntervalSince1970: seconds)))
        }
        let times = kept.entries.map { String(StandardErrorLog.line($0).prefix(20)) }
        #expect(times == ["00:00:00.000 info   ", "01:02:03.004 info   ", "23:59:59.999 info   "])
        #expect(kept.entries.allSatisfy { StandardErrorLog.line($0).contains("\(call)  ") })
    }

    @Test("A file gets a line an entry")
    func fileHandle() async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("log")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        let client = InspectRig.client { $0.sinks = [CallLog(to: StandardErrorLog(handle))] }
        for _ in 0..<3 { _ = try await client.send(Hello()) }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains(" info    call ") })
    }

    private static func call() -> CallID { InspectRig.client().start(Hello()).id }
}
