#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Requests by libcurl, each of whose calls fails once: every one that libcurl makes to the system or for memory, and
    /// every one that the package makes to libcurl or to the system.
    ///
    /// A program does it, `torture`, for only in a process of its own can calls be replaced. By default each call fails
    /// in one of the ways it can fail, of the allocations each third, of other calls that are many fifty to a hundred; with
    /// `PENSTOCK_TORTURE=full` each fails in every way, alone and with all that follow it.
    @Suite(.timeLimit(.minutes(10)))
    struct TortureTests {
        private static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_TORTURE"] == "full"

        @Test(
            "Whatever call fails, a request brings right bytes or a typed failure, and the next one is as good as ever",
            arguments: [
                "first", "get", "post", "upload", "stream", "gzip", "tls", "http2", "pause", "cancel", "redirect",
                "proxy", "preconnect",
            ])
        func torture(scenario: String) async throws {
            let rig = try TortureRig()
            defer { rig.stop() }
            let tool = try #require(BuiltProgram.url("torture"))
            let run = try await Subprocess.run(tool, [scenario] + rig.arguments + (Self.isFull ? ["full"] : []))
            #expect(run.status == 0, "\(run.output)")
            if Self.isFull { print(run.output) }
            if scenario == "preconnect" { #expect(rig.clear.requestCount == 0, "a connection alone sends no request") }
        }
    }

    /// The servers of one scenario.
    private struct TortureRig {
        let clear: LoopbackServer
        private let secure: LoopbackServer
        private let http2: LoopbackServer
        private let authority: TestCertificateAuthority

        init() throws {
            authority = try TestCertificateAuthority()
            let identity = try authority.issue()
            clear = try LoopbackServer(Self.limits()) { Self.answer($0) }
            secure = try LoopbackServer(Self.limits(.init(identity))) { Self.answer($0) }
            http2 = try LoopbackServer(Self.limits(.init(identity, protocols: [.http2]))) { Self.answer($0) }
        }

        var arguments: [String] {
            [clear, secure, http2].map(\.url.absoluteString) + [authority.file.path]
        }

        func stop() {
            for server in [clear, secure, http2] { server.stop() }
        }

        private static func limits(_ tls: LoopbackServer.TLS? = nil) -> LoopbackServer.Configuration {
            var configuration = LoopbackServer.Configuration(tls: tls)
            configuration.recordedRequests = 0
            return configuration
        }

        /// A request by way of a proxy has a whole URL as its target (RFC 9112 §3.2.2).
        private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            let origin = "http://shop.invalid"
            guard request.path.hasPrefix(origin) else { return answer(request, request.path) }
            guard request.fields.contains("Proxy-Authorization") else { return .init(status: 407) }
            return answer(request, String(request.path.dropFirst(origin.count)))
        }

        private static func answer(_ request: LoopbackServer.Request, _ path: String) -> LoopbackServer.Response {
            switch path {
            case "/echo": .init(body: request.body)
            case "/gzip": .init(fields: ["Content-Encoding": "gzip"], body: hello)
            case "/hold": .hold
            case "/redirect": .init(status: 302, fields: ["Location": "/bytes/100"])
            default: .init(body: bytes(path))
            }
        }

        private static func bytes(_ path: String) -> Data {
            let count = path.split(separator: "/").last.flatMap { Int($0) } ?? 0
            return sampleBytes(seed: UInt64(count), count: count)
        }

        /// "hello, hello" and a line's end.
        private static let hello = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIAFFcANslJh8NAAAA") ?? Data()
    }
#endif
