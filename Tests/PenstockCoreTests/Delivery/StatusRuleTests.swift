import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("S4.4")) struct StatusRuleTests {
    static let page = Data("<html>Not Found</html>".utf8)
    static let explained = Data(#"{"retcode":44,"retdesc":"sold out"}"#.utf8)

    private func failure(_ rule: StatusRule, _ status: Int, _ body: Data, _ envelope: Envelope? = .retcode) -> APIError?
    {
        error { () throws(APIError) in try rule.check(HTTPResponse(status: status, body: body), envelope: envelope) }
    }

    @Test func `a 404 with a page is an HTTP status error that keeps the body`() {
        let error = failure(.success, 404, Self.page)
        #expect(error?.kind == .httpStatus(404))
        #expect(error?.stage == .status)
        #expect(error?.response?.body == Self.page)
    }

    @Test func `200 to 299 is success, and a service can say otherwise`() {
        for status in [200, 204, 299] { #expect(failure(.success, status, Self.page) == nil) }
        for status in [199, 300, 304, 400, 500] { #expect(failure(.success, status, Self.page) != nil) }
        let rule = StatusRule.codes(200..<300, 304..<305)
        #expect(rule.accepts(304) && !rule.accepts(303) && !rule.accepts(305))
        #expect(failure(.any, 500, Self.page) == nil)
    }

    @Test func `every status has at most three digits`() {
        for status in [0, 100, 200, 599, 999] { #expect(StatusRule.any.accepts(status)) }
        for status in [-1, 1_000] { #expect(!StatusRule.any.accepts(status)) }
        for status in [0, 200, 999] { #expect(!StatusRule.codes().accepts(status)) }
    }

    @Test func `a success that is refused says what was to come in its place`() {
        #expect(failure(.codes(101..<102), 200, Self.page)?.debugMessage == "101 was to come")
        #expect(failure(.codes(201..<203, 304..<305), 200, Self.page)?.debugMessage == "201 to 202 or 304 was to come")
        #expect(failure(.codes(), 299, Self.page)?.debugMessage == "no status was to come")
        for status in [199, 300, 404] { #expect(failure(.success, status, Self.page)?.debugMessage == "") }
    }

    @Test func `the envelope of a failure is opened only where the service asks for it`() {
        #expect(failure(.success, 409, Self.explained)?.kind == .httpStatus(409))
        let error = failure(.success.openingEnvelopeOfFailures(), 409, Self.explained)
        #expect(error?.kind == .business(code: 44, message: "sold out"))
        #expect(error?.response?.status == 409)
        let closed = StatusRule.success.openingEnvelopeOfFailures().openingEnvelopeOfFailures(false)
        #expect(!closed.opensEnvelopeOfFailures && failure(closed, 409, Self.explained)?.kind == .httpStatus(409))
    }

    @Test(arguments: ["<html>", "", "{}", #"{"retcode":0}"#, #"{"retcode":"44"}"#])
    func `an envelope that is malformed or says success leaves the status as the error`(body: String) {
        let rule = StatusRule.success.openingEnvelopeOfFailures()
        #expect(failure(rule, 500, Data(body.utf8))?.kind == .httpStatus(500))
        #expect(failure(rule, 500, Self.explained, nil)?.kind == .httpStatus(500))
    }
}
