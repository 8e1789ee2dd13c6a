import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// The replies of httpbin: statuses, codings, framings, delays, cookies.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("S2.1"))
struct HTTPBinResponseTests {
    private func client(
        _ wire: Wire, with change: (inout APIClient.Configuration) -> Void = { _ in },
        _ body: (APIClient) async throws -> Void
    ) async throws {
        try await wire.client(for: EndToEndServers.shared().httpbin.base, with: change, body)
    }

    // MARK: Statuses

    @Test(
        "A status is success or an error by its number", .covers("S4.4"), arguments: Wire.allCases,
        [200, 201, 202, 204, 304, 400, 403, 404, 409, 418, 429, 500, 502, 503])
    func status(wire: Wire, code: Int) async throws {
        try await client(wire) { client in
            let ping = Ping(path: "/status/\(code)")
            if code < 300 {
                #expect(try await client.response(for: ping).http.status == code)
            } else {
                let error = try await client.failure(ping)
                #expect(error.kind == .httpStatus(code))
                #expect(error.response?.status == code)
            }
        }
    }

    @Test("A 401 is an error until the right credentials are sent", arguments: Wire.allCases)
    func basicAuthentication(wire: Wire) async throws {
        let path: RoutePath = "/basic-auth/alice/secret"
        try await client(wire) { client in
            let error = try await client.failure(Document(path))
            #expect(error.kind == .httpStatus(401))
            #expect(error.response?.fields["WWW-Authenticate"]?.hasPrefix("Basic") == true)
            #expect(error.attempts.count == 1)
            let credentials = Data("alice:secret".utf8).base64EncodedString()
            let reply = try await client.send(Document(path, headers: ["Authorization": "Basic \(credentials)"]))
            #expect(reply["authenticated"]?.bool == true)
        }
    }

    // MARK: Content

    @Test(
        "Compressed content is opened", arguments: Wire.allCases,
        [("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli")])
    func codings(wire: Wire, coding: (path: String, flag: String)) async throws {
        try await client(wire) { client in
            let reply = try await client.send(Document("/\(coding.path)"))
            #expect(reply[coding.flag]?.bool == true)
            #expect(reply["method"]?.string == "GET")
        }
    }

    @Test("Content arrives whole, with a length and in chunks", arguments: Wire.allCases)
    func framings(wire: Wire) async throws {
        let alphabet = Data((0..<100_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        try await client(wire) { client in
            let whole = try await client.response(for: Download("/range/100000"))
            #expect(areSame(whole.value, alphabet))
            #expect(whole.http.fields[.contentLength] == "100000")
            let chunked = try await client.response(for: Download("/stream-bytes/100000"))
            #expect(chunked.value.count == 100_000)
            #expect(chunked.http.fields[.contentLength] == nil)
            #expect(try await client.send(Download("/bytes/1000")).count == 1_000)
        }
    }

    // MARK: Time-outs

    @Test(
        "A time-out ends its own call and leaves a longer one alone", .covers("S0.11", "S2.7"), arguments: Wire.allCases
    )
    func timeouts(wire: Wire) async throws {
        try await client(wire) { client in
            async let patient = client.send(Document("/delay/1"), options: .timeout(.seconds(20)))
            let clock = ContinuousClock()
            let begin = clock.now
            // As late as the server can answer: a machine with much else to do may notice a time-out seconds after it.
            let error = try await client.failure(Document("/delay/10"), options: .timeout(.milliseconds(300)))
            #expect(error.kind == .timeout(.total))
            #expect(begin.duration(to: clock.now) >= .milliseconds(300))
            #expect(try await patient["url"]?.string?.hasSuffix("/delay/1") == true)
        }
    }

    @Test("A server that is slow to answer ends a call by the first-byte time-out", .covers("S0.21"))
    func firstByteTimeout() async throws {
        let impatient = CallOptions.with { $0.timeouts = Timeouts(firstByte: .milliseconds(300)) }
        try await client(.libcurl) { client in
            let error = try await client.failure(Document("/delay/3"), options: impatient)
            #expect(error.kind == .timeout(.firstByte))
            #expect(error.sendState == .maybeProcessed)
        }
    }

    @Test("Bytes that keep coming hold the idle time-out off", .covers("S0.11"), arguments: Wire.allCases)
    func idleTimeoutHeldOff(wire: Wire) async throws {
        let patient = CallOptions.with {
            $0.parameters = ["duration": 2.4, "numbytes": 12, "delay": 0]
            $0.timeouts = Timeouts(idle: .milliseconds(1_200))
        }
        try await client(wire) { client in
            let drops = try await client.send(Download("/drip"), options: patient)
            #expect(drops.count == 12)
        }
    }

    // MARK: Cookies

    @Test("A cookie set on the way of a redirect is sent at its end, until it is deleted", arguments: Wire.allCases)
    func cookies(wire: Wire) async throws {
        try await client(wire, with: { $0.cookies = MemoryCookieStore() }) { client in
            let set = try await client.send(Document("/cookies/set/flavour/oat"))
            #expect(set[path: "cookies.flavour"]?.string == "oat")
            #expect(try await client.send(Document("/cookies"))["cookies"]?.object == ["flavour": "oat"])
            let deleted = try await client.send(Document("/cookies/delete", parameters: ["flavour": ""]))
            #expect(deleted["cookies"]?.object == [:])
        }
    }

    @Test("Two cookies set by one reply are both sent back")
    func twoCookies() async throws {
        try await client(.libcurl, with: { $0.cookies = MemoryCookieStore() }) { client in
            let reply = try await client.send(Document("/cookies/set", parameters: ["a": "1", "b": "2"]))
            #expect(reply["cookies"]?.object == ["a": "1", "b": "2"])
        }
    }

    @Test("Without a store no cookie is kept", arguments: Wire.allCases)
    func noCookies(wire: Wire) async throws {
        try await client(wire, with: { $0.cookies = nil }) { client in
            let reply = try await client.send(Document("/cookies/set/flavour/oat"))
            #expect(reply["cookies"]?.object == [:])
        }
    }
}
