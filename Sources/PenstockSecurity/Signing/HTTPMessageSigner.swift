import Foundation
import PenstockCore

/// The parameters of a signature (RFC 9421 §2.3).
public struct SignatureParameters: Hashable, Sendable {
    /// When it was made; `nil` for none.
    public var created: Date?
    /// The moment from which on it is of no more use, which is not before ``created``; `nil` for none.
    public var expires: Date?
    /// The name of the key, by which the server finds it; `nil` for none.
    public var keyID: String?
    /// What makes the signature one of its kind; `nil` for none.
    public var nonce: String?
    /// How it was made; `nil` for none, which leaves it to what the server knows of the key.
    public var algorithm: SignatureAlgorithm?
    /// What the signature is for, where several are made; `nil` for none.
    public var tag: String?

    /// The parameters that are named, and no others.
    public init(
        created: Date? = nil, expires: Date? = nil, keyID: String? = nil, nonce: String? = nil,
        algorithm: SignatureAlgorithm? = nil, tag: String? = nil
    ) {
        self.created = created
        self.expires = expires
        self.keyID = keyID
        self.nonce = nonce
        self.algorithm = algorithm
        self.tag = tag
    }

    /// The parameters as they stand behind the list of components: in the order of the properties, times in whole seconds.
    fileprivate func text() throws(SignatureBaseError) -> String {
        var text = ""
        for (name, date) in [("created", created), ("expires", expires)] {
            guard let date else { continue }
            guard let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down)),
                seconds.magnitude < Self.longestInteger
            else { throw .invalidParameter(name) }
            text += ";\(name)=\(seconds)"
        }
        // It would be of no use from the beginning.
        if let created, let expires, expires < created { throw .invalidParameter("expires") }
        let texts = [("keyid", keyID), ("nonce", nonce), ("alg", algorithm?.rawValue), ("tag", tag)]
        for (name, value) in texts {
            guard let value else { continue }
            guard SignatureValue.isQuotable(value) else { throw .invalidParameter(name) }
            text += ";\(name)=\(SignatureValue.quoted(value))"
        }
        return text
    }

    /// An Integer of Structured Fields has 15 digits at most (RFC 9651 §3.3.1).
    private static let longestInteger: UInt64 = 1_000_000_000_000_000
}

/// The text that is signed (RFC 9421 §2.5): a line for each component, and the parameters of the signature.
public struct SignatureBase: Hashable, Sendable {
    /// What `Signature-Input` says of the signature: the components and its parameters.
    public let input: String
    /// All of it, lines divided by line feeds. The values of the components stand in it, secret ones too.
    public let text: String

    /// - Throws: ``SignatureBaseError`` for the first component that the request does not have, or that cannot be written.
    public init(
        of request: HTTPRequest, covering components: [SignatureComponent], _ parameters: SignatureParameters
    ) throws(SignatureBaseError) {
        var lines: [String] = []
        // What is written alike is one component, however it is read: the kind of a Structured Field is not written.
        var known: Set<String> = []
        var query = SignedQuery()
        for component in components {
            guard known.insert(component.description).inserted else { throw .duplicate(component.description) }
            guard SignatureValue.isQuotable(component.description) else {
                throw .unsignable(component.description)
            }
            let value = try component.value(in: request, &query)
            lines.append("\(component): \(value)")
        }
        input = "(" + components.map(\.description).joined(separator: " ") + ")" + (try parameters.text())
        lines.append("\"@signature-params\": \(input)")
        text = lines.joined(separator: "\n")
    }
}

/// HTTP Message Signatures (RFC 9421), with the digest of the content (RFC 9530).
///
/// ```swift
/// let signer = HTTPMessageSigner(try Ed25519PrivateKey(seed), keyID: "phone-7")
/// let service = Service(.pay, [.production: "https://pay.example.com"], signer: signer)
/// ```
///
/// A signature covers the method, the URL, and, where there is a body, its digest and its media type, unless it is told
/// otherwise. The times in it are those of the server's clock, as far as the client has learnt it.
public struct HTTPMessageSigner: Signer {
    /// The components that are covered. Each must be in the request: a call whose request lacks one fails, unsent. ``defaultComponents``
    /// unless set.
    public var components: [SignatureComponent]
    /// The components that are covered where a request has them. One that it has, and that cannot be covered, fails the call as one of
    /// ``components`` does: nothing is left unsigned unseen. ``defaultOptionalComponents`` unless set.
    public var optionalComponents: [SignatureComponent]
    /// The name of the signature among others of the request; `sig1` unless set. A key of a dictionary: small letters,
    /// digits and `_-.*`.
    public var label = "sig1"
    /// How long the signature is good for, as the server is told; `nil`, the default, leaves that to the server. One
    /// that is negative fails the call.
    public var lifetime: Duration?
    /// Whether each signature has a random text of 128 bits, so that the server can refuse a second one. `true` unless set.
    public var hasNonce = true
    /// Whether the signature names its algorithm. `true` unless set.
    public var namesAlgorithm = true
    /// What the signature is for; `nil`, the default, for nothing in particular.
    public var tag: String?
    /// What the digest of the content is made by, where it is covered and the request has none of the app's. SHA-256 unless
    /// set.
    public var digest = HashFunction.sha256
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin> = []
    private let key: any SigningKey
    private let keyID: String
    private let random: RandomSource

