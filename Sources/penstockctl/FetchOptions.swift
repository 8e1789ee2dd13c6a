import Foundation
import Penstock

/// What `fetch` was asked to do, checked.
struct FetchOptions: Sendable {
    let method: HTTPMethod
    let url: HTTPURL
    let fields: HTTPFields
    let data: FetchData?
    let output: OutputFile?
    let timeout: Duration?
    let transport: TransportChoice
    let trust: TrustPolicy?
    let signer: (any Signer)?
    let cookies: String?
    let resolver: HostResolver
    let isJSON: Bool
    let followsRedirects: Bool
    let failsOnStatus: Bool
    let isVerbose: Bool
    let cache: CacheLocation?
    let policy: CachePolicy
    let archive: String?
    let report: OutputFile?
    let contents: HARRecorder.Contents
    let repetitions: Int
    let concurrency: Int

    static let table: [OptionRule] =
        [
            OptionRule(
                names: ["-H", "--header"], placeholder: "'name: value'|@FILE",
                help: "a header field, or a file with one on each line; may be repeated",
                isRepeatable: true),
            OptionRule(
                names: ["-d", "--data"], placeholder: "DATA|@FILE",
                help: "the body: the text itself, a file, or standard input (@-)"),
            OptionRule(
                names: ["-o", "--output"], placeholder: "FILE", help: "write the body to FILE, whole or not at all"),
            OptionRule(names: ["--json"], placeholder: nil, help: "print one JSON object that tells everything"),
            OptionRule(
                names: ["--timeout"], placeholder: "SECONDS",
                help: "for the whole call, redirects included (default: none)"
            ),
            OptionRule(
                names: ["--transport"], placeholder: TransportChoice.names(" | "),
                help: "what carries the request (default \(TransportChoice.platform.name))"),
            OptionRule(names: ["--cache"], placeholder: "FILE", help: "store responses in FILE, and answer from it"),
            OptionRule(
                names: ["--policy"], placeholder: CachePolicy.Mode.allCases.map(\.rawValue).joined(separator: " | "),
                help: "with --cache: how it is used (default http)"),
            OptionRule(
                names: ["--har"], placeholder: "FILE", help: "write what happened into FILE, as an HTTP archive"),
            OptionRule(
                names: ["--report"], placeholder: "FILE", help: "write what happened into FILE, as a page for a browser"
            ),
            OptionRule(
                names: ["--content"], placeholder: "BYTES",
                help:
                    "with --har or --report: keep content of requests and responses where it is no longer (default: none)"
            ),
            OptionRule(names: ["--repeat"], placeholder: "N", help: "send it N times, and tell how long that took"),
            OptionRule(names: ["--concurrency"], placeholder: "M", help: "with --repeat: M at a time (default 1)"),
            OptionRule(names: ["--no-follow"], placeholder: nil, help: "a redirect is the answer"),
            FetchTrust.authorities, FetchTrust.pin, FetchTrust.certificate, FetchTrust.key, Names.option,
        ] + FetchSigning.options + [
            OptionRule(
                names: ["--cookies"], placeholder: "FILE",
                help: "send the cookies of FILE, and keep there those that come and have an expiry"),
            OptionRule(
                names: ["--fail"], placeholder: nil,
                help:
                    "exit with \(ExitCode.httpFailure) for a status of 400 and above; with --repeat, as a call that failed where any has"
            ),
            OptionRule(
                names: ["-v", "--verbose"], placeholder: nil,
                help: "tell of requests, responses and events; secrets are left out"),
            OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
            OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        let data = try arguments.value("--data").map(FetchData.init(_:))
        (method, url) = try Self.target(arguments.operands, hasData: data != nil)
        self.data = data
        fields = try Self.fields(arguments.all("--header"), hasData: data != nil)
        output = try Self.output(arguments.value("--output"), "-o")
        timeout = try Self.timeout(arguments.value("--timeout"))
        transport = try TransportChoice.chosen(arguments.value("--transport"))
        trust = try FetchTrust.policy(arguments, for: url.origin)
        signer = try FetchSigning.signer(arguments)
        cookies = arguments.value("--cookies")
        resolver = try Names.resolver(arguments)
        isJSON = arguments.has("--json")
        followsRedirects = !arguments.has("--no-follow")
        failsOnStatus = arguments.has("--fail")
        isVerbose = arguments.has("--verbose")
        cache = arguments.value("--cache").map(CacheLocation.init)
        policy = try Self.policy(arguments.value("--policy"))
        archive = arguments.value("--har")
        report = try Self.output(arguments.value("--report"), "--report")
        try OutputFile.checkDistinct([
            ("-o", arguments.value("--output")), ("--har", archive),
            ("--report", arguments.value("--report")), ("--cookies", cookies),
            ("--cache", cache?.path),
        ])
        contents = try Self.contents(arguments)
        guard !arguments.has("--policy") || cache != nil else { throw UsageError("--policy needs --cache") }
        guard !arguments.has("--concurrency") || arguments.has("--repeat") else {
            throw UsageError("--concurrency needs --repeat")
        }
        repetitions = try Self.count(arguments.value("--repeat"), "--repeat", upTo: 1_000_000)
        concurrency = try Self.count(arguments.value("--concurrency"), "--concurrency", upTo: 1000)
    }

