import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("ParameterStyle: keys, dates and where parameters go")
struct ParameterStyleTests {
    private func key(_ text: String, _ style: ParameterStyle.Keys) throws -> String {
        let json = try JSONFormat(keys: style).text(.object([text: 1]))
        return String(json.dropFirst(2).dropLast(4))
    }

    @Test(
        "A key gets the case that is asked for",
        arguments: [
            ("userID", "user_id", "user-id", "userID", "UserID"),
            ("oneTwoThree", "one_two_three", "one-two-three", "oneTwoThree", "OneTwoThree"),
            ("myURLProperty", "my_url_property", "my-url-property", "myURLProperty", "MyURLProperty"),
            ("URL", "url", "url", "URL", "URL"),
            ("userIDs", "user_i_ds", "user-i-ds", "userIDs", "UserIDs"),
            ("aB", "a_b", "a-b", "aB", "AB"),
            ("user_id", "user_id", "user_id", "userId", "User_id"),
            ("user-id", "user-id", "user-id", "userId", "User-id"),
            ("_id", "_id", "_id", "_id", "_id"),
            ("__a_b__", "__a_b__", "__a_b__", "__aB__", "__a_b__"),
            ("page2Size", "page2_size", "page2-size", "page2Size", "Page2Size"),
            ("a", "a", "a", "a", "A"),
            ("", "", "", "", ""),
            ("___", "___", "___", "___", "___"),
            ("größeÜber", "größe_über", "größe-über", "größeÜber", "GrößeÜber"),
        ])
    func keys(text: String, snake: String, kebab: String, camel: String, capitalized: String) throws {
        #expect(try key(text, .snakeCase) == snake)
        #expect(try key(text, .kebabCase) == kebab)
        #expect(try key(text, .camelCase) == camel)
        #expect(try key(text, .capitalized) == capitalized)
        #expect(try key(text, .asIs) == text)
        #expect(try key(text, .uppercased) == text.uppercased())
        #expect(try key(text, .lowercased) == text.lowercased())
        #expect(try key(text, .custom { "x-" + $0 }) == "x-" + text)
    }

    @Test("Styles reach nested keys, in forms and in JSON")
    func nestedKeys() throws {
        let value: ParameterValue = ["outerKey": ["innerKey": 1], "listKey": [["itemKey": 2]]]
        #expect(
            try JSONFormat(keys: .snakeCase).text(value)
                == #"{"list_key":[{"item_key":2}],"outer_key":{"inner_key":1}}"#)
        #expect(
            try FormFormat(nesting: .dots, keys: .kebabCase, allowed: "[]").text(value)
                == "list-key[].item-key=2&outer-key.inner-key=1")
    }

    @Test("Two keys that come out alike are an error, not a loss")
    func duplicates() throws {
        let value: ParameterValue = ["in": ["userId": 1, "user_id": 2]]
        for encode in [
            { try JSONFormat(keys: .snakeCase).text(value) }, { try FormFormat(keys: .snakeCase).text(value) },
        ] {
            let error = #expect(throws: ParameterEncodingError.self) { try encode() }
            #expect(error?.reason == .duplicateKey)
            #expect(error?.path == ["in", "user_id"])
        }
    }

    private func date(_ seconds: Double, _ style: ParameterStyle.Dates) throws -> String {
        try JSONFormat(dates: style).text(.date(Date(timeIntervalSince1970: seconds)))
    }

    @Test(
        "Dates have the calendar's own form",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_769_848_200, "2026-01-31T08:30:00Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] as [(Double, String)])
    func dates(seconds: Double, text: String) throws {
        #expect(try date(seconds, .iso8601) == "\"\(text)\"")
        #expect(try date(seconds, .iso8601WithMilliseconds) == "\"\(text.dropLast()).000Z\"")
        #expect(try date(seconds, .secondsSince1970) == String(Int64(seconds)))
        #expect(try date(seconds, .millisecondsSince1970) == String(Int64(seconds) * 1000))
    }

    @Test("Fractions are cut off, written, or rounded to milliseconds")
    func fractions() throws {
        #expect(try date(1.75, .iso8601) == "\"1970-01-01T00:00:01Z\"")
        #expect(try date(-0.25, .iso8601WithMilliseconds) == "\"1969-12-31T23:59:59.750Z\"")
        #expect(try date(1.75, .secondsSince1970) == "1.75")
        #expect(try date(0.0015, .millisecondsSince1970) == "2")
        #expect(try date(0.25, .formatted(Date.ISO8601FormatStyle())) == "\"1970-01-01T00:00:00Z\"")
    }

    @Test("A date outside the years 1 to 9999 is an error in RFC 3339", arguments: [-62_135_596_801, 253_402_300_800])
    func farDates(seconds: Double) {
        let error = #expect(throws: ParameterEncodingError.self) { try date(seconds, .iso8601) }
        #expect(error?.reason == .unrepresentableDate)
    }

    @Test("Dates agree with Foundation's calendar on random days")
    func calendar() throws {
        var random = Seeded(seed: 5)
        let style = Date.ISO8601FormatStyle()
        for _ in 0..<2000 {
            let seconds = Double(Int64.random(in: -12_219_292_800..<253_402_300_799, using: &random))
            let expected = Date(timeIntervalSince1970: seconds).formatted(style)
            #expect(try date(seconds, .iso8601) == "\"\(expected)\"", "seed \(random.seed)")
        }
    }

    @Test("The encoding says where the parameters go and of what type they are")
    func encodings() throws {
        let value: ParameterValue = ["a": [1]]
        #expect(try ParameterEncoding.query.encode(value) == .query("a%5B%5D=1"))
        #expect(
            try ParameterEncoding.form(FormFormat(arrays: .plain)).encode(value)
                == .body(Data("a=1".utf8), contentType: "application/x-www-form-urlencoded"))
        #expect(
            try ParameterEncoding.json.encode(value)
                == .body(Data(#"{"a":[1]}"#.utf8), contentType: "application/json"))
    }

    @Test("A type declared in another order gives the same bytes")
    func declarationOrder() throws {
        struct One: Encodable { var b = 1; var a = "x"; var c: Set = ["z", "y", "x"] }
        struct Two: Encodable { var c: Set = ["x", "y", "z"]; var a = "x"; var b = 1 }
        let encoder = ParameterEncoder()
        for encoding in [ParameterEncoding.query, .form, .json] {
            #expect(try encoding.encode(encoder.encode(One())) == encoding.encode(encoder.encode(Two())))
        }
        #expect(try JSONFormat().text(encoder.encode(One())) == #"{"a":"x","b":1,"c":["x","y","z"]}"#)
    }
}
