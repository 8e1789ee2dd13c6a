import Foundation
import Penstock
import PenstockSQLite
import PenstockTestSupport
import PenstockTesting
import PenstockURLSession

/// An app with secrets in every place that it can put one, which writes down all that prints: each kind of output into a file of
/// its own.
struct CanaryRun {
    private let url: String
    private let folder: URL
    private let recorder: RecordingTransport
    private let log = EventWriter()
    private let lines = LineWriter()
    private let archive: HARRecorder
    private let collector = StubTransport { _ throws(TransportError) in HTTPResponse(status: 200) }

    /// - Parameter isFoundation: whether Foundation's transport carries the calls, and not the platform's own.
    init(_ url: String, _ folder: String, isFoundation: Bool) throws {
        self.url = url
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        recorder = RecordingTransport(isFoundation ? URLSessionTransport() : PlatformTransport.make())
        archive = try HARRecorder(
            file: self.folder.appendingPathComponent("calls.har"), contents: .upTo(bytes: 1 << 20))
    }

    private struct Note: Codable, Sendable {
        var text: String
    }

    private struct SendNotes: Endpoint, Encodable {
        typealias Output = Void
        let notes: [Note]
        var route: Route { .post("/unavailable") }
    }

    private struct Payment: Endpoint, Encodable {
        typealias Output = Void
        let note: String
        let account: String
        var service: ServiceID { "bank" }
        var route: Route { .post("/sealed") }
        var options: CallOptions { .sealed }
    }

    private struct Order: OutboxEndpoint {
        typealias Output = Void
        let note: String
        let password: String
        var route: Route { .post("/unavailable") }
    }

    private static func planted(_ place: String) -> String { CanaryScan.planted[place] ?? "" }

    func run() async throws {
        let store = PlatformCache.store(at: folder.appendingPathComponent("cache/http.sqlite"))
        let (client, telemetry) = try client(store)
        try await client.signIn(
            Credential(
                Self.planted("token"), refreshToken: Self.planted("refresh"), values: ["pin": Self.planted("pin")]))
        let errors = try await calls(of: client) + protectedCalls(of: client)
        try await order(by: client)
        try write(errors.flatMap(Self.texts), to: "errors.txt")
        try write(log.lines, to: "events.txt")
        try lines.data.write(to: folder.appendingPathComponent("log.txt"))
        try await write(exported(by: telemetry), to: "telemetry.txt")
        await archive.close()
        try HTMLReport.write(
            archive: folder.appendingPathComponent("calls.har"), to: folder.appendingPathComponent("calls.html"))
        try recorder.recording.write(to: folder.appendingPathComponent("recording.json"))
        try await write(values(of: client).flatMap(Self.texts), to: "values.txt")
        let stored = await store.entries(after: nil, limit: 100)
        try write(stored.flatMap { Self.texts($0) + Self.texts($0.response.key) }, to: "listing.txt")
        try await recordNotes(with: client)
        try Data(CanaryScan.marker.utf8).write(
            to: FileManager.default.temporaryDirectory.appendingPathComponent("left"))
        print(CanaryScan.marker)
        // As the files are while they are open, with what is in their logs alone.
        try FileManager.default.copyItem(
            at: folder.appendingPathComponent("cache"), to: folder.appendingPathComponent("open"))
        await client.transport.shutdown()
        await store.close()
    }

