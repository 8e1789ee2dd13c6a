import Testing

@testable import PenstockCore

@Suite("HTTPFields: ordered, case-insensitive, validated on the way in")
struct HTTPFieldsTests {
    @Test("Names are looked up without regard to ASCII case and kept as written")
    func caseInsensitive() {
        let fields: HTTPFields = ["ConTent-TYPE": "a/b"]
        #expect(fields[.contentType] == "a/b")
        #expect(fields["content-type"] == "a/b")
        #expect(fields.contains("CONTENT-TYPE"))
        #expect(fields.first?.name.text == "ConTent-TYPE")
        #expect(HTTPFieldName("a-b").hashValue == HTTPFieldName("A-B").hashValue)
    }

    @Test("Only ASCII letters fold: characters 0x20 apart are not the same name")
    func foldsLettersOnly() {
        #expect(HTTPFieldName("a@") != HTTPFieldName("a`"))
        #expect(HTTPFieldName("x[") != HTTPFieldName("x{"))
        #expect(HTTPFieldName("\u{212A}") != HTTPFieldName("k"))
    }

    @Test("Duplicates stay, in order")
    func duplicates() {
        var fields: HTTPFields = ["Set-Cookie": "a=1", "X": "y", "set-cookie": "b=2"]
        #expect(fields.values(of: .setCookie) == ["a=1", "b=2"])
        #expect(fields[.setCookie] == "a=1")
        #expect(fields.combined(.setCookie) == "a=1, b=2")
        #expect(fields.combined("Y") == nil)
        fields.append("c=3", for: .setCookie)
        #expect(fields.map(\.value) == ["a=1", "y", "b=2", "c=3"])
    }

    @Test("Setting replaces every field of the name in the place of the first")
    func setting() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3", "C": "4"]
        fields["a"] = "5"
        #expect(fields.map(\.value) == ["5", "2", "4"])
        fields["D"] = "6"
        #expect(fields.map(\.value) == ["5", "2", "4", "6"])
        fields["b"] = nil
        #expect(fields.map(\.value) == ["5", "4", "6"])
    }

    @Test("Leaving names out keeps the others, in order, and what was refused")
    func leavingOut() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3", "C": "4", "b": "5"]
        fields["D"] = "\n"
        let rest = fields.without(["a", "c"])
        #expect(rest.map { "\($0.name)\($0.value)" } == ["B2", "b5"])
        #expect(rest.rejected == fields.rejected)
        #expect(!rest.contains("A"))
        #expect(fields.without(["X"]) == fields)
    }

    @Test("Merging replaces whole names and keeps the rest")
    func merging() {
        var fields: HTTPFields = ["A": "1", "B": "2", "A": "3"]
        fields.merge(["a": "4", "C": "5", "a": "6"])
        #expect(fields.map(\.value) == ["2", "4", "5", "6"])
        fields.merge([:])
        #expect(fields.count == 4)
    }

    @Test(
        "A value with a control character is not stored but remembered",
        arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\u{0}", "\u{1}", "\u{7F}", "a\u{1B}[0m", "\r\n", "a\n"])
    func controlCharacters(value: String) {
        var fields: HTTPFields = ["X-A": "old"]
        fields["X-A"] = value
        fields.append(value, for: "X-B")
        #expect(fields.map(\.value) == ["old"])
        #expect(fields.rejected == ["\"X-A\"", "\"X-B\""])
    }

    @Test(
        "A name that is no token is not stored but remembered, printable",
        arguments: ["", " ", "a b", "a:", "a\r\n", "a\u{0}", "é", "a/b", "a\"", "(a)", "a,b", "{a}", ":path"])
    func badNames(name: String) {
        let fields = HTTPFields([HTTPField(name: HTTPFieldName(name), value: "v")])
        #expect(fields.isEmpty)
        #expect(fields.rejected.count == 1)
        #expect(fields.rejected.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
    }

    @Test("A rejected field stays rejected through append and merge")
    func rejectionTravels() {
        let bad: HTTPFields = ["A": "x\ny"]
        var merged: HTTPFields = ["B": "1"]
        merged.merge(bad)
        #expect(merged.rejected == ["\"A\""])
        #expect(merged["B"] == "1")
        #expect(merged != ["B": "1"])
    }

    @Test(
        "Space and tabs around a value go, those within stay",
        arguments: [
            ("  a ", "a"), ("\ta\t", "a"), ("a b\tc", "a b\tc"), ("", ""), ("   ", ""), (" é ", "é"),
            ("\u{A0}a", "\u{A0}a"), (" \u{301}", "\u{301}"),
        ])
    func trimming(value: String, stored: String) {
        let fields: HTTPFields = ["A": value]
        #expect(fields["A"].map { Array($0.utf8) } == Array(stored.utf8))
    }

    @Test("Equality needs the same order and ignores the case of names")
    func equality() {
        #expect(HTTPFields([HTTPField(name: "A", value: "1")]) == ["a": "1"])
        #expect(["A": "1", "B": "2"] as HTTPFields != ["B": "2", "A": "1"])

    }
}
