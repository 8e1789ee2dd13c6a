import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Answers of name servers, byte by byte.
enum DNSBytes {
    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }

    static func record(
        _ owner: [UInt8], _ type: Int, _ content: [UInt8], lifetime: Int = 300, group: Int = 1
    ) -> [UInt8] {
        owner + number(type) + number(group) + number(lifetime >> 16) + number(lifetime) + number(content.count)
            + content
    }

    /// - Parameter asked: the question that it repeats.
    static func answer(
        flags: Int = 0x8180, to asked: String = "a.example", type: Int = 1, group: Int = 1, questions: Int = 1,
        id: Int = 0, _ records: [[UInt8]]
    ) -> Data {
        let counts = number(questions) + number(records.count) + [0, 0, 0, 0]
        return Data(
            number(id) + number(flags) + counts + name(asked) + number(type) + number(group) + records.flatMap(\.self))
    }

    /// A pointer to the name of the question.
    static let asked: [UInt8] = [0xC0, 12]
}

@Suite struct DNSMessageTests {
    private typealias Bytes = DNSBytes

    private static func read(_ data: Data, _ host: String = "a.example", _ kind: DNSMessage.Kind = .a) -> HostAnswer? {
        guard case .addresses(let answer)? = DNSMessage.reply(data, to: host, kind) else { return nil }
        return answer
    }

    private static func answer(_ addresses: [String], _ seconds: Int) -> HostAnswer {
        HostAnswer(addresses.map { HostAddress(trusted: $0) }, lifetime: .seconds(seconds))
    }

    @Test func `a question is what the standard's example has`() throws {
        // RFC 8484 §4.1.1: the question for www.example.com, type A.
        let example = "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"
        #expect(DNSMessage.question("www.example.com", .a)?.base64EncodedString() == example)
        #expect(DNSMessage.question("www.example.com.", .a)?.base64EncodedString() == example)
        #expect(DNSMessage.question("WWW.example.com", .aaaa)?.suffix(4) == Data([0, 28, 0, 1]))
    }

    @Test func `a name that cannot be asked for makes no question`() {
        let long = String(repeating: "a", count: 63)
        #expect(DNSMessage.question(long, .a) != nil && DNSMessage.question(long + "a", .a) == nil)
        for name in ["", ".", "a..b", ".a"] { #expect(DNSMessage.question(name, .a) == nil, "\(name)") }
        // 255 bytes with all lengths and the end: four labels of which the last has 61.
        let most = [63, 63, 63, 61].map { String(repeating: "a", count: $0) }.joined(separator: ".")
        #expect(DNSMessage.question(most, .a) != nil && DNSMessage.question(most + "a", .a) == nil)
    }

    @Test func `the standard's own answer is read`() throws {
        // RFC 8484 §4.2.2: an AAAA answer for www.example.com.
        let text = """
            00 00 81 80 00 01 00 01 00 00 00 00 03 77 77 77 07 65 78 61 6d 70 6c 65 03 63 6f 6d 00 00 1c 00 01 c0 0c 00 1c 00 01
            00 00 0e 7d 00 10 20 01 0d b8 ab cd 00 12 00 01 00 02 00 03 00 04
            """
        let data = Data(text.split { $0 == " " || $0 == "\n" }.compactMap { UInt8($0, radix: 16) })
        #expect(Self.read(data, "www.example.com", .aaaa) == Self.answer(["2001:db8:abcd:12:1:2:3:4"], 3_709))
        #expect(Self.read(data, "www.example.com", .a) == nil && Self.read(data, "example.com", .aaaa) == nil)
    }

    @Test("The addresses of a name hold as long as the shortest of what led to them", .covers("X17"))
    func lifetimes() {
        let direct = [
            Bytes.record(Bytes.asked, 1, [1, 0, 0, 1], lifetime: 60),
            Bytes.record(Bytes.asked, 1, [1, 0, 0, 2], lifetime: 59),
        ]
        #expect(Self.read(Bytes.answer(direct)) == Self.answer(["1.0.0.1", "1.0.0.2"], 59))
        let alias = [
            Bytes.record(Bytes.name("c.example"), 1, [1, 0, 0, 3], lifetime: 60),
            Bytes.record(Bytes.name("b.example"), 5, Bytes.name("C.example"), lifetime: 20),
            Bytes.record(Bytes.asked, 5, Bytes.name("b.example"), lifetime: 30),
        ]
        #expect(Self.read(Bytes.answer(alias)) == Self.answer(["1.0.0.3"], 20))
        let signed = [Bytes.record(Bytes.asked, 1, [1, 0, 0, 1], lifetime: 0x8000_0000)]
        #expect(Self.read(Bytes.answer(signed)) == Self.answer(["1.0.0.1"], 0))
        let longest = [Bytes.record(Bytes.asked, 1, [1, 0, 0, 1], lifetime: 0x7FFF_FFFF)]
        #expect(Self.read(Bytes.answer(longest)) == Self.answer(["1.0.0.1"], 0x7FFF_FFFF))
    }

    @Test func `addresses of other names, kinds and networks are not taken`() {
        let strangers = [
            Bytes.record(Bytes.name("evil.example"), 1, [6, 6, 6, 6]),
            Bytes.record(Bytes.asked, 28, [UInt8](repeating: 6, count: 16)),
            Bytes.record(Bytes.asked, 1, [6, 6, 6, 6], group: 3), Bytes.record(Bytes.asked, 16, [1, 65]),
        ]
        #expect(Self.read(Bytes.answer(strangers)) == HostAnswer([]))
        #expect(
            Self.read(Bytes.answer(strangers + [Bytes.record(Bytes.asked, 1, [1, 0, 0, 1])]))
                == Self.answer(["1.0.0.1"], 300))
        // A label with a dot in it is no two labels.
        let dotted = Bytes.record([9] + Array("a.example".utf8) + [0], 1, [6, 6, 6, 6])
        #expect(Self.read(Bytes.answer([dotted])) == nil)
    }

