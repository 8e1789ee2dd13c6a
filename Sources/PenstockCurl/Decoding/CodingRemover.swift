#if os(Linux)
    /// Removes one coding. Its memory is that of the coding's window, however much goes through it.
    protocol CodingRemover: AnyObject {
        /// Whether the input may end here: there was none, or everything that began is complete.
        var isComplete: Bool { get }

        /// Reads `input` and writes `output` until one of them is used up. What does not fit stays inside, and comes
        /// with the next step, for which there need not be any input.
        ///
        /// Bytes behind the end of a coding are a fault. No coding allows them, they would pass unchecked, and who
        /// ignores them can be kept reading for ever.
        func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingStep
    }

    /// What one step did.
    struct CodingStep {
        var consumed = 0
        var produced = 0
        /// What is wrong with the input, for people.
        var fault: String?
    }

    extension CodingStep {
        static let behindTheEnd = CodingStep(fault: "there is more behind the end of the content's coding")
    }

    /// Memory of a fixed size.
    final class CodingBuffer {
        let bytes: UnsafeMutableRawBufferPointer

        init(count: Int) {
            bytes = .allocate(byteCount: count, alignment: 16)
        }

        deinit {
            bytes.deallocate()
        }
    }
#endif
