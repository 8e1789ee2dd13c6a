import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Which keys may speak for a host: tables, without a socket.
@Suite struct PublicKeyPinTests {
    static let keys = (0..<6).map { PublicKeyPin(ofKey: [UInt8($0)]) }
    static let noon = Date(timeIntervalSince1970: 1_700_000_000)

    static func set(
        _ host: String, _ below: Bool = false, keys: Range<Int> = 0..<2, expires: Date? = nil,
        mode: PinSet.Mode = .enforced
    ) throws(PinError) -> PinSet {
        try PinSet(host, includesSubdomains: below, keys: Array(Self.keys[keys]), expires: expires, mode: mode)
    }

    // MARK: Pins

    @Test func `a pin is the SHA-256 of the key info, in Base64`() throws {
        let text = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        #expect(PublicKeyPin(ofKey: "abc".utf8).description == "sha256/\(text)")
        #expect(try PublicKeyPin(text) == PublicKeyPin(ofKey: "abc".utf8))
        #expect(try PublicKeyPin("sha256/\(text)") == PublicKeyPin(text))
        #expect(try PublicKeyPin(digest: PublicKeyPin(text).digest) == PublicKeyPin(text))
    }

    @Test func `an error of pins names its host, and says what is missing`() {
        let host = "bank.example"
        let texts = [PinError.noBackup(host: host), .hostPinnedTwice(host), .malformedHost(host)].map { "\($0)" }
        #expect(texts.allSatisfy { $0.contains(host) } && Set(texts).count == 3)
        #expect(texts[0].contains("reserve"))
        #expect("\(PinError.malformedPin("abc"))".hasPrefix("abc is no pin: sha256/"))
        for secret in ["https://u:hunter2x@bank.example", "token=hunter2x"] {
            for error in [
                PinError.malformedHost(secret), .malformedPin(secret), .noBackup(host: secret),
                .hostPinnedTwice(secret),
            ] {
                #expect(PrintedForms.texts(of: error).filter { $0.contains("hunter2x") }.isEmpty)
            }
        }
    }

    @Test func `an error of pins shows of a host no user information, also where no scheme stands before it`() {
        let host = "user:hunter2x@bank.example"
        for error in [PinError.malformedHost(host), .noBackup(host: host), .hostPinnedTwice(host)] {
            #expect(PrintedForms.texts(of: error).filter { $0.contains("hunter2x") }.isEmpty)
            #expect("\(error)".contains("‹redacted›@bank.example"))
        }
    }

    @Test(arguments: [0, 31, 33, 64]) func `a digest of another size is no pin`(count: Int) {
        let digest = Data(repeating: 1, count: count)
        #expect(throws: PinError.self) { try PublicKeyPin(digest: digest) }
        #expect(throws: PinError.self) { try PublicKeyPin(digest.base64EncodedString()) }
    }

    @Test(arguments: [
        "", "sha256/", "sha1/AAAA", "not base64 at all", "sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=",
        // Bits behind the last byte, too little padding and too much of it, white space, and a prefix that is another one.
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
        "sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0==", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n",
        " ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "SHA256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
        "sha256/sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
        "sha512/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
    ])
    func `a text that is no digest is told as it was written`(text: String) {
        #expect(throws: PinError.self) { try PublicKeyPin(text) }
    }

    // MARK: Sets

    @Test("Fewer than two different pins are refused before anything starts", .covers("S4.23", "S3.38"))
    func backup() throws {
        for keys in [[], [Self.keys[0]], [Self.keys[0], Self.keys[0]]] {
            #expect(throws: PinError.noBackup(host: "a.example")) { try PinSet("a.example", keys: keys) }
        }
        #expect(try Self.set("a.example").pins == Set(Self.keys[0..<2]))
        let texts = Self.keys[0..<2].map(\.description)
        #expect(try PinSet("a.example", pins: texts) == Self.set("a.example"))
        #expect(throws: PinError.malformedPin("x")) { try PinSet("a.example", pins: texts + ["x"]) }
    }

    @Test(arguments: [
        "", ".", "a.example:443", "https://a.example", "a.example/", "*.a.example", "a b.example", "user@a.example",
        "[::1]",
        "a.example?x", "a.example#x", "a..example/..", "a\\b",
    ])
    func `what is no host is not pinned`(host: String) {
        #expect(throws: PinError.malformedHost(host)) { try Self.set(host) }
    }

    @Test(arguments: [
        ("A.Example", "a.example"), ("a.example.", "a.example"), ("::1", "::1"), ("127.0.0.1", "127.0.0.1"),
    ])
    func `a host is pinned by its usual name`(host: String, name: String) throws {
        #expect(try Self.set(host).host == name)
    }

    static let covering: [(String, Bool, String, Bool)] = [
        ("a.example", false, "a.example", true), ("a.example", false, "A.EXAMPLE.", true),
        ("a.example", false, "b.a.example", false), ("a.example", true, "b.a.example", true),
        ("a.example", true, "c.b.a.example", true), ("a.example", true, "a.example", true),
        ("a.example", true, "xa.example", false), ("a.example", true, "example", false),
        ("a.example", true, "a.example.evil", false), ("a.example", true, ".a.example", true),
    ]

