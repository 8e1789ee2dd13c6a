import Foundation
import Penstock

/// What `fetch` signs with, of its options. Keys come from a file or the environment and never from the arguments, which every
/// user of the machine can read.
enum FetchSigning {
    /// The key, where no file is named.
    static let variable = "PENSTOCK_SIGN_KEY"

    static let options = [
        OptionRule(
            names: ["--sign"], placeholder: "hmac | aws:REGION:SERVICE | rfc9421",
            help: "sign the request: sorted parameters by HMAC-SHA256, AWS Signature V4, HTTP Message Signatures"),
        OptionRule(
            names: ["--sign-key"], placeholder: "FILE",
            help: "the key ($\(variable) unless given): a secret; for rfc9421 also a private key, PEM or JWK; "
                + "for aws a credentials file ($AWS_ACCESS_KEY_ID, … unless given)"),
        OptionRule(
            names: ["--sign-id"], placeholder: "NAME",
            help: "what the server calls the key; for aws the profile of the file"),
        OptionRule(
            names: ["--sign-query"], placeholder: nil,
            help: "the signature goes into the query: for aws, which is then good for 15 minutes, and hmac"),
    ]

    /// - Returns: `nil` where nothing is to be signed.
    static func signer(
        _ arguments: Arguments, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(UsageError) -> (any Signer)? {
        guard let text = arguments.value("--sign") else {
            for option in options where arguments.has(option.key) {
                throw UsageError("\(option.key): --sign is missing, which says how to sign")
            }
            return nil
        }
        let given = Given(arguments, environment)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("hmac", 1): return try given.sortedParameters()
        case ("rfc9421", 1): return try given.messageSignature()
        case ("aws", 3) where !parts[1].isEmpty && !parts[2].isEmpty:
            return try given.aws(region: parts[1], service: parts[2])
        default: throw UsageError("--sign: \(UsageError.quoted(text)) is none of hmac, aws:REGION:SERVICE and rfc9421")
        }
    }

    /// The profile of a credentials file, as the tools of AWS write it: `[name]`, which a comment may follow, and below it lines of
    /// `name = value`. Lines that are set in further than the setting above them are parts
    /// of it.
    ///
    /// - Returns: `nil` where there is no such profile.
    /// - Throws: where it cannot be told what profile a line begins: what is below would be taken for that of another.
    static func profile(_ name: String, of text: String) throws(UsageError) -> [String: String]? {
        var found: [String: String]?
        var isInside = false
        var indentation: Int?
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.trimmingCharacters(in: .whitespaces)
            if words.hasPrefix("[") {
                guard let end = words.firstIndex(of: "]") else {
                    throw UsageError("--sign-key: the file has a line that begins with [ and has no ]")
                }
                isInside = words[..<end].dropFirst().trimmingCharacters(in: .whitespaces) == name
                if isInside { found = found ?? [:] }
                indentation = nil
            } else if isInside, !words.hasPrefix("#"), !words.hasPrefix(";"), let mark = words.firstIndex(of: "=") {
                let depth = line.prefix(while: \.isWhitespace).count
                if let above = indentation, depth > above { continue }
                indentation = depth
                let value = words[words.index(after: mark)...].trimmingCharacters(in: .whitespaces)
                found?[words[..<mark].trimmingCharacters(in: .whitespaces).lowercased()] = value
            }
        }
        return found
    }
}

/// What was given to sign with.
private struct Given {
    let id: String?
    let file: String?
    let isInQuery: Bool
    let environment: [String: String]

    init(_ arguments: Arguments, _ environment: [String: String]) {
        id = arguments.value("--sign-id")
        file = arguments.value("--sign-key")
        isInQuery = arguments.has("--sign-query")
        self.environment = environment
    }

    func sortedParameters() throws(UsageError) -> any Signer {
        var signer = SortedParameterSigner(appKey: try name(), secret: try secret(try key()))
        if isInQuery { signer.place = .query }
        return signer
    }

