import PenstockCore
import PenstockTestSupport
import Testing

@Suite struct ValidatorTests {
    struct User: Hashable, Sendable {
        var id: String
        var roles: [String]
    }

    static let complete: Validator<User> = .all(
        .rule("the user has an id") { !$0.id.isEmpty }, .nonEmpty("the user has a role", \.roles))

    private func broken<Value>(_ validator: Validator<Value>, _ value: Value) -> String? {
        let failure = error { () throws(APIError) in try validator.validate(value) }
        guard let failure else { return nil }
        guard case .validation(let rule) = failure.kind, failure.stage == .validation else {
            return "other: \(failure)"
        }
        return rule
    }

    @Test(.covers("S4.11")) func `a user without an id fails the rule by its name`() {
        #expect(broken(Self.complete, User(id: "1", roles: ["buyer"])) == nil)
        #expect(broken(Self.complete, User(id: "", roles: [])) == "the user has an id")
        #expect(broken(Self.complete, User(id: "1", roles: [])) == "the user has a role")
    }

    @Test(.covers("S4.10")) func `an empty list passes unless non-empty is asked for`() throws {
        let list = try decode(#"{"retcode":0,"data":[]}"#, as: ResponseDecoding<[Product]>.json).value
        #expect(broken(.all([]), list) == nil)
        #expect(broken(.nonEmpty, list) == "not empty")
        #expect(broken(.nonEmpty, [Product(id: 1, name: "")]) == nil)
        #expect(broken(.nonEmpty("has products"), list) == "has products")
    }

    @Test(.covers("S4.9")) func `rules compose`() {
        let even: Validator<Int> = .rule("even") { $0.isMultiple(of: 2) }
        let small: Validator<Int> = .rule("small") { $0 < 10 }
        #expect(broken(even.and(small), 12) == "small")
        #expect(broken(.all(even, small), 11) == "even")
        #expect(broken(.any(nil, even, small), 9) == nil)
        #expect(broken(.any(nil, even, small), 11) == "even, or small")
        #expect(broken(.any("fits", even, small), 11) == "fits")
        #expect(broken(.none, 7) == nil)
        #expect(broken(.any(), 1) == "")
        #expect(broken(.not(even), 2) == "not: even")
        #expect(broken(.not(even, name: "odd"), 2) == "odd")
        #expect(broken(.not(even), 1) == nil)
        #expect(broken(even.on(\User.roles.count), User(id: "", roles: ["a"])) == "even")
    }

    @Test(.covers("S4.9")) func `a rule that throws is broken, and its error is kept`() {
        struct Odd: Error {}
        let rule: Validator<Int> = .rule("checkable") { _ in throw Odd() }
        for validator in [rule, .all(rule), .not(rule), rule.and(rule)] {
            let failure = error { () throws(APIError) in try validator.validate(1) }
            #expect(failure?.kind == .validation(rule: "checkable"))
            #expect(failure?.underlying is Odd)
        }
        #expect(broken(.any("either", rule, .rule("yes") { _ in true }), 1) == nil)
        #expect(broken(.any("either", rule, .rule("no") { _ in false }), 1) == "either")
    }

    @Test(.covers("S4.9"))
    func `a payload can be judged before it is decoded, and is told apart from a decoding error`() throws {
        let opened = try ResponseDecoding<[Product]>.json.open(
            payload(#"{"retcode":0,"data":{"v":1}}"#), envelope: .retcode)
        let rule: Validator<Payload> = .rule("version 2") { try $0.json()["v"] == 2 }
        #expect(kind { () throws(APIError) in try rule.validate(opened.payload) } == .validation(rule: "version 2"))
        guard case .decoding? = kind(of: { () throws(APIError) in try opened.decoded() }) else {
            Issue.record("decoded an object as a list")
            return
        }
    }
}
