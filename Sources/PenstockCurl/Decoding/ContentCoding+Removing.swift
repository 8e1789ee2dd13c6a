#if os(Linux)
    import CCodings
    import Foundation
    import PenstockCore

    /// Every coding can be removed here.
    extension ContentCoding {
        /// More of them, one over the other, serve nobody but those who want to keep us busy.
        static let maxListed = 5

        /// The codings that the content has, in the order they were applied; `identity` is none.
        ///
        /// - Returns: `nil` where one of them is unknown here. Taking off those above it would leave content that no
        ///   longer is what its own field says.
        /// - Throws: `.limitExceeded(.contentCodings)`.
        static func applied(_ fields: HTTPFields) throws(TransportError) -> [ContentCoding]? {
            let names = names(in: fields)
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

    /// Writes the codings of requests, each at its library's own default level.
    enum RequestCoding {
        // MAX_WBITS, as zlib wants it for the format.
        private static let gzipFormat: Int32 = 15 + 16

        static func encoded(_ content: Data, in coding: String) -> Data? {
            switch coding {
            case "gzip": gzip(content)
            case "zstd": zstd(content)
            default: nil
            }
        }

        /// RFC 1952.
        private static func gzip(_ content: Data) -> Data? {
            guard content.count <= Int32.max else { return nil }
            var stream = z_stream()
            guard ccodings_deflate_init(&stream, Z_DEFAULT_COMPRESSION, gzipFormat) == Z_OK else { return nil }
            defer { deflateEnd(&stream) }
            var output = Data(count: Int(deflateBound(&stream, UInt(content.count))))
            let code = output.withUnsafeMutableBytes { output in
                content.withUnsafeBytes { input in
                    stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                    stream.avail_in = UInt32(input.count)
                    stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
                    stream.avail_out = UInt32(output.count)
                    return deflate(&stream, Z_FINISH)
                }
            }
            return code == Z_STREAM_END ? output.prefix(Int(stream.total_out)) : nil
        }

        /// RFC 8878.
        private static func zstd(_ content: Data) -> Data? {
            var output = Data(count: ZSTD_compressBound(content.count))
            let count = output.withUnsafeMutableBytes { output in
                content.withUnsafeBytes { input in
                    ZSTD_compress(output.baseAddress, output.count, input.baseAddress, input.count, 3)
                }
            }
            return ZSTD_isError(count) == 0 ? output.prefix(count) : nil
        }
    }

    extension CurlTransport {
        /// `gzip` and `zstd`.
        public func encoded(_ content: Data, in coding: String) -> Data? {
            RequestCoding.encoded(content, in: coding)
        }
    }
#endif
