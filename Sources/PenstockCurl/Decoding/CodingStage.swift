#if os(Linux)
    import Foundation
    import PenstockCore

    /// Where a stage takes its bytes from: the wire, or the stage before it.
    protocol CodingInput: AnyObject {
        /// Whether there are bytes at hand, after an attempt to get some where there were none.
        func fill() throws(TransportError) -> Bool
        /// Lets `step` have the bytes at hand, maybe none, and drops those that it consumed.
        func feed(_ step: (UnsafeRawBufferPointer) -> CodingStep) -> CodingStep
    }

    /// One coding in the chain: reads its input as far as it must for the output that is wanted.
    final class CodingStage {
        private let remover: any CodingRemover
        private let input: any CodingInput
        private let limit: ExpansionLimit
        private var produced = 0
        /// Whether the last step filled its output, so that the remover may hold more.
        private var mayHoldMore = false

        init(_ remover: any CodingRemover, from input: any CodingInput, limit: ExpansionLimit) {
            self.remover = remover
            self.input = input
            self.limit = limit
        }

        var isComplete: Bool { remover.isComplete }

        /// - Parameter output: not empty.
        /// - Returns: how many bytes of it were written; 0 when more input is needed.
        func read(into output: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
            while true {
                let mustAdvance = !mayHoldMore
                if mustAdvance, !(try input.fill()) { return 0 }
                let step = input.feed { remover.step($0, into: output) }
                if let fault = step.fault { throw Self.violation(fault) }
                mayHoldMore = step.produced == output.count
                produced += step.produced
                try limit.check(produced)
                if step.produced > 0 { return step.produced }
                guard step.consumed > 0 || !mustAdvance else { throw Self.violation("the content makes no headway") }
            }
        }

        private static func violation(_ message: String) -> TransportError {
            TransportError(.protocolViolation, sendState: .answered, message: message)
        }
    }

    /// What one stage hands to the next, a piece of fixed size at a time.
    final class CodingLink: CodingInput {
        /// Small enough for five of them, large enough that a step is worth its call.
        private static let size = 16 << 10

        private let stage: CodingStage
        private let buffer = CodingBuffer(count: size)
        private var filled = 0..<0

        init(from stage: CodingStage) {
            self.stage = stage
        }

        func fill() throws(TransportError) -> Bool {
            if filled.isEmpty { filled = 0..<(try stage.read(into: buffer.bytes)) }
            return !filled.isEmpty
        }

        func feed(_ step: (UnsafeRawBufferPointer) -> CodingStep) -> CodingStep {
            let done = step(UnsafeRawBufferPointer(rebasing: buffer.bytes[filled]))
            filled = (filled.lowerBound + done.consumed)..<filled.upperBound
            return done
        }
    }

    /// The bytes from the wire that no stage has consumed yet.
    final class CodingWire: CodingInput {
        private var pieces: ArraySlice<Data> = []
        private var offset = 0
        private(set) var consumed = 0

        func append(_ piece: Data) {
            if !piece.isEmpty { pieces.append(piece) }
        }

        func fill() -> Bool { !pieces.isEmpty }

        func feed(_ step: (UnsafeRawBufferPointer) -> CodingStep) -> CodingStep {
            guard let piece = pieces.first else { return step(UnsafeRawBufferPointer(start: nil, count: 0)) }
            let done = piece.withUnsafeBytes { step(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
            consumed += done.consumed
            offset += done.consumed
            if offset >= piece.count {
                pieces.removeFirst()
                offset = 0
            }
            return done
        }
    }

    /// Holds what a stage makes against what it took on the wire to make it. Each stage is held to it, not the last
    /// alone: what expands enormously can shrink again further on, and has cost its time.
    struct ExpansionLimit {
        /// How many bytes are not yet a matter of concern.
        private static let free = 1 << 20

        let ratio: Int
        let wire: CodingWire

        /// - Parameter decoded: bytes so far.
        func check(_ decoded: Int) throws(TransportError) {
            guard decoded > Self.free else { return }
            let (allowed, isBeyond) = wire.consumed.multipliedReportingOverflow(by: ratio)
            guard isBeyond || decoded <= allowed else {
                throw TransportError(
                    .limitExceeded(.expansionRatio), sendState: .answered,
                    message: "the content has more than \(ratio) times its size on the wire")
            }
        }
    }
#endif
