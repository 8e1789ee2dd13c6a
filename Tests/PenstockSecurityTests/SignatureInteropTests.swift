import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// What another implementation of RFC 9421, the Python package http-message-signatures, says of requests that went over a
/// wire. In a run of its own, since it starts a process.
@Suite(
    .timeLimit(.minutes(2)), .enabled(if: PythonVerifier.canRun, "`make setup` installs http-message-signatures")
)
struct SignatureInteropTests {
    /// Reads requests and keys from its argument, verifies each request and every change of it, and prints a line for each.
    private static let verifier = """
        import base64, json, sys
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from http_message_signatures import HTTPMessageVerifier, MappingKeyResolver, algorithms

        class Fields(list):
            def items(self):
                return iter(self)

        class Request:
            def __init__(self, entry):
                self.method, self.url = entry["method"], entry["url"]
                self.headers = Fields(tuple(field) for field in entry["fields"])

        given = json.load(open(sys.argv[1]))
        point = base64.b64decode(given["p256"])
        numbers = ec.EllipticCurvePublicNumbers(
            int.from_bytes(point[:32], "big"), int.from_bytes(point[32:], "big"), ec.SECP256R1())
        keys = {
            "secret": base64.b64decode(given["secret"]),
            "ed": ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(given["ed25519"])),
            "p256": numbers.public_key(),
        }
        kinds = {"secret": algorithms.HMAC_SHA256, "ed": algorithms.ED25519, "p256": algorithms.ECDSA_P256_SHA256}
        resolver = MappingKeyResolver(public_keys=keys, private_keys={})
        for entry in given["requests"]:
            verifier = HTTPMessageVerifier(signature_algorithm=kinds[entry["key"]], key_resolver=resolver)
            body = base64.b64decode(entry["body"])
            try:
                results = verifier.verify(Request(entry), body=body)
                covered = [name for result in results for name in result.covered_components]
                print(entry["name"], "valid", len(results), len(covered))
            except Exception as error:
                print(entry["name"], "refused", type(error).__name__)
        """

    private struct Entry: Encodable {
        var name: String
        var key: String
        var method: String
        var url: String
        var fields: [[String]]
        var body: String
    }

    private struct Given: Encodable {
        let secret: String
        let ed25519: String
        let p256: String
        var requests: [Entry] = []
    }

    @Test func `requests as they arrive at a server are verified by another implementation, and changed ones are not`()
        async throws
    {
        let secret = try SharedSecret(text: "both know it")
        let ed25519 = try Ed25519PrivateKey(Data((0..<32).map { UInt8($0) }))
        let p256 = try P256PrivateKey()
        var given = Given(
            secret: Data("both know it".utf8).base64EncodedString(), ed25519: ed25519.publicKey.base64EncodedString(),
            p256: p256.publicPoint.base64EncodedString())
        let keys: [(String, any SigningKey)] = [("secret", secret), ("ed", ed25519), ("p256", p256)]
        for (name, key) in keys {
            for entry in try await Self.sent(by: key, named: name) {
                given.requests.append(entry)
                given.requests += Self.changes(of: entry)
            }
        }
        let lines = try await Self.verdicts(on: given)
        #expect(lines.count == given.requests.count)
        for (entry, line) in zip(given.requests, lines) {
            let isChanged = entry.name.contains("changed")
            #expect(line.hasPrefix("\(entry.name) \(isChanged ? "refused InvalidSignature" : "valid 1 ")"), "\(line)")
        }
        #expect(lines.count { $0.contains(" valid ") } == 12)
    }

