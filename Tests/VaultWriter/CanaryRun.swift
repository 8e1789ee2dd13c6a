import Foundation
import Penstock
import PenstockTestSupport
import PenstockTesting

/// An app with secrets in every place that it can put one, which writes down all that prints: each kind of output into a file of
/// its own.
struct CanaryRun {
    private let url: String
    private let folder: URL
    private let recorder = RecordingTransport(PlatformTransport.make())
    private let log = EventWriter()

    init(_ url: String, _ folder: String) {
        self.url = url
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
    }

    private struct Note: Codable, Sendable {
        var text: String
    }

    private struct SendNotes: Endpoint, Encodable {
        typealias Output = Void
        let notes: [Note]
        var route: Route { .post("/unavailable") }
    }

    private static func planted(_ place: String) -> String { CanaryScan.planted[place] ?? "" }

    func run() async throws {
        let store = PlatformCache.open(folder.appendingPathComponent("cache/http.sqlite"))
        let client = try client(store)
        try await client.signIn(
            Credential(
                Self.planted("token"), refreshToken: Self.planted("refresh"), values: ["pin": Self.planted("pin")]))
        let errors = try await calls(of: client)
        try write(errors.flatMap(Self.texts), to: "errors.txt")
        try write(log.lines, to: "log.txt")
        try recorder.recording.write(to: folder.appendingPathComponent("recording.json"))
        try await write(values(of: client).flatMap(Self.texts), to: "values.txt")
        let stored = await store.entries(after: nil, limit: 100)
        try write(stored.flatMap { Self.texts($0) + Self.texts($0.response.key) }, to: "listing.txt")
        try await recordNotes(with: client)
        try Data(CanaryScan.marker.utf8).write(
            to: FileManager.default.temporaryDirectory.appendingPathComponent("left"))
        print(CanaryScan.marker)
        // The process ends after this, and OpenSSL with it, under the hands of a thread that is still at work.
        await client.transport.shutdown()
        await store.close()
    }

    private func client(_ store: any CacheStore) throws -> APIClient {
        var signer = SortedParameterSigner(
            appKey: CanaryScan.marker, secret: try SharedSecret(text: Self.planted("signingkey")))
        signer.place = .fields
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: url], signer: signer, authenticator: BearerAuthenticator())
        ])
        configuration.environment = .production
        configuration.identity = { "alice" }
        configuration.options.cleartext = .loopback
        configuration.options.retry = RetryPolicy.none
        configuration.headers = ["X-Api-Key": Self.planted("header"), "X-Note": CanaryScan.marker]
        configuration.cache = .store(store)
        configuration.vault = EncryptedFileVault(file: folder.appendingPathComponent("vault/credentials.vault"))
        configuration.sinks = [log]
        return APIClient(configuration, transport: recorder)
    }

    /// - Returns: what the calls failed of.
    private func calls(of client: APIClient) async throws -> [any Error] {
        let note = CanaryScan.marker
        var errors: [any Error] = []
        func attempt(_ call: () async throws(APIError) -> Void) async {
            do throws(APIError) { try await call() } catch { errors.append(error) }
        }
        // Twice: the second time with the cookie that the first one got, and from the cache.
        for _ in 0..<2 {
            await attempt { () throws(APIError) in
                try await client.get(
                    "/session", parameters: ["note": note, "access_token": Self.planted("query")])
            }
            await attempt { () throws(APIError) in
                try await client.get("/page", parameters: ["note": note], options: .cache(.http))
            }
        }
        let form: ParameterObject = ["note": note, "password": Self.planted("form")]
        await attempt { () throws(APIError) in try await client.post("/echo", parameters: form, placement: .form) }
        let json: ParameterObject = [
            "note": note, "secrets": ParameterObject([("deep", .array([.string(Self.planted("json"))]))]),
        ]
        await attempt { () throws(APIError) in try await client.post("/echo", parameters: json) }
        await attempt { () throws(APIError) in try await client.get("/redirect", parameters: ["note": note]) }
        await attempt { () throws(APIError) in try await client.get("/cut", parameters: form) }
        // What cannot be sent is told of without what it is.
        let wrong = Self.planted("wrongfield") + "\r\nX-Injected: 1"
        for name in [HTTPFieldName.authorization, .cookie] {
            await attempt { () throws(APIError) in
                try await client.get("/page", headers: HeaderEdits().setting(name, wrong))
            }
        }
        let place = url.replacingOccurrences(of: "://", with: "://alice:\(Self.planted("userinfo"))@")
        await attempt { () throws(APIError) in
            try await client.get("/page", parameters: ["note": note], options: .with { $0.baseURL = place })
        }
        return errors
    }

    /// What an app might print while it looks for a mistake.
    private func values(of client: APIClient) async throws -> [Any] {
        let vault = EncryptedFileVault(file: folder.appendingPathComponent("vault/credentials.vault"))
        let text = Self.planted("signingkey") + Self.planted("signingkey")
        let key = try Ed25519PrivateKey(Data(text.utf8.prefix(32)))
        var items: [Any] = [
            vault, VaultKey.file(folder.appendingPathComponent("key")), key, HTTPMessageSigner(key, keyID: "k"),
        ]
        for key in try await vault.keys() {
            items.append(key)
            if let item = try await vault.load(key) { items.append(item) }
        }
        if let credential = try await client.credential() { items.append(credential) }
        let secret = try SharedSecret(text: Self.planted("signingkey"))
        let account = AWSCredentials(
            accessKeyID: CanaryScan.marker, secretAccessKey: Self.planted("signingkey"),
            sessionToken: Self.planted("token"))
        return items + [
            client, client.configuration, client.configuration.services, client.configuration.headers, secret, account,
            SortedParameterSigner(appKey: CanaryScan.marker, secret: secret),
            AWSSignatureV4(region: "eu-central-1", service: "s3") { account },
            try HTTPURL("\(url)?note=\(CanaryScan.marker)&X-Amz-Signature=\(Self.planted("query"))"),
        ]
    }

    /// They are not delivered, so that they stay in the file.
    private func recordNotes(with client: APIClient) async throws {
        let notes = try await EventLog<Note, SendNotes>(
            file: folder.appendingPathComponent("notes.log"), client: client, policy: .init(count: 1),
            endpoint: { SendNotes(notes: $0.events) })
        notes.record(Note(text: CanaryScan.marker))
        await notes.close()
    }

    private func write(_ lines: [String], to name: String) throws {
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.appendingPathComponent(name))
    }

    /// Every way in which a value becomes text.
    static func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let told = (value as? any Error)?.localizedDescription
        return ["\(value)", String(reflecting: value), dumped, "\([value])"] + (told.map { [$0] } ?? [])
    }
}

/// A log as an app would write one that wants to know everything.
private final class EventWriter: EventSink {
    private let kept = Locked<[String]>([])

    var lines: [String] { kept.withLock(\.self) }

    func receive(_ event: Event, _ context: EventContext) {
        let texts = CanaryRun.texts(event) + ["\(context)"]
        kept.withLock { $0 += texts }
    }
}
