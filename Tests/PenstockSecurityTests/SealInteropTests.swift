import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// What another implementation of RFC 7516, Debian's `jose`, makes of what is sealed here, and the reverse.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Jose.canRun, "`make setup` installs jose")) struct SealInteropTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let management: KeyManagement
        let encryption: ContentEncryption
        var testDescription: String { "\(management.rawValue), \(encryption.rawValue)" }
    }

    static let pairs = KeyManagement.allCases.flatMap { management in
        ContentEncryption.allCases.map { Pair(management: management, encryption: $0) }
    }

    @Test(arguments: pairs) func `what one seals the other one opens`(pair: Pair) async throws {
        let jose = try Jose()
        defer { jose.removeFiles() }
        let key = try await jose.key(pair)
        let contents = [Data(), Data("a=1&b=2".utf8), Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0) })]
        for content in contents {
            let ours = try JWE.seal(content, with: key.sealing, contentType: "application/json")
            #expect(try await jose.open(ours) == content)
            let theirs = try await jose.seal(content, pair)
            let message = try JWE.open(theirs, with: [key.opening])
            #expect(message.content == content)
            #expect(message.contentType == "application/json")
        }
        // It refuses what was changed, so that it looks at what it opens.
        var changed = Array(try JWE.seal(contents[1], with: key.sealing))
        let index = changed.count - 5
        changed[index] = changed[index] == "A" ? "B" : "A"
        #expect(try await jose.open(String(changed)) == nil)
    }

    private struct Transfer: Endpoint, Encodable {
        struct Output: Decodable, Sendable { let id: Int }
        var method: HTTPMethod
        var to = "bob"
        var route: Route { Route(method, "/transfer") }
        enum CodingKeys: CodingKey { case to }
    }

    @Test(.covers("S0.9"), arguments: [HTTPMethod.get, .post])
    func `a server with another implementation decrypts the payload, and its reply is opened`(method: HTTPMethod)
        async throws
    {
        let pair = Pair(management: .ecdhESA256KW, encryption: .a256GCM)
        let (theirs, ours) = (try Jose(), try Jose())
        defer {
            theirs.removeFiles()
            ours.removeFiles()
        }
        let server = try await theirs.key(pair).sealing
        let own = try await ours.key(pair).opening
        let reply = try await ours.seal(Data(#"{"id":7}"#.utf8), pair)
        let loopback = try LoopbackServer { _ in .text(reply, fields: [.contentType: "application/jose"]) }
        defer { loopback.stop() }
        let sealer = JWESealer(sealing: server, opening: [own])
        var configuration = APIClient.Configuration(
            services: [Service(.main, BaseURLs(loopback.url.absoluteString), sealer: sealer)], build: .debug)
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration, transport: CurlTransport())
        #expect(try await client.send(Transfer(method: method)).id == 7)
        await client.transport.shutdown()
        let request = try #require(loopback.requests.first)
        let wire = "\(request.target) \(String(decoding: request.body, as: UTF8.self))"
        #expect(!wire.contains("bob"))
        let message =
            method == .get
            ? String(request.target.split(separator: "=", maxSplits: 1)[1])
            : String(decoding: request.body, as: UTF8.self)
        let plain = method == .get ? "to=bob" : #"{"to":"bob"}"#
        #expect(try await theirs.open(message) == Data(plain.utf8))
    }
}

/// The program, and a folder for its files.
private struct Jose {
    private static let program = URL(fileURLWithPath: "/usr/bin/jose")

    /// Nothing is skipped in continuous integration.
    static let canRun =
        FileManager.default.isExecutableFile(atPath: program.path)
        || ProcessInfo.processInfo.environment["CI"] == "true"

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("jose-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    /// A new key of the program's, as who seals has it and as who opens has it.
    func key(_ pair: SealInteropTests.Pair) async throws -> (sealing: SealingKey, opening: SealingKey) {
        let algorithm = pair.management == .direct ? pair.encryption.rawValue : pair.management.rawValue
        // It makes keys on P-256 for no algorithm in particular only.
        let template = pair.management.agrees ? #"{"kty":"EC","crv":"P-256"}"# : #"{"alg":"\#(algorithm)"}"#
        try await run(["jwk", "gen", "-i", template, "-o", path("key")])
        let opening = try read("key", algorithm, pair.encryption)
        guard pair.management.agrees else { return (opening, opening) }
        try await run(["jwk", "pub", "-i", path("key"), "-o", path("public")])
        return (try read("public", algorithm, pair.encryption), opening)
    }

    private func read(
        _ name: String, _ algorithm: String, _ encryption: ContentEncryption
    ) throws -> SealingKey {
        let json = try JSONSerialization.jsonObject(with: try Data(contentsOf: file(name)))
        var members = try #require(json as? [String: Any])
        members["alg"] = algorithm
        return try SealingKey(
            jwk: try JSONSerialization.data(withJSONObject: members), encryption: encryption)
    }

    func seal(_ content: Data, _ pair: SealInteropTests.Pair) async throws -> String {
        try content.write(to: file("plain"))
        let header = #"{"alg":"\#(pair.management.rawValue)","enc":"\#(pair.encryption.rawValue)","cty":"json"}"#
        let key = pair.management.agrees ? "public" : "key"
        try await run([
            "jwe", "enc", "-i", #"{"protected":\#(header)}"#, "-I", path("plain"), "-k", path(key), "-c", "-o",
            path("sealed"),
        ])
        return String(decoding: try Data(contentsOf: file("sealed")), as: UTF8.self)
    }

    /// `nil` where the program refuses.
    func open(_ message: String) async throws -> Data? {
        try Data(message.utf8).write(to: file("message"))
        try? FileManager.default.removeItem(at: file("opened"))
        let finished = try await Subprocess.run(
            Self.program, ["jwe", "dec", "-i", path("message"), "-k", path("key"), "-O", path("opened")])
        return finished.status == 0 ? try Data(contentsOf: file("opened")) : nil
    }

    private func run(_ arguments: [String]) async throws {
        let finished = try await Subprocess.run(Self.program, arguments)
        #expect(finished.status == 0, "\(finished.output)")
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
    private func path(_ name: String) -> String { file(name).path }
}
