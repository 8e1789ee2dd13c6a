import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What is done about a download, as a table: no file, no time, no server.
@Suite(.timeLimit(.minutes(5))) struct DownloadPlanTests {
    typealias Ask = DownloadPlan.Ask
    typealias Verdict = DownloadPlan.Verdict
    typealias Step = DownloadPlan.Step

    static let now = Date(timeIntervalSince1970: 1_790_000_000)
    static let tag = "\"v1\""

    private static func part(_ length: Int? = 1_000_000, validator: String = tag) -> PartialDownload {
        PartialDownload(key: "k", validator: validator, length: length, fields: [])
    }

    /// A plan with a part of so many bytes.
    private static func plan(
        _ offset: Int? = 400_000, length: Int? = 1_000_000, validator: String = tag, limit: Int = 2
    ) -> DownloadPlan {
        DownloadPlan(
            offset.map { (part(length, validator: validator), $0) }, .get,
            retry: RetryPolicy(limit: limit, backoff: Backoff(base: .zero, cap: .zero)))
    }

    private static let rest = Ask.rest(from: 400_000, ifRange: tag)
    private static let violation = APIError.Kind.transport(.protocolViolation)

    private static func fields(_ range: String?, tag: String? = tag, _ more: HTTPFields = [:]) -> HTTPFields {
        var fields = more
        fields[.contentRange] = range
        fields[.eTag] = tag
        return fields
    }

    // MARK: What is asked

    @Test(.covers("S2.28")) func `the rest is asked for by its first byte and its validator; without a part, all`() {
        #expect(Self.plan().next() == .ask(Self.rest, after: .zero))
        #expect(Self.plan(nil).next() == .ask(.whole, after: .zero))
        #expect(Self.plan(0).next() == .ask(.whole, after: .zero))
        #expect(Self.plan(999_999).next() == .ask(.rest(from: 999_999, ifRange: Self.tag), after: .zero))
        #expect(Self.plan(1).next() == .ask(.rest(from: 1, ifRange: Self.tag), after: .zero))
        #expect(Self.plan(nil).offset == 0 && Self.plan(nil).validator == nil && Self.plan(nil).length == nil)
        #expect(Self.plan(0, length: 0).next() == .ask(.whole, after: .zero))
    }

    @Test func `of a whole part the last byte is asked for once more, unless the app has named its digest`() {
        for (length, ask) in [(1_000_000, Ask.rest(from: 999_999, ifRange: Self.tag)), (1, .whole)] {
            #expect(Self.plan(length, length: length).next() == .ask(ask, after: .zero))
            let named = DownloadPlan((Self.part(length), length), .get, retry: .none, isDigestGiven: true)
            #expect(named.next() == .finish && named.offset == length)
        }
        var random = Seeded(seed: 10)
        let rest = Ask.rest(from: 999_999, ifRange: Self.tag)
        var same = Self.plan(1_000_000)
        #expect(
            same.judge(206, Self.fields("bytes 999999-999999/1000000"), to: rest, at: Self.now)
                == .write(from: 999_999, end: 1_000_000))
        #expect(same.take(1) == true)
        #expect(same.ended(using: &random) == .finish)
        var other = Self.plan(1_000_000)
        let head = Self.fields(nil, tag: "\"v2\"", ["Content-Length": "7"])
        #expect(other.judge(200, head, to: rest, at: Self.now) == .write(from: 0, end: 7))
    }

    @Test func `what is no GET is asked for once, whole, with a coding if the server likes`() {
        var random = Seeded(seed: 1)
        var plan = DownloadPlan((Self.part(), 400_000), .post, retry: .standard)
        #expect(plan.next() == .ask(.coded, after: .zero) && plan.offset == 0)
        #expect(
            plan.judge(200, Self.fields(nil, ["Content-Length": "10"]), to: .coded, at: Self.now)
                == .write(from: 0, end: 10))
        #expect(plan.validator == nil)
        #expect(plan.failed(.transport(.connectionLost), using: &random) == .fail(.transport(.connectionLost), ""))
    }

    // MARK: Heads

    static let answers: [(Int, HTTPFields, Ask, Verdict)] = [
        // All that was asked for.
        (200, ["Content-Length": "7"], .whole, .write(from: 0, end: 7)), (200, [:], .whole, .write(from: 0, end: nil)),
        (203, ["Content-Length": "x"], .whole, .write(from: 0, end: nil)),
        (204, [:], .whole, .fail(.httpStatus(204), "the answer has no content, which is no empty file")),
        (299, [:], .whole, .write(from: 0, end: nil)),
        // The server ignores ranges, or has another version.
        (200, fields(nil, tag: "\"v2\"", ["Content-Length": "7"]), rest, .write(from: 0, end: 7)),
        // The rest.
        (206, fields("bytes 400000-999999/1000000"), rest, .write(from: 400_000, end: 1_000_000)),
        (206, fields("bytes 400000-999999/*"), rest, .write(from: 400_000, end: 1_000_000)),
        (206, fields("bytes 400000-400000/1000000"), rest, .write(from: 400_000, end: 400_001)),
        // Of a part that has no name nobody knows what it is of.
        (206, fields("bytes 400000-999999/1000000", tag: nil), rest, .drop),
        // Other bytes, another version, another length, or nobody knows which.
        (206, fields("bytes 399999-999999/1000000"), rest, .drop),
        (206, fields("bytes 400001-999999/1000000"), rest, .drop),
        (206, fields("bytes 0-999999/1000000"), rest, .drop), (206, fields(nil), rest, .drop),
        (206, fields("bytes 4-"), rest, .drop),
        (206, fields("bytes 400000-999999/1000001"), rest, .drop), (206, fields("bytes 400000-1000000/*"), rest, .drop),
        (206, fields("bytes 400000-999998/999999"), rest, .drop),
        (206, fields("bytes 400000-999999/1000000", tag: "\"v2\""), rest, .drop),
        (206, fields("bytes 400000-999999/1000000", tag: "W/\"v1\""), rest, .drop),
        (206, fields("bytes 400000-999999/1000000", ["Content-Encoding": "gzip"]), rest, .drop),
        (
            206, fields("bytes 400000-999999/1000000", ["Content-Encoding": "identity"]), rest,
            .write(from: 400_000, end: 1_000_000)
        ),
        // Not asked for.
        (206, fields("bytes 0-9/10"), .whole, .fail(violation, "a part came where all was asked for")),
        (416, fields("bytes */400000"), .whole, .fail(.httpStatus(416), "")),
        // Nothing behind the end.
        (416, fields("bytes */400000"), rest, .drop), (416, fields("bytes */1000000"), rest, .drop),
        (416, fields(nil), rest, .drop),
        // A coding that was not asked for.
        (200, ["Content-Encoding": "gzip"], .whole, .drop), (200, ["Content-Encoding": "gzip"], rest, .drop),
        (200, ["Content-Encoding": "gzip", "Content-Length": "9"], .coded, .write(from: 0, end: nil)),
        // No success.
        (199, [:], .whole, .fail(.httpStatus(199), "")), (300, [:], .whole, .fail(.httpStatus(300), "")),
        (404, [:], rest, .fail(.httpStatus(404), "")),
        (205, [:], .whole, .fail(.httpStatus(205), "the answer has no content, which is no empty file")),
        (207, [:], .whole, .write(from: 0, end: nil)),
    ]

    @Test("each head has its verdict", .covers("S2.28"), arguments: answers)
    func heads(status: Int, fields: HTTPFields, ask: Ask, verdict: Verdict) {
        var plan = Self.plan()
        #expect(plan.judge(status, fields, to: ask, at: Self.now) == verdict)
        if verdict == .drop {
            #expect(plan.offset == 0 && plan.validator == nil && plan.length == nil)
            let isCoded = status == 200
            #expect(plan.next() == .ask(isCoded ? .coded : .whole, after: .zero))
        }
    }

    @Test func `what came in a coding is gone on with by nobody, and its length says nothing of the file`() {
        var plan = Self.plan(nil)
        #expect(plan.judge(200, ["Content-Encoding": "gzip"], to: .whole, at: Self.now) == .drop)
        let head = Self.fields(nil, ["Content-Encoding": "gzip", "Content-Length": "9"])
        #expect(plan.judge(200, head, to: .coded, at: Self.now) == .write(from: 0, end: nil))
        #expect(plan.validator == nil && plan.length == nil)
    }

    @Test func `a length that is told twice is none`() {
        var fields: HTTPFields = ["Content-Length": "7"]
        #expect(DownloadPlan.contentLength(fields) == 7)
        fields.append("7", for: .contentLength)
        #expect(DownloadPlan.contentLength(fields) == nil && DownloadPlan.contentLength([:]) == nil)
    }

    @Test func `416 with the length of the part says that it is whole, where the length was not known or is the same`()
    {
        for (length, tag, verdict) in [
            (nil, Self.tag, Verdict.finish), (400_000, Self.tag, .finish), (nil, "\"v2\"", .drop),
            (400_001, Self.tag, .drop),
        ] as [(Int?, String, Verdict)] {
            var plan = Self.plan(length: length)
            #expect(plan.judge(416, Self.fields("bytes */400000", tag: tag), to: Self.rest, at: Self.now) == verdict)
            if verdict == .finish { #expect(plan.length == 400_000) }
        }
        for line in [
            "bytes */400001", "bytes */399999", "octets */400000", "octet */400000", "bytes 0-1/400000", "bytes */",
            "bytes */-400000",
        ] {
            var plan = Self.plan(length: nil)
            #expect(plan.judge(416, Self.fields(line), to: Self.rest, at: Self.now) == .drop, "\(line)")
        }
        var twice = Self.fields("bytes */400000")
        twice.append("bytes */400000", for: .contentRange)
        var plan = Self.plan(length: nil)
        #expect(plan.judge(416, twice, to: Self.rest, at: Self.now) == .drop)
    }

    @Test func `a server that contradicts itself is believed twice, and then no more`() {
        var plan = Self.plan()
        for _ in 0..<2 {
            #expect(plan.judge(206, Self.fields(nil), to: Self.rest, at: Self.now) == .drop)
            #expect(
                plan.judge(200, Self.fields(nil, ["Content-Length": "1000000"]), to: .whole, at: Self.now)
                    == .write(from: 0, end: 1_000_000))
            #expect(plan.take(400_000) == true)
        }
        guard case .fail(Self.violation, _) = plan.judge(206, Self.fields(nil), to: Self.rest, at: Self.now) else {
            Issue.record("it goes on")
            return
        }
    }

    @Test func `a part of unknown length takes the length that a 206 tells`() {
        var plan = Self.plan(length: nil)
        #expect(
            plan.judge(206, Self.fields("bytes 400000-499999/500000"), to: Self.rest, at: Self.now)
                == .write(from: 400_000, end: 500_000))
        #expect(plan.length == 500_000)
    }

    // MARK: Validators

    private static let made = "Mon, 21 Sep 2026 14:13:20 GMT"
    static let validators: [(HTTPFields, String?)] = [
        (["ETag": "\"a\""], "\"a\""), (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), ([:], nil),
        (["Last-Modified": "Mon, 21 Sep 2026 14:12:20 GMT", "Date": made], "Mon, 21 Sep 2026 14:12:20 GMT"),
        (["Last-Modified": "Mon, 21 Sep 2026 14:12:21 GMT", "Date": made], nil),
        (["Last-Modified": "Mon, 21 Sep 2026 14:12:20 GMT"], nil), (["Last-Modified": "yesterday", "Date": made], nil),
        // A weak tag says that the date is no better.
        (["ETag": "W/\"a\"", "Last-Modified": "Mon, 21 Sep 2020 14:12:20 GMT", "Date": made], nil),
        (HTTPFields([HTTPField(name: .eTag, value: "\"a\""), HTTPField(name: .eTag, value: "\"b\"")]), nil),
    ]

    @Test("parts are joined by a strong validator alone", .covers("S2.28"), arguments: validators)
    func strongValidators(fields: HTTPFields, validator: String?) {
        #expect(DownloadPlan.strongValidator(fields, at: Self.now) == validator)
        var plan = Self.plan(nil)
        _ = plan.judge(200, fields, to: .whole, at: Self.now)
        #expect(plan.validator == validator)
    }

    @Test func `by a date, a part is the same where the date is`() {
        let date = "Mon, 21 Sep 2026 14:12:20 GMT"
        #expect(DownloadPlan.isSame(["Last-Modified": date, "ETag": "\"a\""], as: date))
        #expect(DownloadPlan.isSame([:], as: date))
        #expect(!DownloadPlan.isSame(["Last-Modified": Self.made], as: date))
        var tags: HTTPFields = ["ETag": Self.tag]
        tags.append(Self.tag, for: .eTag)
        #expect(!DownloadPlan.isSame(tags, as: Self.tag))
        // A weak one joins nothing.
        #expect(!DownloadPlan.isSame(["ETag": "W/\"a\""], as: "W/\"a\""))
    }

    @Test func `a part that has no validator is joined where a digest of the whole will be checked`() {
        let date = "Mon, 21 Sep 2026 14:12:20 GMT"
        let digest = "sha-256=:\(SHA256.bytes(Data()).base64EncodedString()):"
        let unnamed = Self.fields("bytes 400000-999999/1000000", tag: nil)
        let otherDate = Self.fields("bytes 400000-999999/1000000", tag: nil, ["Last-Modified": Self.made])
        for (fields, validator, isGiven, isNamed, isJoined) in [
            (unnamed, Self.tag, true, false, true), (unnamed, Self.tag, false, true, true),
            (unnamed, Self.tag, false, false, false), (unnamed, date, false, false, false),
            (unnamed, date, true, false, true), (otherDate, date, true, true, false),
            (Self.fields("bytes 400000-999999/1000000", tag: Self.tag), date, false, false, false),
            (Self.fields("bytes 400000-999999/1000000", tag: "\"v2\""), Self.tag, true, true, false),
            (Self.fields("bytes 400000-999999/1000000", tag: nil, ["Last-Modified": date]), date, false, false, true),
        ] as [(HTTPFields, String, Bool, Bool, Bool)] {
            var part = Self.part(validator: validator)
            if isNamed { part.fields = [["Repr-Digest", digest]] }
            var plan = DownloadPlan((part, 400_000), .get, retry: .none, isDigestGiven: isGiven)
            let verdict = plan.judge(206, fields, to: .rest(from: 400_000, ifRange: validator), at: Self.now)
            #expect(verdict == (isJoined ? .write(from: 400_000, end: 1_000_000) : .drop))
        }
        // What the server names with a new version counts for its rest.
        var plan = Self.plan(nil)
        let head = Self.fields(nil, ["Content-Length": "1000000", "Repr-Digest": digest])
        _ = plan.judge(200, head, to: .whole, at: Self.now)
        _ = plan.take(400_000)
        #expect(plan.judge(206, unnamed, to: Self.rest, at: Self.now) == .write(from: 400_000, end: 1_000_000))
    }

    @Test func `the SHA-512 counts where there is no SHA-256`() {
        let long = Data(repeating: 7, count: 64).base64EncodedString()
        let digits = String(repeating: "07", count: 64)
        for (value, algorithm, hex) in [
            ("sha-512=:\(long):", DigestAlgorithm.sha512, digits),
            ("sha-512=:\(long):, sha-256=:\(Self.hello):", .sha256, Self.helloDigits),
            ("sha-256=:AA==:, sha-512=:\(long):", .sha512, digits),
        ] {
            let digest = DownloadPlan.Digest(algorithm: algorithm, hex: hex)
            #expect(DownloadPlan.digest(["Repr-Digest": value]) == digest)
        }
        #expect(DownloadPlan.digest(["Repr-Digest": "sha-512=:\(Self.hello):"]) == nil)
        #expect(DownloadPlan.digest(["Repr-Digest": "sha-384=:\(long):"]) == nil)
    }

    // MARK: Content

    @Test func `no more is taken than was said`() {
        var plan = Self.plan(nil)
        _ = plan.judge(200, ["Content-Length": "10"], to: .whole, at: Self.now)
        #expect(plan.take(9) == true)
        #expect(plan.take(2) == false)
        #expect(plan.offset == 9)
        #expect(plan.take(1) == true)
        #expect(plan.take(1) == false)
        var endless = Self.plan(nil)
        _ = endless.judge(200, [:], to: .whole, at: Self.now)
        #expect(endless.take(1 << 40) == true)
    }

    @Test func `the end is the length, or without one the end of a whole answer`() {
        var random = Seeded(seed: 2)
        var sized = Self.plan(nil)
        _ = sized.judge(200, Self.fields(nil, ["Content-Length": "10"]), to: .whole, at: Self.now)
        _ = sized.take(10)
        #expect(sized.ended(using: &random) == .finish)
        var unsized = Self.plan(nil)
        _ = unsized.judge(200, [:], to: .whole, at: Self.now)
        _ = unsized.take(3)
        #expect(unsized.ended(using: &random) == .finish)
        var part = Self.plan(length: nil)
        _ = part.judge(206, Self.fields("bytes 400000-499999/*"), to: Self.rest, at: Self.now)
        _ = part.take(100_000)
        #expect(part.ended(using: &random) == .ask(.rest(from: 500_000, ifRange: Self.tag), after: .zero))
        #expect(
            part.judge(416, Self.fields("bytes */500000"), to: .rest(from: 500_000, ifRange: Self.tag), at: Self.now)
                == .finish)
    }

    @Test func `a server that gives less than the rest is asked again, as long as it gets on`() {
        var random = Seeded(seed: 3)
        var plan = Self.plan(length: 10_000_000)
        for _ in 0..<50 {
            let from = plan.offset
            let to = from + DownloadPlan.headway
            let verdict = plan.judge(
                206, Self.fields("bytes \(from)-\(to - 1)/10000000"), to: .rest(from: from, ifRange: Self.tag),
                at: Self.now)
            #expect(verdict == .write(from: from, end: to))
            _ = plan.take(DownloadPlan.headway)
            #expect(plan.ended(using: &random) == .ask(.rest(from: to, ifRange: Self.tag), after: .zero))
        }
        // What is cut off has to bring more than that.
        for number in 1...3 {
            let from = plan.offset
            _ = plan.judge(
                206, Self.fields("bytes \(from)-9999999/10000000"), to: .rest(from: from, ifRange: Self.tag),
                at: Self.now)
            _ = plan.take(1)
            let step = plan.failed(.transport(.connectionLost), using: &random)
            #expect(
                step
                    == (number == 3
                        ? .fail(.transport(.connectionLost), "")
                        : .ask(.rest(from: from + 1, ifRange: Self.tag), after: .zero)))
        }
    }

    /// How often a server is asked that answers so many bytes at a time, up to 3,000 times.
    private static func requests(bringing count: Int, of length: Int?) -> Int {
        var random = Seeded(seed: 11)
        var plan = Self.plan(1, length: length, limit: 0)
        var ask = Ask.rest(from: 1, ifRange: tag)
        for number in 1...3_000 {
            let (from, whole) = (plan.offset, length.map { "\($0)" } ?? "*")
            _ = plan.judge(206, fields("bytes \(from)-\(from + count - 1)/\(whole)"), to: ask, at: now)
            _ = plan.take(count)
            guard case .ask(let next, .zero) = plan.ended(using: &random) else { return number }
            ask = next
        }
        return 3_000
    }

    @Test func `short answers in full are no failures, and only crumbs without end are too many`() {
        #expect(Self.requests(bringing: 32 << 10, of: 1 << 30) == 3_000)
        #expect(Self.requests(bringing: 32 << 10, of: nil) == 3_000)
        #expect(Self.requests(bringing: 1_024, of: 1 << 30) == 3_000)
        // One more for each KiB that they have come to.
        #expect(Self.requests(bringing: 1, of: 1 << 30) == 1_026)
        #expect(DownloadPlan.mostAnswers == 1_024)
    }

    @Test func `an answer that ends before what it said counts as a lost connection`() {
        var random = Seeded(seed: 4)
        var plan = Self.plan(nil, limit: 0)
        _ = plan.judge(200, Self.fields(nil, ["Content-Length": "10"]), to: .whole, at: Self.now)
        _ = plan.take(9)
        #expect(plan.ended(using: &random) == .fail(.transport(.connectionLost), ""))
    }

    // MARK: An end that proves nothing

    /// A plan whose first answer has brought 400,000 bytes and ended, without a length.
    @Test func `a file that came is complete while it is asked whether there is more, and not behind that`() {
        var plan = Self.ended(mayBeCutOff: true).plan
        #expect(plan.isComplete)
        #expect(!Self.ended(mayBeCutOff: false).plan.isComplete)
        _ = plan.judge(206, Self.fields("bytes 400000-799999/800000"), to: Self.rest, at: Self.now)
        _ = plan.take(1)
        #expect(!plan.isComplete)
    }

    private static func ended(mayBeCutOff: Bool, tag: String? = tag) -> (plan: DownloadPlan, step: Step) {
        var random = Seeded(seed: 21)
        var plan = Self.plan(nil)
        _ = plan.judge(200, fields(nil, tag: tag), to: .whole, at: now, mayBeCutOff: mayBeCutOff)
        _ = plan.take(400_000)
        let step = plan.ended(using: &random)
        return (plan, step)
    }

    @Test func `where an end proves nothing the rest is asked for once, by who could go on with it`() {
        #expect(Self.ended(mayBeCutOff: true).step == .ask(Self.rest, after: .zero))
        #expect(Self.ended(mayBeCutOff: false).step == .finish)
        #expect(Self.ended(mayBeCutOff: true, tag: nil).step == .finish)
        var random = Seeded(seed: 22)
        var empty = Self.plan(nil)
        _ = empty.judge(200, Self.fields(nil), to: .whole, at: Self.now, mayBeCutOff: true)
        #expect(empty.ended(using: &random) == .finish)
        var known = Self.plan(nil)
        _ = known.judge(200, Self.fields(nil, ["Content-Length": "5"]), to: .whole, at: Self.now, mayBeCutOff: true)
        _ = known.take(5)
        #expect(known.ended(using: &random) == .finish)
    }

    @Test func `that there is no rest is the proof, and that there is one goes on`() {
        var random = Seeded(seed: 23)
        for told in ["bytes */400000", nil] {
            var plan = Self.ended(mayBeCutOff: true).plan
            #expect(plan.judge(416, Self.fields(told), to: Self.rest, at: Self.now) == .finish)
        }
        var longer = Self.ended(mayBeCutOff: true).plan
        #expect(longer.judge(416, Self.fields("bytes */400001"), to: Self.rest, at: Self.now) == .drop)
        // Who did not ask because of an end has to be told.
        var kept = Self.plan()
        #expect(kept.judge(416, Self.fields(nil), to: Self.rest, at: Self.now) == .drop)
        var half = Self.ended(mayBeCutOff: true).plan
        #expect(
            half.judge(206, Self.fields("bytes 400000-799999/800000"), to: Self.rest, at: Self.now)
                == .write(from: 400_000, end: 800_000))
        _ = half.take(400_000)
        #expect(half.ended(using: &random) == .finish)
    }

    @Test
    func `all of the same version once more proves nothing, and another version is loaded and not asked about again`() {
        var random = Seeded(seed: 24)
        var same = Self.ended(mayBeCutOff: true).plan
        #expect(same.judge(200, Self.fields(nil), to: Self.rest, at: Self.now, mayBeCutOff: true) == .finish)
        #expect(same.offset == 400_000)
        var other = Self.ended(mayBeCutOff: true).plan
        let fields = Self.fields(nil, tag: "\"v2\"")
        #expect(other.judge(200, fields, to: Self.rest, at: Self.now, mayBeCutOff: true) == .write(from: 0, end: nil))
        _ = other.take(7)
        #expect(other.ended(using: &random) == .finish)
        // What was kept from before is loaded anew where the server does so.
        var kept = Self.plan()
        #expect(kept.judge(200, Self.fields(nil), to: Self.rest, at: Self.now) == .write(from: 0, end: nil))
    }

    // MARK: Failures

    @Test func `what cannot be otherwise next time is not asked for again`() {
        var random = Seeded(seed: 5)
        for kind in [
            APIError.Kind.cancelled, .transport(.protocolViolation), .limitExceeded(.bodyBytes), .tls(.untrusted),
            .timeout(.total),
        ] {
            var plan = Self.plan()
            #expect(plan.failed(kind, using: &random) == .fail(kind, ""))
        }
        for kind in [
            APIError.Kind.transport(.connectionLost), .timeout(.idle), .limitExceeded(.minimumThroughput),
        ] {
            var plan = Self.plan()
            _ = plan.judge(206, Self.fields("bytes 400000-999999/1000000"), to: Self.rest, at: Self.now)
            #expect(plan.failed(kind, using: &random) == .ask(Self.rest, after: .zero))
        }
    }

    /// Exchanges of 100,000 bytes each that end early, up to 40 of them.
    private static func exchanges(limit: Int = 2, _ answer: (Int, Ask) -> (Int, HTTPFields)) -> Int {
        var random = Seeded(seed: 8)
        var plan = Self.plan(nil, limit: limit)
        var ask = Ask.whole
        for number in 1...40 {
            let (status, fields) = answer(number, ask)
            _ = plan.judge(status, fields, to: ask, at: now)
            _ = plan.take(100_000)
            guard case .ask(let next, _) = plan.failed(.transport(.connectionLost), using: &random) else {
                return number
            }
            ask = next
        }
        return 40
    }

    private static func whole(_ tag: String) -> (Int, HTTPFields) {
        (200, fields(nil, tag: tag, ["Content-Length": "10000000"]))
    }

    @Test func `what is loaded again is no headway, be it of the same version or of another one each time`() {
        #expect(Self.exchanges { _, _ in Self.whole(Self.tag) } == 3)
        #expect(Self.exchanges { number, _ in Self.whole("\"v\(number)\"") } == 3)
        #expect(Self.exchanges(limit: 5) { number, _ in Self.whole("\"v\(number)\"") } == 6)
        // A version that goes on and then gives way to another one, for ever.
        let turns = Self.exchanges { number, ask in
            guard number % 2 == 0, case .rest(let from, let tag) = ask else { return Self.whole("\"v\(number)\"") }
            return (206, Self.fields("bytes \(from)-9999999/10000000", tag: tag))
        }
        #expect(turns < 10)
    }

    @Test func `a new version once is gone on with as the first one was`() {
        let count = Self.exchanges { number, ask in
            guard number != 3, case .rest(let from, let tag) = ask else { return Self.whole("\"v\(number)\"") }
            return (206, Self.fields("bytes \(from)-9999999/10000000", tag: tag))
        }
        #expect(count == 40)
    }

    @Test func `two new versions are gone on with where two failures in a row may be`() {
        let count = Self.exchanges { number, ask in
            guard number != 3, number != 5, case .rest(let from, let tag) = ask else {
                return Self.whole("\"v\(number)\"")
            }
            return (206, Self.fields("bytes \(from)-9999999/10000000", tag: tag))
        }
        #expect(count == 40)
    }

    @Test func `what the same version had already is no headway when it comes once more`() {
        var random = Seeded(seed: 9)
        var plan = Self.plan(400_000, length: 1_000_000, limit: 1)
        _ = plan.judge(200, Self.fields(nil, ["Content-Length": "1000000"]), to: Self.rest, at: Self.now)
        _ = plan.take(200_000)
        let ask = Ask.rest(from: 200_000, ifRange: Self.tag)
        #expect(plan.failed(.timeout(.idle), using: &random) == .ask(ask, after: .zero))
        _ = plan.judge(206, Self.fields("bytes 200000-999999/1000000"), to: ask, at: Self.now)
        _ = plan.take(200_000 + DownloadPlan.headway - 1)
        #expect(plan.failed(.timeout(.idle), using: &random) == .fail(.timeout(.idle), ""))
    }

    @Test(arguments: [(DownloadPlan.headway - 1, 3), (DownloadPlan.headway, 12)])
    func `failures in a row end the download, and 64 KiB make the next one the first`(gain: Int, most: Int) {
        var random = Seeded(seed: 6)
        var plan = Self.plan(0, length: 100_000_000)
        _ = plan.judge(200, Self.fields(nil, ["Content-Length": "100000000"]), to: .whole, at: Self.now)
        var exchanges = 0
        while exchanges < 12 {
            exchanges += 1
            _ = plan.take(gain)
            let step = plan.failed(.transport(.connectionLost), using: &random)
            guard case .ask(let ask, _) = step else {
                #expect(step == .fail(.transport(.connectionLost), ""))
                break
            }
            _ = plan.judge(206, Self.fields("bytes \(plan.offset)-99999999/100000000"), to: ask, at: Self.now)
        }
        #expect(exchanges == most)
        #expect(plan.offset == gain * most)
    }

    @Test func `a failure behind 64 KiB is the first again, by its wait and by those that may follow`() {
        var (random, same) = (Seeded(seed: 9), Seeded(seed: 9))
        var plan = DownloadPlan((Self.part(100_000_000), 400_000), .get, retry: .limit(2))
        for (gain, number) in [
            (0, 1), (DownloadPlan.headway, 1), (DownloadPlan.headway - 1, 2), (DownloadPlan.headway, 1), (0, 2),
            (0, nil),
        ] as [(Int, Int?)] {
            let rest = Ask.rest(from: plan.offset, ifRange: Self.tag)
            _ = plan.judge(206, Self.fields("bytes \(plan.offset)-99999999/100000000"), to: rest, at: Self.now)
            _ = plan.take(gain)
            let next = Ask.rest(from: plan.offset, ifRange: Self.tag)
            let step = plan.failed(.timeout(.idle), using: &random)
            guard let number else {
                #expect(step == .fail(.timeout(.idle), ""))
                continue
            }
            #expect(step == .ask(next, after: Backoff().delay(before: number, using: &same)))
        }
    }

    @Test func `without a strong validator a lost connection begins anew, and gains nothing`() {
        var random = Seeded(seed: 7)
        var plan = Self.plan(nil)
        for number in 1...3 {
            _ = plan.judge(200, ["ETag": "W/\"a\"", "Content-Length": "1000000"], to: .whole, at: Self.now)
            _ = plan.take(900_000)
            let step = plan.failed(.transport(.connectionLost), using: &random)
            #expect(step == (number == 3 ? .fail(.transport(.connectionLost), "") : .ask(.whole, after: .zero)))
            #expect(plan.offset == 0)
        }
    }

    @Test func `the wait before the next exchange is the backoff's`() {
        var random = Seeded(seed: 8)
        var same = Seeded(seed: 8)
        var plan = DownloadPlan((Self.part(), 400_000), .get, retry: .standard)
        for number in 1...2 {
            let wait = Backoff().delay(before: number, using: &same)
            #expect(plan.failed(.timeout(.idle), using: &random) == .ask(Self.rest, after: wait))
        }
    }

    // MARK: The part

    @Test func `of a part nothing is on the disk for sure until that is said, and fields that are none are left out`() {
        var part = Self.part()
        #expect(part.synced == 0 && part.version == 1 && part.boot == nil)
        part.fields = [["ETag"], [], ["ETag", Self.tag], ["A", "b", "c"], ["Content-Type", "text/plain"]]
        #expect(part.httpFields == ["ETag": Self.tag, "Content-Type": "text/plain"])
        #expect(DownloadPlan.headway == 65_536)
    }

    static let parts: [(PartialDownload, Int, String?, Int?)] = [
        (described(synced: 100, boot: "a"), 150, "a", 150), (described(synced: 100, boot: "a"), 150, "b", 100),
        (described(synced: 100, boot: nil), 150, nil, 100), (described(synced: 100, boot: "a"), 150, nil, 100),
        (described(synced: 100, boot: "a"), 100, "b", 100), (described(synced: 100, boot: "a"), 99, "a", nil),
        (described(synced: 100, boot: "a"), 1_000, "a", 1_000), (described(synced: 100, boot: "a"), 1_001, "a", nil),
        (described(synced: -1, boot: "a"), 5, "b", nil), (described(synced: 0, boot: "a"), 5, "a", 5),
        (described(synced: 0, boot: "a", version: 2), 5, "a", nil),
        (described(synced: 1, boot: "a", length: nil), 5, "a", 5),
    ]

    private static func described(
        synced: Int, boot: String?, version: Int = 1, length: Int? = 1_000
    ) -> PartialDownload {
        var part = part(length)
        (part.synced, part.boot, part.version) = (synced, boot, version)
        return part
    }

    @Test("a part counts as far as the disk has kept it for sure", arguments: parts)
    func usable(part: PartialDownload, size: Int, boot: String?, offset: Int?) {
        #expect(part.usable(size, in: boot) == offset)
    }

    // MARK: Digests

    /// Of "hello".
    private static let hello = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let helloDigits = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    static let digests: [(String, String?)] = [
        ("sha-256=:\(hello):", helloDigits), ("sha-512=:AA==:, sha-256=:\(hello):", helloDigits),
        ("sha-256=:\(hello):;x=1", helloDigits),
        ("sha-256=:AA==:, sha-256=:\(hello):", helloDigits), ("sha-256=\(hello)", nil), ("sha-256=:\(hello)", nil),
        ("sha-256=:AA==:", nil),
        ("sha-256=::", nil), ("sha-256=:", nil), ("sha-256", nil), ("md5=:\(hello):", nil), ("", nil),
        ("xsha-256=:\(hello):", nil),
        // One member that is none makes the whole field none.
        ("sha-256=:\(hello):,", nil), ("sha-256=:\(hello):, x=(", nil), ("sha-256 =:\(hello):", nil),
        ("sha-512=:?:, sha-256=:\(hello):", nil), ("Sha-512=:AA==:, sha-256=:\(hello):", nil),
        ("sha-256=:\(hello): x", nil), ("sha-256=(:\(hello):)", nil), ("sha-256=\":\(hello):\"", nil),
    ]

    @Test("Repr-Digest is read as a dictionary of byte sequences", arguments: digests)
    func reprDigests(value: String, digest: String?) {
        #expect(DownloadPlan.digest(["Repr-Digest": value])?.hex == digest)
        #expect(DownloadPlan.digest(["Repr-Digest": value, "Content-Encoding": "gzip"]) == nil)
    }
}
