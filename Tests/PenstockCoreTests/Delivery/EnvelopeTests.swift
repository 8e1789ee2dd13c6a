import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.covers("S0.1"), .timeLimit(.minutes(1))) struct EnvelopeTests {
    typealias Products = ResponseDecoding<[Product]>

    static let list = #"{"retcode":0,"retdesc":"fine","data":[{"id":1,"name":"tap"}]}"#

    @Test(.covers("S1.13")) func `the data of a successful envelope becomes a typed value with its name filled`() throws
    {
        let decoded = try decode(Self.list, as: Products.json)
        #expect(decoded.value == [Product(id: 1, name: "tap")])
        #expect(decoded.code == 0)
        #expect(decoded.message == "fine")
    }

    @Test func `keys, success codes and code type belong to the service`() throws {
        let envelope = Envelope(
            code: "status.code", message: "status.text", data: "result.list", success: ["OK", "PART"], codeType: .string
        )
        let body = #"{"status":{"code":"PART","text":"some"},"result":{"list":[{"id":2,"name":"hose"}]}}"#
        let decoded = try decode(body, as: Products.json, envelope: envelope)
        #expect(decoded.value.first?.name == "hose")
        #expect(decoded.code == "PART")
        #expect(decoded.message == "some")
    }

    @Test func `an empty data path puts the fields beside the code`() throws {
        let envelope = Envelope(data: "")
        let body = #"{"code":0,"id":3,"name":"valve"}"#
        let decoded = try decode(body, as: ResponseDecoding<Product>.json, envelope: envelope)
        #expect(decoded.value == Product(id: 3, name: "valve"))
    }

    static let codeless = [
        #"{"retdesc":"ok","data":[]}"#, #"{"retcode":null,"data":[]}"#, #"{"retcode":"0","data":[]}"#,
        #"{"retcode":"zero","data":[]}"#, #"{"retcode":true,"data":[]}"#, #"{"retcode":0.5,"data":[]}"#,
        #"{"retcode":[],"data":[]}"#, #"{"retcode":{},"data":[]}"#, #"{"retcode":99999999999999999999,"data":[]}"#,
        #"{}"#,
    ]

    @Test(.covers("S1.19"), arguments: codeless)
    func `a code that is absent or no integer is malformed, never success`(body: String) throws {
        let failure = try #require(error { () throws(APIError) in try decode(body, as: Products.json) })
        guard case .malformedEnvelope(let reason) = failure.kind else {
            Issue.record("\(failure)")
            return
        }
        #expect(reason.hasPrefix("retcode is "))
        #expect(failure.stage == .envelope)
    }

    @Test(.covers("S1.19", "S1.21"), arguments: codeless + ["[1]", "1", "null", "{", ""])
    func `bytes without a usable code are bytes, as a download of a JSON document is`(body: String) throws {
        let payload = Payload(Data(body.utf8), contentType: "application/json")
        let opened = try ResponseDecoding<Data>.data.open(payload, envelope: .retcode)
        #expect(try opened.decoded().value == Data(body.utf8))
        // Who wants bytes of an envelope that must say success asks for the payload.
        let checked = error { () throws(APIError) in _ = try ResponseDecoding.payload.open(payload, envelope: .retcode)
        }
        guard case .malformedEnvelope = checked?.kind else {
            Issue.record("\(String(describing: checked))")
            return
        }
    }

    @Test(.covers("S1.19")) func `bytes of a refusal fail as that`() {
        let payload = Payload(Data(#"{"retcode":7,"retdesc":"no"}"#.utf8), contentType: "application/json")
        #expect(
            kind { () throws(APIError) in try ResponseDecoding<Data>.data.open(payload, envelope: .retcode) }
                == .business(code: 7, message: "no"))
    }

    @Test func `two services of one client have each an envelope of its own`() async throws {
        let bodies = [
            "/a": #"{"retcode":0,"retdesc":"fine","data":{"id":1,"name":"tap"}}"#,
            "/b": #"{"status":{"code":"OK","text":"good"},"result":{"id":2,"name":"hose"}}"#,
        ]
        let other = Envelope(
            code: "status.code", message: "status.text", data: "result", success: ["OK"], codeType: .string)
        let rig = Rig(
            [.shop("a"), .shop("b") { $0.envelope = other }],
            answering: { request in
                let path = request.url.path.hasSuffix("/a") ? "/a" : "/b"
                return .json(bodies[path] ?? "")
            })
        let first: Product = try await rig.client.get("/a", service: "a")
        let second: Product = try await rig.client.get("/b", service: "b")
        #expect([first, second] == [Product(id: 1, name: "tap"), Product(id: 2, name: "hose")])
        for (path, service) in [("/b", "a"), ("/a", "b")] as [(RoutePath, ServiceID)] {
            let swapped = await failure { let _: Product = try await rig.client.get(path, service: service) }
            guard case .malformedEnvelope = swapped?.kind else {
                Issue.record("\(service): \(String(describing: swapped))")
                continue
            }
        }
    }

    @Test(
        .covers("S1.21"),
        arguments: ["", " ", "null", "[]", "1", "\"x\"", "true", "<html>nope</html>", "{", #"{"retcode":0"#, "\u{0}"])
    func `a reply that is no object is malformed`(body: String) throws {
        let failure = try #require(error { () throws(APIError) in try decode(body, as: Products.json) })
        guard case .malformedEnvelope = failure.kind else {
            Issue.record("\(failure)")
            return
        }
        #expect(failure.debugMessage.contains("<html>") == body.contains("<html>"))
    }

    @Test(.covers("S1.21")) func `the raw bytes in the error are cut off and safe to print`() throws {
        let body = "<\u{1b}[31m\n\\" + String(repeating: "ü", count: 4000)
        let failure = try #require(error { () throws(APIError) in try decode(body, as: Products.json) })
        #expect(
            failure.debugMessage.hasPrefix(#"<\u001B[31m\u000A\\"#)
                || failure.debugMessage.hasPrefix(#"<\u{1B}[31m\n\\"#))
        #expect(failure.debugMessage.utf8.count < 400)
        #expect(failure.debugMessage.hasSuffix("bytes)"))
        #expect(!failure.debugMessage.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `a code that is not success is a business error with the server's words`() {
        let body = #"{"retcode":1001,"retdesc":"wrong password","data":null}"#
        #expect(
            kind { () throws(APIError) in try decode(body, as: Products.json) }
                == .business(code: 1001, message: "wrong password"))
    }

    @Test func `a business error comes before anything that is wrong with the data`() {
        let body = #"{"retcode":7,"data":"not a list"}"#
        #expect(kind { () throws(APIError) in try decode(body, as: Products.json) } == .business(code: 7, message: ""))
    }

    @Test(arguments: [
        (Envelope.CodeType.integer, "0", true), (.integer, "\"0\"", false), (.string, "\"0\"", true),
        (.string, "0", false), (.either, "0", true), (.either, "\"0\"", true), (.either, "false", false),
        (.lenientInteger, "0", true), (.lenientInteger, "\"0\"", true), (.lenientInteger, "\"OK\"", false),
        (.lenientInteger, "\"\"", false),
    ])
    func `the code type says what is a code`(type: Envelope.CodeType, code: String, isCode: Bool) {
        let envelope = Envelope(success: [0, "0"], codeType: type)
        let failed = kind { () throws(APIError) in
            try decode(#"{"code":\#(code)}"#, as: ResponseDecoding<Void>.nothing, envelope: envelope)
        }
        #expect((failed == nil) == isCode)
    }

    @Test func `a number is not the text of that number unless the service is lenient`() {
        let envelope = Envelope(success: [0], codeType: .either)
        let body = #"{"code":"0"}"#
        #expect(
            kind { () throws(APIError) in try decode(body, as: ResponseDecoding<Void>.nothing, envelope: envelope) }
                == .business(code: "0", message: ""))
    }

    private static let kinds: [(Envelope.CodeType, Set<BusinessCode>, String?)] = [
        (.integer, ["0", "OK"], #"an integer, which none of its codes for success is: "0", "OK""#),
        (.lenientInteger, ["0"], #"an integer, plain or in a string, which none of its codes for success is: "0""#),
        (.string, [0], "a string, which none of its codes for success is: 0"),
        (.integer, [0], nil), (.lenientInteger, [0], nil), (.string, ["0"], nil), (.either, [0], nil),
        (.either, ["0"], nil), (.integer, [0, "0"], nil), (.string, [0, "0"], nil), (.integer, [], nil),
    ]

    @Test(arguments: kinds)
    func `codes of a kind that cannot occur are told of, where no other one means the same`(
        type: Envelope.CodeType, codes: Set<BusinessCode>, fault: String?
    ) {
        let envelope = Envelope(success: codes, codeType: type)
        #expect(envelope.fault == fault.map { "reads its code as \($0)" })
        let other = Envelope(success: [0, "0"], codeType: type).fault(ofExpiry: codes)
        // Numbers may be meant for an endpoint with an envelope of its own.
        let fault = type == .string ? nil : envelope.fault
        #expect(other == fault?.replacingOccurrences(of: "its codes for success", with: "the codes for expiry"))
    }

    @Test func `a service whose codes cannot occur fails the first call of a debug build, unsent`() async {
        let stub = StubTransport { _ in .json(#"{"code":"0","data":{"id":7,"name":"tea"}}"#) }
        let odd = Envelope(success: ["0"])
        let expiry = BearerAuthenticator(expiry: ExpiryRule(codes: [40_101]))
        let texts = BearerAuthenticator(expiry: ExpiryRule(codes: ["40101"]))
        let text = Envelope(success: ["0"], codeType: .string)
        for (service, reason) in [
            (Service(.main, "https://a.example", envelope: odd), "is: \"0\""),
            (Service(.main, "https://a.example", envelope: Envelope(), authenticator: texts), #"is: "40101""#),
        ] {
            let client = APIClient(.init(services: [service], build: .debug), transport: stub)
            let error = await failure { () async throws(APIError) -> Product in try await client.get("/x") }
            guard case .invalidConfiguration(let told) = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(told.hasPrefix("the envelope of the service main reads its code as") && told.hasSuffix(reason))
        }
        #expect(stub.requests.isEmpty)
        let fine = [
            Service(.main, "https://a.example", envelope: text, authenticator: expiry),
            Service(.main, "https://a.example", authenticator: expiry),
        ]
        #expect(fine.map(\.fault) == [nil, nil])
        let released = APIClient(
            .init(services: [Service(.main, "https://a.example", envelope: odd)], build: .release), transport: stub)
        let error = await failure { () async throws(APIError) -> Product in try await released.get("/x") }
        #expect(error?.kind == .malformedEnvelope(reason: "code is not an integer"))
    }

    @Test
    func `codes for expiry are held against an envelope only where they are numbers as texts and it has integers`() {
        let words: Set<BusinessCode> = ["TOKEN_EXPIRED"]
        #expect(Envelope().fault(ofExpiry: words) == nil)
        #expect(Envelope(codeType: .lenientInteger).fault(ofExpiry: words) == nil)
        #expect(Envelope().fault(ofExpiry: ["TOKEN_EXPIRED", "40101"]) != nil)
        #expect(Envelope().fault(ofExpiry: []) == nil)
        #expect(Envelope(codeType: .string).fault(ofExpiry: [40_101]) == nil)
    }

    @Test func `an endpoint with an envelope of its own is not held against that of its service`() async throws {
        struct Own: Endpoint {
            typealias Output = Product
            var envelope: EnvelopeChoice
            var route: Route { .get("/x") }
        }
        let stub = StubTransport { _ in .json(#"{"code":"0","data":{"id":7,"name":"tea"},"id":8,"name":"tea"}"#) }
        let expiry = BearerAuthenticator(expiry: ExpiryRule(codes: ["40101"]))
        let service = Service(.main, "https://a.example", envelope: Envelope(success: ["0"]), authenticator: expiry)
        let client = APIClient(.init(services: [service], build: .debug), transport: stub)
        let own = Own(envelope: .custom(Envelope(success: ["0"], codeType: .string)))
        #expect(try await client.send(own).id == 7)
        #expect(try await client.send(Own(envelope: .none)).id == 8)
        let error = await failure { try await client.send(Own(envelope: .ofService)) }
        guard case .invalidConfiguration(let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("the envelope of the service main reads its code as"))
        #expect(stub.requests.count == 2)
    }

    @Test func `a code that is a text prints in quotes among others and in errors, and as it is by itself`() {
        #expect("\(["0", 0] as [BusinessCode])" == #"["0", 0]"#)
        #expect("\(BusinessCode.string("0"))" == "0")
        #expect("\(APIError.Kind.business(code: "0", message: "no"))" == #"business "0": no"#)
        #expect("\(APIError.Kind.business(code: 0, message: "no"))" == "business 0: no")
    }

    @Test func `of two equal keys the first counts, for the code as for the data`() throws {
        let body = #"{"retcode":1,"retcode":0,"data":1,"data":2}"#
        #expect(
            kind { () throws(APIError) in try decode(body, as: ResponseDecoding<Int>.json) }
                == .business(code: 1, message: ""))
    }

    @Test func `envelope keys are the server's, whatever strategy the models use`() throws {
        struct Model: Decodable, Sendable { let unitPrice: Int }
        let envelope = Envelope(code: "ret_code", message: "ret_desc", data: "the_data.first_item")
        let body = #"{"ret_code":0,"ret_desc":"yes","the_data":{"first_item":{"unit_price":9}}}"#
        let options = DecodingOptions(keys: .convertFromSnakeCase)
        let decoded = try decode(body, as: ResponseDecoding<Model>.json, envelope: envelope, options: options)
        #expect(decoded.value.unitPrice == 9)
        #expect(decoded.message == "yes")
    }
}
