#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockSecurity

    /// A signature goes over TLS to the server that it is for, and to no other.
    @Suite(.timeLimit(.minutes(5))) struct SignedOverTLSTests {
        private static func send(
            to server: LoopbackServer, trusting authority: TestCertificateAuthority
        ) async -> APIError? {
            do {
                let signer = SortedParameterSigner(appKey: "shop", secret: try SharedSecret(text: "secret"))
                var configuration = APIClient.Configuration(
                    services: [Service(.main, [.development: server.url.absoluteString], signer: signer)])
                configuration.options.trust = .authorities(authority.file)
                configuration.options.retry = RetryPolicy(limit: 0)
                let client = APIClient(configuration, transport: CurlTransport())
                var failure: APIError?
                do { _ = try await client.send(Pay(to: "bob", amount: 5)) } catch { failure = error }
                await client.transport.shutdown()
                return failure
            } catch {
                return APIError(.invalidConfiguration(reason: "\(error)"), stage: .transport)
            }
        }

        @Test(.covers("S3.27")) func `a signed request arrives over HTTPS as it was signed`() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
            defer { server.stop() }
            #expect(await Self.send(to: server, trusting: authority) == nil)
            let arrived = try #require(server.requests.first)
            #expect(server.url.scheme == .https && arrived.method == .post)
            let nonce = try #require(arrived.fields["X-Nonce"])
            let seconds = try #require(arrived.fields["X-Timestamp"].flatMap { TimeInterval($0) })
            let request = try HTTPRequest(
                .post, server.url.origin.text + arrived.target,
                [("Content-Type", try #require(arrived.fields[.contentType]))], body: .bytes(arrived.body))
            let signer = SortedParameterSigner(appKey: "shop", secret: try SharedSecret(text: "secret"))
            let steps = try await signer.signed(request, at: Date(timeIntervalSince1970: seconds), nonce: nonce)
            #expect(steps.signature == arrived.fields["X-Signature"])
        }

        static let bad: [TestCertificate] = [.expired, .notYetValid, .wrongHost]

        @Test(.covers("S3.27"), arguments: bad) func `no signature goes to a server whose certificate is bad`(
            certificate: TestCertificate
        ) async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue(certificate)))) { _ in .text("ok") }
            defer { server.stop() }
            let error = await Self.send(to: server, trusting: authority)
            guard case .tls = error?.kind else {
                Issue.record("\(String(describing: error?.kind))")
                return
            }
            #expect(error?.sendState == .unsent)
            #expect(server.requestCount == 0)
        }

        @Test(.covers("S3.27")) func `no signature goes to a server that signed its certificate itself`() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try TestCertificateAuthority.selfSigned()))) { _ in
                .text("ok")
            }
            defer { server.stop() }
            let error = await Self.send(to: server, trusting: authority)
            #expect(error?.kind == .tls(.untrusted))
            #expect(server.requestCount == 0)
        }
    }
#endif