    /// Method and URL: ``components`` unless set.
    public static let defaultComponents: [SignatureComponent] = [.method, .targetURI]
    /// The digest of the content, its media type, and who asks: ``optionalComponents`` unless set.
    public static let defaultOptionalComponents: [SignatureComponent] = [
        .field(.contentDigest), .field(.contentType), .field(.authorization),
    ]

    /// - Parameters:
    ///   - keyID: the name of the key, by which the server finds it.
    ///   - components: in place of ``defaultComponents``.
    ///   - optional: in place of ``defaultOptionalComponents``.
    ///   - random: for nonces; the machine's own unless told otherwise.
    public init(
        _ key: any SigningKey, keyID: String,
        covering components: [SignatureComponent] = HTTPMessageSigner.defaultComponents,
        optional: [SignatureComponent] = HTTPMessageSigner.defaultOptionalComponents, random: RandomSource = .system
    ) {
        self.key = key
        self.keyID = keyID
        self.components = components
        self.random = random
        optionalComponents = optional
    }

    public var isTimed: Bool { true }

    public func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        try await signed(request, at: call.serverDate(of: request.url.origin)).request
    }

    /// The texts that go into the steps of a signature, so that the first one that differs from the server's can be found.
    public struct Steps: Sendable {
        /// What was signed.
        public let base: SignatureBase
        /// The bytes of the signature.
        public let signature: Data
        /// The request with its signature, as it is sent.
        public let request: HTTPRequest
    }

    /// Signs a request for a moment, with all the steps to it.
    ///
    /// - Throws: an ``APIError`` of the kind ``APIError/Kind/unsupported(feature:)`` for what cannot be covered, with a
    ///   ``SignatureBaseError`` underneath; what the key throws; what ``ContentDigest/digest(of:by:)`` throws.
    public func signed(_ request: HTTPRequest, at date: Date) async throws -> Steps {
        var request = try await digested(request)
        let named = Set(components.map(\.description))
        var query = SignedQuery()
        let covered =
            components
            + optionalComponents.filter { !named.contains($0.description) && $0.isPresent(in: request, &query) }
        let base = try self.base(of: request, covering: covered, at: date)
        let signature = try await key.sign(Data(base.text.utf8))
        // Both are dictionaries, to which a line of their own adds a member (RFC 9651 §3.2).
        request.fields.append("\(label)=\(base.input)", for: .signatureInput)
        request.fields.append("\(label)=:\(signature.base64EncodedString()):", for: .signature)
        return Steps(base: base, signature: signature, request: request)
    }

    private func digested(_ request: HTTPRequest) async throws -> HTTPRequest {
        let isCovered = (components + optionalComponents).contains { $0.name == "content-digest" }
        guard isCovered, !request.body.isNone, !request.fields.contains(.contentDigest) else { return request }
        var request = request
        let bytes = try await ContentDigest.digest(of: request.body, by: digest)
        request.fields[.contentDigest] = ContentDigest.fieldValue(bytes, digest)
        return request
    }

    private func base(
        of request: HTTPRequest, covering components: [SignatureComponent], at date: Date
    ) throws(APIError) -> SignatureBase {
        do throws(SignatureBaseError) {
            try checkLabel(in: request)
            if let changed = components.first(where: \.isChangedBySigning) { throw .selfChanging(changed.description) }
            let parameters = SignatureParameters(
                created: date, expires: lifetime.map { date.addingTimeInterval($0 / .seconds(1)) }, keyID: keyID,
                nonce: hasNonce ? Nonce.text(random) : nil, algorithm: namesAlgorithm ? key.signatureAlgorithm : nil,
                tag: tag)
            return try SignatureBase(of: request, covering: components, parameters)
        } catch {
            throw error.refusal(of: request)
        }
    }

    /// A second signature of the same label would take the place of the first.
    private func checkLabel(in request: HTTPRequest) throws(SignatureBaseError) {
        let isKey = (try? StructuredField.dictionary(label))?.map(\.key) == [label]
        guard isKey else { throw .invalidParameter("label") }
        for name in [HTTPFieldName.signatureInput, .signature] {
            guard let present = request.fields.combined(name) else { continue }
            guard let members = try? StructuredField.dictionary(present) else { throw .malformed(name.text) }
            guard !members.contains(where: { $0.key == label }) else { throw .duplicate(label) }
        }
    }
}

/// What makes a signature one of its kind.
enum Nonce {
    /// 128 random bits in hexadecimal digits.
    static func text(_ random: RandomSource) -> String {
        [random.next(), random.next()].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}

extension SignatureBase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of what is signed, without their values.
    public var description: String { "\(input), \(text.utf8.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["input": input] as KeyValuePairs<String, Any>)
    }
}

extension HTTPMessageSigner.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String {
        "\(SignedText.printed("HTTP message signature", request, base.text)): \(base.input)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["base": base, "request": request] as KeyValuePairs<String, Any>)
    }
}
