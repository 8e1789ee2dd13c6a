import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct CallOptionTests {
    @Test func `a change that fails fails as what it threw, and options and client stay as they were`() throws {
        struct Refused: Error {}
        let options = CallOptions.priority(.high)
        #expect(throws: Refused.self) {
            try options.with { options throws(Refused) in
                options.priority = .low
                throw Refused()
            }
        }
        #expect(options.priority == .high)
        let client = APIClient("https://a.example", transport: StubTransport())
        #expect(throws: URLError.self) { try client.with { _ in throw URLError(.badURL) } }
        let proxied = try client.with { $0.options.proxy = .http(try HTTPURL("http://proxy.example:3128")) }
        #expect(try proxied.configuration.options.proxy == .http(HTTPURL("http://proxy.example:3128")))
    }

    @Test func `one field of a format or of the retries is set by itself, and the others have their defaults`() {
        for options in [
            CallOptions.with {
                $0.retry.limit = 0
                $0.modelFormat.maximumDepth = 7
                $0.jsonFormat.nulls = .dropKey
                $0.formFormat.nulls = .emptyValue
            },
            CallOptions.with {
                $0.retry?.limit = 0
                $0.modelFormat?.maximumDepth = 7
                $0.jsonFormat?.nulls = .dropKey
                $0.formFormat?.nulls = .emptyValue
            },
        ] {
            let settings = CallSettings(options)
            #expect(settings.retry.limit == 0)
            #expect(settings.retry.backoff == RetryPolicy.standard.backoff)
            #expect(settings.modelFormat.maximumDepth == 7)
            #expect(settings.jsonFormat.nulls == .dropKey)
            #expect(settings.formFormat.nulls == .emptyValue)
        }
    }

    @Test func `a format is replaced whole by a narrower level, and left to the wider ones by nil`() {
        let wide = CallOptions.with { $0.modelFormat = DecodingOptions(wrongTypes: .useDefault, maximumDepth: 9) }
        var narrow = CallOptions.with { $0.modelFormat.maximumDepth = 5 }
        #expect(CallSettings(narrow.over(wide)).modelFormat.wrongTypes == .throw)
        narrow.modelFormat = nil
        #expect(narrow.isEmpty)
        #expect(CallSettings(narrow.over(wide)).modelFormat.maximumDepth == 9)
        #expect(CallOptions().isEmpty && CallOptions().retry == .standard)
    }

    @Test func `a header that is nil is removed, as by its own word`() {
        var fields = HTTPFields()
        fields[.userAgent] = "app"
        let edits: HeaderEdits = ["User-Agent": nil, "X-Mine": "1"]
        edits.apply(to: &fields)
        #expect(fields[.userAgent] == nil)
        #expect(fields["X-Mine"] == "1")
        #expect(edits == HeaderEdits().removing("User-Agent").setting("X-Mine", "1"))
    }

    @Test func `a proxy is set, chained and read under its name`() {
        let options = CallOptions.proxy(.socks5("proxy.example")).priority(.low)
        #expect(options.proxy == .socks5("proxy.example"))
        #expect(options.proxy(.none).proxy == ProxyPolicy.none)
        #expect(options.proxy(.none).priority == .low)
    }

    @Test func `a base URL may be put together where it is written`() throws {
        let port = 8_080
        let service = Service(.main, "http://127.0.0.1:\(port)/api")
        #expect(try service.baseURL(in: .production).absoluteString == "http://127.0.0.1:8080/api")
    }

    // MARK: Options of several fields

    /// A field of time-outs or limits, by a number that tells who has set it.
    struct Field: Sendable, CustomTestStringConvertible {
        let name: String
        let set: @Sendable (inout CallOptions, Int) -> Void
        let read: @Sendable (CallSettings) -> Int

        init<Value>(
            _ name: String, _ path: WritableKeyPath<CallOptions, Value> & Sendable,
            _ settled: KeyPath<CallSettings, Value> & Sendable, _ number: @escaping @Sendable (Value) -> Int,
            _ value: @escaping @Sendable (Int) -> Value
        ) {
            self.name = name
            set = { $0[keyPath: path] = value($1) }
            read = { number($0[keyPath: settled]) }
        }

        var testDescription: String { name }
    }

    private static let seconds = { @Sendable (time: Duration?) in Int(time?.components.seconds ?? 0) }
    private static let time = { @Sendable (number: Int) in Optional(Duration.seconds(number)) }
    private static let itself = { @Sendable (number: Int) in number }

    static let fields = [
        Field("connect", \.timeouts.connect, \.timeouts.connect, seconds, time),
        Field("firstByte", \.timeouts.firstByte, \.timeouts.firstByte, seconds, time),
        Field("idle", \.timeouts.idle, \.timeouts.idle, seconds, time),
        Field("total", \.timeouts.total, \.timeouts.total, seconds, time),
        Field("bodyBytes", \.limits.bodyBytes, \.limits.bodyBytes, itself, itself),
        Field("headerBytes", \.limits.headerBytes, \.limits.headerBytes, itself, itself),
        Field("headerCount", \.limits.headerCount, \.limits.headerCount, itself, itself),
        Field("interimResponses", \.limits.interimResponses, \.limits.interimResponses, itself, itself),
        Field("expansionRatio", \.limits.expansionRatio, \.limits.expansionRatio, itself, itself),
        Field(
            "minimumThroughput", \.limits.minimumThroughput, \.limits.minimumThroughput,
            { @Sendable in $0?.bytes ?? 0 }, { @Sendable in .init(bytes: $0, per: .seconds(1)) }),
    ]

    @Test(.covers("S2.5", "S2.6"), arguments: fields)
    func `of a field that several levels set the nearest wins, whatever else those levels set`(field: Field) {
        for mask in 0..<16 {
            let levels = (0..<4).map { level in
                CallOptions.with { options in
                    if mask & (1 << level) != 0 { field.set(&options, 1_000 + level) }
                    // Each level sets a time-out and a limit more, which no level but it sets, unless that is the one in question.
                    for other in [Self.fields[level], Self.fields[4 + level]] where other.name != field.name {
                        other.set(&options, 2_000)
                    }
                }
            }
            let settings = settled(levels)
            let nearest = (0..<4).last { mask & (1 << $0) != 0 }
            #expect(field.read(settings) == nearest.map { 1_000 + $0 } ?? field.read(CallSettings()), "\(mask)")
            for other in Self.fields.prefix(8) where other.name != field.name { #expect(other.read(settings) == 2_000) }
            for other in Self.fields.dropFirst(8) where other.name != field.name {
                #expect(other.read(settings) == other.read(CallSettings()))
            }
            #expect(field.read(CallSettings(levels.reduce(CallOptions()) { $1.over($0) })) == field.read(settings))
        }
    }

    @Test func `a time-out of one call keeps the connect time-out of its service`() async throws {
        let capture = Capture()
        let service = Service.shop { $0.options.timeouts = Timeouts(connect: .seconds(2)) }
        let clock = TestClock()
        let rig = Rig([service]) {
            $0.callInterceptors = [capture]
            $0.time = clock.timeSource
        }
        _ = try await rig.client.send(GetProduct(id: "7"), options: .timeout(.seconds(5)))
        let timeouts = try #require(capture.contexts.first?.settings.timeouts)
        #expect(timeouts == Timeouts(connect: .seconds(2), total: .seconds(5)))
    }

    @Test func `no limit and the default are values, which win over a wider level`() {
        let wider = CallOptions.with {
            $0.timeouts = Timeouts(connect: .seconds(1), firstByte: .seconds(1), idle: .seconds(1), total: .seconds(1))
            $0.limits = ResponseLimits(minimumThroughput: .init(bytes: 1, per: .seconds(1)))
        }
        let none = CallOptions.with {
            $0.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil)
            $0.limits = ResponseLimits(minimumThroughput: nil)
        }
        let settings = settled([wider, none])
        #expect(settings.timeouts == Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil))
        #expect(settings.limits.minimumThroughput == nil)
        let usual = CallOptions.with {
            $0.timeouts = Timeouts(connect: .seconds(10))
            $0.limits = ResponseLimits(minimumThroughput: .trickle)
        }
        #expect(settled([wider, usual]).timeouts.connect == .seconds(10))
        #expect(settled([wider, usual]).timeouts.firstByte == .seconds(1))
        #expect(settled([wider, usual]).limits.minimumThroughput == .trickle)
    }

    @Test func `a policy of the cache keeps the lifetimes of wider levels that it says nothing of`() {
        let endpoint = CallOptions.cache(.init(.http, ttl: .seconds(300), maxStale: .seconds(60), isRead: true))
        #expect(
            settled([endpoint, .cache(.reload)]).cache
                == CachePolicy(.reload, ttl: .seconds(300), maxStale: .seconds(60), isRead: true))
        #expect(
            settled([endpoint, .cache(.init(.http, ttl: .seconds(1), maxStale: .zero))]).cache
                == CachePolicy(.http, ttl: .seconds(1), maxStale: .zero, isRead: true))
        #expect(settled([.cache(.reload), endpoint]).cache == endpoint.cache)
        #expect(settled([.cache(.http), .cache(.reload)]).cache == .reload)
    }

    @Test func `time-outs and limits are equal when they allow the same, whoever has set them`() {
        #expect(Timeouts() == Timeouts(connect: .seconds(10), firstByte: .seconds(30), idle: .seconds(30), total: nil))
        #expect(Set([Timeouts(), Timeouts(idle: .seconds(30)), Timeouts(idle: nil)]).count == 2)
        #expect(ResponseLimits() == ResponseLimits(bodyBytes: 64 << 20, headerBytes: 256 << 10, headerCount: 1_000))
        #expect(
            ResponseLimits() == ResponseLimits(interimResponses: 32, expansionRatio: 200, minimumThroughput: .trickle))
        #expect(Set([ResponseLimits(), .init(headerCount: 1_000), .init(minimumThroughput: nil)]).count == 2)
        for field in Self.fields {
            let changed = settled([.with { field.set(&$0, 77) }])
            #expect(changed.timeouts != Timeouts() || changed.limits != ResponseLimits(), "\(field.name)")
        }
    }

    // MARK: Setting and chaining

    @Test func `options are chained, from any of them on`() {
        let chains: [CallOptions] = [
            .timeout(.seconds(5)).cache(.http).cleartext(.loopback).headers(["X-A": "1"]),
            .cache(.http).headers(["X-A": "1"]).cleartext(.loopback).timeout(.seconds(5)),
            .cleartext(.loopback).timeout(.seconds(9)).timeout(.seconds(5)).cache(.http).headers(["X-A": "1"]),
            .headers(["X-A": "1"]).with { $0.cache = .http }.timeout(.seconds(5)).cleartext(.loopback),
        ]
        for chain in chains {
            let settings = settled([chain])
            #expect(settings.timeouts == Timeouts(total: .seconds(5)))
            #expect((settings.cache, settings.cleartext) == (.http, .loopback))
            #expect(settings.headers == ["X-A": "1"])
        }
        #expect(
            CallOptions.headers(["X-A": "1"]).headers(["X-B": "2"]).headers
                == HeaderEdits()
                .setting("X-A", "1").setting("X-B", "2"))
    }

    @Test func `what was set can be read, changed, and left to the wider level again`() {
        var options = CallOptions()
        #expect(options.isEmpty)
        #expect((options.cache, options.status, options.baseURL, options.environment) == (nil, nil, nil, nil))
        options.status = .any
        options.status = .success
        options.baseURL = "https://a.example"
        options.environment = .test
        #expect((options.status, options.baseURL, options.environment) == (.success, "https://a.example", .test))
        let wider = CallOptions.with { $0.status = .any }
        #expect(settled([wider, options]).status == .success)
        options.status = nil
        #expect(settled([wider, options]).status == .any)
        options.baseURL = nil
        #expect(!options.isEmpty)
        options.environment = nil
        #expect(options.isEmpty)
    }

    @Test func `options over wider ones read as both together`() {
        let wider = CallOptions.with {
            $0.timeouts.connect = .seconds(2)
            $0.headers = ["X-A": "1"]
            $0.parameters = ["a": 1, "b": 1]
            $0.status = .any
        }
        let narrower = CallOptions.with {
            $0.timeouts.total = .seconds(5)
            $0.headers = ["X-A": "2"]
            $0.parameters = ["b": 2]
            $0.cache = .http
        }
        let both = narrower.over(wider)
        #expect(both.timeouts == Timeouts(connect: .seconds(2), total: .seconds(5)))
        #expect(both.headers == HeaderEdits().setting("X-A", "1").setting("X-A", "2"))
        #expect(both.parameters == ["a": 1, "b": 2])
        #expect((both.status, both.cache) == (.any, .http))
    }

    @Test func `calls that change nothing share the settings of their service`() throws {
        let client = CallSupport.client(ScriptedTransport([]))
        let calls = [.init(), .init(), .timeout(.seconds(5))].map { client.begin(Hello(), .init(own: $0)) }
        #expect(calls[0].resolved === calls[1].resolved)
        #expect(calls[0].resolved === (try client.runtime(for: .main).resolved))
        #expect(calls[2].resolved !== calls[0].resolved)
        #expect(calls[2].resolved.settings.timeouts.total == .seconds(5))
        for call in calls { call.finish(nil) }
    }

    /// What comes of options, the widest first.
    private func settled(_ levels: [CallOptions]) -> CallSettings {
        var settings = CallSettings()
        for level in levels { level.apply(to: &settings) }
        return settings
    }
}
