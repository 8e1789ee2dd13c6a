import Testing

@testable import PenstockCore

/// Structured Fields (RFC 9651): what is read, and the one form in which it is written.
@Suite struct StructuredFieldFormTests {
    static let items: [(text: String, form: String?)] = [
        // Numbers: §3.3.1 and §3.3.2.
        ("0", "0"), ("9", "9"), ("-9", "-9"), ("007", "7"), ("-0", "0"), ("--1", nil), ("-", nil), ("+1", nil),
        ("999999999999999", "999999999999999"), ("-999999999999999", "-999999999999999"), ("1000000000000000", nil),
        ("0000000000000001", nil), ("999999999999.999", "999999999999.999"), ("1000000000000.0", nil), ("1.", nil),
        (".5", nil), ("1.5", "1.5"), ("1.50", "1.5"), ("1.500", "1.5"), ("1.05", "1.05"), ("1.0", "1.0"),
        ("1.00", "1.0"), ("1.000", "1.0"), ("1.0000", nil), ("0.5", "0.5"), ("-0.5", "-0.5"), ("-0.0", "0.0"),
        ("-5.0", "-5.0"), ("1.1.1", nil), ("1:", nil), ("1/", nil), ("1.:", nil), ("@1", "@1"), ("@-1", "@-1"),
        ("@1.0", nil), ("@", nil), ("@a", nil),
        // Tokens: §3.3.4.
        ("a", "a"), ("z", "z"), ("A", "A"), ("Z", "Z"), ("*", "*"), ("a0!#$%&'*+-.^_`|~:/9", "a0!#$%&'*+-.^_`|~:/9"),
        ("!a", nil), ("_a", nil), ("{", nil), ("[", nil), ("a{", nil), ("a[", nil), ("a@", nil), ("a\"", nil),
        // White space around an item is spaces alone: §4.2.
        (" a", "a"), ("  a  ", "a"), ("\ta", nil), ("a\t", nil), ("a b", nil), ("", nil), (" ", nil),
        // Strings: §3.3.3.
        ("\"\"", "\"\""), ("\" ~\"", "\" ~\""), ("\"\u{7F}\"", nil), ("\"\u{1F}\"", nil), ("\"\t\"", nil),
        ("\"\\\\\\\"\"", "\"\\\\\\\"\""), ("\"\\", nil), ("\"\\n\"", nil), ("\"a\"b", nil), ("\"é\"", nil),
        // Byte sequences and Booleans: §3.3.5 and §3.3.6.
        ("::", "::"), (":YQ:", ":YQ==:"), (":YQ==:", ":YQ==:"), (":YQ=:", ":YQ==:"), (":YWI=:", ":YWI=:"),
        (":YWJjYQ:", ":YWJjYQ==:"),
        (":YWJjYWJj:", ":YWJjYWJj:"), (":YWJj====:", nil), (":====:", nil), (":YQ==YQ==:", nil), (":Y=Q=:", nil),
        (":YQ~~:", nil),
        ("%\"%22%25\"", "%\"%22%25\""), (":YWI:", ":YWI=:"), (":YWJj:", ":YWJj:"), (":Y:", nil), (":YQ", nil),
        (":YQ===:", nil), (":YWJj=:", nil), ("?0", "?0"), ("?1", "?1"), ("?2", nil), ("?01", nil), ("?", nil),
        // Display strings: §3.3.8.
        ("%\"%00%09%0f%10%1f%20%7e%7f\"", "%\"%00%09%0f%10%1f ~%7f\""), ("%\"%ff\"", nil),
        ("%\"%c3%a9\"", "%\"%c3%a9\""),
        ("%\"%af\"", nil), ("%\"%6a%6A\"", nil), ("%\"%g0\"", nil), ("%\"%0g\"", nil), ("%\"%0\"", nil), ("%\"", nil),
        ("%\"\u{1F}\"", nil), ("%\" ~\"", "%\" ~\""), ("%a\"", nil),
        // Parameters: §3.1.2.
        ("a;b", "a;b"), ("a;b=?1", "a;b"), ("a;b=?0", "a;b=?0"), ("a;  b=1", "a;b=1"), ("a;\tb", nil), ("a ;b", nil),
        ("a;b=1;c=2;b=3", "a;b=3;c=2"), ("a;b;b=?0;b", "a;b"), ("a;b=1:2", nil), ("a;b=", nil), ("a;", nil),
        ("a;*=1;z9_-.*=2", "a;*=1;z9_-.*=2"), ("a;B", nil), ("a;9", nil), ("a;{", nil), ("a;b{", nil), ("a;b:", nil),
        ("a;b/", nil), ("a;`", nil), ("a;b=(c)", nil),
    ]

    @Test(arguments: items) func `an item has one form`(text: String, form: String?) {
        #expect((try? StructuredField.item(text)) == form)
        // In a list of one member it is the same.
        guard let first = text.utf8.first, let last = text.utf8.last, !FieldList.isSpace(first),
            !FieldList.isSpace(last)
        else { return }
        #expect((try? StructuredField.list(text)) == form.map { [$0] })
        #expect((try? StructuredField.dictionary("k=" + text).map(\.value)) == form.map { [$0] })
    }

    static let lists: [(text: String, members: [String]?)] = [
        ("", []), ("  ", []), ("a", ["a"]), (" a , b ", ["a", "b"]), ("a,b\t,\tc", ["a", "b", "c"]), ("\ta", nil),
        ("a,", nil), ("a, ", nil), (",a", nil), (",", nil), ("a,,b", nil), ("a b", nil), ("a\n,b", nil), ("a,\nb", nil),
        ("()", ["()"]), ("( a  b )", ["(a b)"]), ("(a b);c;d=1, e", ["(a b);c;d=1", "e"]), ("(a;b c)", ["(a;b c)"]),
        ("(a", nil), ("(a ", nil), ("(", nil), ("(a,b)", nil), ("(a\tb)", nil), ("(\ta)", nil), ("(\"a\"\"b\")", nil),
        ("((a))", nil), ("a)", nil), ("(a))", nil),
    ]

    @Test(arguments: lists) func `a list has members between commas`(text: String, members: [String]?) {
        #expect((try? StructuredField.list(text)) == members)
    }

    static let dictionaries: [(text: String, members: String?)] = [
        ("", ""), ("a", "a=?1"), ("a;b", "a=?1;b"), ("a=?0", "a=?0"), ("a=1, b=(c d);e , f", "a=1, b=(c d);e, f=?1"),
        ("a=1,b=2,c=3,b=4,a=5", "a=5, b=4, c=3"), ("a=1,b=2,a", "a=?1, b=2"), ("a=", nil), ("=1", nil), ("a=1,", nil),
        ("a=1 b=2", nil), ("A=1", nil), ("1=a", nil), ("{=1", nil), ("a{=1", nil), ("a:=1", nil), ("a =1", nil),
        ("a= 1", nil), ("*=1", "*=1"), ("z_-.*0=1", "z_-.*0=1"),
    ]

    @Test(arguments: dictionaries) func `of two members with one key the last counts, in the place of the first`(
        text: String, members: String?
    ) {
        let read = try? StructuredField.dictionary(text)
        #expect(read?.map { "\($0.key)=\($0.value)" }.joined(separator: ", ") == members)
    }
}
