import Foundation
import Penstock

/// Whom `fetch` trusts, and as whom it shows itself, of its options. Everything is read and checked before anything is sent.
enum FetchTrust {
    /// The variable that holds the passphrase, in the environment and not among the arguments, which every user of the machine can read.
    static let passphrase = "PENSTOCK_PASSPHRASE"

    static let authorities = OptionRule(
        names: ["--cacert"], placeholder: "FILE", help: "trust only the authorities of this PEM file")
    static let pin = OptionRule(
        names: ["--pin"], placeholder: "sha256/BASE64",
        help: "a key that may speak for the URL's host; twice at least, one of them a key in reserve",
        isRepeatable: true)
    static let certificate = OptionRule(
        names: ["--cert"], placeholder: "FILE",
        help: "the client's certificate: PEM or PKCS#12 (passphrase in $\(passphrase))")
    static let key = OptionRule(
        names: ["--key"], placeholder: "FILE", help: "its private key in PEM, unless the file of --cert has it")

    /// - Parameter origin: whose pins they are. The hosts that a redirect leads to have none.
    static func policy(_ arguments: Arguments, for origin: HTTPURL.Origin) throws(UsageError) -> TrustPolicy? {
        // Whoever asks for it would believe that it was kept.
        for option in [authorities, pin, certificate, key] where origin.scheme == .http && arguments.has(option.key) {
            throw UsageError("\(option.key) needs https: the URL is http, where nothing is verified")
        }
        let authorities = try file(arguments.value("--cacert"), "--cacert")
        var policy = authorities.map { TrustPolicy.authorities($0) } ?? .system
        let pins = arguments.all("--pin")
        if !pins.isEmpty { policy = try pinned(policy, pins, origin.host) }
        policy = policy.identified(by: try identity(arguments))
        return policy == .system ? nil : policy
    }

    private static func pinned(
        _ policy: TrustPolicy, _ pins: [String], _ host: String
    ) throws(UsageError) -> TrustPolicy {
        do throws(PinError) {
            return try policy.pinned([PinSet(host, pins: pins)])
        } catch {
            switch error {
            case .malformedPin(let text): throw UsageError("--pin: \(String(reflecting: text)) is no SHA-256 pin")
            case .noBackup: throw UsageError("--pin: a second pin is missing, of a key that is kept in reserve")
            default: throw UsageError("--pin: the host of the URL cannot be pinned")
            }
        }
    }

    private static func identity(_ arguments: Arguments) throws(UsageError) -> ClientIdentity? {
        guard let certificate = try contents(arguments.value("--cert"), "--cert") else {
            if arguments.has("--key") { throw UsageError("--key: there is no --cert that it belongs to") }
            return nil
        }
        let key = try contents(arguments.value("--key"), "--key")
        let word = ProcessInfo.processInfo.environment[passphrase]
        guard key != nil || certificate.range(of: Data("-----BEGIN ".utf8)) != nil else {
            return .pkcs12(certificate, passphrase: word ?? "")
        }
        return .pem(certificates: certificate, key: key ?? certificate, passphrase: word)
    }

    private static func contents(_ path: String?, _ option: String) throws(UsageError) -> Data? {
        guard let url = try file(path, option) else { return nil }
        // The file is read by a handle: `Data(contentsOf:)` leaks a page for a file that is empty.
        guard let data = try? FileHandle(forReadingFrom: url).readToEnd() else {
            throw UsageError("\(option): there is nothing in the file \(String(reflecting: url.path))")
        }
        return data
    }

    private static func file(_ path: String?, _ option: String) throws(UsageError) -> URL? {
        guard let path else { return nil }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
            FileManager.default.isReadableFile(atPath: path)
        else { throw UsageError("\(option): there is no readable file \(String(reflecting: path))") }
        return URL(fileURLWithPath: path)
    }
}
