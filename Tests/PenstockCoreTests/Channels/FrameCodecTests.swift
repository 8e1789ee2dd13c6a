import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("S3.40")) struct FrameCodecTests {
    /// What a codec makes of bytes that come so many at a time.
    private func frames<Codec: FrameCodec>(_ codec: Codec, _ bytes: Data, step: Int) throws -> [Codec.Frame] {
        var codec = codec
        var input = FrameInput()
        var frames: [Codec.Frame] = []
        var rest = bytes
        while !rest.isEmpty {
            input.append(rest.prefix(step))
            rest = rest.dropFirst(step)
            while let frame = try codec.decode(&input) { frames.append(frame) }
        }
        return frames
    }

    static let widths: [LengthPrefixCodec.Width] = [.one, .two, .four, .eight]

    @Test(
        "Frames survive splits into single bytes and packets that are merged", arguments: widths, [1, 2, 3, 7, Int.max])
    func lengths(width: LengthPrefixCodec.Width, step: Int) throws {
        let sent = [0, 1, 2, 100, 200, 0].map { sampleBytes(seed: UInt64($0), count: $0) }
        for codec in [
            LengthPrefixCodec(width: width), LengthPrefixCodec(width: width, isBigEndian: false),
            LengthPrefixCodec(width: width, countsItself: true),
        ] {
            let bytes = try sent.reduce(Data()) { try $0 + codec.encode($1) }
            #expect(try frames(codec, bytes, step: step) == sent)
        }
    }

    @Test("A length is written as it is said to be")
    func layout() throws {
        #expect(try LengthPrefixCodec().encode(Data([9])) == Data([0, 0, 0, 1, 9]))
        #expect(try LengthPrefixCodec(isBigEndian: false).encode(Data([9])) == Data([1, 0, 0, 0, 9]))
        #expect(try LengthPrefixCodec(width: .two, countsItself: true).encode(Data([9])) == Data([0, 3, 9]))
    }

    @Test("A frame may be as long as the limit and as its length can say, and no longer", arguments: [10, 11])
    func limits(count: Int) throws {
        let codec = LengthPrefixCodec(maxFrameBytes: 10)
        let isGood = count == 10
        #expect(((try? codec.encode(Data(count: count))) != nil) == isGood)
        let head = Data([0, 0, 0, UInt8(count)])
        if isGood {
            #expect(try frames(codec, head, step: 1).isEmpty)
        } else {
            #expect(throws: FrameError.self) { try frames(codec, head, step: 1) }
        }
        #expect((try? LengthPrefixCodec(width: .one).encode(Data(count: 255))) != nil)
        #expect((try? LengthPrefixCodec(width: .one).encode(Data(count: 256))) == nil)
        #expect((try? LengthPrefixCodec(width: .one, countsItself: true).encode(Data(count: 255))) == nil)
    }

    @Test("By default a frame has 16 MiB, a line 64 KiB, and no more")
    func defaultLimits() throws {
        #expect(LengthPrefixCodec().maxFrameBytes == 16 << 20)
        #expect(LineCodec().maxLineBytes == 64 << 10)
        #expect(try frames(LengthPrefixCodec(), Data([1, 0, 0, 0]), step: 4).isEmpty)
        #expect(throws: FrameError.self) { try frames(LengthPrefixCodec(), Data([1, 0, 0, 1]), step: 4) }
    }

    @Test("A length that fills its bytes is written with all of them")
    func wide() throws {
        #expect(try LengthPrefixCodec(width: .two).encode(Data(count: 0xFFFF)).prefix(2) == Data([0xFF, 0xFF]))
        #expect((try? LengthPrefixCodec(width: .two).encode(Data(count: 0x10000))) == nil)
        #expect(try LengthPrefixCodec().encode(Data(count: 0x10203)).prefix(4) == Data([0, 1, 2, 3]))
    }

    @Test("A length of 2^63 and one that is less than itself are refused at once")
    func lies() {
        for bytes in [Data([0x80] + [UInt8](repeating: 0, count: 7)), Data(repeating: 0xFF, count: 8)] {
            let error = #expect(throws: FrameError.self) {
                try frames(LengthPrefixCodec(width: .eight), bytes, step: 8)
            }
            #expect(error?.kind == .tooLong)
        }
        let error = #expect(throws: FrameError.self) {
            try frames(LengthPrefixCodec(countsItself: true), Data([0, 0, 0, 3]), step: 4)
        }
        #expect(error?.kind == .malformed)
        #expect((try? frames(LengthPrefixCodec(countsItself: true), Data([0, 0, 0, 4]), step: 4)) == [Data()])
    }

    @Test("Without a limit a frame or a line that has no end is waited for, however long it says that it is")
    func unlimited() throws {
        let longest = Data([0x7F] + [UInt8](repeating: 0xFF, count: 7))
        for countsItself in [false, true] {
            let codec = LengthPrefixCodec(width: .eight, countsItself: countsItself, maxFrameBytes: .max)
            #expect(try frames(codec, longest + Data([1, 2, 3]), step: 1).isEmpty)
            #expect(try frames(codec, codec.encode(Data([7])), step: 1) == [Data([7])])
        }
        #expect(throws: FrameError.self) {
            try frames(LengthPrefixCodec(width: .eight, maxFrameBytes: .max), Data(repeating: 0xFF, count: 8), step: 8)
        }
        #expect(try frames(LineCodec(maxLineBytes: .max), Data("one\ntw".utf8), step: 1) == ["one"])
    }

    @Test("Lines end with LF or CR and LF, wherever they are cut", arguments: [1, 2, 5, Int.max])
    func lines(step: Int) throws {
        let bytes = Data("one\r\n\ntwo é\nthree\rfour\n".utf8)
        #expect(try frames(LineCodec(), bytes, step: step) == ["one", "", "two é", "three\rfour"])
        #expect(try frames(LineCodec(), Data("\n\r\na\n\n\n".utf8), step: step) == ["", "", "a", "", ""])
        #expect(try LineCodec().encode("é") == Data("é\n".utf8))
        #expect(try LineCodec(endsWithCRLF: true).encode("é") == Data("é\r\n".utf8))
    }

    @Test("A line may be as long as the limit, is UTF-8, and holds no end of a line")
    func badLines() throws {
        let codec = LineCodec(maxLineBytes: 4)
        #expect(try frames(codec, Data("1234\r\n".utf8), step: 1) == ["1234"])
        #expect(try codec.encode("1234") == Data("1234\n".utf8))
        for text in ["12345\n", "12345\r\n", "123456"] {
            #expect(throws: FrameError.self) { try frames(codec, Data(text.utf8), step: 1) }
        }
        #expect(throws: FrameError.self) { try frames(LineCodec(), Data([0xC3, 0x0A]), step: 1) }
        for text in ["a\nb", "a\rb", "12345"] { #expect(throws: FrameError.self) { try codec.encode(text) } }
    }

    @Test("A look at bytes that are not there finds none")
    func input() {
        var input = FrameInput()
        input.append([1, 2, 3])
        #expect(input.count == 3)
        #expect([input[-1], input[0], input[2], input[3]] == [nil, 1, 3, nil])
        #expect(input.prefix(4) == nil && input.prefix(-1) == nil)
        #expect(input.take(4) == nil && input.count == 3)
        #expect(input.offset(of: 3) == 2)
        #expect(
            input.offset(of: 3, from: 3) == nil && input.offset(of: 3, from: 4) == nil
                && input.offset(of: 3, from: -1) == nil)
        #expect(input.take(2) == Data([1, 2]))
        #expect(input.offset(of: 3) == 0)
        #expect(input.take(1) == Data([3]) && input.count == 0)
        input.append([4])
        #expect(input[0] == 4)
    }

    @Test("What is left of many bytes stays where it is while more come")
    func longInput() {
        var input = FrameInput()
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        input.append(bytes)
        #expect(input.take(69_998) == Data(bytes.prefix(69_998)))
        for step in 1...3 {
            input.append([UInt8(step)])
            #expect(input.count == 2 + step && input[0] == bytes[69_998] && input[1 + step] == UInt8(step))
            #expect(input.offset(of: UInt8(step)) == 1 + step)
        }
        #expect(input.take(5) == Data(bytes.suffix(2) + [1, 2, 3]) && input.count == 0)
    }
}