    @Test(arguments: covering) func `a set is for its host, and for those below where it says so`(
        host: String, below: Bool, asked: String, covers: Bool
    ) throws {
        #expect(try Self.set(host, below).covers(asked) == covers)
    }

    @Test func `names below a host are pinned where that is said alone`() throws {
        let keys = Array(Self.keys[0..<2])
        for set in [try PinSet("a.example", keys: keys), try PinSet("a.example", pins: keys.map(\.description))] {
            #expect(set.covers("a.example") && !set.covers("b.a.example"))
            #expect(set.mode == .enforced && set.expires == nil && set.isEnforced(at: .distantFuture))
        }
    }

    // MARK: Lists

    @Test func `the longest host counts, also when its pins have expired`() throws {
        let sets = try [
            Self.set("example", true), Self.set("a.example", true, keys: 2..<4, expires: Self.noon),
            Self.set("b.a.example", keys: 3..<5),
        ]
        for list in [try PinList(sets), try PinList(sets.reversed())] {
            #expect(list.set(for: "example")?.host == "example")
            #expect(list.set(for: "x.example")?.host == "example")
            #expect(list.set(for: "a.example")?.host == "a.example")
            #expect(list.set(for: "b.a.example")?.host == "b.a.example")
            #expect(list.set(for: "c.b.a.example")?.host == "a.example")
            #expect(list.set(for: "other.test") == nil)
        }
        #expect(PinList.none.isEmpty && PinList.none.set(for: "a.example") == nil)
        #expect(try !PinList(sets).isEmpty)
        #expect(throws: PinError.hostPinnedTwice("example")) { try PinList(sets + [Self.set("EXAMPLE.")]) }
    }

    static let dates: [(Date?, PinSet.Mode, Double, Bool)] = [
        (nil, .enforced, 0, true), (nil, .reportOnly, 0, false), (noon, .enforced, -1, true),
        (noon, .enforced, 0, false),
        (noon, .enforced, 1, false), (noon, .reportOnly, -1, false),
    ]

    @Test(
        "A mismatch is refused until the pins expire, and reported in any case", .covers("S4.23", "S3.38"),
        arguments: dates)
    func expiry(expires: Date?, mode: PinSet.Mode, offset: Double, isRefused: Bool) throws {
        let set = try Self.set("a.example", expires: expires, mode: mode)
        let date = Self.noon.addingTimeInterval(offset)
        #expect(set.isEnforced(at: date) == isRefused)
        let chain = [Self.keys[4], Self.keys[5]]
        let verdict = try PinList([set]).verdict(on: chain, for: "A.example", at: date)
        let report = PinReport(host: "a.example", set: set, chain: chain, date: date, isRefused: isRefused)
        #expect(verdict == (isRefused ? .refused(report) : .reported(report)))
    }

    static let chains: [([Int], Bool)] = [
        ([0], true), ([1], true), ([5, 0], true), ([5, 4, 1], true), ([], false), ([2], false), ([2, 3, 4, 5], false),
    ]

