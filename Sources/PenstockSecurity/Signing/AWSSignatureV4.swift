import Foundation
import PenstockCore

/// Who signs for AWS.
public struct AWSCredentials: Hashable, Sendable {
    /// The name of the key, which is no secret.
    public let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    /// - Parameter sessionToken: of temporary credentials; `nil`, the default, for those of a user.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    /// The name of the key.
    public var description: String { "credentials of \(accessKeyID)" }
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID], displayStyle: .struct) }
}

/// AWS Signature Version 4, as Amazon's services and those with an interface like theirs ask for it.
///
/// ```swift
/// let signer = AWSSignatureV4(region: "eu-central-1", service: "s3") {
///     try await vault.credentials()
/// }
/// let files = Service(.files, [.production: "https://files.s3.eu-central-1.amazonaws.com"], signer: signer)
/// ```
///
/// The time of the signature is that of the server's clock, as far as the client has learnt it. All fields are signed but
/// those that are changed on the way: see ``unsignedFields``.
public struct AWSSignatureV4: Signer {
    /// Gives the credentials of the moment; asked for every attempt.
    public typealias Credentials = @Sendable () async throws -> AWSCredentials

    /// Where the signature stands.
    @nonexhaustive
    public enum Form: Hashable, Sendable {
        /// The signature stands in the field `Authorization`. The default.
        case header
        /// The signature stands in the query, good for so long: from a second to seven days, which is all that AWS takes.
        case query(expires: Duration)
    }

    /// How the content is covered by the signature.
    @nonexhaustive
    public enum Payload: Hashable, Sendable {
        /// Its digest, for which a file or a stream is read twice. The default, but for S3 with a signature in the query.
        case signed
        /// Nothing: for bodies that can be read only once, over TLS. S3 alone takes it.
        case unsigned
    }

    /// The region, such as `eu-central-1`.
    public var region: String
    /// The service, such as `s3` or `execute-api`.
    public var service: String
    /// ``Form/header`` unless set.
    public var form: Form
    /// Unless set, ``Payload/unsigned`` for S3 with a signature in the query, and ``Payload/signed`` for all else.
    /// Where it is set to be signed for S3 in the query, who uses the URL must send the field `X-Amz-Content-Sha256`.
    public var payload: Payload {
        get { chosen.payload ?? (isS3 && form != .header ? .unsigned : .signed) }
        set { chosen.payload = newValue }
    }
    /// Whether runs of slashes in the path count as one. Unless set, for every service but S3, whose names may have
    /// them.
    public var normalizesPath: Bool {
        get { chosen.normalizesPath ?? !isS3 }
        set { chosen.normalizesPath = newValue }
    }
    /// Whether the escapes of the path are escaped once more. Unless set, for every service but S3.
    public var escapesPathTwice: Bool {
        get { chosen.escapesPathTwice ?? !isS3 }
        set { chosen.escapesPathTwice = newValue }
    }
    /// Whether the digest of the content stands in `X-Amz-Content-Sha256`: with a signature in the query that of a
    /// signed payload alone. Unless set, for S3, which asks for it.
    public var sendsContentDigest: Bool {
        get { chosen.sendsContentDigest ?? isS3 }
        set { chosen.sendsContentDigest = newValue }
    }
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin> = []
    private var chosen = Chosen()
    private let credentials: Credentials

    /// What the app has set; the rest follows the service and the form, which may be set later.
    private struct Chosen {
        var payload: Payload?
        var normalizesPath: Bool?
        var escapesPathTwice: Bool?
        var sendsContentDigest: Bool?
    }

    private var isS3: Bool { service == "s3" }

    /// A signer that asks for its credentials each time, so that temporary ones can be renewed.
    ///
    /// - Parameter form: ``Form/header`` by default.
    public init(
        region: String, service: String, form: Form = .header, credentials: @escaping Credentials
    ) {
        self.region = region
        self.service = service
        self.form = form
        self.credentials = credentials
    }

    /// A signer with credentials that stay what they are.
    public init(region: String, service: String, form: Form = .header, credentials: AWSCredentials) {
        self.init(region: region, service: service, form: form) { credentials }
    }

