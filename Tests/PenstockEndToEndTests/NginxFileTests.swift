import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// Large and slow files from nginx: every byte of them, a part of them, and giving them up.
@Suite(.needsServers, .timeLimit(.minutes(5)), .covers("S2.1"))
struct NginxFileTests {
    private func client(_ wire: Wire, _ body: (APIClient) async throws -> Void) async throws {
        try await wire.client(for: EndToEndServers.shared().nginx.http, body)
    }

    @Test("A large file arrives byte for byte", arguments: Wire.allCases)
    func largeFile(wire: Wire) async throws {
        try await client(wire) { client in
            let response = try await client.response(for: Download("/large.bin"))
            #expect(response.value.count == NginxServer.largeFile.count)
            #expect(areSame(response.value, NginxServer.largeFile))
            #expect(response.connection.bytesReceived == NginxServer.largeFile.count)
        }
    }

    @Test("A range is asked for and answered as it is", arguments: Wire.allCases)
    func range(wire: Wire) async throws {
        try await client(wire) { client in
            let part = try await client.response(for: Download("/large.bin", headers: ["Range": "bytes=1000-1999"]))
            #expect(part.http.status == 206)
            #expect(part.http.fields["Content-Range"] == "bytes 1000-1999/\(NginxServer.largeFile.count)")
            #expect(areSame(part.value, NginxServer.largeFile[1000..<2000]))
            let beyond = try await client.failure(Download("/large.bin", headers: ["Range": "bytes=99999999-"]))
            #expect(beyond.kind == .httpStatus(416))
        }
    }

    @Test("A file beyond the limit is refused, and the client goes on", arguments: Wire.allCases)
    func limit(wire: Wire) async throws {
        let limited = CallOptions.with { $0.limits = ResponseLimits(bodyBytes: 1 << 20) }
        try await client(wire) { client in
            let error = try await client.failure(Download("/large.bin"), options: limited)
            #expect(error.kind == .limitExceeded(.bodyBytes))
            #expect(try await client.send(Echo()).method == "GET")
        }
    }

    /// The slow file takes two minutes, the large one a moment.
    @Test(
        "A call cancelled in the middle of a file ends at once, and the client goes on", .covers("S0.7"),
        arguments: Wire.allCases, ["/slow.bin", "/large.bin"] as [RoutePath])
    func cancellation(wire: Wire, path: RoutePath) async throws {
        try await client(wire) { client in
            let call = client.start(Download(path))
            for try await case .progress(let progress) in call.updates where progress.received > 0 { break }
            let clock = ContinuousClock()
            let begin = clock.now
            call.cancel()
            let result = await call.result
            #expect(begin.duration(to: clock.now) < .seconds(5))
            if path == "/slow.bin" { expectCancelled(result) }
            #expect(try await client.send(Echo()).method == "GET")
        }
    }

    private func expectCancelled(_ result: Result<APIResponse<Data>, APIError>) {
        let error = #expect(throws: APIError.self) { try result.get() }
        #expect(error?.kind == .cancelled)
    }

    @Test("The server sees a cancelled file break off", .covers("S0.7"), arguments: Wire.allCases)
    func abortedFile(wire: Wire) async throws {
        let log = AccessLog(try await EndToEndServers.shared().nginx)
        let mark = UUID().uuidString
        try await client(wire) { client in
            let call = client.start(Download("/slow.bin", mark: mark))
            for try await case .progress(let progress) in call.updates where progress.received > 0 { break }
            call.cancel()
            _ = await call.result
            let line = try await log.line(about: mark)
            #expect(line.contentBytes < NginxServer.largeFile.count)
        }
    }

    // MARK: Time-outs

    @Test("A slow file ends by the time-out of the whole call", .covers("S0.11"), arguments: Wire.allCases)
    func totalTimeout(wire: Wire) async throws {
        try await client(wire) { client in
            let error = try await client.failure(Download("/slow.bin"), options: .timeout(.milliseconds(300)))
            #expect(error.kind == .timeout(.total))
            #expect(error.response?.status == 200)
            #expect(try await client.send(Echo()).method == "GET")
        }
    }

    /// nginx sends 64 KiB and is silent for a second.
    @Test("A silence in a file ends it by the idle time-out", .covers("S0.11"), arguments: Wire.allCases)
    func idleTimeout(wire: Wire) async throws {
        let impatient = CallOptions.with { $0.timeouts = Timeouts(idle: .milliseconds(250)) }
        try await client(wire) { client in
            let error = try await client.failure(Download("/slow.bin"), options: impatient)
            #expect(error.kind == .timeout(.idle))
            #expect(try await client.send(Echo()).method == "GET")
        }
    }
}
