import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// A complete request, sent to the URL it names.
@Suite(.timeLimit(.minutes(5))) struct RawRequestTests {
    private let stub = StubTransport { request in
        switch request.url.path {
        case "/moved": HTTPResponse(status: 302, fields: ["Location": "/here?a=b"])
        case "/missing": HTTPResponse(status: 404, body: Data("no".utf8))
        default: HTTPResponse(status: 200, body: Data([0, 255]))
        }
    }

    private func client(_ change: (inout APIClient.Configuration) -> Void = { _ in }) -> APIClient {
        var configuration = APIClient.Configuration(services: [])
        change(&configuration)
        return APIClient(configuration, transport: stub)
    }

    private func get(_ text: String, _ fields: HTTPFields = [:]) throws -> HTTPRequest {
        HTTPRequest(method: .get, url: try HTTPURL(text), fields: fields)
    }

    @Test func `It needs no service, and its URL stays as it is`() async throws {
        let client = client { $0.parameters = CommonParameters { ["common": "1"] } }
        let response = try await client.send(get("https://a.example/x?y=%20z"), options: .with { $0.baseURL = "b" })
        #expect(response.value == Data([0, 255]))
        #expect(stub.requests.map(\.url.absoluteString) == ["https://a.example/x?y=%20z"])
        #expect(client.callCount == 0)
    }

    @Test func `Its scope lets go of it when it ends`() async throws {
        let page = CallScope()
        _ = try await client().send(get("https://a.example/"), in: page)
        #expect(page.callCount == 0)
    }

    @Test func `Its fields replace the client's, and the call's edits come last`() async throws {
        let client = client {
            $0.headers = ["X-Common": "1", "X-Mine": "common"]
            $0.options = .headers(["X-Option": "client", "X-Mine": "option"])
        }
        _ = try await client.send(
            get("https://a.example/", ["X-Mine": "mine"]), options: .headers(["X-Option": "call"]))
        let fields = try #require(stub.requests.first?.fields)
        #expect(fields["X-Common"] == "1")
        #expect(fields["X-Mine"] == "mine")
        #expect(fields["X-Option"] == "call")
        #expect(fields.values(of: .userAgent).map { $0.hasSuffix("Penstock/\(PenstockVersion.current)") } == [true])
    }

    @Test func `Every status is an answer unless the call's options say which`() async throws {
        let request = try get("https://a.example/missing")
        let client = client { $0.options.status = .success }
        #expect(try await client.send(request).http.status == 404)
        let error = await #expect(throws: APIError.self) {
            try await client.send(request, options: .with { $0.status = .success })
        }
        #expect(error?.kind == .httpStatus(404))
        #expect(error?.response?.body == Data("no".utf8))
    }

    @Test func `It passes the stages of every call`() async throws {
        let events = EventRecorder()
        let client = client { $0.sinks = [events] }
        let response = try await client.send(get("https://a.example/moved"))
        #expect(response.request.url.absoluteString == "https://a.example/here?a=b")
        #expect(response.attempts.map(\.status) == [302, 200])
        #expect(events.grammarViolations.isEmpty)
        let trace = events.trace(of: try #require(events.calls.first))
        let down = ["cache", "retry", "admission", "cookies", "transport"]
        let hop = down + down.reversed().map { "/" + $0 }
        #expect(trace.starts(with: ["prepare", "/prepare", "redirect"] + hop + hop + ["/redirect"]))
    }

    @Test func `The client's rules hold for it`() async throws {
        let cleartext = await #expect(throws: APIError.self) { try await client().send(get("http://a.example/")) }
        #expect(cleartext?.kind.name == "blocked")
        let field = await #expect(throws: APIError.self) {
            try await client().send(get("https://a.example/", ["X-A": "b\r\nX-Evil: 1"]))
        }
        #expect(field?.kind.name == "invalidParameter")
        #expect(stub.requests.isEmpty)
    }

    @Test func `Cancelled before it begins it sends nothing`() async throws {
        let client = client()
        let request = try get("https://a.example/")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(request)
        }
        let error = await #expect(throws: APIError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(stub.requests.isEmpty)
    }
}