    /// Fields that proxies change, that frame the message, or that hold a signature themselves: they are sent, and not
    /// signed.
    public static let unsignedFields: Set<HTTPFieldName> = [
        .authorization, .userAgent, "Connection", "Expect", "Keep-Alive", "Proxy-Authenticate", .proxyAuthorization,
        "TE",
        "Trailer", .transferEncoding, "Upgrade", "X-Amzn-Trace-Id",
    ]

    public var isTimed: Bool { true }

    public func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        try await signed(request, at: call.serverDate(of: request.url.origin)).request
    }

    /// The texts that go into the steps of a signature, so that the first one that differs from the server's can be found:
    /// a refusal by AWS names the canonical request and the text that it expected.
    public struct Steps: Sendable {
        /// The request in the form that is signed: method, path, query, fields, the names of the fields, digest.
        public let canonicalRequest: String
        /// The names of the fields that are signed, as `host;x-amz-date`.
        public let signedFields: String
        /// The day, the region and the service that the key is good for.
        public let scope: String
        /// The algorithm, the moment, the scope, and the digest of the canonical request.
        public let text: String
        /// The signature in hexadecimal digits.
        public let signature: String
        /// The request with its signature, as it is sent.
        public let request: HTTPRequest
    }

    /// Signs a request for a moment, with all the steps to it.
    ///
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` for a secret that is empty and for a time that AWS does not
    ///   take; what the credentials throw; what ``ContentDigest/digest(of:by:)`` throws.
    public func signed(_ request: HTTPRequest, at date: Date) async throws -> Steps {
        let credentials = try await self.credentials()
        guard !credentials.secretAccessKey.isEmpty, !credentials.accessKeyID.isEmpty else {
            throw APIError(.invalidConfiguration(reason: "the AWS credentials are empty"), stage: .sign)
        }
        let moment = AWSMoment(date)
        let scope = [moment.day, region, service, "aws4_request"].joined(separator: "/")
        let digest = try await payloadDigest(of: request.body)
        var request = prepared(request, digest, moment)
        if form == .header, let token = credentials.sessionToken { request.fields["X-Amz-Security-Token"] = token }
        let fields = AWSCanonicalFields(request)
        if case .query(let expires) = form {
            let seconds = try Self.seconds(of: expires)
            var items = [
                ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", credentials.accessKeyID + "/" + scope),
                ("X-Amz-Date", moment.text), ("X-Amz-Expires", "\(seconds)"),
            ]
            if let token = credentials.sessionToken { items.append(("X-Amz-Security-Token", token)) }
            items.append(("X-Amz-SignedHeaders", fields.names))
            request.url = request.url.adding(items)
        }
        let canonical = [
            request.method.rawValue, canonicalPath(request.url.path),
            CanonicalQuery.text(of: CanonicalQuery.items(of: request.url.query)),
            fields.lines, fields.names, digest,
        ].joined(separator: "\n")
        let hash = try platformCryptography.digest(Data(canonical.utf8), by: .sha256).hexadecimal
        let text = [Self.algorithm, moment.text, scope, hash].joined(separator: "\n")
        let signature = try Self.signature(of: text, credentials.secretAccessKey, [moment.day, region, service])
        if form == .header {
            let credential = "Credential=\(credentials.accessKeyID)/\(scope)"
            request.fields[.authorization] =
                "\(Self.algorithm) \(credential), SignedHeaders=\(fields.names), Signature=\(signature)"
        } else {
            request.url = request.url.adding([("X-Amz-Signature", signature)])
        }
        return Steps(
            canonicalRequest: canonical, signedFields: fields.names, scope: scope, text: text, signature: signature,
            request: request)
    }

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// What a signature in the query is made of; that of an earlier one stands in the way of a new one.
    private static let parameters = [
        "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
        "X-Amz-SignedHeaders", "X-Amz-Signature",
    ]

    /// What the parameters take the place of.
    private static let replacedFields: [HTTPFieldName] = ["X-Amz-Date", "X-Amz-Security-Token", .authorization]

    /// Seven days is the most that AWS takes.
    private static let longestExpiry: Int64 = 604_800

    private static func seconds(of expires: Duration) throws(APIError) -> Int64 {
        let seconds = expires.components.seconds
        guard (1...longestExpiry).contains(seconds) else {
            throw APIError(
                .invalidConfiguration(reason: "a signature of AWS is good for a second to seven days"), stage: .sign)
        }
        return seconds
    }

    private func payloadDigest(of body: HTTPBody) async throws -> String {
        switch payload {
        case .unsigned: "UNSIGNED-PAYLOAD"
        case .signed: try await ContentDigest.digest(of: body, by: .sha256).hexadecimal
        }
    }

    /// The request with the fields of AWS that are signed, and without those of an earlier signature.
    private func prepared(_ request: HTTPRequest, _ digest: String, _ moment: AWSMoment) -> HTTPRequest {
        var request = request
        if form == .header {
            request.fields["X-Amz-Date"] = moment.text
            if sendsContentDigest { request.fields["X-Amz-Content-Sha256"] = digest }
        } else {
            for name in Self.replacedFields { request.fields.remove(name) }
            // S3 takes the payload for unsigned unless the field names its digest.
            if sendsContentDigest { request.fields["X-Amz-Content-Sha256"] = payload == .signed ? digest : nil }
            request.url = request.url.removing(Self.parameters)
        }
        return request
    }

    private static func signature(of text: String, _ secret: String, _ scope: [String]) throws -> String {
        var key = Data("AWS4\(secret)".utf8)
        for part in scope + ["aws4_request", text] {
            key = try platformCryptography.authenticationCode(of: Data(part.utf8), key: key, by: .sha256)
        }
        return key.hexadecimal
    }

    /// The path as AWS compares it: each segment escaped for itself, with everything escaped that is not unreserved.
    func canonicalPath(_ path: String) -> String {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if normalizesPath {
            let endsInSlash = segments.last?.isEmpty ?? false
            segments.removeAll(where: \.isEmpty)
            if endsInSlash, !segments.isEmpty { segments.append("") }
        }
        let escaped = segments.map { segment in
            escapesPathTwice ? PercentEncoding.escaped(segment) : CanonicalQuery.reescaped(segment)
        }
        return "/" + escaped.joined(separator: "/")
    }
}

/// A moment as AWS writes it: `20150830T123600Z`.
struct AWSMoment {
    let text: String
    /// `20150830`.
    var day: String { String(text.prefix(8)) }

    init(_ date: Date) {
        // `Sun, 30 Aug 2015 12:36:00 GMT` in the order of AWS.
        let words = HTTPDate.format(date).split(separator: " ").map(String.init)
        let month = (AWSMoment.months.firstIndex(of: words[2]) ?? 0) + 1
        let clock = words[4].replacingOccurrences(of: ":", with: "")
        text = words[3] + (month < 10 ? "0\(month)" : "\(month)") + words[1] + "T" + clock + "Z"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// The fields of a request as they are signed.
struct AWSCanonicalFields {
    /// A line for each name, sorted, with an empty one at the end.
    let lines: String
    /// The names, sorted, with semicolons between.
    let names: String

    /// `Host` is signed as the request has it, which is what a client sends that takes it, and otherwise as the transport makes it
    /// of the URL.
    init(_ request: HTTPRequest) {
        var values: [String: [String]] = [:]
        if !request.fields.contains(.host) { values["host"] = [request.url.authority] }
        for field in request.fields where !AWSSignatureV4.unsignedFields.contains(field.name) {
            values[field.name.text.lowercased(), default: []].append(Self.collapsed(field.value))
        }
        let sorted = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        lines = sorted.map { "\($0.key):\($0.value.joined(separator: ","))\n" }.joined()
        names = sorted.map(\.key).joined(separator: ";")
    }

    /// Runs of spaces and tabs become one space, between quotes as well.
    private static func collapsed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}

extension AWSSignatureV4.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String {
        "\(SignedText.printed("AWS Signature V4", request, canonicalRequest)): \(signedFields), \(scope)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["signedFields": signedFields, "scope": scope, "request": request] as KeyValuePairs<String, Any>)
    }
}
