import Foundation

/// Whether and how the content of a request is compressed (RFC 9110 §8.4). Off unless set: a server that does not remove the coding
/// refuses the request, or worse, keeps the bytes as they are.
///
/// ```swift
/// struct SendReport: Endpoint, Encodable {
///     typealias Output = Void
///     let lines: [String]
///     var route: Route { .post("/reports") }
///     var options: CallOptions { .requestCompression(.gzip) }
/// }
/// ```
///
/// Only content in memory is compressed, and not where that is of no use: where it is short, has a `Content-Encoding` already, is of a
/// type that is compressed already (pictures, films, archives), or does not get shorter by a tenth. `Content-Digest`, `Repr-Digest`
/// and `Digest` become those of the compressed content (RFC 9530); where that cannot be, as with `Content-MD5`, with another
/// algorithm than SHA-256 and SHA-512, or under a signature that the request has already, the content is sent as it is. An answer of 415 (Unsupported
/// Media Type) that does not say the coding is welcome has the request sent again as it was, once, and the origin is sent nothing
/// compressed from then on, as long as the client lives (RFC 7694).
public struct RequestCompression: Sendable {
    /// The name of the coding in `Content-Encoding`, such as `gzip`.
    public let coding: String
    /// The shortest content that is compressed, in bytes. Shorter content is sent as it is. 1,024 by default: what goes into one packet
    /// costs no less for being shorter.
    public var minimumLength: Int
    /// `nil` for that of the transport.
    private let compress: (@Sendable (Data) throws -> Data)?

    /// `gzip` (RFC 1952), the coding that nearly every server removes, as the transport writes it: by zlib. On a transport that does
    /// not, which URLSession on Linux is, requests are sent as they are.
    public static let gzip = RequestCompression("gzip")
    /// `zstd` (RFC 8878), shorter and quicker than ``gzip``, for servers that know it. On a transport that does not write it, which
    /// only libcurl's does, requests are sent as they are.
    public static let zstd = RequestCompression("zstd")

    private init(_ coding: String) {
        self.coding = coding
        minimumLength = Self.packet
        compress = nil
    }

    /// What goes into one packet, in bytes.
    private static let packet = 1_024

    /// A coding of the app's own.
    ///
    /// - Parameters:
    ///   - minimumLength: in bytes. 1,024 by default.
    ///   - compress: gives the content in the coding, all of it at once. Where it throws, the content is sent as it is.
    public init(
        _ coding: String, minimumLength: Int = 1_024, compress: @escaping @Sendable (Data) throws -> Data
    ) {
        self.coding = coding
        self.minimumLength = minimumLength
        self.compress = compress
    }

    /// The same for content of at least so many bytes.
    public func above(_ minimumLength: Int) -> RequestCompression {
        var copy = self
        copy.minimumLength = minimumLength
        return copy
    }

    /// Content in the coding; `nil` where nobody writes it.
    func encoded(_ content: Data, by transport: any Transport) -> Data? {
        guard let compress else { return transport.encoded(content, in: coding) }
        return try? compress(content)
    }

    // MARK: What is decided

    /// Whether content of this type and length is worth compressing.
    func isWorthwhile(_ length: Int, ofType type: String?) -> Bool {
        length >= minimumLength && length > 0 && !Self.isCompressed(type ?? "")
    }

    /// Whether compressed content is sent in place of the plain one: it saves a tenth at least.
    static func saves(_ compressed: Int, of plain: Int) -> Bool { compressed <= plain - plain / 10 }

    /// Whether an answer says that the coding was the trouble: 415 that does not name it among those that are welcome
    /// (RFC 7694 §3).
    func isRefused(by response: HTTPResponse) -> Bool {
        guard response.status == 415 else { return false }
        return !FieldList.members(response.fields.values(of: .acceptEncoding)).contains { member in
            let parts = member.split(separator: ";").map { HTTPSyntax.trimmed(String($0)) }
            guard let name = parts.first, name == "*" || HTTPSyntax.equalIgnoringCase(name, coding) else {
                return false
            }
            return !parts.dropFirst().contains {
                $0.hasPrefix("q=0") && $0.utf8.allSatisfy { !(0x31...0x39).contains($0) }
            }
        }
    }

    /// Types whose content has been compressed by what made it.
    static func isCompressed(_ type: String) -> Bool {
        let name = HTTPSyntax.trimmed(String(type.prefix { $0 != ";" })).lowercased()
        if plainTypes.contains(name) { return false }
        return compressedKinds.contains { name.hasPrefix($0) } || compressedTypes.contains(name)
    }

    private static let plainTypes: Set<String> = ["image/svg+xml", "image/bmp", "audio/wav"]
    private static let compressedKinds = ["image/", "audio/", "video/", "font/woff", "application/vnd.openxmlformats-"]
    private static let compressedTypes: Set<String> = [
        "application/zip", "application/gzip", "application/zstd", "application/x-brotli", "application/x-bzip2",
        "application/x-xz", "application/x-7z-compressed", "application/vnd.rar", "application/pdf",
        "application/epub+zip",
    ]
}

/// The codings that origins have refused.
final class RefusedCodings: Sendable {
    private struct Entry: Hashable {
        let origin: HTTPURL.Origin
        let coding: String
    }

    private let entries = Locked<Set<Entry>>([])
    /// More servers than an app talks to. Beyond that nothing is remembered, and the refused request costs another one.
    private static let most = 256

    func contains(_ coding: String, at origin: HTTPURL.Origin) -> Bool {
        entries.withLock { !$0.isEmpty && $0.contains(Entry(origin: origin, coding: coding)) }
    }

    func add(_ coding: String, at origin: HTTPURL.Origin) {
        entries.withLock { if $0.count < Self.most { _ = $0.insert(Entry(origin: origin, coding: coding)) } }
    }

    func remove(_ coding: String, at origin: HTTPURL.Origin) {
        entries.withLock { _ = $0.remove(Entry(origin: origin, coding: coding)) }
    }
}
