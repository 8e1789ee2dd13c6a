import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    /// Answers `/api/products/N` with a redirect to `N-1`, and 0 with a product.
    @Sendable private static func countdown(_ request: HTTPRequest) -> HTTPResponse? {
        guard let number = request.url.path.split(separator: "/").last.flatMap({ Int($0) }) else { return nil }
        return number == 0 ? .product : .redirect(to: "/api/products/\(number - 1)")
    }

    @Test(.covers("H24")) func `twenty redirects are followed, and the twenty-first is refused`() async throws {
        let rig = Rig(answering: { Self.countdown($0) })
        let response = try await rig.client.response(for: GetProduct(id: "20"))
        #expect(response.attempts.count == 21)
        #expect(response.attempts.map(\.status) == Array(repeating: 302, count: 20) + [200])
        #expect(response.request.url.path == "/api/products/0")
        let error = await failure { try await rig.client.send(GetProduct(id: "21")) }
        #expect(error?.kind == .blocked(reason: "the redirect is refused: the call took 20 redirects already"))
        #expect(error?.stage == .redirect)
        #expect(error?.response?.status == 302)
        #expect(error?.attempts.count == 21)
        #expect(rig.sent.count == 42)
    }

    @Test(.covers("H24")) func `a loop ends at its first way back`() async {
        let rig = Rig(answering: { $0.url.path == "/a" ? .redirect(to: "/b") : .redirect(to: "/a") })
        let error = await failure {
            try await rig.client.send(GetProduct(), options: .with { $0.baseURL = "https://x.example/" })
        }
        guard case .blocked = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rig.sent.map(\.url.path) == ["/products/7", "/a", "/b"])
    }

    @Test(
        .covers("H1"),
        arguments: [
            "/a\r\nX-Evil: 1", "/a\nb", "/a\rb", "/a\0b", "/\r\n", "/a\r\n", "https://a.example\r\n/",
            "https://a.example\0/", "https://a.example/\r\nX-Evil: 1",
        ])
    func `a target with a line break or a NUL is refused, and nothing more is sent`(location: String) async {
        let rig = Rig(answering: { _ in
            // As a transport hands it over whose parser let it pass.
            var response = HTTPResponse(status: 302)
            response.fields.add(HTTPField(name: .location, value: location))
            return response
        })
        let error = await failure { try await rig.client.send(GetProduct()) }
        guard case .blocked = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.stage == .redirect)
        #expect(rig.sent.count == 1)
        // Where it is looked at first, there is no such field.
        let checked = Rig(answering: { _ in .redirect(to: location) })
        #expect(await failure { try await checked.client.send(GetProduct()) }?.kind == .httpStatus(302))
        #expect(checked.sent.count == 1)
    }

    @Test func `under never the redirect is the answer, by its status`() async {
        let rig = Rig(answering: { _ in .redirect(to: "/next") })
        let error = await failure {
            try await rig.client.send(GetProduct(), options: .with { $0.redirects = .never })
        }
        #expect(error?.kind == .httpStatus(302))
        #expect(rig.sent.count == 1)
    }

    @Test func `each hop passes the attempt stages for its own origin, the call stages see one call`() async throws {
        let (calls, attempts) = (Capture(), Capture())
        let store = MemoryCookieStore()
        let a = URLSet.url("https://a.example/"), b = URLSet.url("https://b.example/")
        store.receive(["who=a; Path=/"], from: a, in: .init(environment: "development"))
        store.receive(["who=b; Path=/"], from: b, in: .init(environment: "development"))
        let service = Service(
            .main, [.development: "https://a.example"], envelope: .retcode, headers: [.authorization: "Bearer t"],
            signer: WireSigner(trustedOrigins: [b.origin]))
        let rig = Rig([service]) {
            $0.cookies = store
            $0.callInterceptors = [calls]
            $0.attemptInterceptors = [attempts]
        } answering: { request in
            if request.url.host == "b.example" { return .product }
            var response = HTTPResponse.redirect(to: "https://b.example/final")
            response.fields.append("fresh=1; Path=/", for: .setCookie)
            return response
        }
        _ = try await rig.client.send(GetProduct())
        #expect(calls.requests.count == 1)
        #expect(attempts.requests.count == 2)
        #expect(rig.sent.map { $0.fields.values(of: .cookie) } == [["who=a"], ["who=b"]])
        #expect(rig.sent.map { $0.fields[.authorization] } == ["Bearer t", nil])
        #expect(Set(rig.sent.map { $0.fields["X-Signed"] }).count == 2)
        for request in rig.sent {
            var plain = request
            plain.fields.remove("X-Signed")
            #expect(request.fields.values(of: "X-Signed") == [WireSigner.digest("k", plain)])
        }
        #expect(store.field(for: a, in: .init(environment: "development")) == "who=a; fresh=1")
    }

    @Test(.timeLimit(.minutes(5))) func `a redirect is told to the event sink and to the call's listeners`()
        async throws
    {
        let recorder = EventRecorder()
        let script = ScriptedTransport([.held(.respond(.redirect(303, to: "/next"))), .respond(.product)])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.sinks = [recorder]
        let client = APIClient(configuration, transport: script)
        let call = client.start(LogIn(account: "alice", password: "secret"))
        let updates = call.updates
        await script.waitForExchanges(count: 1)
        script.release()
        var told: [String] = []
        for try await update in updates {
            if case .redirected(let url) = update { told.append(url.absoluteString) }
        }
        let expected = "https://development.shop.example.com/next"
        #expect(told == [expected])
        let events: [String] = recorder.events(of: call.id).compactMap {
            guard case .redirected(let status, let from, let to) = $0 else { return nil }
            return "\(status) \(from.path) \(to.absoluteString)"
        }
        #expect(events == ["303 /api/user/login \(expected)"])
        #expect(recorder.grammarViolations.isEmpty)
        #expect(script.requests.map(\.request.method) == [.post, .get])
        #expect(script.requests.map(\.request.body.isNone) == [false, true])
    }

    @Test func `a redirect to plain http is checked like any request`() async throws {
        let rig = Rig([Service(.main, [.development: "http://a.example"], envelope: .retcode)]) {
            $0.options.cleartext = .hosts(["a.example"])
        } answering: { _ in
            .redirect(to: "http://b.example/")
        }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(
            error?.kind
                == .blocked(
                    reason:
                        "plain http to b.example is not allowed; the option .cleartext(.hosts([\"b.example\"])) allows it"
                ))
        #expect(rig.hosts == ["a.example"])
    }

    @Test func `the time of a call is spent over all its hops`() async {
        let clock = TestClock()
        let rig = Rig {
            $0.time = clock.timeSource
            $0.options.timeouts = .total(.seconds(10))
        } answering: { request in
            clock.advance(by: .seconds(4))
            return Self.countdown(request)
        }
        let error = await failure { try await rig.client.send(GetProduct(id: "9")) }
        #expect(error?.kind == .timeout(.total))
        #expect(error?.attempts.count == 3)
        #expect(rig.sent.count == 3)
    }

    @Test(.timeLimit(.minutes(5))) func `each hop gets what is left of the call's time`() async throws {
        let clock = TestClock()
        let script = ScriptedTransport([.respond(.redirect(to: "/n")), .respond(.product)])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.time = clock.timeSource
        configuration.options.timeouts = .total(.seconds(10))
        configuration.attemptInterceptors = [
            Intercepting { request, _, next in
                clock.advance(by: .seconds(3))
                return try await next(request)
            }
        ]
        _ = try await APIClient(configuration, transport: script).send(GetProduct())
        #expect(script.requests.map(\.timeouts.total) == [.seconds(7), .seconds(4)])
    }
}
