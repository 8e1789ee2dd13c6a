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

    @Test("A field of a literal without a value is left out, and the others stay in their order")
    func left() {
        let token: String? = nil
        let fields: HTTPFields = ["X-A": "1", "X-Token": token, "X-B": "", "X-A": "2"]
        #expect(fields.map(\.name.text) == ["X-A", "X-B", "X-A"])
        #expect(!fields.contains("X-Token"))
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
        #expect(["A": "1"] as HTTPFields != ["A": "2"])
    }

    @Test("Names that agree in their length and their ends are told apart")
    func similarNames() {
        #expect(HTTPFieldName("a-b-c") != HTTPFieldName("axbyc"))
        #expect(HTTPFieldName("X-Limit") != HTTPFieldName("X-Lemit"))
        #expect(HTTPFieldName("") == HTTPFieldName("") && HTTPFieldName("") != HTTPFieldName("a"))
        let fields: HTTPFields = ["a-b-c": "1"]
        #expect(fields["axbyc"] == nil && !fields.contains("axbyc") && fields.values(of: "axbyc").isEmpty)
    }

    /// So many that each bit of the filter is that of several.
    static let names = (0..<1_000).map { HTTPFieldName("a\($0)") }

    @Test("Every name is found where it is, and nowhere else")
    func everyName() {
        for (index, name) in Self.names.enumerated() {
            let fields: HTTPFields = ["Other": "", name: "v"]
            let next = Self.names[(index + 1) % Self.names.count]
            #expect(fields[name] == "v" && fields.contains(name) && fields.values(of: name) == ["v"], "\(name)")
            #expect(fields[next] == nil && !fields.contains(next) && fields.values(of: next) == [], "\(next)")
            #expect(fields.first(of: ["x", name]) == name && fields.first(of: ["x", next]) == nil, "\(name)")
            #expect(fields.without(["x", name]).map(\.name) == ["Other"], "\(name)")
            var changed = fields
            changed.merge([name: "w"])
            #expect(changed.map(\.value) == ["", "w"], "\(name)")
            changed[name] = "z"
            #expect(changed.map(\.value) == ["", "z"], "\(name)")
            changed.set(name, toValid: "y")
            #expect(changed.map(\.value) == ["", "y"], "\(name)")
            changed.remove(name)
            #expect(changed.map(\.name) == ["Other"] && !changed.contains(name), "\(name)")
        }
    }

    @Test("A name is among others whether those are few or many", arguments: [1, 2, 31, 32, 33, 500])
    func setsOfNames(count: Int) {
        let names = HTTPFieldNames(Array(Self.names.prefix(count)))
        for (index, name) in Self.names.enumerated() { #expect(names.contains(name) == (index < count), "\(name)") }
        let more = names + ["Other"]
        #expect(more.contains("other") && more.contains("A0") && !more.contains("Another"))
        #expect((names + []).contains("A0") && !(names + []).contains("Other"))
    }

    @Test("The first field of several names is the first in the order of the fields")
    func firstOfNames() {
        let fields: HTTPFields = ["A": "1", "B": "2", "C": "3"]
        #expect(fields.first(of: ["c", "b"]) == "B")
        #expect(fields.first(of: []) == nil)
    }

    @Test("A field alone can be left out, and one behind others")
    func leavingOutOne() {
        #expect((["A": "1"] as HTTPFields).without(["a"]).isEmpty)
        let fields: HTTPFields = ["A": "1", "B": "2", "C": "3"]
        #expect(fields.without(["c"]).map(\.value) == ["1", "2"])
        #expect(fields.without(["b"]).map(\.value) == ["1", "3"])
    }

    @Test("What is appended is found, and what was rejected of both stays so")
    func appending() {
        var fields: HTTPFields = ["A": "1", "B": "\n"]
        fields.append(contentsOf: ["C": "2", "D": "\n"])
        #expect(fields["C"] == "2" && fields.contains("c") && fields.count == 2)
        #expect(fields.rejected == ["\"B\"", "\"D\""])
        fields.append(contentsOf: [:])
        #expect(fields.rejected == ["\"B\"", "\"D\""])
    }

    @Test("A replaced field stands where the first of its name stood, also as the last")
    func replacing() {
        var fields: HTTPFields = ["A": "1", "B": "2", "b": "3"]
        fields["B"] = "4"
        #expect(fields.map(\.value) == ["1", "4"])
        fields["A"] = " 5 "
        #expect(fields.map(\.value) == ["5", "4"])
        fields.set("A", toValid: "6")
        #expect(fields.map(\.value) == ["4", "6"])
    }

    @Test("Fields are written alike where every byte is the same")
    func writtenAlike() {
        let fields: HTTPFields = ["A": "1", "B": "2"]
        let copy = fields
        #expect(fields.isWritten(as: fields) && fields.isWritten(as: copy))
        #expect(fields.isWritten(as: ["A": "1", "B": "2"]))
        for other in [["a": "1", "B": "2"], ["A": "1", "B": "3"], ["B": "2", "A": "1"], ["A": "1"], [:]] as [HTTPFields]
        {
            #expect(!fields.isWritten(as: other) && !other.isWritten(as: fields))
        }
        #expect(!(["A": "\u{E9}"] as HTTPFields).isWritten(as: ["A": "e\u{301}"]))
        #expect(HTTPFields().isWritten(as: [:]))
    }

    @Test("A value may hold every byte but control characters, of which it may hold a tab")
    func everyByte() {
        for byte in UInt8(0)..<128 {
            let fields: HTTPFields = ["A": "a" + String(decoding: [byte], as: UTF8.self) + "a"]
            let isFine = (0x20...0x7E).contains(byte) || byte == 0x09
            #expect(fields.isEmpty != isFine && fields.rejected.isEmpty == isFine, "byte \(byte)")
        }
        #expect((["A": "\u{80}"] as HTTPFields).count == 1)
    }

    @Test("Bytes of a head are UTF-8 where that is a text that somebody writes, else a character each")
    func headText() {
        func text(_ bytes: [UInt8], of name: HTTPFieldName = "X") -> String {
            bytes.withUnsafeBytes { HTTPSyntax.value($0, of: name) }
        }
        let most = "a" + String(repeating: "\u{301}", count: 128)
        #expect(text(Array((most + most).utf8)).isWritten(as: most + most))
        #expect(text([0x61, 0xC3]) == "a\u{C3}")
        let more = Array((most + "\u{301}").utf8)
        #expect(text(more).unicodeScalars.map(\.value) == more.map { UInt32($0) })
        // Where it leads is the same as if it had been read.
        #expect(text(more, of: .location) == "a" + String(repeating: "%CC%81", count: 129))
    }

    @Test("Only the letters of ASCII have small ones")
    func smallLetters() {
        for byte in UInt8.min ... .max {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            #expect(HTTPSyntax.lowercased(byte) == (isCapital ? byte + 0x20 : byte), "byte \(byte)")
        }
    }
}

