#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTesting
    import Testing

    /// Pins and client certificates, as the tool is told of them.
    @Suite(.timeLimit(.minutes(5))) struct TrustToolTests {
        private static let nobodys = [PublicKeyPin(ofKey: "nobody".utf8), PublicKeyPin(ofKey: "no one".utf8)]
            .map(\.description)

        private struct Bank {
            let authority: TestCertificateAuthority
            let people: TestCertificateAuthority
            let server: LoopbackServer
            let pin: String

            init(asksForClients: Bool = false) throws {
                authority = try TestCertificateAuthority()
                people = try TestCertificateAuthority(name: "People")
                let identity = try authority.issue()
                pin = try PublicKeyPin(digest: identity.publicKeyHash()).description
                var tls = LoopbackServer.TLS(identity)
                if asksForClients { tls.clientAuthorities = people.root }
                server = try LoopbackServer(.init(tls: tls)) { _ in .text("ok") }
            }

            func fetch(_ arguments: String..., prefix: String = "") async throws -> Tool {
                let words = ["--json", "--cacert", authority.file.path] + arguments
                let line = words.map { "'\($0)'" }.joined(separator: " ")
                return try await Tool.shell("\(prefix) exec \"$0\" fetch https://127.0.0.1:\(server.url.port)/ \(line)")
            }
        }

        @Test("A pin that the server has lets the request through, and one that it has not is tls", .covers("S4.23"))
        func pins() async throws {
            let bank = try Bank()
            defer { bank.server.stop() }
            let good = try await bank.fetch("--pin", Self.nobodys[0], "--pin=\(bank.pin)")
            #expect(good.status == 0, "\(good.errors)")
            #expect(bank.server.requestCount == 1)
            let bad = try await bank.fetch("--pin", Self.nobodys[0], "--pin", Self.nobodys[1])
            #expect(bad.status == 8)
            #expect(try bad.report().error?.message.contains("pinMismatch") == true)
            #expect(bank.server.requestCount == 1)
        }

        @Test func `A certificate is shown, whatever file it comes in`() async throws {
            let bank = try Bank(asksForClients: true)
            defer { bank.server.stop() }
            let folder = try Folder()
            let anna = try bank.people.issue(.client("anna"))
            let certificate = try folder.write(anna.certificates, to: "anna.crt")
            let key = try folder.write(anna.privateKey, to: "anna.key")
            let both = try folder.write(anna.certificates + anna.privateKey, to: "anna.pem")
            let container = try folder.write(anna.pkcs12(passphrase: ""), to: "anna.p12")
            let locked = try folder.write(anna.pkcs12(passphrase: "open sesame"), to: "locked.p12")
            let word = "PENSTOCK_PASSPHRASE='open sesame'"
            for tool in [
                try await bank.fetch("--cert", certificate, "--key", key), try await bank.fetch("--cert", both),
                try await bank.fetch("--cert", container), try await bank.fetch("--cert", locked, prefix: word),
            ] { #expect(tool.status == 0, "\(tool.errors)") }
            let names = bank.server.connections.map { $0.handshake?.clientName }
            #expect(names == Array(repeating: "anna", count: 4))
            for tool in [
                try await bank.fetch(), try await bank.fetch("--cert", certificate),
                try await bank.fetch("--cert", certificate, "--key", certificate),
                try await bank.fetch("--cert", locked),
            ] { #expect(tool.status == 8 || tool.status == 9, "\(tool.errors)") }
            #expect(bank.server.requestCount == 4)
        }

        @Test("A wrong pin, certificate or key is named, exits with 64 and sends nothing")
        func mistakes() async throws {
            let bank = try Bank()
            defer { bank.server.stop() }
            let folder = try Folder()
            let empty = try folder.write(Data(), to: "empty")
            let text = try folder.write(Data("-----BEGIN ".utf8), to: "text")
            for (words, name) in [
                (["--pin", Self.nobodys[0]], "--pin"), (["--pin", Self.nobodys[0], "--pin", Self.nobodys[0]], "--pin"),
                (["--pin", "sha256/AAAA", "--pin", Self.nobodys[0]], "--pin"), (["--pin"], "--pin"),
                (["--cert", "/nowhere"], "--cert"), (["--cert", folder.url.path], "--cert"),
                (["--cert", empty], "--cert"), (["--key", text], "--key"),
                (["--cert", text, "--key", "/nowhere"], "--key"), (["--cert", text, "--cert", text], "--cert"),
            ] {
                let tool = try await Tool.start(["fetch", "https://127.0.0.1:\(bank.server.url.port)/"] + words).end()
                #expect(tool.status == 64 && tool.errors.contains(name), "\(words): \(tool.errors)")
            }
            #expect(bank.server.connectionCount == 0)
        }
    }
#endif