    @Test func `aliases that go round end`() {
        let circle = [
            Bytes.record(Bytes.asked, 5, Bytes.name("b.example")),
            Bytes.record(Bytes.name("b.example"), 5, Bytes.asked),
        ]
        #expect(Self.read(Bytes.answer(circle)) == HostAnswer([]))
    }

    @Test func `a name that does not exist has no addresses, and any other failure is none of an answer`() {
        #expect(Self.read(Bytes.answer(flags: 0x8183, [])) == HostAnswer([]))
        #expect(Self.read(Bytes.answer([])) == HostAnswer([]))
        let good = [Bytes.record(Bytes.asked, 1, [1, 0, 0, 1])]
        for flags in [
            0x0180, 0x8181, 0x8182, 0x8184, 0x8185, 0x8188, 0x818B, 0x8380, 0x8980, 0x9180, 0xA180, 0xC180, 0x0183,
        ] {
            #expect(Self.read(Bytes.answer(flags: flags, good)) == nil, "\(flags)")
        }
        // Authoritative, recursive, authentic and unchecked are all the same.
        for flags in [0x8580, 0x8000, 0x8100, 0x8080, 0x81A0, 0x8190] {
            #expect(Self.read(Bytes.answer(flags: flags, good)) == Self.answer(["1.0.0.1"], 300), "\(flags)")
        }
    }

    @Test func `labels are read up to 63 bytes, and names up to 255`() {
        func read(_ lengths: [Int]) -> HostAnswer? {
            let owner: [UInt8] = lengths.reduce([]) { $0 + [UInt8($1)] + [UInt8](repeating: 0x62, count: $1) } + [0]
            let host = lengths.map { String(repeating: "b", count: $0) }.joined(separator: ".")
            return Self.read(
                Bytes.answer([
                    Bytes.record(Bytes.asked, 5, owner, lifetime: 20), Bytes.record(owner, 1, [1, 0, 0, 1]),
                    Bytes.record(Bytes.name("x.\(host.prefix(9))"), 16, [UInt8](repeating: 0, count: 255)),
                ]))
        }
        for lengths in [[63], [1], [63, 63, 63, 61], Array(repeating: 1, count: 127)] {
            #expect(read(lengths) == Self.answer(["1.0.0.1"], 20), "\(lengths)")
        }
        for lengths in [[64], [65], [0x80], [0xBF], [63, 63, 63, 62], Array(repeating: 1, count: 126) + [2]] {
            #expect(read(lengths) == nil, "\(lengths)")
        }
    }

    @Test func `an alias may be the last record, its name written out`() {
        let alias = Bytes.record(Bytes.asked, 5, Bytes.name("b.example"))
        #expect(Self.read(Bytes.answer([alias])) == HostAnswer([]))
        let address = Bytes.record(Bytes.name("b.example"), 1, [1, 0, 0, 1])
        #expect(Self.read(Bytes.answer([address, alias])) == Self.answer(["1.0.0.1"], 300))
    }