/// Edits of headers, one after the other.
@Suite struct HeaderEditsTests {
    private func edited(_ edits: HeaderEdits) -> String {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        edits.apply(to: &fields)
        return fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    @Test("A later edit sees what an earlier one made")
    func order() {
        #expect(edited(HeaderEdits()) == "A=1 B=2 a=3")
        #expect(edited(["a": "4", "C": "5"]) == "a=4 B=2 C=5")
        #expect(edited(HeaderEdits().adding("a", "4")) == "A=1 B=2 a=3 a=4")
        #expect(edited(HeaderEdits().removing("a")) == "B=2")
        #expect(edited(HeaderEdits().adding("C", "4").setting("c", "5")) == "A=1 B=2 a=3 c=5")
        #expect(edited(HeaderEdits().removing("a").adding("a", "4")) == "B=2 a=4")
        #expect(edited(HeaderEdits().setting("a", "4").followed(by: HeaderEdits().removing("A"))) == "B=2")
        #expect(edited(HeaderEdits().removing("A").followed(by: ["a": "4"])) == "B=2 a=4")
    }

    @Test("Edits are none only where nothing is edited")
    func none() {
        #expect(HeaderEdits().isEmpty && ([:] as HeaderEdits).isEmpty)
        #expect(!HeaderEdits().removing("a").isEmpty && !(["a": "1"] as HeaderEdits).isEmpty)
        #expect(HeaderEdits().removing("A") == HeaderEdits().removing("a"))
        #expect(HeaderEdits().adding("A", "1") != HeaderEdits().setting("A", "1"))
    }
}

/// The name under which requests are made.
@Suite struct UserAgentTests {
    private static let own = " Penstock/\(PenstockVersion.current)"

    static let names: [(name: String, version: String?, text: String)] = [
        ("Shop", "2.1", "Shop/2.1" + own), ("Shop", nil, "Shop" + own), ("My Shop", "2 b", "My-Shop/2-b" + own),
        ("a_Z-0.9", "az_AZ-09.", "a_Z-0.9/az_AZ-09." + own), ("a/b", "1/2", "a-b/1-2" + own), ("@[`{:!~", nil, own),
        ("@A[", "`z{", "-A-/-z-" + own), ("/0:", nil, "-0-" + own), ("é", "1", own), ("店", "1", own), ("", "1", own),
        ("-.-", "1", own), ("Shop", "", "Shop" + own), ("Shop", ".", "Shop" + own), ("Shop", "é1", "Shop/--1" + own),
        ("_", "_", "_/_" + own),
    ]

    @Test(arguments: names) func `an app is named by what a token may hold`(
        name: String, version: String?, text: String
    ) {
        let made = UserAgent.text(name: name, version: version)
        #expect(made == (text == Self.own ? String(text.dropFirst()) : text))
        #expect(HTTPSyntax.isFieldValue(made))
    }
}
