import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// What httpbin says it received is what the app asked to be sent.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("S2.1"))
struct HTTPBinRequestTests {
    private func client(_ wire: Wire, _ body: (APIClient) async throws -> Void) async throws {
        try await wire.client(for: EndToEndServers.shared().httpbin.base, body)
    }

    private static let parameters: ParameterObject = [
        "text": "a b&c=d+e/f", "word": "größe 中文 🙂", "tags": ["x", "y z"], "page": 2, "open": true,
        "filter": ["shop": 1, "range": ["from": 3] as ParameterObject] as ParameterObject,
    ]

    /// The same as names and texts, which is all that a query or a form has.
    private static let pairs: [String: JSONValue] = [
        "text": "a b&c=d+e/f", "word": "größe 中文 🙂", "tags[]": ["x", "y z"], "page": "2", "open": "true",
        "filter[shop]": "1", "filter[range][from]": "3",
    ]

    // MARK: Methods and parameters

    @Test(
        "Every method arrives, its parameters in the query", .covers("S0.12", "S0.4"), arguments: Wire.allCases,
        [.get, .post, .put, .patch, .delete] as [HTTPMethod])
    func query(wire: Wire, method: HTTPMethod) async throws {
        try await client(wire) { client in
            let reply = try await client.send(
                Anything(method: method, parameters: Self.parameters, placement: .query))
            #expect(reply["method"]?.string == method.rawValue)
            #expect(reply["args"]?.object == Self.pairs)
            #expect(reply["data"]?.string == "")
            #expect(reply["form"]?.object == [:])
        }
    }

    @Test(
        "Every method that has a body carries a form", .covers("S0.12", "S0.4"), arguments: Wire.allCases,
        [.post, .put, .patch, .delete] as [HTTPMethod])
    func form(wire: Wire, method: HTTPMethod) async throws {
        try await client(wire) { client in
            let reply = try await client.send(Anything(method: method, parameters: Self.parameters, placement: .form))
            #expect(reply["method"]?.string == method.rawValue)
            #expect(reply["form"]?.object == Self.pairs)
            #expect(reply["args"]?.object == [:])
        }
    }

    @Test(
        "Every method that has a body carries JSON, byte for byte", .covers("S0.12", "S0.4"), arguments: Wire.allCases,
        [.post, .put, .patch, .delete] as [HTTPMethod])
    func json(wire: Wire, method: HTTPMethod) async throws {
        let text =
            #"{"filter":{"range":{"from":3},"shop":1},"open":true,"page":2,"tags":["x","y z"],"#
            + #""text":"a b&c=d+e/f","word":"größe 中文 🙂"}"#
        try await client(wire) { client in
            let reply = try await client.send(Anything(method: method, parameters: Self.parameters, placement: .json))
            #expect(reply["method"]?.string == method.rawValue)
            #expect(reply["data"]?.string == text)
            #expect(reply[path: "headers.Content-Type"]?.string == "application/json")
        }
    }

    @Test("HEAD brings the head alone, OPTIONS what is allowed", .covers("S0.12"), arguments: Wire.allCases)
    func headAndOptions(wire: Wire) async throws {
        try await client(wire) { client in
            let head = try await client.response(for: Probe(method: .head))
            #expect(head.value.isEmpty)
            #expect(Int(head.http.fields[.contentLength] ?? "") ?? 0 > 0)
            let options = try await client.response(for: Probe(method: .options))
            #expect(options.http.fields["Allow"]?.contains("PATCH") == true)
        }
    }

    private struct Probe: Endpoint {
        let method: HTTPMethod
        var route: Route { Route(method, "/anything") }
        typealias Output = Data
    }

    @Test("An argument of the path stays within its place", .covers("S1.9"), arguments: Wire.allCases)
    func pathArgument(wire: Wire) async throws {
        let base = try await EndToEndServers.shared().httpbin.base
        try await client(wire) { client in
            let response = try await client.response(for: Anything(path: "/anything/\("größe 7?x=1&y")/reviews"))
            #expect(response.request.url.path == "/anything/gr%C3%B6%C3%9Fe%207%3Fx%3D1%26y/reviews")
            #expect(response.value["args"]?.object == [:])
            let seen = response.value["url"]?.string
            #expect(seen?.removingPercentEncoding == "\(base)/anything/größe 7?x=1&y/reviews")
        }
    }

    // MARK: Headers

    @Test("Headers arrive, several of one name too", .covers("S2.4"), arguments: Wire.allCases)
    func headers(wire: Wire) async throws {
        let edits = HeaderEdits().setting("X-Trace", "abc; d=\"e\"").adding("X-Tag", "one").adding("X-Tag", "two")
        try await client(wire) { client in
            let headers = try await client.send(Anything(headers: edits))["headers"]
            #expect(headers?["X-Trace"]?.string == "abc; d=\"e\"")
            let tags = headers?["X-Tag"]?.string?.split(separator: ",").map { $0.trimmingPrefix(" ") }
            #expect(tags == ["one", "two"])
            #expect(headers?["User-Agent"]?.string?.hasSuffix(" Penstock/\(PenstockVersion.current)") == true)
        }
    }

    // MARK: Bodies

    private static let allBytes = pattern(kibibytes: 1 << 10)
    private static let binary: HeaderEdits = ["Content-Type": "application/octet-stream"]

    @Test("Bytes and files arrive byte for byte", arguments: Wire.allCases)
    func bodies(wire: Wire) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
        try Self.allBytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await client(wire) { client in
            for body in [HTTPBody.bytes(Self.allBytes), .file(file)] {
                let reply = try await client.send(Anything(method: .put, headers: Self.binary, body: body))
                #expect(areSame(reply.receivedBody, Self.allBytes))
                #expect(reply[path: "headers.Content-Length"]?.string == "\(Self.allBytes.count)")
            }
        }
    }

    @Test("A stream arrives byte for byte, or is refused before anything is sent", arguments: Wire.allCases)
    func streams(wire: Wire) async throws {
        try await client(wire) { client in
            for length in [nil, Self.allBytes.count] {
                let upload = Anything(
                    method: .post, headers: Self.binary, body: .stream(length: length) { Self.pieces() })
                guard wire.capabilities.contains(.streamedRequests) else {
                    let error = try await client.failure(upload)
                    #expect(error.kindName == "unsupported")
                    #expect(error.sendState == .unsent)
                    continue
                }
                let reply = try await client.send(upload)
                #expect(areSame(reply.receivedBody, Self.allBytes))
                let headers = reply["headers"]
                #expect(headers?["Content-Length"]?.string == length.map(String.init))
                #expect(headers?["Transfer-Encoding"]?.string == (length == nil ? "chunked" : nil))
            }
        }
    }

    private static func pieces() -> HTTPBody.Chunks {
        HTTPBody.Chunks { continuation in
            for start in stride(from: 0, to: allBytes.count, by: 60_000) {
                continuation.yield(allBytes[start..<min(start + 60_000, allBytes.count)])
            }
            continuation.finish()
        }
    }
}
