#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    extension ContentDecoder {
        /// A decoder for content with these codings, one header line each.
        static func of(_ lines: String..., ratio: Int = 200) throws -> ContentDecoder {
            try #require(try ContentDecoder(encodings(lines), limits: ResponseLimits(expansionRatio: ratio)))
        }

        /// Everything that can be had now.
        func pullAll(_ max: Int = 64 << 10) throws(TransportError) -> Data {
            var all = Data()
            while let piece = try pull(max) { all.append(piece) }
            return all
        }
    }

    func encodings(_ lines: [String]) -> HTTPFields {
        HTTPFields(lines.map { HTTPField(name: .contentEncoding, value: $0) })
    }

    /// Decodes to the end. What came before a failure is kept.
    func decode(_ pieces: [Data], _ decoder: ContentDecoder) -> (content: Data, error: TransportError?) {
        var content = Data()
        do throws(TransportError) {
            for piece in pieces {
                decoder.push(piece)
                while let decoded = try decoder.pull(64 << 10) { content.append(decoded) }
            }
            try decoder.finish(endsWithConnection: false)
            return (content, nil)
        } catch {
            return (content, error)
        }
    }

    /// Text that compresses, with some that does not.
    let sample: Data = {
        var random = Seeded(seed: 7)
        let noise = (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) }
        return Data((1...20).map { "line \($0 * $0) of the sample\n" }.joined().utf8) + noise
    }()
#endif