    /// Sends four requests, and tells how the server read them.
    private static func sent(by key: any SigningKey, named name: String) async throws -> [Entry] {
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        var signer = HTTPMessageSigner(
            key, keyID: name, covering: [.method, .authority, .path, .query, .targetURI],
            optional: HTTPMessageSigner.defaultOptionalComponents + [
                .field(.contentLength), .queryParameter("tag line"), .binary("X-Lines"), .member("b", of: "X-Dict"),
                .structured("Priority", .dictionary), .field("X-Lines"),
            ])
        signer.lifetime = .seconds(60)
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: server.url.absoluteString], signer: signer)], build: .debug)
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration, transport: CurlTransport())
        _ = try await client.send(Lines())
        _ = try await client.send(Pay(to: "bob & söhne", amount: 5))
        _ = try await client.send(Search(line: "red wine ~ 100% *"))
        _ = try await client.send(Nothing())
        await client.transport.shutdown()
        #expect(server.requests.last?.fields[.signatureInput]?.contains(#""content-length""#) == true)
        #expect(server.requests.last?.fields.values(of: .contentLength) == ["0"])
        return server.requests.enumerated().map { index, request in
            Entry(
                name: "\(name)-\(index)", key: name, method: request.method.rawValue,
                url: server.url.origin.text + request.target,
                fields: request.fields.map { [$0.name.text, $0.value] }, body: request.body.base64EncodedString())
        }
    }

    /// Each with one thing changed that the signature covers.
    private static func changes(of entry: Entry) -> [Entry] {
        func changed(_ what: String, _ change: (inout Entry) -> Void) -> Entry {
            var other = entry
            other.name += "-changed-" + what
            change(&other)
            return other
        }
        var changes = [
            changed("method") { $0.method = "DELETE" },
            changed("host") { $0.url = $0.url.replacingOccurrences(of: "0.1:", with: "0.2:") },
            changed("query") { $0.url += $0.url.contains("?") ? "&a=1" : "?a=1" },
            changed("signature") { entry in
                guard let index = entry.fields.firstIndex(where: { $0[0] == "Signature" }) else { return }
                let value = entry.fields[index][1]
                entry.fields[index][1] = value.replacingOccurrences(of: "sig1=:", with: "sig1=:AAAA")
            },
            changed("time") { entry in
                guard let index = entry.fields.firstIndex(where: { $0[0] == "Signature-Input" }) else { return }
                entry.fields[index][1] = entry.fields[index][1].replacingOccurrences(
                    of: ";created=", with: ";created=1")
            },
        ]
        if !entry.body.isEmpty {
            changes.append(changed("body") { $0.body = Data("amount=500".utf8).base64EncodedString() })
        }
        if entry.fields.contains(where: { $0[0] == "X-Lines" }) {
            changes.append(
                changed("field") { entry in
                    for index in entry.fields.indices where entry.fields[index][0] == "X-Lines" {
                        entry.fields[index][1] += "!"
                    }
                })
        }
        return changes
    }

    private static func verdicts(on given: Given) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("signed-\(UUID().uuidString).json")
        try JSONEncoder().encode(given).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let finished = try await Subprocess.run(PythonVerifier.python, ["-c", verifier, file.path])
        #expect(finished.status == 0, "\(finished.output)")
        return finished.output.split(separator: "\n").map(String.init)
    }
}

/// The interpreter that has the other implementation.
private enum PythonVerifier {
    static let python = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".venv/bin/python")

    /// Nothing is skipped in continuous integration.
    static let canRun =
        FileManager.default.isExecutableFile(atPath: python.path) || ProcessInfo.processInfo.environment["CI"] == "true"
}

/// With fields of several lines and of structure.
private struct Lines: Endpoint {
    typealias Output = Data
    var route: Route { .get("/lines") }
    var headers: HeaderEdits {
        let edits: HeaderEdits = ["X-Lines": "a, b", "X-Dict": "a=1,  b=(x   y);q=2", "Priority": "u=1,   i"]
        return edits.adding("X-Lines", "c")
    }
}

/// Without content, whose length the transport tells all the same.
private struct Nothing: Endpoint {
    typealias Output = Data
    var route: Route { .post("/nothing") }
}

private struct Search: Endpoint, Encodable {
    typealias Output = Data
    let line: String
    var route: Route { .get("/search/a%20b") }
    enum CodingKeys: String, CodingKey { case line = "tag line" }
}
