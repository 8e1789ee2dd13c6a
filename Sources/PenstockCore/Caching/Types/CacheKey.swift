import Foundation

/// What a stored response is found by (RFC 9111 §2): method, URL and whose it is.
///
/// The variants of one URL, told apart by `Vary`, share a key. Nothing of one environment or identity can be found by
/// another, since both are part of it. While a client has no identity, the credentials that a request carries stand in
/// for it: see ``credentialDigest``.
public struct CacheKey: Hashable, Sendable {
    private let parts: Parts
    /// A hash of the parts in which keys differ most. It is seeded for each process, so it is never stored.
    ///
    /// It lies beside the parts and not among them, so that a table tells two keys apart without following the reference.
    private let mark: Int

    /// The key of what is stored by a method at a URL for somebody. Escapes in the URL that mean the same become the
    /// same.
    ///
    /// - Parameters:
    ///   - method: GET and HEAD become the same key.
    ///   - contentDigest: `nil` for what has no content.
    ///   - credentialDigest: `nil` for a request without credentials, and wherever the partition names an identity.
    public init(
        method: HTTPMethod = .get, url: HTTPURL, partition: CachePartition, contentDigest: String? = nil,
        credentialDigest: String? = nil
    ) {
        self.init(
            storedMethod: method == .head ? .get : method, url: PercentEncoding.normalised(url.absoluteString),
            partition: partition, contentDigest: contentDigest, credentialDigest: credentialDigest)
    }

    /// The key of a request.
    ///
    /// - Parameters:
    ///   - policy: tells whether a method other than GET and HEAD only reads; its content then belongs to the key. The
    ///     content of a GET, where it has any, always does.
    ///   - credentialDigest: `nil` for a request without credentials, and wherever the partition names an identity.
    /// - Returns: `nil` for a read whose content is a file or a stream, as that is not read beforehand.
    public init?(
        _ request: HTTPRequest, partition: CachePartition, policy: CachePolicy, credentialDigest: String? = nil
    ) {
        let isPlainRead = request.method == .get || request.method == .head
        var digest: String?
        if isPlainRead ? !request.body.isNone : policy.isRead {
            switch request.body.source {
            case .none: digest = Self.digest(of: Data(), type: request.fields[.contentType])
            case .bytes(let data): digest = Self.digest(of: data, type: request.fields[.contentType])
            case .file, .stream: return nil
            }
        }
        self.init(
            method: request.method, url: request.url, partition: partition, contentDigest: digest,
            credentialDigest: credentialDigest)
    }

    /// The same bytes mean something else in another type.
    private static func digest(of content: Data, type: String?) -> String {
        SHA256.hex(Array((type ?? "").utf8) + [0] + Array(content))
    }

    /// A key that was stored, part by part as it was read.
    public init(
        storedMethod: HTTPMethod, url: String, partition: CachePartition, contentDigest: String?,
        credentialDigest: String?
    ) {
        parts = Parts(storedMethod, url, partition, contentDigest, credentialDigest)
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(partition.identity)
        if let contentDigest { hasher.combine(contentDigest) }
        if let credentialDigest { hasher.combine(credentialDigest) }
        mark = hasher.finalize()
    }

    /// The key of the same for replies that came sealed.
    var forSealedReplies: CacheKey {
        var partition = partition
        partition.isSealed = true
        return CacheKey(
            storedMethod: method, url: url, partition: partition, contentDigest: contentDigest,
            credentialDigest: credentialDigest)
    }

    /// `GET` for GET and HEAD, which share what is stored; the method itself for a read of another method.
    public var method: HTTPMethod { parts.method }
    /// The URL, absolute, without a fragment; its percent-escapes in one form (RFC 9110 §4.2.3).
    public var url: String { parts.url }
    /// The environment and the identity the response belongs to.
    public var partition: CachePartition { parts.partition }
    /// A digest of the request's content, where a read has any: equal content has equal digests. `nil` otherwise.
    public var contentDigest: String? { parts.contentDigest }
    /// A keyed digest of the credentials that the request carried, for a client that has no identity
    /// (`APIClient.Configuration.identity`): what was answered to one token is not found with another one, nor without
    /// any. `nil` for a request without credentials, and wherever the partition names an identity.
    public var credentialDigest: String? { parts.credentialDigest }

    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.mark == right.mark && (left.parts === right.parts || left.parts.isEqual(to: right.parts))
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(mark)
    }

    /// Shared by all copies: a key is handed on many times, and looked up in several tables.
    private final class Parts: Sendable {
        let method: HTTPMethod
        let url: String
        let partition: CachePartition
        let contentDigest: String?
        let credentialDigest: String?

        init(
            _ method: HTTPMethod, _ url: String, _ partition: CachePartition, _ contentDigest: String?,
            _ credentialDigest: String?
        ) {
            self.method = method
            self.url = url
            self.partition = partition
            self.contentDigest = contentDigest
            self.credentialDigest = credentialDigest
        }

        func isEqual(to other: Parts) -> Bool {
            url == other.url && method == other.method && partition == other.partition
                && contentDigest == other.contentDigest && credentialDigest == other.credentialDigest
        }
    }
}

extension CacheKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL, the secret parameters redacted, and whose it is.
    public var description: String { "\(method) \(Redaction.text(url)) in \(partition)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["key": description], displayStyle: .struct) }
}