    private func client(_ store: any CacheStore) throws -> (client: APIClient, telemetry: Telemetry) {
        var signer = SortedParameterSigner(
            appKey: CanaryScan.marker, secret: try SharedSecret(text: Self.planted("signingkey")))
        signer.place = .fields
        let sealingKey = try SealingKey.direct(Self.sealingSecret)
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: url], signer: signer, authenticator: BearerAuthenticator()),
            Service("bank", [.production: url], sealer: JWESealer(sealingKey)),
        ])
        configuration.environment = .production
        configuration.identity = { "alice" }
        configuration.options.cleartext = .loopback
        configuration.options.retry = RetryPolicy.none
        configuration.headers = [
            "X-Api-Key": Self.planted("header"), "X-Note": CanaryScan.marker,
            "X-Client": "shop; session=\(Self.planted("varied"))",
        ]
        configuration.cache = .store(store)
        // A client that has what the app's own has sends to the collector.
        let exporter = OTLPExporter(
            "http://127.0.0.1:4318", headers: [.authorization: "Bearer \(Self.planted("collector"))"],
            by: APIClient(configuration, transport: collector))
        let telemetry = Telemetry("shop", to: exporter, propagatesTo: [url])
        configuration.vault = EncryptedFileVault(file: folder.appendingPathComponent("vault/credentials.vault"))
        configuration.sinks = [log, archive, CallLog(level: .trace, to: lines), telemetry]
        return (APIClient(configuration, transport: recorder), telemetry)
    }

    /// All that the collector is sent but its own key, and the telemetry as it prints.
    private func exported(by telemetry: Telemetry) async throws -> [String] {
        await telemetry.shutdown()
        guard telemetry.lostCount == 0, collector.requests.count > 1 else { throw CocoaError(.fileWriteUnknown) }
        let sent = collector.requests.flatMap { request -> [String] in
            var request = request
            request.fields.remove(.authorization)
            guard case .bytes(let data) = request.body.source else { return [] }
            return [
                "\(request.url.absoluteString) \(request.fields.map(\.value))", String(decoding: data, as: UTF8.self),
            ]
        }
        return sent + Self.texts(telemetry)
    }

    /// 32 bytes.
    private static var sealingSecret: Data { Data((planted("sealingkey") + planted("sealingkey")).utf8.prefix(32)) }

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
        // Stored, with all in it that must not be written: the second time it is read from what is stored.
        for _ in 0..<2 {
            await attempt { () throws(APIError) in
                try await client.get(
                    "/kept", parameters: ["note": note, "api_key": Self.planted("keptquery")], options: .cache(.http))
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
        // What cannot be sent is told of without what it is, and so is what the server will not have, and repeats.
        for (name, place) in [(HTTPFieldName.authorization, "wrongfield"), (.cookie, "wrongcookie")] {
            let wrong = Self.planted(place)
            for value in [wrong + "\r\nX-Injected: 1", wrong + "\0", "Basic \(wrong) \(wrong)", "a=\(wrong)", wrong] {
                await attempt { () throws(APIError) in
                    try await client.get("/echo", headers: HeaderEdits().setting(name, value), options: .anonymous)
                }
            }
        }
        let place = url.replacingOccurrences(of: "://", with: "://alice:\(Self.planted("userinfo"))@")
        await attempt { () throws(APIError) in
            try await client.get("/page", parameters: ["note": note], options: .with { $0.baseURL = place })
        }
        return errors
    }

    /// Calls that are sealed, that go by a proxy, and that show a certificate; none of them succeeds.
    private func protectedCalls(of client: APIClient) async -> [any Error] {
        var errors: [any Error] = []
        func attempt(_ options: CallOptions) async {
            do throws(APIError) { try await client.get("/page", options: options) } catch { errors.append(error) }
        }
        let payment = Payment(note: CanaryScan.marker, account: Self.planted("sealed"))
        do throws(APIError) { try await client.send(payment) } catch { errors.append(error) }
        // Nobody listens at the first port.
        if let nowhere = try? HTTPURL("http://127.0.0.1:1/") {
            let credentials = ProxyCredentials(user: "alice", password: Self.planted("proxy"))
            await attempt(.with { $0.proxy = .http(nowhere, credentials: credentials) })
        }
        let pem = "-----BEGIN PRIVATE KEY-----\n\(Self.planted("clientkey"))\n-----END PRIVATE KEY-----\n"
        let identities = [
            ClientIdentity.pem(
                certificates: Data(pem.utf8), key: Data(pem.utf8), passphrase: Self.planted("passphrase")),
            .pkcs12(Data(Self.planted("clientkey").utf8), passphrase: Self.planted("passphrase")),
        ]
        for identity in identities {
            await attempt(
                .with {
                    $0.baseURL = "https://127.0.0.1:1/"
                    $0.trust = TrustPolicy.system.identified(by: identity)
                })
        }
        return errors
    }

    /// A durable write that is not sent, so that it stays in the file.
    private func order(by client: APIClient) async throws {
        let store = SQLiteOutboxStore(.init(file: folder.appendingPathComponent("cache/outbox.sqlite")))
        let outbox = Outbox(client, store: store, .init(endpoints: [Order.self], cipher: Cipher()))
        let receipt = try await outbox.put(Order(note: CanaryScan.marker, password: Self.planted("outbox")))
        try write(Self.texts(receipt) + Self.texts(outbox), to: "receipt.txt")
        await outbox.close()
    }

    private struct Cipher: OutboxCipher {
        private let key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })

        func seal(_ plain: Data, for context: String) throws -> Data {
            let sealed = try platformCryptography.seal(
                plain, key: key, nonce: Data(count: 12), authenticating: Data(context.utf8))
            return sealed.tag + sealed.bytes
        }

        func open(_ sealed: Data, for context: String) throws -> Data {
            try platformCryptography.open(
                SealedBytes(bytes: Data(sealed.dropFirst(16)), tag: Data(sealed.prefix(16))), key: key,
                nonce: Data(count: 12), authenticating: Data(context.utf8))
        }
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
            ProxyPolicy.http(
                try HTTPURL(url), credentials: ProxyCredentials(user: "a", password: Self.planted("proxy"))),
            ClientIdentity.pkcs12(Data(Self.planted("clientkey").utf8), passphrase: Self.planted("passphrase")),
            TrustPolicy.system.identified(
                by: .pkcs12(Data(Self.planted("clientkey").utf8), passphrase: Self.planted("passphrase"))),
            try SealingKey.direct(Self.sealingSecret),
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
        var texts = CanaryRun.texts(event) + ["\(context)"]
        if case .requestSent(let request) = event {
            texts += [true, false].map { request.curlCommand(showsContent: $0) }
        }
        kept.withLock { $0 += texts }
    }
}

/// What the log says in each of its forms: on standard error, in the journal, and field by field.
private final class LineWriter: LogDestination {
    private let kept = Locked(Data())

    var data: Data { kept.withLock(\.self) }

    func write(_ entry: LogEntry) {
        var data = Data((StandardErrorLog.line(entry) + CanaryRun.texts(entry).joined(separator: "\n")).utf8)
        #if os(Linux)
            data += JournalLog.datagram(entry, identifier: "canary")
        #endif
        kept.withLock { [data] in $0 += data }
    }
}
