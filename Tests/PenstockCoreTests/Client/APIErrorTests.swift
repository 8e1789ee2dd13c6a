import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite struct APIErrorTests {
    static let kinds: [(APIError.Kind, Int)] = [
        (.invalidParameter(field: "f", reason: "r"), 1001), (.invalidConfiguration(reason: "r"), 1002),
        (.blocked(reason: "r"), 1003), (.unsupported(feature: "f"), 1004), (.unreachable(.offline), 2001),
        (.timeout(.total), 2002), (.tls(.expired), 2003), (.transport(.connectionLost), 2004),
        (.limitExceeded(.bodyBytes), 2005), (.httpStatus(404), 3001), (.malformedEnvelope(reason: "r"), 3002),
        (.business(code: 7, message: "m"), 3003), (.validation(rule: "r"), 3004),
        (.decoding(path: "p", reason: "r"), 3005), (.cancelled, 4001), (.cacheMiss, 1005),
        (.decryption, 3006), (.authentication(.rejected), 1006), (.unavailable(reason: "r"), 2006),
        (.dropped(.superseded), 4002), (.storage(.noSpace), 5001),
    ]

    @Test(.covers("S1.20")) func `no two kinds have one number`() {
        #expect(Set(Self.kinds.map(\.1)).count == Self.kinds.count)
    }

    @Test(.covers("S1.20"), arguments: kinds)
    func `an NSError has the stable domain, the kind's number and the user's text`(kind: APIError.Kind, code: Int) {
        let bridged: NSError = APIError(kind, stage: .prepare) as any Error as NSError
        #expect(bridged.domain == "Penstock.APIError")
        #expect(bridged.code == code)
        #expect(bridged.localizedDescription == APIError(kind, stage: .prepare).errorDescription)
        #expect(!bridged.localizedDescription.isEmpty)
        #expect(bridged.userInfo[APIError.stageKey] as? String == "prepare")
    }

    @Test(.covers("S1.20")) func `what means something else to users has other words than the rest of its kind`() {
        func text(_ kind: APIError.Kind, of cause: (any Error)? = nil) -> String {
            APIError(kind, stage: .transport, underlying: cause).userText
        }
        let offline = APIError(.unreachable(.offline), stage: .transport)
        for failure in [AuthenticationFailure.rejected, .missing, .signedOut, .lost] {
            #expect(text(.authentication(failure), of: offline) == "Please sign in.")
        }
        #expect(text(.authentication(.unavailable), of: offline) == "The server cannot be reached.")
        #expect(text(.authentication(.unavailable)) == "The server could not answer the request.")
        #expect(text(.authentication(.loginCancelled)) == "Cancelled.")
        #expect(text(.authentication(.vault(.locked))) != "Please sign in.")
        let dropped = [DropReason.alreadyLoading, .superseded, .tooSoon].map { text(.dropped($0)) }
        #expect(Set(dropped).count == 3)
        #expect(text(.transport(.protocolViolation)) == "The server's answer could not be understood.")
        #expect(text(.transport(.connectionLost)) == "The connection was lost.")
    }

    @Test(.covers("S1.20")) func `status and business code are in the user info`() {
        let response = HTTPResponse(status: 409)
        let error = APIError(.business(code: 44, message: "sold out"), stage: .envelope, response: response)
        let bridged = error as any Error as NSError
        #expect(bridged.userInfo[APIError.businessCodeKey] as? Int == 44)
        #expect(bridged.userInfo[APIError.statusKey] as? Int == 409)
        #expect(bridged.localizedDescription == "sold out")
        #expect(error.errorDescription == "sold out")
        #expect(APIError(.httpStatus(503), stage: .status).errorUserInfo[APIError.statusKey] as? Int == 503)
    }

    @Test(.covers("S1.18")) func `one switch tells network, status, business, decoding and validation apart`() {
        func family(_ error: APIError) -> String {
            switch error.kind {
            case .unreachable, .timeout, .tls, .transport, .limitExceeded: "network"
            case .httpStatus(let status): "status \(status)"
            case .business(let code, let message): "business \(code) \(message)"
            case .malformedEnvelope, .decoding: "answer"
            case .validation(let rule): "rule \(rule)"
            default: "other"
            }
        }
        let families = Self.kinds.map { family(APIError($0.0, stage: .transport)) }
        #expect(
            families[4...] == [
                "network", "network", "network", "network", "network", "status 404", "answer", "business 7 m", "rule r",
                "answer", "other", "other", "other", "other", "other", "other", "other",
            ])
    }

    @Test func `its description tells what and where, and no secret`() throws {
        let url = try HTTPURL("https://shop.example.com/login?token=hunter2&page=hunter2&hunter3")
        let request = HTTPRequest(
            method: .post, url: url, fields: ["Authorization": "hunter2"], body: .bytes(Data("hunter2".utf8)))
        struct Cause: Error { let text = "hunter2" }
        let error = APIError(
            .httpStatus(404), stage: .status, debugMessage: "line one\nline two", request: request,
            response: HTTPResponse(status: 404, fields: ["Set-Cookie": "hunter2"], body: Data("hunter2".utf8)),
            underlying: Cause())
        for text in [error.description, String(reflecting: error), "\(error)", error.localizedDescription] {
            #expect(!text.contains("hunter"))
            #expect(!text.contains("\n"))
        }
        for part in ["httpStatus 404", "stage status", "POST https://shop.example.com/login?token=…&page=…", "Cause"] {
            #expect(error.description.contains(part))
        }
    }

    @Test func `the bytes of a malformed envelope are there to be asked for and not printed`() {
        let body = Payload(Data("hunter2".utf8))
        let failure = error { () throws(APIError) in
            try ResponseDecoding<Void>.nothing.open(body, envelope: .retcode)
        }
        #expect(failure?.debugMessage == "hunter2")
        #expect(failure?.description.contains("hunter2") == false)
    }
}

