#if os(Linux)
    import Foundation
    import PenstockCore

    /// The content codings that can be removed here (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
    enum ContentCoding: String, CaseIterable {
        case gzip
        case deflate
        case brotli = "br"
        case zstd

        /// More of them, one over the other, serve nobody but those who want to keep us busy.
        static let maxListed = 5

        /// - Parameter name: as it is listed, in any case.
        init?(name: String) {
            let name = name.lowercased()
            // RFC 9110 §8.4.1.3 has the two mean the same.
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        }

        /// The codings that the content has, in the order they were applied; `identity` is none.
        ///
        /// - Returns: `nil` where one of them is unknown here. Taking off those above it would leave content that no
        ///   longer is what its own field says.
        /// - Throws: `.limitExceeded(.contentCodings)`.
        static func applied(_ fields: HTTPFields) throws(TransportError) -> [ContentCoding]? {
            let names = fields.values(of: .contentEncoding)
                .flatMap { $0.split(separator: ",") }
                .map { HTTPSyntax.trimmed(String($0)) }
                .filter { !$0.isEmpty && $0.lowercased() != "identity" }
            guard names.count <= maxListed else {
                throw TransportError(
                    .limitExceeded(.contentCodings), sendState: .answered,
                    message: "the content has \(names.count) codings")
            }
            let codings = names.compactMap(ContentCoding.init(name:))
            return codings.count == names.count ? codings : nil
        }

        /// - Returns: `nil` when there is no memory for it.
        func makeRemover() -> (any CodingRemover)? {
            switch self {
            case .gzip: ZlibRemover(isGzip: true)
            case .deflate: ZlibRemover(isGzip: false)
            case .brotli: BrotliRemover()
            case .zstd: ZstdRemover()
            }
        }
    }
#endif
