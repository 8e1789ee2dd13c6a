#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What becomes of a process that ends while the loop's thread is at work.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct ExitOwnProcessTests {
        @Test func `a program that ends by exit in the midst of TLS ends with its own status, time and again`()
            async throws
        {
            let program = try #require(BuiltProgram.url("file-fetcher"))
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
            defer { server.stop() }
            var statuses: [Int32: Int] = [:]
            for _ in 0..<50 {
                let run = try await Subprocess.run(program, ["leave", server.url.absoluteString, authority.file.path])
                statuses[run.status, default: 0] += 1
            }
            #expect(statuses == [0: 50])
        }
    }
#endif
