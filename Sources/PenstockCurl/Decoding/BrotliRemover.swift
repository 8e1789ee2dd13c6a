#if os(Linux)
    import CCodings

    /// Removes `br` (RFC 7932). Its window has at most 16 MiB; larger ones are another format, which stays off.
    final class BrotliRemover: CodingRemover {
        private let decoder: OpaquePointer
        private var hasBegun = false

        init?() {
            guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
            self.decoder = decoder
        }

        deinit {
            BrotliDecoderDestroyInstance(decoder)
        }

        var isComplete: Bool { !hasBegun || hasEnded }

        private var hasEnded: Bool { BrotliDecoderIsFinished(decoder) != 0 }

        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep {
            if !input.isEmpty {
                guard !hasEnded else { return .behindTheEnd }
                hasBegun = true
            }
            return hasBegun && !hasEnded ? decode(input, output) : CodingStep()
        }

        private func decode(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> CodingStep {
            var (left, room) = (input.count, output.count)
            var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let result = BrotliDecoderDecompressStream(decoder, &left, &source, &room, &target, nil)
            return CodingStep(
                consumed: input.count - left, produced: output.count - room,
                fault: result == BROTLI_DECODER_RESULT_ERROR ? "the content is not valid br" : nil)
        }
    }
#endif
