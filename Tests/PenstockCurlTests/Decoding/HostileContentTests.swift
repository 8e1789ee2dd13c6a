#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct HostileContentTests {
        @Test("Content that ends before its coding is an error, wherever it ends", arguments: Compressor.allCases)
        func truncated(_ coding: Compressor) throws {
            let bytes = coding.compress(sample)
            for end in 1..<bytes.count {
                let result = decode([bytes.prefix(end)], try .of(coding.name))
                #expect(result.error?.kind == .connectionLost, "ended at \(end)")
                #expect(result.error?.sendState == .answered)
                #expect(sample.starts(with: result.content))
            }
        }

        @Test("Where one coding of several has not ended, the content has not")
        func truncatedInside() throws {
            let inner = Compressor.brotli.compress(sample)
            let result = decode([Compressor.gzip.compress(inner.dropLast())], try .of("br, gzip"))
            #expect(result.error?.kind == .connectionLost)
        }

        @Test("Bytes behind the end of a coding are an error", arguments: Compressor.allCases)
        func trailing(_ coding: Compressor) throws {
            let bytes = coding.compress(sample)
            for pieces in [[bytes + [0]], [bytes, Data([0])], [bytes, Data("junk".utf8)]] {
                let result = decode(pieces, try .of(coding.name))
                #expect(result.content == sample)
                #expect(result.error?.kind == .protocolViolation)
            }
        }

        @Test("A fault stays, and what comes before it is right", arguments: Compressor.allCases)
        func faults(_ coding: Compressor) throws {
            let decoder = try ContentDecoder.of(coding.name)
            decoder.push(coding.pieces(of: [sample])[0])
            try #expect(decoder.pull(100) == sample.prefix(100))
            decoder.push(Data(repeating: 0xFF, count: 200))
            var content = sample.prefix(100)
            let error = #expect(throws: TransportError.self) {
                while let piece = try decoder.pull(100) { content.append(piece) }
            }
            #expect(error?.kind == .protocolViolation)
            #expect(sample.starts(with: content))
            #expect(throws: TransportError.self) { try decoder.pull(100) }
            #expect(throws: TransportError.self) { try decoder.finish(endsWithConnection: false) }
        }

        @Test("Corrupt content fails or is what was sent, and never crashes", arguments: Compressor.allCases)
        func corrupt(_ coding: Compressor) throws {
            let bytes = coding.compress(sample)
            // The others have no checksum.
            let isChecked = coding != .rawDeflate && coding != .brotli
            for seed in 0..<2_000 {
                var random = Seeded(seed: UInt64(seed))
                let changed = Self.corrupted(bytes, &random)
                let split = Int.random(in: 0...changed.count, using: &random)
                let result = decode([changed.prefix(split), changed.dropFirst(split)], try .of(coding.name))
                if let error = result.error {
                    #expect([.protocolViolation, .connectionLost].contains(error.kind), "seed \(seed)")
                } else if isChecked {
                    #expect(result.content == sample, "seed \(seed)")
                }
                #expect(result.content.count <= 1 << 20 + 200 * changed.count)
            }
        }

        @Test("Bytes that never were content end in an error or in bounded content", arguments: Compressor.allCases)
        func noise(_ coding: Compressor) throws {
            let start = coding.compress(sample).prefix(4)
            for seed in 0..<500 {
                var random = Seeded(seed: UInt64(seed))
                let noise = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) }
                let result = decode([(seed % 2 == 0 ? start : Data()) + noise], try .of(coding.name))
                #expect(result.content.count <= 1 << 20 + 200 * 2_004, "seed \(seed)")
            }
        }

        @Test("A zstd window above 8 MiB is refused, and so are the formats from before the standard")
        func zstdWindows() throws {
            let allowed = Compressor.zstded([sample], windowLog: 23).reduce(Data(), +)
            #expect(decode([allowed], try .of("zstd")).content == sample)
            let tooLarge = Compressor.zstded([sample], windowLog: 24).reduce(Data(), +)
            #expect(decode([tooLarge], try .of("zstd")).error?.kind == .protocolViolation)
            for version: UInt8 in [0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x1E] {
                let decoder = try ContentDecoder.of("zstd")
                decoder.push(Data([version]))
                #expect(throws: TransportError.self, "version \(version)") { try decoder.pull(1) }
            }
        }

        private static func corrupted(_ bytes: Data, _ random: inout Seeded) -> Data {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed.remove(at: index)
                case 1: changed.insert(UInt8.random(in: 0...255, using: &random), at: index)
                default: changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            return changed
        }
    }
#endif