    func messageSignature() throws(UsageError) -> any Signer {
        if isInQuery { throw UsageError("--sign-query: rfc9421 has no place for a signature in the query") }
        return HTTPMessageSigner(try signingKey(), keyID: try name())
    }

    func aws(region: String, service: String) throws(UsageError) -> any Signer {
        let form = isInQuery ? AWSSignatureV4.Form.query(expires: .seconds(900)) : .header
        return AWSSignatureV4(region: region, service: service, form: form, credentials: try credentials())
    }

    private func name() throws(UsageError) -> String {
        guard let id, !id.isEmpty else { throw UsageError("--sign-id: the name of the key is missing") }
        return id
    }

    /// A text that an editor has ended with a line feed, or `echo` has, is meant without it.
    private func key() throws(UsageError) -> Data {
        var key: Data
        if let file {
            key = try contents(of: file)
        } else if let text = environment[FetchSigning.variable] {
            key = Data(text.utf8)
        } else {
            throw UsageError("--sign-key: there is no key, neither a file nor $\(FetchSigning.variable)")
        }
        if key.last == UInt8(ascii: "\n") { key.removeLast() }
        if key.last == UInt8(ascii: "\r") { key.removeLast() }
        return key
    }

    private func contents(of path: String) throws(UsageError) -> Data {
        // The file is read by a handle: `Data(contentsOf:)` leaks a page for a file that is empty.
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: 1 << 20) else {
            throw UsageError("--sign-key: there is nothing in a file \(String(reflecting: path))")
        }
        return data
    }

    private func secret(_ key: Data) throws(UsageError) -> SharedSecret {
        try made { () throws(CryptographyError) in try SharedSecret(key) }
    }

    /// PEM and JWK tell themselves; everything else is a secret.
    private func signingKey() throws(UsageError) -> any SigningKey {
        let key = try key()
        let text = String(decoding: key, as: UTF8.self)
        if text.contains("-----BEGIN ") {
            if let known = try? Ed25519PrivateKey(pem: text) { return known }
            return try made { () throws(CryptographyError) in try P256PrivateKey(pem: text) }
        }
        guard text.first(where: { !$0.isWhitespace }) == "{" else { return try secret(key) }
        if let known = try? Ed25519PrivateKey(jwk: key) { return known }
        if let known = try? P256PrivateKey(jwk: key) { return known }
        return try made { () throws(CryptographyError) in try SharedSecret(jwk: key) }
    }

    private func made<Key>(_ make: () throws(CryptographyError) -> Key) throws(UsageError) -> Key {
        do throws(CryptographyError) {
            return try make()
        } catch {
            switch error {
            case .encryptedKey: throw UsageError("--sign-key: the key is protected by a password")
            default:
                throw UsageError(
                    "--sign-key: this is no key that can sign: a secret, or one for Ed25519 or ECDSA on P-256")
            }
        }
    }

    private func credentials() throws(UsageError) -> AWSCredentials {
        let found: [String: String]
        if let file {
            let name = id ?? environment["AWS_PROFILE"] ?? "default"
            let text = String(decoding: try contents(of: file), as: UTF8.self)
            guard let profile = try FetchSigning.profile(name, of: text) else {
                throw UsageError("--sign-key: the file has no profile \(String(reflecting: name))")
            }
            found = profile
        } else {
            if id != nil { throw UsageError("--sign-id: a profile is one of a file, and --sign-key is missing") }
            let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
            let pairs = names.compactMap { name in environment[name].map { (name.lowercased(), $0) } }
            found = Dictionary(pairs) { first, _ in first }
        }
        guard let id = found["aws_access_key_id"], let secret = found["aws_secret_access_key"], !id.isEmpty,
            !secret.isEmpty
        else {
            throw UsageError(
                "--sign-key: aws_access_key_id and aws_secret_access_key are missing, in the file or the environment")
        }
        let token = found["aws_session_token"].flatMap { $0.isEmpty ? nil : $0 }
        return AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    }
}
