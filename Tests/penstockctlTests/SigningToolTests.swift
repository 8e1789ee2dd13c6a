import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import penstockctl

/// `penstockctl fetch --sign` and `--cookies`: what the server sees, and where the keys come from.
@Suite(.timeLimit(.minutes(5))) struct SigningToolTests {
    private static let secret = "swordfish"

    /// Runs `fetch` with words of shell before and behind it.
    private func fetch(_ prefix: String, _ url: String, _ words: String) async throws -> Tool {
        try await Tool.shell("\(prefix) exec \"$0\" fetch '\(url)' \(words)")
    }

    /// An HMAC by a program of its own.
    private func authenticationCode(_ text: String, key: String) async throws -> String {
        let folder = try Folder()
        let file = try folder.write(Data(text.utf8), to: "text")
        let words = ["openssl", "dgst", "-sha256", "-hmac", key, "-r", file]
        let run = try await Subprocess.run(URL(fileURLWithPath: "/usr/bin/env"), words)
        return String(run.output.prefix { $0 != " " })
    }

    @Test("hmac signs the sorted parameters with the key of the environment or of a file, in fields or in the query")
    func sortedParameters() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let file = try folder.write(Data("\(Self.secret)\n".utf8), to: "key")
        let url = server.address("/items?b=2&a=1")
        let nothing = "body:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        for (prefix, words) in [
            ("PENSTOCK_SIGN_KEY=\(Self.secret)", ""), ("", "--sign-key '\(file)'"),
            // The file goes before the environment.
            ("PENSTOCK_SIGN_KEY=other", "--sign-key '\(file)'"),
        ] {
            let tool = try await fetch(prefix, url, "--sign hmac --sign-id shop-ios \(words)")
            #expect(tool.status == 0, "\(tool.errors)")
            let request = try #require(server.requests.last)
            let (time, nonce) = (request.fields["X-Timestamp"] ?? "", request.fields["X-Nonce"] ?? "")
            let text = [
                "GET", request.fields["Host"] ?? "", "/items",
                "X-App-Key=shop-ios&X-Nonce=\(nonce)&X-Timestamp=\(time)&a=1&b=2", nothing,
            ].joined(separator: "\n")
            #expect(try await request.fields["X-Signature"] == authenticationCode(text, key: Self.secret))
        }
        let tool = try await fetch(
            "PENSTOCK_SIGN_KEY=\(Self.secret)", url, "--sign hmac --sign-id shop-ios --sign-query -v")
        let request = try #require(server.requests.last)
        #expect(request.fields["X-Signature"] == nil && request.query?.contains("X-Signature=") == true)
        #expect(tool.status == 0 && !tool.errors.contains(Self.secret))
        let signature = try #require(request.query?.components(separatedBy: "X-Signature=").last)
        #expect(!tool.errors.contains(signature) && tool.errors.contains("/items"))
    }

    @Test("aws signs with the credentials of the environment or of a profile, and presigns a URL")
    func aws() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let file = try folder.write(
            Data(
                """
                # Written by hand
                [default]
                aws_access_key_id = AKIDDEFAULT
                aws_secret_access_key = nobody's
                [ci]
                aws_access_key_id=AKIDEXAMPLE
                ; a comment
                AWS_Secret_Access_Key = \(Self.secret)
                aws_session_token = temporary
                """.utf8), to: "credentials")
        let url = server.address("/bucket/a.txt?list=1")
        let environment =
            "AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=\(Self.secret) AWS_SESSION_TOKEN=temporary"
        for (prefix, words) in [
            (environment, ""), ("", "--sign-key '\(file)' --sign-id ci"), ("AWS_PROFILE=ci", "--sign-key '\(file)'"),
        ] {
            let tool = try await fetch(prefix, url, "--sign aws:eu-central-1:s3 -d hello \(words)")
            #expect(tool.status == 0, "\(tool.errors)")
            let seen = try #require(server.requests.last)
            let signed = try #require(seen.fields["Authorization"])
            #expect(signed.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"))
            #expect(
                signed.contains("/eu-central-1/s3/aws4_request,") && seen.fields["X-Amz-Security-Token"] == "temporary")
            #expect(seen.text == "hello")
            #expect(try await signed == Self.expected(seen, server))
        }
        let other = try await fetch("", url, "--sign aws:eu-central-1:s3 --sign-key '\(file)'")
        #expect(other.status == 0)
        #expect(server.requests.last?.fields["Authorization"]?.contains("Credential=AKIDDEFAULT/") == true)
        let presigned = try await fetch(environment, url, "--sign aws:eu-central-1:s3 --sign-query")
        let query = server.requests.last?.query ?? ""
        #expect(presigned.status == 0 && query.contains("X-Amz-Signature=") && query.contains("X-Amz-Expires=900"))
        #expect(query.hasPrefix("list=1&"))
    }

    /// What the library makes of the request as it came, of those fields that were signed.
    private static func expected(_ seen: LoopbackServer.Request, _ server: LoopbackServer) async throws -> String? {
        let signed = try #require(seen.fields["Authorization"])
        let names =
            signed.components(separatedBy: "SignedHeaders=").last?.prefix { $0 != "," }.split(separator: ";") ?? []
        var request = HTTPRequest(
            method: seen.method, url: try HTTPURL(server.address(seen.target)), body: .bytes(seen.body))
        for name in names where name != "host" && !name.hasPrefix("x-amz-") {
            let field = HTTPFieldName(String(name))
            request.fields[field] = seen.fields[field]
        }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        let date = try #require(format.date(from: seen.fields["X-Amz-Date"] ?? ""))
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: secret, sessionToken: "temporary")
        let signer = AWSSignatureV4(region: "eu-central-1", service: "s3", credentials: credentials)
        return try await signer.signed(request, at: date).request.fields["Authorization"]
    }

    @Test("rfc9421 signs with whatever key there is: a secret, PEM or JWK, and names how")
    func messageSignatures() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let script = """
            openssl genpkey -algorithm ED25519 -out '\(folder.path("ed.pem"))' &&
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '\(folder.path("p256.pem"))'
            """
        let made = try await Subprocess.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
        try #require(made.status == 0, "\(made.output)")
        let p256 = try P256PrivateKey()
        var jwk = p256.publicKey
        jwk["d"] = p256.bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        _ = try folder.write(JSONEncoder().encode(jwk), to: "p256.json")
        _ = try folder.write(Data(#"{"kty":"oct","k":"c3dvcmRmaXNo"}"#.utf8), to: "oct.json")
        _ = try folder.write(Data(Self.secret.utf8), to: "secret")
        let kinds = [
            ("ed.pem", "ed25519"), ("p256.pem", "ecdsa-p256-sha256"), ("p256.json", "ecdsa-p256-sha256"),
            ("oct.json", "hmac-sha256"), ("secret", "hmac-sha256"),
        ]
        for (name, algorithm) in kinds {
            let words = "--sign rfc9421 --sign-id phone-7 --sign-key '\(folder.path(name))' -d a=1"
            let tool = try await fetch("", server.address("/pay"), words)
            #expect(tool.status == 0, "\(tool.errors)")
            let request = try #require(server.requests.last)
            let input = request.fields["Signature-Input"] ?? ""
            #expect(input.contains(#"keyid="phone-7""#) && input.contains("alg=\"\(algorithm)\""), "\(name): \(input)")
            #expect(input.contains(#""@method" "@target-uri" "content-digest" "content-type""#))
            #expect(request.fields["Signature"]?.hasPrefix("sig1=:") == true)
            guard algorithm == "hmac-sha256" else { continue }
            // Both are the same secret.
            let base = """
                "@method": POST
                "@target-uri": \(server.address("/pay"))
                "content-digest": \(request.fields["Content-Digest"] ?? "")
                "content-type": application/x-www-form-urlencoded
                "@signature-params": \(input.dropFirst("sig1=".count))
                """
            let code = try SharedSecret(text: Self.secret).sign(Data(base.utf8)).base64EncodedString()
            #expect(request.fields["Signature"] == "sig1=:\(code):", "\(name)")
        }
    }

    @Test("A redirect within the origin is signed anew, and one to another origin is not signed")
    func redirects() async throws {
        let other = try LoopbackServer.echo()
        let server = try LoopbackServer { request in
            switch request.path {
            case "/here": .init(status: 307, fields: ["Location": "/there"])
            case "/away": .init(status: 307, fields: ["Location": other.address("/there")])
            default: .text("ok")
            }
        }
        defer {
            server.stop()
            other.stop()
        }
        let words = "--sign hmac --sign-id a"
        let prefix = "PENSTOCK_SIGN_KEY=\(Self.secret)"
        #expect(try await fetch(prefix, server.address("/here"), words).status == 0)
        let signatures = server.requests.map { $0.fields["X-Signature"] ?? "none" }
        #expect(Set(signatures).count == 2 && !signatures.contains("none"))
        #expect(try await fetch(prefix, server.address("/away"), words).status == 0)
        #expect(other.requestCount == 1 && other.requests.first?.fields["X-Signature"] == nil)
    }

    @Test("What is missing or wrong of a key is named, exits with 64 and sends nothing, and no key is shown")
    func mistakes() async throws {
        let server = try LoopbackServer.echo()
        defer { server.stop() }
        let folder = try Folder()
        let empty = try folder.write(Data(), to: "empty")
        let feed = try folder.write(Data("\n".utf8), to: "feed")
        let broken = try folder.write(Data("-----BEGIN PRIVATE KEY-----\nswordfish\n".utf8), to: "broken")
        let jwk = try folder.write(Data(#"{"kty":"oct","k":"!swordfish"}"#.utf8), to: "jwk")
        let incomplete = try folder.write(Data("[default]\naws_access_key_id=a\n".utf8), to: "aws")
        let key = "PENSTOCK_SIGN_KEY=swordfish"
        let none = "unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_PROFILE PENSTOCK_SIGN_KEY;"
        for (prefix, words, name) in [
            (key, "--sign sha1 --sign-id a", "--sign"), (key, "--sign aws", "--sign"),
            (key, "--sign aws::s3", "--sign"), (key, "--sign aws:r:", "--sign"), (key, "--sign hmac:x", "--sign"),
            (key, "--sign hmac", "--sign-id"), (key, "--sign rfc9421 --sign-id ''", "--sign-id"),
            (none, "--sign hmac --sign-id a", "--sign-key"),
            ("PENSTOCK_SIGN_KEY=", "--sign hmac --sign-id a", "--sign-key"),
            (key, "--sign-key /nowhere", "--sign is missing"), (key, "--sign-query", "--sign is missing"),
            (key, "--sign-id a", "--sign is missing"),
            (key, "--sign hmac --sign-id a --sign-key /nowhere", "--sign-key"),
            (key, "--sign hmac --sign-id a --sign-key '\(empty)'", "--sign-key"),
            (key, "--sign hmac --sign-id a --sign-key '\(feed)'", "--sign-key"),
            (key, "--sign rfc9421 --sign-id a --sign-key '\(broken)'", "--sign-key"),
            (key, "--sign rfc9421 --sign-id a --sign-key '\(jwk)'", "--sign-key"),
            (key, "--sign rfc9421 --sign-id a --sign-query", "--sign-query"),
            (none, "--sign aws:r:s3", "--sign-key"), (none, "--sign aws:r:s3 --sign-key '\(incomplete)'", "--sign-key"),
            (none, "--sign aws:r:s3 --sign-key '\(incomplete)' --sign-id ci", "\"ci\""),
        ] {
            let tool = try await fetch(prefix, server.address("/"), words)
            #expect(tool.status == 64 && tool.errors.contains(name), "\(words): \(tool.status) \(tool.errors)")
            #expect(tool.output.isEmpty && !tool.errors.contains(Self.secret), "\(words)")
        }
        #expect(server.connectionCount == 0)
    }

    @Test("A profile is what stands below its name, and the last of a name counts")
    func profiles() throws {
        let text = "a=0\n[x]\na = 1\r\n[ y ]\na=2 \n#a=3\nb = c = d\nnonsense\n[x]\nA=4\n[empty]\n"
        #expect(try FetchSigning.profile("x", of: text) == ["a": "4"])
        #expect(try FetchSigning.profile("y", of: text) == ["a": "2", "b": "c = d"])
        #expect(try FetchSigning.profile("empty", of: text) == [:])
        #expect(try FetchSigning.profile("z", of: text) == nil)
    }

    private static let own = ["aws_access_key_id": "OWN", "aws_secret_access_key": "own"]

    /// Files in which `ci` is looked for, and what is found.
    static let files: [(String, [String: String]?)] = [
        ("[ci]\n$OWN\n[prod]\n$OTHER", own), ("[prod]\n$OTHER\n[ci]\n$OWN", own),
        // A comment, or anything else, behind a header.
        ("[ci]\n$OWN\n[prod] # comment\n$OTHER", own), ("[ci] ; comment\n$OWN\n[prod]\t;\n$OTHER", own),
        ("[ci]\n$OWN\n[prod]]\n$OTHER", own), ("[ci]\n$OWN\n[prod] [ci]\n$OTHER", own),
        ("[prod] # [ci]\n$OTHER", nil), ("[ ci\t]\r\n$OWN\r\n[]\r\n$OTHER", own), ("[ci]\n$OWN\n[CI]\n$OTHER", own),
        // A header that is set in ends a section as well.
        ("[ci]\n$OWN\n  [prod]\n$OTHER", own), ("  [ci]\n$OWN\n", own),
        // What is set in belongs to a setting.
        (
            "[ci]\n$OWN\ns3 =\n  aws_access_key_id = OTHER\n\taws_secret_access_key=other",
            own.merging(["s3": ""]) { $1 }
        ),
        ("[ci]\n  AWS_Access_Key_ID = OWN\n  aws_secret_access_key=own\n   part = 1\n # b = c\n[prod]\n$OTHER", own),
        ("[ci]\ns3 =\n  a = 1\n$OWN", own.merging(["s3": ""]) { $1 }),
        ("[ci]\n#$OWN\n;$OWN", ["aws_secret_access_key": "own"]), ("[ci]", [:]), ("$OWN", nil), ("", nil),
    ]

    @Test(
        "A profile has the lines below its own header and none of another's, whatever stands behind a header",
        arguments: files)
    func headers(text: String, expected: [String: String]?) throws {
        func lines(_ value: String) -> String {
            "AWS_Access_Key_ID = \(value.uppercased())\naws_secret_access_key=\(value) "
        }
        let file = text.replacingOccurrences(of: "$OWN", with: lines("own"))
            .replacingOccurrences(of: "$OTHER", with: lines("other"))
        #expect(try FetchSigning.profile("ci", of: file) == expected)
    }

    @Test("A file with a header that does not end is refused", arguments: ["[prod", "[", " [prod # comment"])
    func openHeader(header: String) {
        for text in ["[ci]\na = 1\n\(header)\na = 2", "\(header)\n[ci]\na = 1"] {
            #expect(throws: UsageError.self) { try FetchSigning.profile("ci", of: text) }
        }
    }

    @Test("Cookies that have an expiry are kept in the file and sent the next time, where they belong")
    func cookies() async throws {
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response.text(request.fields["Cookie"] ?? "none")
            if request.path == "/login" {
                response.fields.append("sid=c4n4ry; Max-Age=600", for: "Set-Cookie")
                response.fields.append("own=1; Max-Age=600; Path=/login", for: "Set-Cookie")
                response.fields.append("short=1", for: "Set-Cookie")
            }
            return response
        }
        defer { server.stop() }
        let folder = try Folder()
        let file = folder.path("cookies")
        #expect(try await Tool.fetch(server.address("/login"), "--cookies", file).text == "none")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await Tool.fetch(server.address("/"), "--cookies", file).text == "sid=c4n4ry")
        #expect(try await Tool.fetch(server.address("/login"), "--cookies", file).text == "own=1; sid=c4n4ry")
        #expect(try await Tool.fetch(server.address("/")).text == "none")
        let told = try await Tool.fetch(server.address("/"), "--cookies", file, "-v")
        #expect(!told.errors.contains("c4n4ry"))
        let foreign = try folder.write(Data("hello".utf8), to: "foreign")
        let requests = server.requestCount
        for path in [foreign, folder.url.path, "/dev/null/cookies"] {
            let wrong = try await Tool.fetch(server.address("/"), "--cookies", path)
            #expect(wrong.status == 64 && wrong.errors.contains("--cookies"), "\(path): \(wrong.errors)")
        }
        #expect(server.requestCount == requests)
        #expect(try folder.read("foreign") == Data("hello".utf8))
    }
}
