import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("S3.3", "S3.4")) struct ParameterRuleTests {
    struct Search: Sendable {
        var text = "tap"
        var page = 1
        var tags = ["a"]
        var sort = "price"
        var phone = "13800000000"
        var coupon: String?
        var limit: Int?
    }

    static let rules: ParameterRules<Search> = [
        .notEmpty("text", \.text),
        .range("page", \.page, 1...100),
        .length("text", \.text, 2...20),
        .notEmpty("tags", \.tags),
        .oneOf("sort", \.sort, ["price", "name"]),
        .matches("phone", \.phone, "must be 11 digits") { /[0-9]{11}/ },
        .length("coupon", \.coupon, 4...4),
        .range("limit", \.limit, 1...50),
        .custom("coupon", "must not begin with a digit") { $0.coupon?.first?.isNumber != true },
    ]

    @Test(
        arguments: [
            (Search(text: ""), "text", "must not be empty"),
            (Search(text: "x"), "text", "must be 2 to 20 characters long"),
            (Search(text: String(repeating: "x", count: 21)), "text", "must be 2 to 20 characters long"),
            (Search(page: 0), "page", "must be from 1 to 100"),
            (Search(page: 101), "page", "must be from 1 to 100"),
            (Search(tags: []), "tags", "must not be empty"),
            (Search(sort: "hunter2"), "sort", "must be one of: price, name"),
            (Search(phone: "13800000000\n"), "phone", "must be 11 digits"),
            (Search(coupon: "abc"), "coupon", "must be 4 characters long, if given"),
            (Search(coupon: "1abc"), "coupon", "must not begin with a digit"),
            (Search(limit: 51), "limit", "must be from 1 to 50, if given"),
            (Search(limit: 0), "limit", "must be from 1 to 50, if given"),
            (Search(coupon: "abcde"), "coupon", "must be 4 characters long, if given"),
            (Search(coupon: ""), "coupon", "must be 4 characters long, if given"),
            (Search(text: "", page: 0, tags: []), "text", "must not be empty"),
        ])
    func `a broken rule names its field and what it must be`(search: Search, field: String, reason: String) {
        let failure = error { () throws(APIError) in try Self.rules.check(search) }
        #expect(failure?.kind == .invalidParameter(field: field, reason: reason))
        #expect(failure?.stage == .parameters)
    }

    @Test func `parameters that keep the rules pass, with optional ones left out or given`() throws {
        try Self.rules.check(Search())
        try Self.rules.check(Search(coupon: "abcd", limit: 50))
        try Self.rules.check(Search(text: "ab", page: 100, sort: "name", limit: 1))
        try Self.rules.check(Search(text: String(repeating: "x", count: 20), page: 1))
        try ParameterRules<Search>().check(Search(text: ""))
    }

    @Test func `length counts what a person counts`() throws {
        let rule: ParameterRule<Search> = .length("text", \.text, 1...2)
        try rule.check(Search(text: "👨‍👩‍👧‍👦é"))
    }

    @Test func `a required optional must be there`() {
        let rule: ParameterRule<Search> = .required("coupon", \.coupon)
        #expect(
            kind { () throws(APIError) in try rule.check(Search()) }
                == .invalidParameter(field: "coupon", reason: "is required"))
        #expect(kind { () throws(APIError) in try rule.check(Search(coupon: "")) } == nil)
    }

    enum Sort: String, Sendable { case newest = "new_first", price }

    struct Listing: Sendable {
        var sort: Sort?
        var order = Sort.price
    }

    @Test func `a choice is told by the values that are sent, and an optional one may be left out`() throws {
        let rules: ParameterRules<Listing> = [
            .oneOf("sort", \.sort, [.newest, .price]), .oneOf("order", \.order, [.newest, .price]),
        ]
        #expect(
            rules.documentation == """
                sort: must be one of: new_first, price, if given
                order: must be one of: new_first, price
                """)
        try rules.check(Listing())
        try rules.check(Listing(sort: .newest, order: .newest))
        let narrow: ParameterRule<Listing> = .oneOf("sort", \.sort, [.price])
        try narrow.check(Listing())
        #expect(
            kind { () throws(APIError) in try narrow.check(Listing(sort: .newest)) }
                == .invalidParameter(field: "sort", reason: "must be one of: price, if given"))
    }

    @Test func `the rules can be listed, and written as text in a stable order`() {
        #expect(Self.rules.list.count == 9)
        #expect(Self.rules.fields == ["text", "page", "tags", "sort", "phone", "coupon", "limit"])
        #expect(
            Self.rules.documentation == """
                text: must not be empty; must be 2 to 20 characters long
                page: must be from 1 to 100
                tags: must not be empty
                sort: must be one of: price, name
                phone: must be 11 digits
                coupon: must be 4 characters long, if given; must not begin with a digit
                limit: must be from 1 to 50, if given
                """)
        #expect(ParameterRules<Search>().documentation.isEmpty)
    }
}
