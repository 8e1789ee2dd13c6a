import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Which calls are of the same kind where their type says nothing, and what those hear that wait for one response.
@Suite(.timeLimit(.minutes(5))) struct InFlightKindTests {
    @Test(
        "APIs that are named where they are called, and raw requests, are of one kind by method and path",
        arguments: [InFlightPolicy.ignoreNew, .cancelPrevious, .throttle(.seconds(9))])
    func untyped(policy: InFlightPolicy) async throws {
        let gate = GateTransport { _ throws(TransportError) in HTTPResponse(status: 200, body: Data("x".utf8)) }
        let client = CallSupport.client(gate) {
            $0.options.inFlight = policy
            $0.cache = .none
        }
        let raw = try ["/cart", "/user"].map {
            HTTPRequest(method: .delete, url: try HTTPURL("https://api.example.com\($0)"))
        }
        let user = client.start(path: "/user", parameters: ["page": 1], as: String.self)
        async let cart: String = client.get("/cart")
        async let order: String = client.post("/cart")
        async let removed = client.send(raw[0])
        async let gone = client.send(raw[1])
        await gate.waitForRequests(5)
        // The same once more.
        let again = client.start(path: "/user", parameters: ["page": 2], as: String.self)
        if policy.strategy == .cancelPrevious {
            await gate.waitForRequests(6)
            gate.releaseAll()
            #expect(try await again.value == "x")
            #expect(await user.result.failure?.kind == .dropped(.superseded))
        } else {
            #expect(await again.result.failure != nil)
            gate.releaseAll()
            #expect(try await user.value == "x")
        }
        #expect(try await [cart, order] == ["x", "x"])
        #expect(try await [removed, gone].map(\.http.status) == [200, 200])
    }

    @Test(
        "All who wait for one response are given what is stored first, also who comes later", .covers("S2.10"))
    @MainActor func storedFirst() async throws {
        let rig = CacheRig(
            CachePolicy(.cacheThenNetwork, ttl: .seconds(60)), configured: { $0.options.inFlight = .join })
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let told = Mailbox<String>()
        let calls = (0..<2).map { _ in rig.client.start(Tea()) }
        for call in calls {
            call.onCached { told.put("cached \($0.value.id)") }.onResult {
                told.put("\((try? $0.get().id) ?? 0)")
            }
        }
        await told.wait(for: 4)
        #expect(told.values.sorted() == ["2", "2", "cached 1", "cached 1"])
    }

    @Test("All who wait for one response are told of its redirects, also who comes later")
    func redirects() async throws {
        let gate = GateTransport { request throws(TransportError) in
            request.url.path == "/old"
                ? HTTPResponse(status: 307, fields: ["Location": "/new"]) : .message(request.url.path)
        }
        let recorder = EventRecorder()
        let client = CallSupport.client(gate) {
            $0.options.inFlight = .join
            $0.cache = .none
            $0.sinks = [recorder]
        }
        let told = Box<[String]>([])
        func start() -> Task<Void, any Error> {
            let updates = client.updates(of: Fetch("old"))
            return Task {
                for try await update in updates {
                    if case .redirected(let url) = update { told.update { $0.append(url.path) } }
                }
            }
        }
        let first = start()
        await gate.waitForRequests(1)
        gate.release("/old")
        await gate.waitForRequests(2)
        let second = start()
        await recorder.whenJoined(1)
        gate.releaseAll()
        _ = try await (first.value, second.value)
        #expect(told.value == ["/new", "/new"])
        #expect(gate.began == ["/old", "/new"])
    }
}
