import Foundation
import PenstockCore
import Testing

@Suite struct PublicSuffixTests {
    static let text = """
        // A comment, and below it an empty line

        com
        uk
        co.uk
        example // what follows a space is none of it
        *.ck
        !www.ck
        *.ward.example
        !town.ward.example
        CASE.example
        公司.cn
        github.io
        """

    static let domains: [(String, Bool)] = [
        ("com", true), ("a.com", false), ("co.uk", true), ("uk", true), ("shop.co.uk", false), ("xco.uk", false),
        ("ck", true), ("anything.ck", true), ("a.anything.ck", false), ("www.ck", false), ("a.www.ck", false),
        ("ward.example", true), ("a.ward.example", true), ("b.a.ward.example", false), ("town.ward.example", false),
        ("award.example", false), ("case.example", true), ("xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false),
        ("github.io", true), ("me.github.io", false), ("io", true), ("unknown", true), ("a.unknown", false),
        ("comment", true), ("a.comment", false),
    ]

    @Test(arguments: domains)
    func `a domain is public by a rule, by a wildcard without an exception, or as a single label`(
        domain: String, isPublic: Bool
    ) throws {
        #expect(try #require(PublicSuffixList(Self.text)).isPublicSuffix(domain) == isPublic)
    }

    static let hosts: [(String, String?)] = [
        ("a.b.shop.co.uk", "shop.co.uk"), ("shop.co.uk", "shop.co.uk"), ("co.uk", nil), ("uk", nil),
        ("a.b.c.ck", "b.c.ck"), ("c.ck", nil), ("www.ck", "www.ck"), ("a.www.ck", "www.ck"), ("localhost", nil),
        ("a.localhost", "a.localhost"), ("town.ward.example", "town.ward.example"),
        ("a.town.ward.example", "town.ward.example"), ("c.b.a.ward.example", "b.a.ward.example"), ("ward.example", nil),
        ("a.shop.co.uk.", "shop.co.uk."), ("co.uk.", nil), ("uk.", nil),
        ("COM", nil), ("WwW.shop.CO.UK", "shop.co.uk"), ("A.B.ck", "a.b.ck"), ("WWW.CK", "www.ck"), ("", nil),
        (".com", nil), (".shop.co.uk", nil), (".unknown", nil), (".", nil),
    ]

    @Test(arguments: hosts) func `what somebody has registered is the public suffix and one label more`(
        host: String, registered: String?
    ) throws {
        #expect(try #require(PublicSuffixList(Self.text)).registrableDomain(of: host) == registered)
    }

    @Test(arguments: ["", "\n\n", "// only a comment\n", "*.ck\n"]) func `a text without a plain rule is no list`(
        text: String
    ) {
        #expect(PublicSuffixList(text)?.description == nil)
    }

    @Test func `a list tells how many rules it has`() {
        #expect(PublicSuffixList(Self.text)?.description == "11 public suffixes")
    }
}
