#if os(Linux)
    import CCodings

    /// Removes `zstd` (RFC 8878), one frame after the other, with windows of at most 8 MiB (RFC 9659).
    final class ZstdRemover: CodingRemover {
        private static let maxWindowLog: Int32 = 23

        private let context: OpaquePointer
        private var isWithinFrame = false

        init?() {
            guard let context = ZSTD_createDCtx() else { return nil }
            self.context = context
            guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maxWindowLog)) == 0 else {
                return nil
            }
        }

        deinit {
            ZSTD_freeDCtx(context)
        }

        var isComplete: Bool { !isWithinFrame }

        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep {
            guard !isWithinFrame else { return decode(input, output) }
            guard let first = input.first else { return CodingStep() }
            guard Self.beginsFrame(first) else { return CodingStep(fault: "what should be a frame of zstd is none") }
            return decode(input, output)
        }

        /// A frame, or one to skip (RFC 8878 §3.1). The library also knows the formats from before the standard, whose
        /// windows it does not limit.
        private static func beginsFrame(_ first: UInt8) -> Bool {
            first == 0x28 || first >> 4 == 0x5
        }

        private func decode(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> CodingStep {
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
            var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            // How much more it would like to have; 0 where a frame is complete and all of it handed out.
            let wanted = ZSTD_decompressStream(context, &target, &source)
            isWithinFrame = wanted != 0
            let isValid = ZSTD_isError(wanted) == 0
            return CodingStep(
                consumed: source.pos, produced: target.pos,
                fault: isValid ? nil : "the content is not valid zstd, or its window is too large")
        }
    }
#endif
