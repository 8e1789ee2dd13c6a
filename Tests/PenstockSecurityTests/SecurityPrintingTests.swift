import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// No key, no signer, no sealer and no vault prints what it keeps.
@Suite(.timeLimit(.minutes(5))) struct SecurityPrintingTests {
    /// 32 bytes, which are text and a key for every algorithm.
    private static let canary = "hunter2hunter2hunter2hunter2hunt"
    private static let secret = Data(canary.utf8)

    private static func keys() throws -> [any SigningKey] {
        [try SharedSecret(secret), try Ed25519PrivateKey(secret), try P256PrivateKey(secret)]
    }

    private static func sealingKeys() throws -> [SealingKey] {
        let own = try P256PrivateKey(secret)
        let jwk = Data(#"{"kty":"oct","alg":"A256KW","kid":"k","k":"\#(secret.base64URLText)"}"#.utf8)
        return [
            try .direct(secret, id: "d"), try .wrapping(secret, id: "w"), .agreement(own, id: "a"),
            .agreement(own, wraps: false), try SealingKey(jwk: jwk),
        ]
    }

    /// With a secret in each place whose name says so.
    private static func request() throws -> HTTPRequest {
        try HTTPRequest(
            .post, "https://a.example/pay?token=\(canary)&password=\(canary)&x=1",
            [("Authorization", "Bearer \(canary)"), ("Cookie", "sid=\(canary)"), ("Content-Type", "text/plain")],
            body: .bytes(secret))
    }

    private static func signingValues() async throws -> [Any] {
        let (request, date) = (try request(), Date(timeIntervalSince1970: 1_700_000_000))
        let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: canary, sessionToken: canary)
        var values: [Any] = [credentials] + (try keys())
        for form in [AWSSignatureV4.Form.header, .query(expires: .seconds(60))] {
            let signer = AWSSignatureV4(region: "r", service: "s3", form: form, credentials: credentials)
            values += [signer, try await signer.signed(request, at: date)]
        }
        for place in [SortedParameterSigner.Place.fields, .query] {
            var signer = SortedParameterSigner(appKey: "shop", secret: try SharedSecret(secret))
            signer.place = place
            values += [signer, try await signer.signed(request, at: date, nonce: "n")]
        }
        for key in try keys() {
            let covered: [SignatureComponent] = [
                .query, .field(.authorization), .field(.cookie), .queryParameter("token"), .binary(.cookie),
            ]
            let signer = HTTPMessageSigner(key, keyID: "k", covering: covered)
            let steps = try await signer.signed(request, at: date)
            values += [signer, steps, steps.base]
            let refused = HTTPMessageSigner(key, keyID: "k", covering: [.member("a", of: .authorization)])
            do { _ = try await refused.signed(request, at: date) } catch { values.append(error) }
        }
        return values + [DPoPProver(try P256PrivateKey(secret))]
    }

    private static func sealingValues() throws -> [Any] {
        var values: [Any] = []
        for key in try sealingKeys() {
            let message = try JWE.open(JWE.seal(secret, with: key, contentType: "text/plain"), with: [key])
            values += [key, message, JWESealer(key), JWESealer(sealing: key, opening: [key])]
        }
        return values
    }

    private static func vaultValues(in folder: Folder) async throws -> [Any] {
        let item = VaultItem(version: "1", content: secret)
        let keys: [VaultKey] = [.file(folder.keyFile), .app { secret }]
        var values: [Any] = keys
        for (index, key) in keys.enumerated() {
            let vault = EncryptedFileVault(file: folder.url.appendingPathComponent("vault-\(index)"), key: key)
            try await vault.save(item, for: Sample.key, over: .anything)
            values += [vault, try #require(try await vault.load(Sample.key))]
        }
        let memory = MemoryVault()
        let purging = PurgingVault(memory, marker: folder.url.appendingPathComponent("marker"))
        try await purging.save(item, for: Sample.key, over: .anything)
        values += [memory, purging]
        #if os(Linux)
            values.append(SecretServiceVault(application: "shop"))
        #endif
        return values
    }

    /// What a mistake in a secret comes to.
    private static func errors() -> [Any] {
        let attempts: [() throws -> Any] = [
            { try Ed25519PrivateKey(secret + [1]) }, { try P256PrivateKey(secret + [1]) },
            { try P256PrivateKey(pem: canary) }, { try SealingKey.direct(secret + [1]) },
            { try SealingKey(jwk: Data(#"{"kty":"oct","k":"\#(secret.base64URLText)"}"#.utf8)) },
            { try P256PublicKey(secret + secret) }, { try JWE.open(canary, with: sealingKeys()) },
        ]
        return attempts.compactMap { attempt in
            do {
                _ = try attempt()
                return nil
            } catch {
                return error
            }
        }
    }

    private static func values(in folder: Folder) async throws -> [Any] {
        try await signingValues() + sealingValues() + vaultValues(in: folder) + errors()
    }

    @Test(
        "What prints a key, a signer, a sealer, a vault or a step to a signature shows no secret", .covers("H2", "X10"))
    func secrets() async throws {
        let folder = try Folder()
        let values = try await Self.values(in: folder)
        #expect(Self.errors().count == 7)
        for value in values {
            for text in PrintedForms.texts(of: value) {
                #expect(!PrintedForms.shows(Self.secret, in: text), "\(type(of: value))")
                #expect(!text.contains("hunter2"), "\(type(of: value))")
            }
        }
    }

    @Test("A secret is found in whatever form reflection shows it", .covers("X10"))
    func forms() {
        struct Leaking { let secret: Any }
        for shown in [
            Self.canary, Self.secret, Array(Self.secret), Self.secret.hexadecimal, Self.secret.base64EncodedString(),
            Self.secret.base64URLText,
        ] as [Any] {
            var dumped = ""
            dump(Leaking(secret: shown), to: &dumped)
            #expect(PrintedForms.shows(Self.secret, in: dumped), "\(type(of: shown))")
        }
        #expect(!PrintedForms.shows(Self.secret, in: "hunter 104, 117, 110"))
    }

    /// Public types that hold no secret.
    private static let harmless: Set<String> = [
        "ContentDigest", "ContentEncryption", "CryptographyError", "Form", "HashFunction", "JWE", "KernelKeyring",
        "KeyManagement", "KeychainProtection", "Names", "P256PublicKey", "Payload", "Place", "SignatureAlgorithm",
        "SignatureBaseError", "SignatureComponent", "SignatureParameters", "StructuredFieldKind",
        // Of Apple's systems, where there is one: a service, an access group and a protection class.
        "KeychainVault",
    ]

    @Test("Every public type is among those that are tried, or is known to hold no secret")
    func everyType() async throws {
        let folder = try Folder()
        let tried = try await Self.values(in: folder).map { String("\(type(of: $0))".prefix { $0 != "<" }) }
        var known = Self.harmless.union(tried)
        #if !os(Linux)
            known.insert("SecretServiceVault")
        #endif
        let declared = try PrintedForms.publicTypes(ofTarget: "PenstockSecurity")
        #expect(declared.count > 25)
        #expect(declared.subtracting(known).sorted() == [])
    }
}
