#if os(Linux)
    import CBrotliEncoder
    import CCodings
    import Foundation

    /// Applies codings as a server does.
    enum Compressor: String, CaseIterable, Sendable {
        case gzip
        case zlib
        case rawDeflate
        case brotli
        case zstd

        /// As a server lists it.
        var name: String {
            switch self {
            case .gzip: "gzip"
            case .zlib, .rawDeflate: "deflate"
            case .brotli: "br"
            case .zstd: "zstd"
            }
        }

        func compress(_ content: Data) -> Data {
            pieces(of: [content]).reduce(Data(), +)
        }

        /// The bytes for each piece, flushed behind it, and the bytes that end the coding.
        func pieces(of content: [Data]) -> [Data] {
            switch self {
            case .gzip: Self.deflated(content, windowBits: 31)
            case .zlib: Self.deflated(content, windowBits: 15)
            case .rawDeflate: Self.deflated(content, windowBits: -15)
            case .brotli: Self.brotlied(content)
            case .zstd: Self.zstded(content)
            }
        }

        private static func deflated(_ content: [Data], windowBits: Int32) -> [Data] {
            var stream = z_stream()
            deflateInit2_(
                &stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size))
            defer { deflateEnd(&stream) }
            return (content + [Data()]).enumerated().map { index, piece in
                var output = [UInt8](repeating: 0, count: piece.count + piece.count / 500 + 1_000)
                let (flush, room) = (index < content.count ? Z_FULL_FLUSH : Z_FINISH, output.count)
                let left = [UInt8](piece).withUnsafeBufferPointer { source in
                    output.withUnsafeMutableBufferPointer { target in
                        stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                        stream.avail_in = UInt32(source.count)
                        stream.next_out = target.baseAddress
                        stream.avail_out = UInt32(target.count)
                        deflate(&stream, flush)
                        return Int(stream.avail_out)
                    }
                }
                return Data(output.prefix(room - left))
            }
        }

        private static func brotlied(_ content: [Data]) -> [Data] {
            let encoder = BrotliEncoderCreateInstance(nil, nil, nil)
            defer { BrotliEncoderDestroyInstance(encoder) }
            BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, 5)
            return (content + [Data()]).enumerated().map { index, piece in
                var output = [UInt8](repeating: 0, count: piece.count + 1_000)
                let operation = index < content.count ? BROTLI_OPERATION_FLUSH : BROTLI_OPERATION_FINISH
                let left = [UInt8](piece).withUnsafeBufferPointer { source in
                    output.withUnsafeMutableBufferPointer { target in
                        var (next, waiting) = (source.baseAddress, source.count)
                        var (end, room) = (target.baseAddress, target.count)
                        BrotliEncoderCompressStream(encoder, operation, &waiting, &next, &room, &end, nil)
                        return room
                    }
                }
                return Data(output.prefix(output.count - left))
            }
        }

        /// - Parameter windowLog: of the window that the frame asks for; the library's choice where it is `nil`.
        static func zstded(_ content: [Data], windowLog: Int32? = nil) -> [Data] {
            let context = ZSTD_createCCtx()
            defer { ZSTD_freeCCtx(context) }
            ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
            if let windowLog { ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog) }
            return (content + [Data()]).enumerated().map { index, piece in
                var output = [UInt8](repeating: 0, count: ZSTD_compressBound(piece.count) + 1_000)
                let operation = index < content.count ? ZSTD_e_flush : ZSTD_e_end
                let written = [UInt8](piece).withUnsafeBufferPointer { source in
                    output.withUnsafeMutableBufferPointer { target in
                        var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
                        var room = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
                        ZSTD_compressStream2(context, &room, &input, operation)
                        return room.pos
                    }
                }
                return Data(output.prefix(written))
            }
        }
    }
#endif