    @Test func `an answer to another question is none`() {
        let good = [Bytes.record(Bytes.asked, 1, [1, 0, 0, 1])]
        #expect(Self.read(Bytes.answer(to: "A.Example", good)) != nil)
        for data in [
            Bytes.answer(to: "b.example", good), Bytes.answer(type: 28, good), Bytes.answer(group: 3, good),
            Bytes.answer(questions: 0, good), Bytes.answer(questions: 2, good), Bytes.answer(id: 1, good),
        ] { #expect(Self.read(data) == nil) }
    }

    @Test func `what is cut off, or lies about its lengths, is no answer`() {
        let whole = Bytes.answer([
            Bytes.record(Bytes.asked, 5, Bytes.name("b.example")),
            Bytes.record(Bytes.name("b.example"), 1, [1, 0, 0, 1]),
        ])
        #expect(Self.read(whole)?.addresses.count == 1)
        for count in 0..<whole.count { #expect(Self.read(whole.prefix(count)) == nil, "\(count) bytes") }
        for content in [[], [1, 0, 0], [1, 0, 0, 1, 0]] as [[UInt8]] {
            #expect(Self.read(Bytes.answer([Bytes.record(Bytes.asked, 1, content)])) == nil)
        }
        // The name of an alias must be all that there is of it.
        for content in [Bytes.name("b.example") + [0], Array(Bytes.name("b.example").dropLast())] {
            #expect(Self.read(Bytes.answer([Bytes.record(Bytes.asked, 5, content)])) == nil)
        }
    }

    @Test func `a name that does not exist has no addresses, whatever comes along`() {
        let record = Bytes.record(Bytes.asked, 1, [1, 0, 0, 1])
        #expect(Self.read(Bytes.answer(flags: 0x8183, [record])) == HostAnswer([]))
        #expect(Self.read(Bytes.answer(flags: 0x8180, [record]))?.addresses.count == 1)
    }

    @Test
    func `a server that has not found out says so for this question alone, and repeats it where it could read it`() {
        for code in [1, 2, 4, 5, 15] {
            let refused = DNSMessage.Reply.refused(code: UInt8(code))
            #expect(DNSMessage.reply(Bytes.answer(flags: 0x8180 | code, []), to: "a.example", .a) == refused)
            let silent = Bytes.answer(flags: 0x8180 | code, questions: 0, []).prefix(12)
            #expect(DNSMessage.reply(silent, to: "a.example", .a) == refused)
            let other = Bytes.answer(flags: 0x8180 | code, to: "b.example", [])
            #expect(DNSMessage.reply(other, to: "a.example", .a) == nil)
            #expect(DNSMessage.reply(Bytes.answer(flags: 0x8380 | code, []), to: "a.example", .a) == nil)
            #expect(DNSMessage.reply(Bytes.answer(flags: 0x0180 | code, []), to: "a.example", .a) == nil)
        }
        #expect(DNSMessage.reply(Bytes.answer(questions: 0, []).prefix(12), to: "a.example", .a) == nil)
    }

    @Test func `pointers lead back or nowhere`() {
        let start = Bytes.answer([]).count
        for owner in [
            [0xC0, UInt8(start)], [0xC0, UInt8(start + 2)], [0xFF, 0xFF], [1, 0x61, 0xC0, UInt8(start)],
            [0x80, 0x61, 0], [0x40, 0],
        ] as [[UInt8]] {
            #expect(Self.read(Bytes.answer([Bytes.record(owner, 1, [1, 0, 0, 1])])) == nil, "\(owner)")
        }
        // Labels first, then the rest of a name before it.
        let other = Bytes.record([1, 0x62, 0xC0, 14], 1, [6, 6, 6, 6])
        #expect(Self.read(Bytes.answer([other])) == HostAnswer([]))
    }

    @Test func `a name leads over as many pointers as it can have labels, and over no more`() {
        for (count, isRead) in [(126, true), (127, false)] {
            // A record of no type that matters, of pointers each to the one before it, the first to the name in the question.
            let start = Bytes.answer([Bytes.record(Bytes.asked, 16, [])]).count
            var (chain, last) = ([UInt8](), 12)
            for _ in 0..<count {
                chain += [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF)]
                last = start + chain.count - 2
            }
            let owner = [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF)]
            let answer = Bytes.answer([Bytes.record(Bytes.asked, 16, chain), Bytes.record(owner, 1, [1, 0, 0, 1])])
            #expect(
                Self.read(answer)
                    == (isRead ? HostAnswer([HostAddress(trusted: "1.0.0.1")], lifetime: .seconds(300)) : nil))
        }
    }

    @Test func `no bytes whatever bring it down`() {
        var random = Seeded(seed: 8_484)
        let whole = Bytes.answer([
            Bytes.record(Bytes.asked, 5, Bytes.name("b.example")),
            Bytes.record(Bytes.name("b.example"), 1, [1, 0, 0, 1]),
        ])
        for _ in 0..<5_000 {
            var data = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let answer = Self.read(data) { #expect(answer.addresses.count <= 1) }
        }
    }
}

