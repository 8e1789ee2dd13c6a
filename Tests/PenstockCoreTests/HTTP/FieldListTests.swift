import Testing

@testable import PenstockCore

/// Lists in fields (RFC 9110 §5.6.1), and the quoted strings in them (§5.6.4).
@Suite struct FieldListTests {
    static let lists: [(line: String, members: [String])] = [
        ("", []), (",", []), (" , \t,", []), ("a", ["a"]), ("a,b", ["a", "b"]), (" a ,\tb\t", ["a", "b"]),
        (",a,, b ,", ["a", "b"]), ("a b,c", ["a b", "c"]), ("a;b=c, d", ["a;b=c", "d"]),
        // A comma between quotes separates nothing, before the first quote and behind the last it does.
        ("\"a,b\"", ["\"a,b\""]), ("\"a,b\",c", ["\"a,b\"", "c"]), ("a=\"b,c\";d, e", ["a=\"b,c\";d", "e"]),
        ("\"a,b\", \"c,d\",e", ["\"a,b\"", "\"c,d\"", "e"]), ("a\", \"b", ["a\", \"b"]), ("\"\",a", ["\"\"", "a"]),
        // An escaped quote closes nothing, one behind an escaped backslash does.
        ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]), ("\"a\\\\\",b", ["\"a\\\\\"", "b"]),
        ("\\\"a,b\",c", ["\\\"a,b\"", "c"]),
        // A quote that is never closed quotes nothing.
        ("\"a, b", ["\"a", "b"]), ("a\"b, c", ["a\"b", "c"]), ("\"a\", \"b, c", ["\"a\"", "\"b", "c"]),
        ("\"a\\\", b", ["\"a\\\"", "b"]), ("\"", ["\""]),
        // A delimiter is one with a combining mark behind it as well.
        ("a,\u{301}b", ["a", "\u{301}b"]), ("\"\u{301},b\",c", ["\"\u{301},b\"", "c"]),
        ("!a!,a", ["!a!", "a"]), ("a\n,b", ["a\n", "b"]),
    ]

    @Test(arguments: lists) func `a list has what stands between its commas`(line: String, members: [String]) {
        #expect(FieldList.members(line).map { Array($0.utf8) } == members.map { Array($0.utf8) })
    }

    @Test func `the members of several lines follow one another`() {
        #expect(FieldList.members(["a, b", "", "\"c", "d\", e"]) == ["a", "b", "\"c", "d\"", "e"])
        #expect(FieldList.members([] as [String]).isEmpty)
    }

    static let strings: [(text: String, content: String?)] = [
        ("\"\"", ""), ("\"a\"", "a"), ("\"a b,c\"", "a b,c"), ("\"a\\\"b\"", "a\"b"), ("\"\\\\\"", "\\"),
        ("\"\\\"\\\"\"", "\"\""), ("\"\\\\\\\\a\"", "\\\\a"), ("\"\\a\"", "a"), ("\"\u{301}é\"", "\u{301}é"),
        ("", nil), ("a", nil), ("\"", nil), ("\"a", nil), ("a\"", nil), ("\"a\"b", nil), ("b\"a\"", nil),
        ("\"a\"b\"", nil), ("\"a\\\"", nil), (" \"a\"", nil), ("\"a\" ", nil), ("'a'", nil),
    ]

    @Test(arguments: strings) func `a quoted string begins and ends with its quotes`(text: String, content: String?) {
        #expect(FieldList.unquoted(text[...]).map { Array($0.utf8) } == content.map { Array($0.utf8) })
    }

    static let spaces: [(text: String, rest: String)] = [
        ("", ""), (" ", ""), (" \t ", ""), ("a", "a"), (" a", "a"), ("a\t", "a"), ("\t a b \t", "a b"), ("!a!", "!a!"),
        ("\na\n", "\na\n"), ("\u{8}a", "\u{8}a"), (" \u{301}", "\u{301}"),
    ]

    @Test(arguments: spaces) func `white space is spaces and tabs`(text: String, rest: String) {
        #expect(Array(FieldList.trimmed(text[...].utf8)) == Array(rest.utf8))
        #expect(Array(HTTPSyntax.trimmed(text).utf8) == Array(rest.utf8))
    }
}
