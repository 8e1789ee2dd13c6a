import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct CallStyleTests {
    @Test(.covers("S1.4")) func `a call is made by path, method and parameters alone`() async throws {
        let rig = Rig()
        let product: Product = try await rig.client.send(
            path: "/user/login", method: .post, parameters: ["account": "alice", "age": 7])
        #expect(product == Product(id: 7, name: "tea"))
        #expect(rig.sent.map(\.method) == [.post])
        #expect(rig.sent.first?.url.path == "/api/user/login")
        #expect(rig.sent.first?.text == #"{"account":"alice","age":7}"#)
    }

    @Test func `a response prints what a person looks for first`() async throws {
        let response = try await Rig().client.response(for: GetProduct())
        #expect("\(response)" == "200 from network, \(response.data.count) bytes: \(response.value)")
    }

    @Test(.covers("S1.5", "S0.6")) func `a manager's method takes business arguments and the right request arrives`()
        async throws
    {
        let rig = Rig()
        let user: Product = try await ShopManager(client: rig.client).login(account: "alice", password: "secret")
        #expect(user.name == "tea")
        #expect(rig.sent.map(\.method) == [.post])
        #expect(rig.sent.map(\.url.path) == ["/api/user/login"])
        #expect(rig.sent.map(\.text) == [#"{"account":"alice","password":"secret"}"#])
    }

    @Test(.covers("S0.6"), .timeLimit(.minutes(5)))
    func `a façade's method gives a handle that cancels and a typed value`() async throws {
        let script = ScriptedTransport([.held(.respond(.product)), .respond(.product)])
        let shop = ShopManager(client: APIClient(.init(services: [.shop()]), transport: script))
        let handle = shop.product("7")
        await script.waitForExchanges(count: 1)
        handle.cancel()
        #expect(await failure { try await handle.value }?.kind == .cancelled)
        let second = shop.product("7")
        let product: Product = try await second.value
        #expect(product.id == 7)
        #expect(handle.id != second.id)
    }

    @Test func `a body that is given is sent as it is, with the parameters in the query`() async throws {
        let rig = Rig()
        let body = HTTPBody.text("tea")
        let _: Product = try await rig.client.post("/p", parameters: ["a": 1], body: body)
        let _: Product = try await rig.client.put("/p", parameters: ["a": 1], body: body)
        let _: Product = try await rig.client.patch("/p", parameters: ["a": 1], body: body)
        let _: Product = try await rig.client.send(path: "/p", method: .post, parameters: ["a": 1], body: body)
        let _: Payload = try await rig.client.post("/p", parameters: ["a": 1], body: body)
        let _: Payload = try await rig.client.put("/p", parameters: ["a": 1], body: body)
        let _: Payload = try await rig.client.patch("/p", parameters: ["a": 1], body: body)
        let _: Payload = try await rig.client.send(path: "/p", method: .post, parameters: ["a": 1], body: body)
        try await rig.client.post("/p", parameters: ["a": 1], body: body)
        try await rig.client.put("/p", parameters: ["a": 1], body: body)
        try await rig.client.patch("/p", parameters: ["a": 1], body: body)
        try await rig.client.send(path: "/p", method: .post, parameters: ["a": 1], body: body)
        _ = try await rig.client.start(
            path: "/p", method: .post, parameters: ["a": 1], body: body, as: Product.self
        ).value
        try await rig.client.start(path: "/p", method: .post, parameters: ["a": 1], body: body).value
        #expect(rig.sent.count == 14)
        for request in rig.sent {
            #expect(request.body.data == Data("tea".utf8))
            #expect(request.fields[.contentType] == "text/plain; charset=utf-8")
            #expect(request.url.query == "a=1")
        }
    }

    @Test(.covers("S1.4")) func `a call by path alone delivers to a closure, whatever it gives`() async throws {
        let rig = Rig()
        let model = try await delivered { done in
            rig.client.start(path: "/p", method: .post, body: .text("a"), as: Product.self) {
                done($0)
            }
        }
        #expect(try model.get() == Product(id: 7, name: "tea"))
        let payload = try await delivered { done in
            rig.client.start(path: "/p", method: .put, body: .text("b"), as: Payload.self) {
                done($0)
            }
        }
        #expect(try payload.get().json()["name"] == "tea")
        let nothing = try await delivered { done in
            rig.client.start(path: "/p", method: .patch, body: .text("c")) { done($0) }
        }
        try nothing.get()
        #expect(rig.sent.map(\.method) == [.post, .put, .patch])
        #expect(rig.sent.map(\.text) == ["a", "b", "c"])
    }

    @Test func `a download delivers its file to a closure, of an endpoint and of a request`() async throws {
        let rig = Rig()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (first, second) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
        let called = try await delivered { done in
            rig.client.download(GetProduct(), to: .file(first)) { done($0) }
        }
        #expect(try called.get().url == first)
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://films.example.com/7"))
        let asked = try await delivered { done in
            rig.client.download(request, to: .file(second)) { done($0) }
        }
        #expect(try asked.get().url == second)
        #expect(try Data(contentsOf: second) == Data(contentsOf: first))
        #expect(rig.sent.count == 2)
    }

    @Test(.covers("S1.7")) func `short forms send the bytes of the full form`() async throws {
        let rig = Rig { $0.headers = ["X-App": "Shop"] }
        let parameters: ParameterObject = ["b": "x y", "a": [1, 2]]
        let _: Product = try await rig.client.get("/p", parameters: parameters)
        let _: Product = try await rig.client.send(path: "/p", method: .get, parameters: parameters)
        let _: Product = try await rig.client.post("/p", parameters: parameters)
        let _: Product = try await rig.client.send(path: "/p", method: .post, parameters: parameters)
        #expect(rig.wires[0] == rig.wires[1])
        #expect(rig.wires[2] == rig.wires[3])
        #expect(rig.wires[0] != rig.wires[2])
        #expect(rig.wires[2].hasSuffix(#"{"a":[1,2],"b":"x y"}"#))
    }

    @Test(.covers("S3.19"), .timeLimit(.minutes(5))) @MainActor
    func `every style of call sends the same request`() async throws {
        let rig = Rig {
            $0.headers = ["X-App": "Shop"]
            $0.parameters = CommonParameters { ["token": "t"] }
        }
        let endpoint = LogIn(account: "alice", password: "secret")
        _ = try await rig.client.send(endpoint)
        _ = try await rig.client.start(endpoint).value
        _ = try await ShopManager(client: rig.client).login(account: "alice", password: "secret")
        let _: Product = try await rig.client.send(
            path: "/user/login", method: .post, parameters: ["password": "secret", "account": "alice"])
        let manager = APIManager<LogIn>(client: rig.client) { endpoint }
        let end = Ending()
        manager.delegate = end
        manager.load()
        await end.happened()
        for try await _ in rig.client.updates(of: endpoint) {}
        #expect(rig.wires.count == 6)
        #expect(Set(rig.wires).count == 1)
        #expect(rig.sent.first?.text == #"{"account":"alice","password":"secret","token":"t"}"#)
    }

    @Test(.covers("S3.15"), .timeLimit(.minutes(5))) @MainActor
    func `an API object keeps the raw payload: many reforms, one request`() async throws {
        let rig = Rig()
        let manager = APIManager<GetProduct>(client: rig.client) { GetProduct() }
        #expect(try await manager.reformed(with: ClosureReformer { _ in 1 }) == nil)
        let end = Ending()
        manager.delegate = end
        manager.load()
        await end.happened()
        for _ in 0..<10 {
            let name = try await manager.reformed(with: ClosureReformer { try $0.value(String.self, at: "name") })
            #expect(name == "tea")
        }
        let id = try await manager.reformed(with: ClosureReformer { try $0.value(Int.self, at: "id") * 2 })
        #expect(id == 14)
        #expect(manager.payload?.data == HTTPResponse.product.body)
        #expect(rig.sent.count == 1)
    }

    @Test(.covers("S3.15")) func `without a reformer the response gives its payload as it came`() async throws {
        let rig = Rig()
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.data == HTTPResponse.product.body)
        #expect(try response.payload.value(Int.self, at: "id") == 7)
        _ = try await response.payload.reformed { try $0.value(String.self, at: "name") }
        #expect(rig.sent.count == 1)
    }
}