/// Questions over HTTPS, and what is made of the replies.
@Suite(.timeLimit(.minutes(5))) struct DNSOverHTTPSTests {
    private static let url = "https://dns.example/dns-query"

    private final class Server: Transport {
        let reply: @Sendable (Int) throws(TransportError) -> HTTPResponse
        let requests = Locked<[TransportRequest]>([])
        let capabilities = TransportCapabilities.all

        /// - Parameter reply: given the type of record that is asked for.
        init(_ reply: @escaping @Sendable (Int) throws(TransportError) -> HTTPResponse) {
            self.reply = reply
        }

        func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
            requests.withLock { $0.append(exchange) }
            guard case .bytes(let question) = exchange.request.body.source else {
                throw TransportError(.other, sendState: .unsent)
            }
            return TransportResponse(try reply(Int(question[question.count - 3])))
        }

        func shutdown() async {}
    }

    private static func response(
        _ body: Data, status: Int = 200, type: String = "application/dns-message", age: String? = nil
    ) -> HTTPResponse {
        var fields: HTTPFields = [.contentType: type]
        fields["Age"] = age
        return HTTPResponse(status: status, fields: fields, body: body)
    }

    private static func good(_ type: Int, lifetime: Int = 300) -> Data {
        DNSBytes.answer(
            type: type,
            [
                DNSBytes.record(
                    DNSBytes.asked, type, type == 1 ? [1, 0, 0, 1] : [UInt8](repeating: 0, count: 15) + [1],
                    lifetime: lifetime)
            ])
    }

    @Test("Both kinds of addresses are asked for, by POST", .covers("X17"))
    func questions() async throws {
        let server = Server { type in
            Self.response(Self.good(type, lifetime: type == 1 ? 60 : 90), type: "Application/DNS-Message; x=1")
        }
        let answer = try await DNSOverHTTPS(Self.url, over: server).answer(for: "a.example", port: 443)
        #expect(
            answer
                == HostAnswer([HostAddress(trusted: "::1"), HostAddress(trusted: "1.0.0.1")], lifetime: .seconds(60)))
        // RFC 8484 §6: no message is longer than that.
        #expect(server.requests.withLock { $0.map(\.limits.bodyBytes) } == [65_535, 65_535])
        let requests = server.requests.withLock { $0.map(\.request) }
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.method == .post && request.url.absoluteString == Self.url)
            #expect(
                request.fields[.contentType] == "application/dns-message"
                    && request.fields[.accept] == "application/dns-message")
        }
    }

    @Test(
        "What is left of the lifetime is what no cache on the way has taken",
        arguments: [
            (nil, 300), ("0", 300), ("100", 200), ("300", 0), ("9999", 0), ("99999999999999999999", 0), ("-5", 300),
            ("x", 300), ("", 300), ("1:", 300), ("9223372036854775807", 0), ("299", 1),
        ] as [(String?, Int)])
    func ages(age: String?, left: Int) async throws {
        let server = Server { type in Self.response(Self.good(type), age: age) }
        let answer = try await DNSOverHTTPS(Self.url, over: server).answer(for: "a.example", port: 443)
        #expect(answer?.lifetime == .seconds(left))
    }

    @Test func `one kind is enough`() async throws {
        let failure = TransportError(.connectionLost, sendState: .maybeProcessed)
        for missing in [
            Result<HTTPResponse, TransportError>.failure(failure),
            .success(Self.response(DNSBytes.answer(type: 28, []))),
        ] {
            let server = Server { type throws(TransportError) in
                type == 1 ? Self.response(Self.good(1)) : try missing.get()
            }
            let answer = try await DNSOverHTTPS(Self.url, over: server).answer(for: "a.example", port: 443)
            #expect(answer?.addresses == [HostAddress(trusted: "1.0.0.1")])
        }
    }

    @Test func `a name without addresses is unknown, and a server that fails is a failure`() async throws {
        let none = Server { type in Self.response(DNSBytes.answer(flags: 0x8183, type: type, [])) }
        #expect(try await DNSOverHTTPS(Self.url, over: none).answer(for: "a.example", port: 443) == nil)
        let long = String(repeating: "a", count: 64)
        #expect(try await DNSOverHTTPS(Self.url, over: none).answer(for: long, port: 443) == nil)
        for response in [
            Self.response(Self.good(1), status: 500), Self.response(Self.good(1), type: "text/html"),
            Self.response(Data()),
            HTTPResponse(status: 200, body: Self.good(1)),
            Self.response(Self.good(1), type: "application/dns-messages"),
        ] {
            let server = Server { _ in response }
            await #expect(throws: TransportError.self) {
                try await DNSOverHTTPS(Self.url, over: server).answer(for: "b.example", port: 443)
            }
        }
    }

    @Test func `a server in the clear is refused`() {
        #expect(throws: HostSourceError.malformedHost("http://dns.example")) {
            try DNSOverHTTPS("http://dns.example/dns-query", over: Server { _ in HTTPResponse(status: 200) })
        }
        #expect(throws: HTTPURL.ParseError.self) {
            try DNSOverHTTPS("dns", over: Server { _ in HTTPResponse(status: 200) })
        }
    }
}
