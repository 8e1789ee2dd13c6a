#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct ContentDecoderTests {
        @Test("Content is the same wherever the wire splits it", arguments: Compressor.allCases)
        func splits(_ coding: Compressor) throws {
            let bytes = coding.compress(sample)
            for split in 0...bytes.count {
                let result = decode([bytes.prefix(split), bytes.dropFirst(split)], try .of(coding.name))
                #expect(result.content == sample && result.error == nil, "split at \(split)")
            }
            let singles = decode(bytes.map { Data([$0]) }, try .of(coding.name))
            #expect(singles.content == sample && singles.error == nil)
        }

        @Test("Content is the same however little is taken at a time", arguments: Compressor.allCases)
        func smallPulls(_ coding: Compressor) throws {
            let decoder = try ContentDecoder.of(coding.name)
            decoder.push(coding.compress(sample))
            for max in [1, 0, -1, 7] { #expect(try decoder.pull(max)?.count == Swift.max(1, max)) }
            #expect(try decoder.pullAll(1) == sample.dropFirst(10))
            try decoder.finish(endsWithConnection: false)
        }

        @Test(
            "Content without a byte is whole, unless only the end of its connection ends it",
            arguments: Compressor.allCases)
        func noByte(_ coding: Compressor) throws {
            let decoder = try ContentDecoder.of(coding.name)
            decoder.push(Data())
            #expect(try decoder.pullAll().isEmpty)
            try decoder.finish(endsWithConnection: false)
            #expect(throws: TransportError.self) { try decoder.finish(endsWithConnection: true) }
            decoder.push(coding.compress(Data()))
            #expect(try decoder.pullAll().isEmpty)
            try decoder.finish(endsWithConnection: true)
        }

        @Test("What was flushed can be read before the content ends", arguments: Compressor.allCases)
        func flushes(_ coding: Compressor) throws {
            let decoder = try ContentDecoder.of(coding.name)
            let pieces = coding.pieces(of: [Data("one".utf8), Data("two".utf8)])
            for (bytes, text) in zip(pieces, ["one", "two", ""]) {
                decoder.push(bytes)
                #expect(try decoder.pullAll() == Data(text.utf8))
            }
            try decoder.finish(endsWithConnection: false)
        }

        @Test("Large content passes through in pieces of at most 64 KiB", arguments: Compressor.allCases)
        func large(_ coding: Compressor) throws {
            var random = Seeded(seed: 3)
            let content = Data((0..<600_000).map { _ in UInt8.random(in: 0...15, using: &random) })
            let decoder = try ContentDecoder.of(coding.name)
            decoder.push(coding.compress(content))
            var all = Data()
            while let piece = try decoder.pull(.max) {
                #expect(piece.count <= 64 << 10)
                all.append(piece)
            }
            try decoder.finish(endsWithConnection: false)
            #expect(all == content)
        }

        @Test("Codings come off in the reverse of their order, over any number of lines")
        func chains() throws {
            let all = Compressor.allCases
            let bytes = all.reduce(sample) { $1.compress($0) }
            let names = all.map(\.name)
            for lines in [[names.joined(separator: ", ")], names, ["gzip,deflate", "", "deflate , br", "zstd"]] {
                for split in 0...bytes.count {
                    let decoder = try #require(try ContentDecoder(encodings(lines), limits: .init()))
                    let result = decode([bytes.prefix(split), bytes.dropFirst(split)], decoder)
                    #expect(result.content == sample && result.error == nil, "\(lines) split at \(split)")
                }
            }
        }

        @Test("Names have no case, gzip two of them, and identity and empty elements count for nothing")
        func names() throws {
            let bytes = Compressor.gzip.compress(sample)
            for line in ["GZIP", "x-gzip", "X-GZip", "identity, gzip", " , gzip,,\t", "gzip, Identity"] {
                #expect(decode([bytes], try .of(line)).content == sample, "\(line)")
            }
        }

        @Test(
            "Where nothing can be removed there is no decoder, and the content stays as it came",
            arguments: [
                [], [""], [" , "], ["identity"], ["compress"], ["gzip, aes128gcm"], ["aes128gcm, gzip"],
                ["gzip", "no"],
                ["gzip;q=1"],
            ])
        func unknown(_ lines: [String]) throws {
            #expect(try ContentDecoder(encodings(lines), limits: .init()) == nil)
        }

        @Test("Five codings are accepted")
        func five() throws {
            let bytes = (0..<5).reduce(sample) { bytes, _ in Compressor.gzip.compress(bytes) }
            #expect(decode([bytes], try .of("gzip, gzip", "identity", "gzip, gzip, gzip")).content == sample)
        }

        @Test(
            "More than five codings are refused, be they known or not", .covers("H10"),
            arguments: [
                Array(repeating: "gzip", count: 10), ["gzip,gzip,gzip,gzip,gzip,gzip"], ["gzip, br", "a, b", "c", "d"],
            ])
        func six(_ lines: [String]) {
            let error = #expect(throws: TransportError.self) {
                try ContentDecoder(encodings(lines), limits: .init())
            }
            #expect(error?.kind == .limitExceeded(.contentCodings))
            #expect(error?.sendState == .answered)
        }

        @Test(
            "Several members of gzip and several frames of zstd are one content", arguments: [Compressor.gzip, .zstd])
        func members(_ coding: Compressor) throws {
            let skipped = Data([0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
            let between = coding == .zstd ? skipped : Data()
            let bytes = coding.compress(sample) + between + coding.compress(Data()) + coding.compress(sample)
            for split in 0...bytes.count {
                let result = decode([bytes.prefix(split), bytes.dropFirst(split)], try .of(coding.name))
                #expect(result.content == sample + sample && result.error == nil, "split at \(split)")
            }
        }

        @Test("Content without a byte is empty, whatever its coding", arguments: Compressor.allCases)
        func empty(_ coding: Compressor) throws {
            for bytes in [Data(), coding.compress(Data())] {
                let result = decode([bytes], try .of(coding.name))
                #expect(result.content.isEmpty && result.error == nil)
            }
            let nested = decode([Compressor.gzip.compress(Data())], try .of(coding.name, "gzip"))
            #expect(nested.content.isEmpty && nested.error == nil)
        }

        @Test("What is asked for is what can be removed")
        func accepted() {
            #expect(ContentDecoder.accepted == "gzip, deflate, br, zstd")
        }
    }
#endif
