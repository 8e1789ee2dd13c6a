#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// TLS of the server, against libcurl.
    @Suite(.timeLimit(.minutes(5)))
    struct SecureServerTests {
        /// One exchange with a server, by a transport of its own.
        static func exchange(
            with server: LoopbackServer, _ method: HTTPMethod = .get, host: String = "127.0.0.1",
            body: HTTPBody = .none,
            trust: TrustPolicy, connect: Duration = .seconds(10)
        ) async throws(TransportError) -> HTTPResponse {
            let transport = CurlTransport()
            guard let url = try? HTTPURL("https://\(host):\(server.url.port)/") else {
                throw TransportError(.other, sendState: .unsent)
            }
            let request = TransportRequest(
                HTTPRequest(method: method, url: url, body: body), timeouts: .init(connect: connect),
                isolation: IsolationKey(trust: trust))
            do throws(TransportError) {
                let response = try await transport.perform(request)
                await transport.shutdown()
                return response.response
            } catch {
                await transport.shutdown()
                throw error
            }
        }

        static func failure(
            with server: LoopbackServer, host: String = "127.0.0.1", trust: TrustPolicy,
            connect: Duration = .seconds(10)
        ) async -> TransportError.Kind? {
            do throws(TransportError) {
                _ = try await exchange(with: server, host: host, trust: trust, connect: connect)
                return nil
            } catch {
                return error.kind
            }
        }

        @Test(arguments: ["127.0.0.1", "localhost"])
        func `A certificate of the test's own authority is trusted, and content goes through both ways`(
            host: String
        ) async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { .text("got \($0.body.count)") }
            defer { server.stop() }
            let body = HTTPBody.bytes(Data(count: 300_000))
            let trust = TrustPolicy.authorities(authority.file)
            let response = try await Self.exchange(with: server, .post, host: host, body: body, trust: trust)
            #expect(String(decoding: response.body, as: UTF8.self) == "got 300000")
            try await server.waitForOpenConnections(atMost: 0)
            let record = try #require(server.connections.first { $0.requests == 1 })
            let handshake = try #require(record.handshake)
            #expect(handshake.isComplete && handshake.version == "TLSv1.3" && !handshake.isResumed)
            #expect(handshake.serverName == (host == "localhost" ? "localhost" : nil))
            #expect(record.bytesReceived > 300_000 && record.bytesSent > 500)
        }

        @Test(arguments: [
            (TestCertificate.expired, TransportError.TLSFailure.expired), (.notYetValid, .expired),
            (.wrongHost, .wrongHost),
            (.hosts(["*.0.0.1"]), .wrongHost),
        ])
        func `A certificate that says the wrong thing is refused`(
            certificate: TestCertificate, reason: TransportError.TLSFailure
        ) async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue(certificate)))) { _ in .text("ok") }
            defer { server.stop() }
            #expect(await Self.failure(with: server, trust: .authorities(authority.file)) == .tls(reason))
            #expect(server.requestCount == 0)
        }

        @Test func `A certificate that nobody known has signed is refused, and the alert is on record`() async throws {
            let authority = try TestCertificateAuthority()
            let stranger = try TestCertificateAuthority(name: "somebody else")
            for identity in [try TestCertificateAuthority.selfSigned(), try stranger.issue()] {
                let server = try LoopbackServer(.init(tls: .init(identity))) { _ in .text("ok") }
                defer { server.stop() }
                #expect(await Self.failure(with: server, trust: .authorities(authority.file)) == .tls(.untrusted))
                try await server.waitForOpenConnections(atMost: 0)
                #expect(server.requestCount == 0)
            }
        }

        @Test func `A chain leads over an intermediate to the root`() async throws {
            let root = try TestCertificateAuthority()
            let identity = try root.intermediate().issue()
            let server = try LoopbackServer(.init(tls: .init(identity))) { _ in .text("ok") }
            defer { server.stop() }
            #expect(try await Self.exchange(with: server, trust: .authorities(root.file)).status == 200)
        }

        @Test func `A pin is the hash of the key: the same for its chain, another for another key`() throws {
            let authority = try TestCertificateAuthority()
            let first = try authority.issue()
            let alone = TLSIdentity(certificates: first.certificates + authority.root, privateKey: first.privateKey)
            #expect(try first.publicKeyHash().count == 32)
            #expect(try first.publicKeyHash() == alone.publicKeyHash())
            #expect(try first.publicKeyHash() != authority.issue().publicKeyHash())
        }

        @Test func `A server is not started with a certificate that is none, or with another's key`() throws {
            let authority = try TestCertificateAuthority()
            let (first, second) = (try authority.issue(), try authority.issue())
            let nonsense = TLSIdentity(certificates: Data("x".utf8), privateKey: first.privateKey)
            let mixed = TLSIdentity(certificates: first.certificates, privateKey: second.privateKey)
            for identity in [nonsense, mixed] {
                #expect(throws: LoopbackServer.TLSFailure.self) {
                    try LoopbackServer(.init(tls: .init(identity))) { _ in .init() }
                }
            }
        }

        @Test func `A file with the root goes with the authority`() throws {
            var authority: TestCertificateAuthority? = try TestCertificateAuthority()
            let file = try #require(authority?.file)
            #expect(try Data(contentsOf: file) == authority?.root)
            authority = nil
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        // MARK: Broken handshakes

        @Test(arguments: [
            LoopbackServer.ConnectionFault.Effect.close, .reset, .alert(40),
            .send(Data("HTTP/1.1 400 no\r\n\r\n".utf8)),
        ])
        func `A handshake fails as scripted, and the next one succeeds`(
            effect: LoopbackServer.ConnectionFault.Effect
        ) async throws {
            let authority = try TestCertificateAuthority()
            let tls = LoopbackServer.TLS(try authority.issue())
            let server = try LoopbackServer(
                .init(tls: tls), onConnect: { $0 == 1 ? .init(effect, at: .firstBytes) : nil }
            ) { _ in .text("ok") }
            defer { server.stop() }
            #expect(await Self.failure(with: server, trust: .authorities(authority.file)) == .tls(.handshake))
            #expect(try await Self.exchange(with: server, trust: .authorities(authority.file)).status == 200)
            #expect(server.handshakeCount == 1 && server.requestCount == 1)
        }

        @Test(arguments: [LoopbackServer.ConnectionFault.Trigger.accept, .firstBytes])
        func `A handshake stalls until the client gives up`(trigger: LoopbackServer.ConnectionFault.Trigger)
            async throws
        {
            let authority = try TestCertificateAuthority()
            let tls = LoopbackServer.TLS(try authority.issue())
            let server = try LoopbackServer(.init(tls: tls), onConnect: { _ in .init(.stall, at: trigger) }) { _ in
                .text("ok")
            }
            defer { server.stop() }
            let trust = TrustPolicy.authorities(authority.file)
            let kind = await Self.failure(with: server, trust: trust, connect: .milliseconds(200))
            #expect(kind == .timeout(.connect))
            try await server.waitForOpenConnections(atMost: 0)
            #expect(server.connections.first?.closedByClient == true)
        }

        @Test(arguments: [LoopbackServer.TLS.Version.tls12, .tls13])
        func `The version of TLS can be fixed`(version: LoopbackServer.TLS.Version) async throws {
            let authority = try TestCertificateAuthority()
            var tls = LoopbackServer.TLS(try authority.issue())
            tls.versions = version...version
            let server = try LoopbackServer(.init(tls: tls)) { _ in .text("ok") }
            defer { server.stop() }
            #expect(try await Self.exchange(with: server, trust: .authorities(authority.file)).status == 200)
            let seen = server.connections.compactMap { $0.handshake?.version }
            #expect(seen == [version == .tls12 ? "TLSv1.2" : "TLSv1.3"])
        }

        @Test func `A client without the certificate that is asked for is refused`() async throws {
            let authority = try TestCertificateAuthority()
            var tls = LoopbackServer.TLS(try authority.issue())
            tls.clientAuthorities = authority.root
            let server = try LoopbackServer(.init(tls: tls)) { _ in .text("ok") }
            defer { server.stop() }
            #expect(await Self.failure(with: server, trust: .authorities(authority.file)) != nil)
            try await server.waitForOpenConnections(atMost: 0)
            let failures = server.connections.compactMap { $0.handshake?.failure }
            #expect(failures == ["peer did not return a certificate"])
            #expect(server.failedHandshakeCount == 1 && server.requestCount == 0)
        }

        @Test func `Faults of requests work by TLS as without`() async throws {
            let authority = try TestCertificateAuthority()
            let tls = LoopbackServer.TLS(try authority.issue())
            let effects: [LoopbackServer.Fault.Effect] = [.close, .reset, .shutDown]
            for effect in effects {
                let server = try LoopbackServer(.init(tls: tls)) { _ in
                    .text("0123456789").fault(effect, at: .responseBody(after: 4))
                }
                defer { server.stop() }
                #expect(await Self.failure(with: server, trust: .authorities(authority.file)) == .connectionLost)
                #expect(server.faults.map(\.fault.effect) == [effect])
            }
        }
    }
#endif
