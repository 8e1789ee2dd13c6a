import PenstockCore
import PenstockTestSupport
import Testing

/// The links of a `Link` field (RFC 8288).
struct WebLinkTests {
    private func shape(_ values: String...) -> [String] {
        WebLink.links(in: values).map { link in
            ([link.target] + link.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: "|")
        }
    }

    @Test(
        "Links are read as RFC 8288 writes them",
        arguments: [
            (
                #"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#,
                ["http://example.com/TheBook/chapter2|rel=previous|title=previous chapter"]
            ),
            (#"</>; rel="http://example.net/foo""#, ["/|rel=http://example.net/foo"]),
            (##"</terms>; rel="copyright"; anchor="#foo""##, ["/terms|rel=copyright|anchor=#foo"]),
            (#"<a,b;c>; rel=next, <d>;rel=prev"#, ["a,b;c|rel=next", "d|rel=prev"]),
            (#"<a>;rel="x, <y>;z"; title="q\"u\\o", <b>"#, [#"a|rel=x, <y>;z|title=q"u\o"#, "b"]),
            (#"<a> ; REL = next ; foo ;  bar="" , <b>"#, ["a|rel=next|foo=|bar=", "b"]),
            ("<>", [""]), ("<a>; title=Next page ; rel=next", ["a|title=Next page|rel=next"]),
            ("<a>; rel=next prev, <b>; rel= \t x", ["a|rel=next prev", "b|rel=x"]),
            ("<a>; title*=UTF-8'de'n%c3%a4chste; x=UTF-8''%41", ["a|title*=nächste|x=UTF-8''%41"]),
            ("<a>; title*=UTF-8'de'%c3; y*=z", ["a|title*=UTF-8'de'%c3|y*=z"]),
        ])
    func grammar(field: String, links: [String]) {
        #expect(shape(field) == links)
    }

    @Test("The links of several lines come one after the other")
    func lines() {
        #expect(shape("<a>;rel=x", "", "<b>;rel=y,<c>") == ["a|rel=x", "b|rel=y", "c"])
    }

    @Test(
        "What is no link is left out up to the next comma, and the rest is read",
        arguments: [
            ("a; rel=next, <b>; rel=next", ["b|rel=next"]), ("<a; rel=next", []), (",,, <a>,,", ["a"]),
            ("<a> rel=next, <b>", ["a", "b"]), ("<a>; rel=\"never closed, <b>", ["a|rel=never closed, <b>"]),
            ("<a>;;;rel=next", ["a|rel=next"]), ("<a>;=next", ["a"]), ("<a>;rel=\"x\\", ["a|rel=x\\"]),
            ("<a>;rel=", ["a|rel="]), ("", []), (" \t ", []), ("<", []), (";", []), ("\"", []),
        ] as [(String, [String])])
    func malformed(field: String, links: [String]) {
        #expect(shape(field) == links)
    }

    @Test("The relations are those of the first `rel` alone, in lower case")
    func relations() {
        let link = WebLink.links(in: [#"<a>; rel="Next  start Last"; rel="prev""#])[0]
        #expect(link.relations == ["next", "start", "last"])
        #expect(link["REL"] == "Next  start Last")
        #expect(link["title"] == nil)
        #expect(WebLink.links(in: ["<a>"])[0].relations.isEmpty)
    }

    @Test(
        "Reading a field takes time in proportion to its length, whatever stands in it", .covers("H33"),
        arguments: LinearWork.units)
    func linear(unit: String) {
        for head in ["", "<a>;", "<a>;rel=\""] {
            LinearWork.expect("links", head: head, unit: unit, limit: 0.5) { _ = WebLink.links(in: [$0]) }
        }
    }
}