/// Hears the end of an API object's load.
@MainActor
final class Ending: APIManagerDelegate {
    private let isOver = Monitor(false)

    func managerDidSucceed(_ manager: any AnyAPIManager) { end() }
    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) { end() }

    /// Returns once it has, or the test is cancelled.
    func happened() async { await isOver.waitUnlessCancelled { $0 } }

    private func end() { isOver.withLock { $0 = true } }
}

@Suite(.timeLimit(.minutes(5))) struct VerbTests {
    struct Verb: Endpoint {
        typealias Output = Void
        let method: HTTPMethod
        var route: Route { Route(method, "/verb") }
    }

    @Test(.covers("S0.12", "S2.29"))
    func `every method goes through one entry and arrives under its name`() async throws {
        let server = try LoopbackServer { _ in .json(#"{"retcode":0}"#) }
        defer { server.stop() }
        let stub = StubTransport(answeredBy: server)
        let service = Service(
            .main, [.development: server.url.absoluteString], options: .with { $0.cleartext = .loopback })
        let client = APIClient(.init(services: [service]), transport: stub)
        let names = [
            "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE", "M-SEARCH", "get", "x!#$%&'*",
        ]
        for name in names { try await client.send(Verb(method: #require(HTTPMethod(rawValue: name)))) }
        #expect(server.requests.map(\.method.rawValue) == names)
    }

    @Test(.covers("S2.29"), arguments: ["", " ", "GET ", "G ET", "GET\r\n", "7\t", "GET,POST", "É", "GET /x HTTP/1.1"])
    func `a text that is no method's name makes none, so that it becomes no other`(text: String) {
        #expect(HTTPMethod(rawValue: text) == nil)
    }

    @Test(.covers("S1.8"), .timeLimit(.minutes(5)), arguments: [1, 0xC0FFEE] as [UInt64])
    func `a call ends exactly once, whatever its method`(seed: UInt64) async throws {
        var random = Seeded(seed: seed)
        let characters = Array("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        var methods: [HTTPMethod] = [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
        while methods.count < 200 {
            let length = Int.random(in: 1...12, using: &random)
            let text = String((0..<length).compactMap { _ in characters.randomElement(using: &random) })
            methods.append(try #require(HTTPMethod(rawValue: text)))
        }
        methods.shuffle(using: &random)
        let recorder = EventRecorder()
        let rig = Rig {
            $0.sinks = [recorder]
        } answering: {
            $0.method.rawValue.utf8.count % 3 == 0 ? .json("", status: 500) : .product
        }
        for method in methods {
            let endings = Box(0)
            try await delivered { done in
                rig.client.start(Verb(method: method)) { _ in
                    endings.update { $0 += 1 }
                    done(())
                }
            }
            #expect(endings.value == 1)
        }
        #expect(rig.sent.map(\.method) == methods)
        #expect(recorder.calls.count == methods.count)
        #expect(recorder.grammarViolations.isEmpty, "seed \(seed)")
        #expect(rig.client.callCount == 0)
    }
}