    @Test("One certificate of the chain must have one of the pins", .covers("S4.23", "S3.38"), arguments: chains)
    func matching(chain: [Int], isGood: Bool) throws {
        let list = try PinList([Self.set("a.example")])
        let verdict = list.verdict(on: chain.map { Self.keys[$0] }, for: "a.example", at: Self.noon)
        #expect((verdict == .matched) == isGood)
        if case .refused = verdict { #expect(!isGood) } else { #expect(isGood) }
        #expect(list.verdict(on: chain.map { Self.keys[$0] }, for: "b.example", at: Self.noon) == .notPinned)
    }

    // MARK: Reports

    @Test func `a host is reported once in an interval`() {
        var limiter = PinReportLimiter(interval: .seconds(10), maxHosts: 2)
        let table: [(String, Int, Bool)] = [
            ("a", 0, true), ("a", 9, false), ("b", 9, true), ("a", 10, true), ("c", 18, false),
            ("b", 18, false), ("a", 19, false), ("c", 19, true), ("a", 20, true), ("b", 20, false),
        ]
        for (host, second, isAdmitted) in table {
            #expect(limiter.admits(host, at: .seconds(second)) == isAdmitted, "\(host) at \(second)")
        }
        #expect(PinReportLimiter(interval: .zero).maxHosts == 64)
    }

    @Test func `a reporter hands on what its limiter lets through`() throws {
        let clock = TestClock()
        let seen = Locked<[String]>([])
        let reporter = PinReporter(every: .seconds(10), time: clock.timeSource) { report in
            seen.withLock { $0.append(report.host) }
        }
        for (host, step) in [("a", 0), ("a", 9), ("b", 0), ("a", 1)] {
            clock.advance(by: .seconds(step))
            let set = try Self.set("\(host).example")
            reporter.report(PinReport(host: host, set: set, chain: [], date: Self.noon, isRefused: true))
        }
        #expect(seen.withLock { $0 } == ["a", "b", "a"])
        let other = PinReporter { _ in }
        #expect(reporter == reporter && reporter != other && reporter.hashValue != other.hashValue)
    }

    @Test func `unless told otherwise a reporter tells of a host once an hour`() throws {
        let clock = TestClock()
        let count = Locked(0)
        let reporter = PinReporter(time: clock.timeSource) { _ in count.withLock { $0 += 1 } }
        let set = try Self.set("a.example")
        for (step, expected) in [(Duration.zero, 1), (.seconds(3_600) - .nanoseconds(1), 1), (.nanoseconds(1), 2)] {
            clock.advance(by: step)
            reporter.report(PinReport(host: "a.example", set: set, chain: [], date: Self.noon, isRefused: true))
            #expect(count.withLock { $0 } == expected)
        }
    }
}

/// The key in a certificate, found without a library.
@Suite struct CertificateKeyTests {
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<128: [tag, UInt8(content.count)] + content
        case ..<256: [tag, 0x81, UInt8(content.count)] + content
        case ..<65_536: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        default:
            [tag, 0x83] + [16, 8, 0].map { UInt8(content.count >> $0 & 0xFF) } + content
        }
    }

    private static let key = element(0x30, element(0x30, [6, 1, 42]) + element(0x03, [0, 1, 2, 3]))

    /// Serial number, signature, issuer, validity, subject; then the key and what may follow it.
    private static func certificate(
        version: [UInt8] = [0xA0, 3, 2, 1, 2], fields: [UInt8] = [2, 0x30, 0x30, 0x30, 0x30], filling: Int = 3,
        after: [UInt8] = [0xA3, 0]
    ) -> Data {
        let middle = fields.flatMap { element($0, [UInt8](repeating: 5, count: filling)) }
        let body = element(0x30, version + middle + key + after)
        return Data(element(0x30, body + element(0x30, [6, 1, 42]) + element(0x03, [0])))
    }

    @Test(arguments: [3, 127, 128, 255, 256, 20_000]) func `the key is found behind fields of any length`(filling: Int)
    {
        #expect(CertificateKey.info(in: Self.certificate(filling: filling)) == Data(Self.key))
        #expect(CertificateKey.info(in: Self.certificate(version: [], filling: filling, after: [])) == Data(Self.key))
    }

    @Test func `a slice is read from its own beginning`() {
        let certificate = Self.certificate()
        #expect(CertificateKey.info(in: (Data([1, 2, 3]) + certificate).dropFirst(3)) == Data(Self.key))
    }

    @Test func `fields that are missing, or others, are no certificate`() {
        for index in 0..<5 {
            var fields: [UInt8] = [2, 0x30, 0x30, 0x30, 0x30]
            fields[index] = 4
            #expect(CertificateKey.info(in: Self.certificate(fields: fields)) == nil)
        }
        #expect(CertificateKey.info(in: Self.certificate(fields: [2, 0x30, 0x30])) == nil)
    }

    @Test func `bytes that are cut off, or too many, are no certificate`() {
        let certificate = Self.certificate()
        for count in 0..<certificate.count { #expect(CertificateKey.info(in: certificate.prefix(count)) == nil) }
        #expect(CertificateKey.info(in: certificate + [0]) == nil)
    }

    @Test(
        arguments: [
            [0x30, 0x80, 0, 0], [0x30, 0x84, 0, 0, 0, 0], [0x30, 0x83, 0xFF, 0xFF, 0xFF], [0x30, 0xFF], [0x30],
            [0x31, 0],
            [0x30, 0x81], [0x30, 0x82, 1], [0x30, 0],
        ] as [[UInt8]])
    func `lengths that lie are no certificate`(bytes: [UInt8]) {
        #expect(CertificateKey.info(in: Data(bytes)) == nil)
        #expect(PublicKeyPin(ofCertificate: Data(bytes)) == nil)
    }

    @Test func `a length is definite, and written in three bytes at most`() {
        let good: [UInt8] = [0xA0, 0x83, 0, 0, 3, 2, 1, 2]
        #expect(CertificateKey.info(in: Self.certificate(version: good)) == Data(Self.key))
        for version in [[0xA0, 0x84, 0, 0, 0, 3, 2, 1, 2], [0xA0, 0x80] + [UInt8](repeating: 5, count: 128)] {
            #expect(CertificateKey.info(in: Self.certificate(version: version)) == nil)
        }
    }

    #if os(Linux)
        @Test func `the pin of a certificate is the one that OpenSSL makes of it`() throws {
            let authority = try TestCertificateAuthority()
            for identity in [try authority.issue(), authority.identity, try TestCertificateAuthority.selfSigned()] {
                let text = String(decoding: identity.certificates, as: UTF8.self)
                let base64 = text.split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-") }.joined()
                let der = try #require(Data(base64Encoded: base64))
                #expect(try PublicKeyPin(ofCertificate: der)?.digest == identity.publicKeyHash())
            }
        }
    #endif
}
