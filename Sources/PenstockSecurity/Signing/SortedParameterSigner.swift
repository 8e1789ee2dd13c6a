import Foundation
import PenstockCore

/// Proves that a request is of an app that knows a secret: an HMAC-SHA256 over its parameters, sorted by their names, with
/// the app's key, the time and a nonce.
///
/// ```swift
/// let signer = SortedParameterSigner(appKey: "shop-ios", secret: try SharedSecret(text: secret))
/// let shop = Service(.shop, [.production: "https://shop.example.com/api"], signer: signer)
/// ```
///
/// What is signed is a text of five lines, divided by line feeds:
///
/// 1. the method;
/// 2. host, and port where it is not the scheme's own;
/// 3. the path as it is sent;
/// 4. the parameters of the query, with those of the signature: names and values without their escapes, then everything
///    escaped but letters, digits and `-._~`, sorted by name and then by value, as `name=value` with `&` between;
/// 5. `form:` and the SHA-256 of the body's parameters in the form of line 4, where it is a form that is in memory, and
///    `body:` and the SHA-256 of the bytes otherwise, in small hexadecimal digits. That of no bytes where there is no body.
///
/// So the order of parameters does not count, in the query and in a form. A server refuses a time that is too far from its own
/// and a nonce that it has seen within that time. Where the four stand in fields, it refuses a query that has a parameter
/// of their names as well: line 4 does not tell where each stood, so that a time that is signed as a parameter could be sent as
/// the time of the request. Such a request is not signed either. The time is that of its own clock, as far as the client has learnt it.
public struct SortedParameterSigner: Signer {
    /// Where the app's key, the time, the nonce and the signature stand.
    @nonexhaustive
    public enum Place: Hashable, Sendable {
        /// Fields called as ``Names`` say. The default.
        case fields
        /// The query.
        case query
    }

    /// What they are called.
    public struct Names: Hashable, Sendable {
        /// The name of the app's key. In the text that is signed, all four stand by these names wherever they are sent.
        public var appKey: String
        /// The name of the time: seconds since 1970.
        public var timestamp: String
        /// The name of the nonce.
        public var nonce: String
        /// The name of the signature, which does not sign itself.
        public var signature: String

        /// `X-App-Key`, `X-Timestamp`, `X-Nonce` and `X-Signature` unless told otherwise.
        public init(
            appKey: String = "X-App-Key", timestamp: String = "X-Timestamp", nonce: String = "X-Nonce",
            signature: String = "X-Signature"
        ) {
            self.appKey = appKey
            self.timestamp = timestamp
            self.nonce = nonce
            self.signature = signature
        }
    }

    /// ``Place/fields`` unless set.
    public var place = Place.fields
    /// The names; those of ``Names/init(appKey:timestamp:nonce:signature:)`` unless set.
    public var names = Names()
    /// The origins that are trusted; none unless set.
    public var trustedOrigins: Set<HTTPURL.Origin> = []
    private let appKey: String
    private let secret: SharedSecret
    private let random: RandomSource

    /// - Parameters:
    ///   - appKey: the app's name, by which the server finds the secret. Not a secret itself.
    ///   - random: for nonces; the machine's own unless told otherwise.
    public init(appKey: String, secret: SharedSecret, random: RandomSource = .system) {
        self.appKey = appKey
        self.secret = secret
        self.random = random
    }

    public var isTimed: Bool { true }

    public func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        do {
            return try await signed(request, at: call.serverDate(of: request.url.origin), nonce: Nonce.text(random))
                .request
        } catch let error as SignatureBaseError {
            throw error.refusal(of: request)
        }
    }

    /// The texts that go into the steps of a signature, so that the first one that differs from the server's can be found.
    public struct Steps: Sendable {
        /// The fourth line: the sorted parameters, those of the signature included.
        public let parameters: String
        /// The fifth line: of what kind the body is, and its digest.
        public let content: String
        /// The five lines.
        public let text: String
        /// The signature in hexadecimal digits.
        public let signature: String
        /// The request with its signature, as it is sent.
        public let request: HTTPRequest
    }

    /// Signs a request for a moment, with all the steps to it.
    ///
    /// - Throws: ``SignatureBaseError/taken(_:)`` where the four are to stand in fields, and the query has a parameter
    ///   of their names, in any letter case; ``CryptographyError``; what ``ContentDigest/digest(of:by:)`` throws.
    public func signed(_ request: HTTPRequest, at date: Date, nonce: String) async throws -> Steps {
        var request = request
        let seconds = String(format: "%.0f", date.timeIntervalSince1970.rounded(.down))
        let own = [(names.appKey, appKey), (names.timestamp, seconds), (names.nonce, nonce)]
        if place == .query { request.url = request.url.removing(own.map(\.0) + [names.signature]) }
        let items = own.map { (name: PercentEncoding.escaped($0.0), value: PercentEncoding.escaped($0.1)) }
        let query = CanonicalQuery.items(of: request.url.query)
        if place == .fields { try requireNone(of: own.map(\.0) + [names.signature], in: query) }
        let parameters = CanonicalQuery.text(of: query + items)
        let content = try await self.content(of: request)
        let text = [request.method.rawValue, request.url.authority, request.url.path, parameters, content]
            .joined(separator: "\n")
        let signature = try secret.sign(Data(text.utf8)).hexadecimal
        let all = own + [(names.signature, signature)]
        switch place {
        case .fields:
            for (name, value) in all { request.fields[HTTPFieldName(name)] = value }
        case .query:
            request.url = request.url.adding(all)
        }
        return Steps(parameters: parameters, content: content, text: text, signature: signature, request: request)
    }

    private func requireNone(
        of names: [String], in items: [(name: String, value: String)]
    ) throws(SignatureBaseError) {
        let taken = Set(names.map { PercentEncoding.escaped($0).lowercased() })
        if let item = items.first(where: { taken.contains($0.name.lowercased()) }) { throw .taken(item.name) }
    }

    private func content(of request: HTTPRequest) async throws -> String {
        if Self.isForm(request), case .bytes(let data) = request.body.source,
            let form = String(utf8: data)
        {
            let sorted = CanonicalQuery.text(of: CanonicalQuery.items(of: form))
            return "form:" + (try platformCryptography.digest(Data(sorted.utf8), by: .sha256).hexadecimal)
        }
        return "body:" + (try await ContentDigest.digest(of: request.body, by: .sha256).hexadecimal)
    }

    private static func isForm(_ request: HTTPRequest) -> Bool {
        guard let type = request.fields[.contentType] else { return false }
        let media = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        return media.lowercased() == "application/x-www-form-urlencoded"
    }
}

extension SortedParameterSigner.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String { SignedText.printed("HMAC-SHA256", request, text) }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request] as KeyValuePairs<String, Any>)
    }
}
