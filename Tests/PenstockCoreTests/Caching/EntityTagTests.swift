import Testing

@testable import PenstockCore

@Suite struct EntityTagTests {
    /// A text, what is compared of it, and whether it is weak; `nil` for what is no tag.
    static let table: [(String, String?, Bool)] = [
        ("\"a\"", "\"a\"", false),
        ("W/\"a\"", "\"a\"", true),
        ("\"\"", "\"\"", false),
        ("W/\"\"", "\"\"", true),
        ("\"a,b\"", "\"a,b\"", false),
        ("\"é\"", "\"é\"", false),
        // The edges of the bytes that a tag may have.
        ("\"!\"", "\"!\"", false),
        ("\"#\"", "\"#\"", false),
        ("\"~\"", "\"~\"", false),
        ("\"\u{80}\"", "\"\u{80}\"", false),
        ("\" \"", nil, false),
        ("\"\u{1F}\"", nil, false),
        ("\"\u{7F}\"", nil, false),
        ("\"a\"b\"", nil, false),
        ("\"", nil, false),
        ("\"a", nil, false),
        ("a\"", nil, false),
        ("w/\"a\"", nil, false),
        ("W/", nil, false),
        ("", nil, false),
        // Without quotes: opaque, and weak.
        ("0", "0", true),
        ("W/0", "0", true),
        ("5f-1c2d;gzip", "5f-1c2d;gzip", true),
        ("*a", "*a", true),
        ("*", nil, false),
        ("W/*", nil, false),
        ("a b", nil, false),
        ("a,b", nil, false),
    ]

    @Test(arguments: table) func `a tag is read with its quotes or without`(
        text: String, opaque: String?, isWeak: Bool
    ) {
        let tag = EntityTag(text)
        #expect(tag?.opaque == opaque)
        #expect(tag?.isWeak ?? false == isWeak)
        #expect(tag.map(\.text) == opaque.map { _ in text })
    }

    @Test func `a response has the tag of its one line`() {
        var fields: HTTPFields = ["ETag": "\"a\""]
        #expect(EntityTag.of(fields)?.text == "\"a\"")
        fields.append("\"a\"", for: "ETag")
        #expect(EntityTag.of(fields) == nil && EntityTag.of([:]) == nil)
        #expect(EntityTag.list(["\"a,b\", x y", "W/\"c\", *"]).map(\.text) == ["\"a,b\"", "W/\"c\""])
    }

    @Test func `tags are the same where their bytes are`() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        for form in ["\"?\"", "W/\"?\"", "?"] {
            let tags = try [one, two].map { try #require(EntityTag(form.replacing("?", with: $0))) }
            #expect(!tags[0].matchesStrongly(tags[1]) && !tags[0].matchesWeakly(tags[1]) && tags[0] != tags[1])
            #expect(Set(tags + tags).count == 2 && tags[0].matchesWeakly(tags[0]))
        }
    }

    @Test func `weak and unquoted tags match weakly and never strongly`() throws {
        let texts = ["\"0\"", "W/\"0\"", "0", "W/0"]
        let tags = try texts.map { try #require(EntityTag($0)) }
        let weakly = tags.map { left in tags.map { left.matchesWeakly($0) } }
        let strongly = tags.map { left in tags.map { left.matchesStrongly($0) } }
        #expect(
            weakly == [
                [true, true, false, false], [true, true, false, false], [false, false, true, true],
                [false, false, true, true],
            ])
        #expect(strongly.map { $0.filter(\.self).count } == [1, 0, 0, 0])
    }
}