@Suite(.covers("S2.23")) struct ErrorMapperTests {
    static let client = ErrorMapper { error in
        switch error.kind {
        case .timeout: .init(code: 1, userText: "Slow.", debugText: "see the dashboard")
        case .business: .init(code: 2, userText: "Refused.")
        default: nil
        }
    }
    static let service = ErrorMapper { error in
        if case .business(401, _) = error.kind { .init(code: 401, userText: "Log in.") } else { nil }
    }

    @Test func `a service's mapper comes first, and what it leaves alone goes to the client's`() {
        let mapper = Self.service.or(Self.client)
        func code(_ kind: APIError.Kind) -> Int? {
            APIError(kind, stage: .envelope).presented(by: mapper).presentation?.code
        }
        #expect(code(.business(code: 401, message: "x")) == 401)
        #expect(code(.business(code: 5, message: "x")) == 2)
        #expect(code(.timeout(.total)) == 1)
        #expect(code(.cancelled) == nil)
        #expect(ErrorMapper.none.presentation(of: APIError(.cancelled, stage: .transport)) == nil)
    }

    @Test func `its texts reach users and developers`() {
        let error = APIError(.timeout(.total), stage: .transport, debugMessage: "raw").presented(by: Self.client)
        #expect(error.localizedDescription == "Slow.")
        #expect((error as any Error as NSError).localizedDescription == "Slow.")
        #expect(error.description.contains("see the dashboard"))
    }
}

@Suite(.covers("S0.21")) struct LegacyEnvelopeTests {
    @Test func `unreachable, timeout and cancelled stay three, each with its own number and text`() {
        let kinds: [APIError.Kind] = [.unreachable(.offline), .timeout(.connect), .cancelled]
        let envelopes = kinds.map { LegacyEnvelope(APIError($0, stage: .transport)) }
        #expect(envelopes.map(\.retcode) == [-2001, -2002, -4001])
        #expect(Set(envelopes.map(\.retdesc)).count == 3)
    }

    @Test func `a business error keeps the server's code and words, and the mapper's win`() throws {
        let error = APIError(.business(code: 44, message: "sold out"), stage: .envelope)
        #expect(try Payload(LegacyEnvelope(error).data).json() == ["retcode": 44, "retdesc": "sold out"])
        let mapped = error.presented(by: ErrorMapper { _ in .init(code: 9, userText: "Gone.") })
        #expect(LegacyEnvelope(mapped).retcode == 9)
        #expect(LegacyEnvelope(mapped).retdesc == "Gone.")
        for code in [1, -1] {
            #expect(LegacyEnvelope(error.presented(by: ErrorMapper { _ in .init(code: code) })).retcode == code)
        }
    }

    @Test func `it never says success`() {
        let zero = APIError(.business(code: 0, message: ""), stage: .envelope)
        #expect(LegacyEnvelope(zero).retcode == -3003)
        let mapped = zero.presented(by: ErrorMapper { _ in .init(code: 0) })
        #expect(LegacyEnvelope(mapped).retcode == -3003)
    }
}
