import Foundation

/// What a request shows to say on whose behalf it is made: a token, a key, or a password.
///
/// ```swift
/// Credential("eyJhbGciOi…", refreshToken: "8xLOxBtZp8", expiresIn: .seconds(3600))
/// ```
///
/// Nothing that prints a credential shows what is in it.
public struct Credential: Hashable, Sendable {
    /// Tells this credential from those before and after it.
    public let version: CredentialVersion
    /// The access token, the key, or the password.
    public let token: String
    /// Whose password it is; `nil` for tokens and keys.
    public let user: String?
    /// What a new credential is asked for with; `nil` when there is nothing of the kind.
    public let refreshToken: String?
    /// When it was obtained, by the device's clock.
    public let obtained: Date
    /// When it is of no more use, by the device's clock; `nil` when nobody has said.
    public let expires: Date?
    /// Whatever else the app's ``Authenticator`` needs. That a new credential is not the old one again is told by the token.
    public let values: [String: String]

    /// - Parameters:
    ///   - lifetime: counted from `obtained`, so that the server's clock plays no part. Less than nothing is taken for
    ///     nothing, and more than ten years for ten years, so that no server can make the date absurd.
    ///   - obtained: now unless told otherwise.
    ///   - version: a new one unless told otherwise.
    public init(
        _ token: String, user: String? = nil, refreshToken: String? = nil, expiresIn lifetime: Duration? = nil,
        values: [String: String] = [:], obtained: Date = Date(), version: CredentialVersion = .new()
    ) {
        self.version = version
        self.token = token
        self.user = user
        self.refreshToken = refreshToken
        self.obtained = obtained
        expires = lifetime.map { obtained.addingTimeInterval(min(max($0, .zero), Self.longestLifetime) / .seconds(1)) }
        self.values = values
    }

    private static let longestLifetime = Duration.seconds(10 * 365 * 86_400)

    /// A lifetime of so many seconds, whatever number that is.
    static func lifetime(_ seconds: Double) -> Duration {
        .seconds(min(max(0, seconds), longestLifetime / .seconds(1)))
    }

    /// Whether it may take the place of another one: it has a token, or is the empty password of a user, and its dates are
    /// dates.
    var isValid: Bool {
        let dates = [obtained, expires].compactMap { $0?.timeIntervalSince1970 }
        return (!token.isEmpty || user != nil) && !version.text.isEmpty && dates.allSatisfy(\.isFinite)
    }

    /// The same credential under another version.
    func renamed(_ version: CredentialVersion) -> Credential {
        Credential(
            token, user: user, refreshToken: refreshToken, expiresIn: lifetime, values: values, obtained: obtained,
            version: version)
    }

    /// How long it is good for, from when it was obtained.
    public var lifetime: Duration? { expires.map { .seconds($0.timeIntervalSince(obtained)) } }

    /// Whether its time is over; never where nobody has said when that is.
    public func isExpired(at date: Date) -> Bool {
        expires.map { $0 <= date } ?? false
    }

    /// Whether it is time to renew it: it expires within `leeway`, or within half of its lifetime where that is less, so that
    /// one which is given for a short time is not renewed at once.
    public func isDue(at date: Date, leeway: Duration) -> Bool {
        guard let expires, let lifetime else { return false }
        let early = min(leeway, lifetime / 2)
        return expires.addingTimeInterval(-(early / .seconds(1))) <= date
    }
}

/// The name of one credential among all that there ever are. It is random, so that two processes never give one name to two
/// credentials, nor does an app that is signed out and in again.
public struct CredentialVersion: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is written.
    public let text: String

    /// One that is known already: from a vault, or in a test.
    public init(_ text: String) {
        self.text = text
    }

    /// A new one.
    public static func new(_ random: RandomSource = .system) -> CredentialVersion {
        CredentialVersion([random.next(), random.next()].map { String($0, radix: 36) }.joined(separator: "-"))
    }

    public var description: String { text }
}

// MARK: Printing

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its version, and when it expires.
    public var description: String { "credential \(version)" + (expires.map { ", expires \($0)" } ?? "") }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["version": version, "obtained": obtained, "expires": expires as Any]
                as KeyValuePairs<String, Any>,
            displayStyle: .struct)
    }
}

// MARK: As a vault keeps it

/// A credential as it is kept, with the word of who is renewing it.
public struct CredentialRecord: Hashable, Sendable {
    /// What is shown to the server.
    public var credential: Credential
    /// `nil` while nobody renews it.
    public var claim: RefreshClaim?
    /// The version of the vault's item: another one each time that it is written.
    public var version: String

    /// - Parameter version: of the item; another one for each record that is written.
    public init(_ credential: Credential, claim: RefreshClaim? = nil, version: String) {
        self.credential = credential
        self.claim = claim
        self.version = version
    }
}

extension CredentialRecord {
    /// What is written, under names that stay what they are whatever the properties are called.
    private struct Form: Codable {
        var format = 1
        var version: String
        var token: String
        var user: String?
        var refreshToken: String?
        var obtained: Double
        var lifetime: Double?
        var values: [String: String]?
        var claim: Claim?

        struct Claim: Codable {
            var holder: String
            var tries: Int
            var since: Double
            var until: Double
        }
    }

    /// The record as a vault keeps it.
    public var item: VaultItem {
        var form = Form(
            version: credential.version.text, token: credential.token, user: credential.user,
            refreshToken: credential.refreshToken, obtained: credential.obtained.timeIntervalSince1970,
            lifetime: credential.lifetime.map { $0 / .seconds(1) },
            values: credential.values.isEmpty ? nil : credential.values)
        form.claim = claim.map {
            Form.Claim(
                holder: $0.holder, tries: $0.tries, since: $0.since.timeIntervalSince1970,
                until: $0.until.timeIntervalSince1970)
        }
        // Texts and finite numbers can always be written.
        let content = (try? JSONEncoder().encode(form)) ?? Data()
        return VaultItem(version: version, content: content)
    }

    /// - Throws: ``VaultError/corrupt`` for what no version of the package that is as old as this one can have written.
    public init(_ item: VaultItem) throws(VaultError) {
        guard let form = try? JSONDecoder().decode(Form.self, from: item.content), form.format == 1 else {
            throw .corrupt
        }
        let credential = Credential(
            form.token, user: form.user, refreshToken: form.refreshToken,
            expiresIn: form.lifetime.map(Credential.lifetime), values: form.values ?? [:],
            obtained: Date(timeIntervalSince1970: form.obtained), version: CredentialVersion(form.version))
        let claim = form.claim.map {
            RefreshClaim(
                holder: $0.holder, tries: $0.tries, since: Date(timeIntervalSince1970: $0.since),
                until: Date(timeIntervalSince1970: $0.until))
        }
        self.init(credential, claim: claim, version: item.version)
    }
}

/// What was decided about the credential of a call, and why.
@nonexhaustive
public enum CredentialReason: Hashable, Sendable {
    /// It is due or was refused, and this call asks for a new one.
    case renewing
    /// Another call has asked already, and this one waits for the same answer.
    case joined
    /// The wait is over, and there is a new one.
    case renewed
    /// What was refused is an older one: a newer one is at hand, and nothing is asked for.
    case alreadyRenewed
    /// There is no credential to go with.
    case failed(AuthenticationFailure)
}