    /// The request. Standard input, where it is asked for, is read to its end here.
    func request() throws(UsageError) -> HTTPRequest {
        HTTPRequest(method: method, url: url, fields: fields, body: try data?.body() ?? .none)
    }
}

// MARK: One argument each

extension FetchOptions {
    private static func target(
        _ operands: [String], hasData: Bool
    ) throws(UsageError) -> (HTTPMethod, HTTPURL) {
        switch operands.count {
        case 0: throw UsageError("the URL is missing")
        case 1: return (hasData ? .post : .get, try url(operands[0]))
        case 2: return (try method(operands[0]), try url(operands[1]))
        default: throw UsageError("too many arguments: at most a METHOD and one URL")
        }
    }

    private static func method(_ text: String) throws(UsageError) -> HTTPMethod {
        guard !text.contains("://") else { throw UsageError("two URLs are given; fetch takes one") }
        guard let method = HTTPMethod(rawValue: text) else {
            throw UsageError("METHOD: \(UsageError.quoted(text)) is no HTTP method")
        }
        return method
    }

    private static func url(_ text: String) throws(UsageError) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(text)
        } catch {
            throw UsageError("URL: \(error)")
        }
    }

    private static func fields(_ headers: [String], hasData: Bool) throws(UsageError) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            for line in try FetchHeaders.lines(header) { fields.append(try field(line)) }
        }
        if let name = fields.rejected.first {
            throw UsageError("-H \(name): its name or its value breaks HTTP's grammar")
        }
        if hasData, !fields.contains(.contentType) { fields[.contentType] = "application/x-www-form-urlencoded" }
        return fields
    }

    /// Split by scalars: a character could be a colon and an accent in one.
    private static func field(_ header: String) throws(UsageError) -> HTTPField {
        guard let colon = header.unicodeScalars.firstIndex(of: ":") else {
            throw UsageError("-H: a header is written 'name: value'")
        }
        let value = header.unicodeScalars[header.unicodeScalars.index(after: colon)...]
        return HTTPField(name: HTTPFieldName(String(header[..<colon])), value: String(value))
    }

    private static func output(_ path: String?, _ option: String) throws(UsageError) -> OutputFile? {
        guard let path else { return nil }
        return try OutputFile(path: path, option: option)
    }

    /// Plain decimals alone: `Double` would read `inf`, `0x10` and `1e9` as well.
    private static func timeout(_ text: String?) throws(UsageError) -> Duration? {
        guard let text else { return nil }
        guard text.utf8.count <= 12, text.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") }),
            let seconds = Double(text), seconds >= 0.001
        else { throw UsageError("--timeout: \(UsageError.quoted(text)) is no number of seconds") }
        return .milliseconds((seconds * 1000).rounded())
    }

    static func count(_ text: String?, _ option: String, upTo most: Int) throws(UsageError) -> Int {
        guard let text else { return 1 }
        guard text.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let count = Int(text), (1...most).contains(count) else {
            throw UsageError("\(option): \(UsageError.quoted(text)) is no number from 1 to \(most)")
        }
        return count
    }

    /// What the archive may keep of one message.
    static let mostContent = 64 << 20

    private static func contents(_ arguments: Arguments) throws(UsageError) -> HARRecorder.Contents {
        guard let bytes = arguments.value("--content") else { return .none }
        guard arguments.has("--har") || arguments.has("--report") else {
            throw UsageError("--content needs --har or --report")
        }
        return .upTo(bytes: try count(bytes, "--content", upTo: mostContent))
    }

    private static func policy(_ name: String?) throws(UsageError) -> CachePolicy {
        guard let name else { return .http }
        guard let mode = CachePolicy.Mode(rawValue: name) else {
            throw UsageError("--policy: \(UsageError.quoted(name)) is no policy")
        }
        return CachePolicy(mode)
    }
}
