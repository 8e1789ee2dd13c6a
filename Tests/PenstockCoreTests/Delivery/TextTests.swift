import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What the type of an output makes of a body.
@Suite(.timeLimit(.minutes(5))) struct OutputTypeTests {
    private struct Text: Endpoint {
        typealias Output = String
        var route: Route { .get("/text") }
    }

    /// Generic code that does not know what its output is.
    private struct Of<Value: Decodable & Sendable>: Endpoint {
        typealias Output = Value
        var route: Route { .get("/value") }
    }

    private static func rig(
        _ body: Data, type: String? = nil, envelope: Envelope? = nil
    ) -> Rig {
        Rig([.shop { $0.envelope = envelope }]) { _ in
        } answering: { _ in
            HTTPResponse(status: 200, fields: type.map { [.contentType: $0] } ?? [:], body: body)
        }
    }

    @Test(
        arguments: [
            ("text/plain", [0x68, 0xC3, 0xA9], "hé"), ("text/plain; charset=ISO-8859-1", [0x68, 0xE9], "hé"),
            ("text/html; charset=\"windows-1252\"", [0x80], "€"), ("text/plain;charset=utf-16be", [0x00, 0x41], "A"),
            ("text/plain; a=\"b;charset=utf-16be\"; CHARSET=utf-8", [0xC3, 0xA9], "é"),
            ("text/plain; a=\"\\\";charset=utf-16be\"; charset=utf-8", [0xC3, 0xA9], "é"),
            ("text/plain; a=\"\\\\\"; charset=utf-16be", [0x00, 0x41], "A"),
            ("text/plain; a=b\\; charset=utf-16be", [0x00, 0x41], "A"),
            ("text/plain; charset=\"\\utf-16be\"", [0x00, 0x41], "A"),
            ("text/plain; charset=utf-16be; charset=utf-8", [0x00, 0x41], "A"),
            ("text/plain; a; charset=utf-16be; b=c", [0x00, 0x41], "A"), ("charset=utf-16be", [0xC3, 0xA9], "é"),
            ("text/plain; charset=shift_jis", [0x82, 0xA0], "あ"), ("text/plain; charset=gb2312", [0xC4, 0xE3], "你"),
            ("text/plain; charset=iso-8859-1", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"),
            ("text/plain", [0xFF, 0xFE, 0x41, 0x00], "A"), ("text/plain", [0xFE, 0xFF, 0x00, 0x41], "A"),
            ("application/json", Array("\"x\"".utf8), "\"x\""), ("text/plain", [], ""),
        ] as [(String, [UInt8], String)])
    func `an output of String is the text, in the character set that came with it`(
        type: String, bytes: [UInt8], text: String
    ) async throws {
        #expect(try await Self.rig(Data(bytes), type: type).client.send(Text()) == text)
        #expect(try Payload(Data(bytes), contentType: type).text() == text)
    }

    /// Names of character sets, bytes, and the text that they are.
    static let characterSets: [([String], [UInt8], String)] = [
        (["utf-8", "UTF8"], [0xE2, 0x82, 0xAC], "€"),
        (["us-ascii", "ASCII", "iso-8859-1", "latin1", "windows-1252", "cp1252"], [0x80, 0xE9], "€é"),
        (["utf-16", "utf-16le"], [0xAC, 0x20], "€"), (["utf-16be"], [0x20, 0xAC], "€"),
        (["iso-8859-2", "latin2"], [0xB1], "ą"), (["iso-8859-5"], [0xD0], "а"), (["iso-8859-7"], [0xE1], "α"),
        (["iso-8859-6"], [0xC7], "ا"), (["iso-8859-8", "iso-8859-8-i", "windows-1255"], [0xE0], "א"),
        (["windows-1256"], [0xC7, 0x8D], "اچ"),
        (["iso-8859-9", "windows-1254"], [0xFD], "ı"), (["iso-8859-15"], [0xA4, 0xD0], "€Ð"),
        (["windows-1250"], [0xB9], "ą"),
        (["windows-1251"], [0xE0], "а"), (["windows-1253"], [0xE1], "α"), (["koi8-r"], [0xC1], "а"),
        (["shift_jis", "Shift-JIS", "sjis", "windows-31j"], [0x82, 0xA0], "あ"),
        (
            ["euc-jp"], [0x41, 0xA4, 0xA2, 0x5C, 0x7E, 0x8E, 0xA1, 0x8E, 0xDF, 0xA1, 0xA1], "Aあ\\~｡ﾟ\u{3000}"
        ), (["euc-jp"], [0xA1, 0xDF, 0xA1, 0xE0, 0xA2, 0xA1, 0xA2, 0xFE, 0xB0, 0xA1], "×÷◆◯亜"),
        (["EUC-JP"], [0xDD, 0xFE, 0xDE, 0xA1, 0xDE, 0xFE, 0xDF, 0xA1, 0xE0, 0xA1, 0xF4, 0xA6], "沾沺滌漾燹熙"),
        (["iso-2022-jp"], [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
        (["gb2312", "GBK", "gb18030", "x-gbk", "chinese"], [0xC4, 0xE3], "你"),
        (["big5", "cn-big5"], [0xA7, 0x41], "你"),
        (["big5", "Big5-HKSCS"], [0xA7, 0xDA, 0x92, 0x5D, 0x9D, 0xEF, 0x9D, 0xCF], "我哋嘅嘢"),
        (["latin1", "cp819"], [0x80, 0x81, 0x8D, 0x8F, 0x90, 0x93, 0x9D, 0x9F], "€\u{81}\u{8D}\u{8F}\u{90}“\u{9D}Ÿ"),
        (["windows-874", "TIS-620", "iso-8859-11"], [0xCA, 0xC7, 0xD1], "สวั"), (["windows-1257"], [0xE0, 0xFE], "ąž"),
        (["windows-1258", "x-cp1258"], [0xF0, 0xF5], "đơ"), (["iso-8859-3", "latin3"], [0xF8, 0xB1], "ĝħ"),
        (["iso-8859-4", "l4"], [0xBB, 0xF3], "ģķ"), (["iso-8859-10", "latin6"], [0xF0, 0xBF], "ðŋ"),
        (["iso-8859-13"], [0xE0, 0xFE], "ąž"), (["iso-8859-14"], [0xF0], "ŵ"), (["iso-8859-16"], [0xBA, 0xA4], "ș€"),
        (["ibm866", "cp866"], [0xAF, 0xE0], "пр"), (["koi8-u", "KOI8-RU"], [0xA7, 0xAD], "їґ"),
        (["macintosh", "x-mac-roman"], [0x8E, 0xF0], "é\u{F8FF}"), (["x-mac-cyrillic"], [0xE6], "ж"),
        (["cp1251", "x-cp1251"], [0xE0], "а"), (["ms932", "x-sjis"], [0x82, 0xA0], "あ"),
        (["ksc5601"], [0xB0, 0xA1], "가"),
        (["ucs-2"], [0xAC, 0x20], "€"), (["unicode-1-1-utf-8"], [0xC3, 0xA9], "é"),
        (["euc-kr", "ks_c_5601-1987", "windows-949"], [0xB0, 0xA1, 0x8C, 0x63], "가똠"),
    ]

    @Test(arguments: characterSets) func `each character set that is known is read`(
        names: [String], bytes: [UInt8], text: String
    ) throws {
        for name in names {
            #expect(try Payload(Data(bytes), contentType: "text/plain; charset=\(name)").text() == text, "\(name)")
        }
    }

    /// Media types, and the character set that each says.
    static let types: [(String, String?)] = [
        ("", nil), ("text/plain", nil), ("text/plain;", nil), ("text/plain; charset", nil), ("charset=a", nil),
        (";charset=a", "a"),
        ("text/plain;charset=a", "a"), ("t; \tCharSet \t=\t a \t", "a"), ("t;;charset=a;", "a"),
        ("t;charsets=a;charset=b", "b"), ("t;a=\";charset=b\"", nil), ("t;charset=\"\\a\"", "a"),
        ("t;a=\"\\\\\";charset=b", "b"), ("t;\"charset\"=b", nil), ("t;charset=\"a", "a"),
        ("t;\";charset=a", "a"), ("t;x=a\"b;charset=a", "a"), ("t;charset=\"a\"b", "a"), ("t;x=\"a\"b;charset=c", "c"),
        ("t;charset= \t\"a\"", "a"), ("t;charset=a\"b\"", nil), ("t;x==\"a;charset=b", "b"),
    ]

    @Test(arguments: types) func `the first parameter of that name says the character set`(type: String, name: String?)
    {
        #expect(TextDecoding.charset(in: type) == name)
    }

    /// What is said of the character set, and what is taken from it.
    static let slips: [(String, String?)] = [
        ("t;charset=", nil), ("t;charset=\"\"", nil), ("t;charset=;charset=b", "b"), ("t;charset=a=b", nil),
        ("t;charset=\"a;b\"", nil), ("t;charset=\"a\\\"b\"", nil), ("t;charset=a\\;b", nil), ("t;charset='a'", "a"),
        ("t;charset=''", nil), ("t;charset=a, t;charset=b", "a"), ("t;charset=a,t;charset=b", "a"),
        ("t;charset=a (x)", "a"),
        ("t;charset=<a>", nil),
    ]

    @Test(arguments: slips)
    func `a character set that says nothing counts as none, and one joined or commented ends where its name does`(
        type: String, name: String?
    ) {
        #expect(TextDecoding.charset(in: type) == name)
    }

    static let broken: [[UInt8]] = [
        [0xA4], [0x41, 0xA4], [0xA4, 0x41], [0xA4, 0xA0], [0xA4, 0xFF], [0xA0, 0xA1], [0xFF, 0xA1], [0x80, 0xA1],
        [0x8E],
        [0x8E, 0xA0], [0x8E, 0xE0], [0x8E, 0xE0, 0x41], [0x8F, 0xB0, 0xA1], [0x80], [0x9F, 0xA1],
    ]

    @Test(arguments: broken) func `what is not EUC-JP is no text in it`(bytes: [UInt8]) {
        #expect(throws: APIError.self) { try Payload(Data(bytes), contentType: "text/plain; charset=euc-jp").text() }
    }

    /// Names of character sets, and bytes that are no text in them.
    static let strangers: [(String, [UInt8])] = [
        ("big5", [0x61, 0x81, 0x40]), ("euc-kr", [0xC9, 0xA1]), ("euc-kr", [0x61, 0xFF]), ("windows-874", [0xDB]),
        ("utf-16le", [0x61, 0x00, 0x62]), ("utf-16be", [0x00]), ("utf-16be", [0xD8, 0x00]),
        ("utf-16be", [0xDC, 0x00, 0x00, 0x41]),
        ("utf-8", [0xED, 0xA0, 0x80]), ("utf-8", [0xC0, 0x80]), ("x-user-defined", [0x61]), ("iso-2022-kr", [0x61]),
    ]

    @Test(arguments: strangers)
    func `bytes that a character set does not know, or knows for private use alone, are no text in it`(
        name: String, bytes: [UInt8]
    ) {
        #expect(throws: APIError.self) { try Payload(Data(bytes), contentType: "text/plain; charset=\(name)").text() }
    }

    @Test func `one byte order mark is taken off, and a second one is text`() throws {
        let text = try Payload(Data([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x61]), contentType: nil).text()
        #expect(text.unicodeScalars.map(\.value) == [0xFEFF, 0x61])
    }

    @Test func `who sends the media type in two lines is read as if both were one`() async throws {
        let rig = Rig([.shop { $0.envelope = nil }]) { _ in
        } answering: { _ in
            var fields = HTTPFields()
            fields.append("text/plain", for: .contentType)
            fields.append("text/plain; charset=koi8-r", for: .contentType)
            return HTTPResponse(status: 200, fields: fields, body: Data([0xC1]))
        }
        #expect(try await rig.client.send(Text()) == "а")
        #expect(try await rig.client.response(for: Text()).payload.text() == "а")
    }

    @Test func `a byte order mark has all of its bytes`() throws {
        for bytes in [[0xEF, 0xBB], [0xEF, 0xBB, 0xC3, 0xA9], [0xFE], [0xFE, 0x41]] as [[UInt8]] {
            #expect(throws: APIError.self) { try Payload(Data(bytes), contentType: nil).text() }
        }
        #expect(try Payload(Data([0xEF, 0xBB, 0xBF]), contentType: nil).text().isEmpty)
        #expect(try Payload(Data([0xFF, 0xFE]), contentType: nil).text().isEmpty)
    }

    @Test(
        arguments: [
            ("text/plain", [0xFF, 0x41], "the body is no text in the character set utf-8"),
            ("text/plain; charset=klingon", [0x41], "the character set klingon is not known"),
            ("text/plain; charset=", [0xFF], "the body is no text in the character set utf-8"),
        ] as [(String, [UInt8], String)])
    func `text that cannot be read as what it says is an error`(
        type: String, bytes: [UInt8], reason: String
    ) async {
        let error = await failure { try await Self.rig(Data(bytes), type: type).client.send(Text()) }
        #expect(error?.kind == .decoding(path: "", reason: reason))
    }

    @Test func `under an envelope it is the string that the envelope holds, and the envelope must say success`()
        async throws
    {
        let good = Self.rig(Data(#"{"retcode":0,"data":"hé"}"#.utf8), envelope: .retcode)
        #expect(try await good.client.send(Text()) == "hé")
        let bad = Self.rig(Data(#"{"retcode":7,"retdesc":"no","data":"x"}"#.utf8), envelope: .retcode)
        #expect(await failure { try await bad.client.send(Text()) }?.kind == .business(code: 7, message: "no"))
    }

    @Test func `generic code gets for Data and String what an endpoint of that output gets`() async throws {
        let body = Data(#"{"id":1,"name":"x"}"#.utf8)
        let client = Self.rig(body).client
        #expect(try await client.send(Of<Data>()) == body)
        #expect(try await client.send(Of<String>()) == #"{"id":1,"name":"x"}"#)
        #expect(try await client.send(Of<Product>()) == Product(id: 1, name: "x"))
    }

    @Test(.covers("S1.4")) func `an ad-hoc call gives bytes, text, a model, or nothing`() async throws {
        let body = Data(#"{"id":1,"name":"x"}"#.utf8)
        let rig = Self.rig(body)
        let data: Data = try await rig.client.get("/a")
        let text: String = try await rig.client.get("/a")
        let model: Product = try await rig.client.post("/a")
        let central: Data = try await rig.client.send(path: "/a")
        #expect(data == body && central == body)
        #expect(text == #"{"id":1,"name":"x"}"#)
        #expect(model == Product(id: 1, name: "x"))
        try await rig.client.get("/nothing")
        try await rig.client.post("/nothing", parameters: ["a": 1])
        try await rig.client.send(path: "/nothing", method: .delete)
        #expect(rig.sent.suffix(3).map(\.method) == [.get, .post, .delete])
        #expect(rig.sent[5].text == #"{"a":1}"#)
    }

    @Test(.covers("S1.4")) func `an ad-hoc call for nothing still opens the envelope`() async {
        let rig = Self.rig(Data(#"{"retcode":7,"retdesc":"no"}"#.utf8), envelope: .retcode)
        let error = await failure { try await rig.client.post("/x") }
        #expect(error?.kind == .business(code: 7, message: "no"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct InternetDateTests {
    private struct Moment: Codable, Hashable, Sendable {
        var at: Date
    }

    private struct Echo: Endpoint {
        typealias Output = Moment
        var parameters: Moment
        var route: Route { .post("/echo") }
    }

    @Test(arguments: [0, 1, 951_782_400, 1_767_225_599, -62_135_596_800, 253_402_300_799, -1])
    func `a date that is sent and echoed is the same, with defaults alone`(seconds: Double) async throws {
        let rig = Rig([.shop { $0.envelope = nil }]) { _ in
        } answering: { request in
            .json(request.text)
        }
        let moment = Moment(at: Date(timeIntervalSince1970: seconds))
        #expect(try await rig.client.send(Echo(parameters: moment)) == moment)
    }

    @Test(arguments: [
        ("2026-01-31T08:30:00Z", 1_769_848_200), ("2026-01-31t08:30:00z", 1_769_848_200),
        ("2026-01-31 08:30:00Z", 1_769_848_200), ("2026-01-31T08:30:00.5Z", 1_769_848_200.5),
        ("2026-01-31T08:30:00.250Z", 1_769_848_200.25), ("2026-01-31T10:30:00+02:00", 1_769_848_200),
        ("2026-01-31T10:30:00+0200", 1_769_848_200), ("2026-01-31T03:00:00.125-05:30", 1_769_848_200.125),
        ("2016-12-31T23:59:60Z", 1_483_228_800), ("2000-02-29T00:00:00Z", 951_782_400),
        ("2026-01-31T08:30:00.12500000000000000000000Z", 1_769_848_200.125),
        // The last of each part, and what an offset makes of them.
        ("1970-01-01T23:59:59Z", 86_399), ("1970-01-01T00:01:00z", 60), ("1970-01-01T23:59:00+23:59", 0),
        ("1970-01-01T00:00:00-23:59", 86_340), ("1970-01-01T00:00:01+00:00", 1), ("1970-01-01T00:00:01-00:00", 1),
        ("1970-01-01T00:01:01+00:01", 1), ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799), ("1970-01-01T00:00:01.5Z", 1.5), ("1969-12-31T23:59:59.5Z", -0.5),
    ])
    func `every form of RFC 3339 is read, with a fraction or without`(text: String, seconds: Double) {
        #expect(InternetDate.date(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2026-01-31", "2026-01-31T08:30:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T08:60:00Z", "2026-01-31T08:30:61Z", "2026-01-31T08:30:00.Z", "2026-01-31T08:30:00Zx",
        "2026-01-31T08:30:00+24:00", "2026-01-31T08:30:00+01:60", "2026-01-31T08:30:00 Z", "0000-01-01T00:00:00Z",
        // Without one of what stands between the parts, or with another character there.
        "202601-31T08:30:00Z", "2026-0131T08:30:00Z", "2026-01-3108:30:00Z", "2026-01-31T0830:00Z",
        "2026-01-31T08:3000Z", "20260131T083000Z", "2026/01-31T08:30:00Z", "2026-01/31T08:30:00Z",
        "2026-01-31_08:30:00Z", "2026-01-31T08.30:00Z", "2026-01-31T08:30.00Z", "2026-01-31T08:30:00,5Z",
        "2026-01-31T08:30:00+", "2026-01-31T08:30:00+0", "2026-01-31T08:30:00+02", "2026-01-31T08:30:00+02:0",
        "2026-01-31T08:30:00 02:00", "2026-01-31T08:30:00+-2:00", "2026-01-31T08:30:0:Z", "2026-01-31T08:30:0/Z",
        "2026-01-31T08:30:00.:Z", "202", "2026-01-31T08:30:0",
        "２０２６-01-31T08:30:00Z", "+2026-01-31T08:30:00Z", "1769848200", "2026-1-31T08:30:00Z",
    ])
    func `what is no date of RFC 3339 is refused`(text: String) {
        #expect(InternetDate.date(text) == nil)
        #expect(throws: APIError.self) { try Payload(Data(#"{"at":"\#(text)"}"#.utf8)).value(Moment.self) }
    }

    @Test func `a number where a date is expected is refused, with its path`() throws {
        let error = #expect(throws: APIError.self) { try Payload(Data(#"{"at":12345}"#.utf8)).value(Moment.self) }
        #expect(error?.kind == .decoding(path: "at", reason: "not Date"))
    }
}
