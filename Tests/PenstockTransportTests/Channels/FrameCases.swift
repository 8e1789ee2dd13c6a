import Foundation
import PenstockCore
import PenstockTestSupport

/// Frames that one end of a WebSocket sends, and what an end that echoes messages has to answer (RFC 6455, RFC 7692).
struct FrameCase: Sendable, CustomStringConvertible {
    /// One frame, of which anything can be wrong.
    struct Frame: Sendable {
        var opcode: UInt8
        var payload = Data()
        var isFinal = true
        var reserved: UInt8 = 0

        init(_ opcode: UInt8, _ payload: Data = Data(), isFinal: Bool = true, reserved: UInt8 = 0) {
            (self.opcode, self.payload, self.isFinal, self.reserved) = (opcode, payload, isFinal, reserved)
        }

        init(_ opcode: UInt8, _ text: String, isFinal: Bool = true, reserved: UInt8 = 0) {
            self.init(opcode, Data(text.utf8), isFinal: isFinal, reserved: reserved)
        }

        func bytes(isMasked: Bool) -> Data {
            var bytes = Data([(isFinal ? 0x80 : 0) | reserved << 4 | opcode])
            let mark: UInt8 = isMasked ? 0x80 : 0
            switch payload.count {
            case ...125: bytes.append(mark | UInt8(payload.count))
            case ...65_535: bytes += [mark | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default:
                bytes.append(mark | 127)
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
                }
            }
            guard isMasked else { return bytes + payload }
            let key: [UInt8] = [0x11, 0x22, 0x33, 0x44]
            return bytes + key + Data(payload.enumerated().map { $1 ^ key[$0 & 3] })
        }
    }

    let description: String
    let frames: [Frame]
    var messages: [WebSocketMessage] = []
    var pongs: [Data] = []
    /// Of the Close frame that is answered.
    var code: UInt16 = 1_000
    /// How many bytes go at a time.
    var step = Int.max

    /// Ends with a Close frame, unless the frames are wrong before.
    init(
        _ description: String, _ frames: [Frame], echo messages: [WebSocketMessage] = [], pongs: [Data] = [],
        code: UInt16 = 1_000, step: Int = .max
    ) {
        self.description = description
        self.frames = frames + [Frame(8, Data([0x03, 0xE8]))]
        (self.messages, self.pongs, self.code, self.step) = (messages, pongs, code, step)
    }

    func pieces(isMasked: Bool) -> [Data] {
        var rest = frames.reduce(Data()) { $0 + $1.bytes(isMasked: isMasked) }
        var pieces: [Data] = []
        while !rest.isEmpty {
            pieces.append(Data(rest.prefix(step)))
            rest = rest.dropFirst(step)
        }
        return pieces
    }

    // MARK: The groups

    static let groups: [(String, [FrameCase])] = [
        ("framing", framing), ("pings and pongs", pings), ("reserved bits", reservedBits),
        ("reserved opcodes", reservedOpcodes), ("fragmentation", fragmentation), ("UTF-8", utf8), ("closing", closing),
        ("large messages", large),
    ]

    static let framing: [FrameCase] = [0, 125, 126, 127, 128, 65_535, 65_536].flatMap { count in
        let (text, data) = (String(repeating: "*", count: count), Data(repeating: 0xFE, count: count))
        return [
            FrameCase("text of \(count)", [Frame(1, text)], echo: [.text(text)]),
            FrameCase("binary of \(count)", [Frame(2, data)], echo: [.binary(data)]),
            FrameCase("text of \(count) in pieces", [Frame(1, text)], echo: [.text(text)], step: 997),
        ]
    }

    static let pings: [FrameCase] = {
        let many = (0..<10).map { Data("payload-\($0)".utf8) }
        return [
            FrameCase("an empty ping", [Frame(9)], pongs: [Data()]),
            FrameCase("a ping with text", [Frame(9, "Hello")], pongs: [Data("Hello".utf8)]),
            FrameCase("a ping with bytes", [Frame(9, Data([0, 0xFF, 0xFE]))], pongs: [Data([0, 0xFF, 0xFE])]),
            FrameCase("125 bytes", [Frame(9, Data(count: 125))], pongs: [Data(count: 125)]),
            FrameCase("126 bytes", [Frame(9, Data(count: 126))], code: 1_002),
            FrameCase("125 bytes, one at a time", [Frame(9, Data(count: 125))], pongs: [Data(count: 125)], step: 1),
            FrameCase("a pong that nobody asked for", [Frame(10)]),
            FrameCase("such a pong, and a ping", [Frame(10, "x"), Frame(9, "y")], pongs: [Data("y".utf8)]),
            FrameCase("ten pings", many.map { Frame(9, $0) }, pongs: many),
            FrameCase("ten pings, one byte at a time", many.map { Frame(9, $0) }, pongs: many, step: 1),
        ]
    }()

    static let reservedBits: [FrameCase] = (1...7 as ClosedRange<UInt8>).flatMap { bits in
        [
            FrameCase(
                "bits \(bits) behind a message", [Frame(1, "first"), Frame(1, "x", reserved: bits), Frame(9)],
                echo: ["first"], code: 1_002),
            FrameCase(
                "bits \(bits), one byte at a time", [Frame(1, "first"), Frame(2, "x", reserved: bits), Frame(9)],
                echo: ["first"], code: 1_002, step: 1),
            FrameCase("bits \(bits) of a ping", [Frame(9, "x", reserved: bits)], code: 1_002),
            FrameCase("bits \(bits) of a Close", [Frame(8, reserved: bits)], code: 1_002),
        ]
    }

    static let reservedOpcodes: [FrameCase] = ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).flatMap { opcode in
        [
            FrameCase("opcode \(opcode)", [Frame(opcode, "x")], code: 1_002),
            FrameCase(
                "opcode \(opcode) behind a message", [Frame(1, "first"), Frame(opcode), Frame(9)], echo: ["first"],
                code: 1_002),
            FrameCase(
                "opcode \(opcode), one byte at a time", [Frame(1, "first"), Frame(opcode, "x"), Frame(9)],
                echo: ["first"], code: 1_002, step: 1),
        ]
    }

    static let fragmentation: [FrameCase] = {
        let (first, last) = (Frame(1, "frag", isFinal: false), Frame(0, "ment"))
        let ping = Frame(9, "p")
        let many = (0..<5).map { Frame($0 == 0 ? 1 : 0, "\($0)", isFinal: $0 == 4) }
        return [
            FrameCase("a ping in pieces", [Frame(9, "a", isFinal: false), Frame(0, "b")], code: 1_002),
            FrameCase("a pong in pieces", [Frame(10, "a", isFinal: false), Frame(0, "b")], code: 1_002),
            FrameCase("a text in two", [first, last], echo: ["fragment"]),
            FrameCase("a text in two, one byte at a time", [first, last], echo: ["fragment"], step: 1),
            FrameCase("a ping between", [first, ping, last], echo: ["fragment"], pongs: [Data("p".utf8)]),
            FrameCase(
                "pings between five", many.flatMap { [$0, ping] }, echo: ["01234"],
                pongs: [Data](repeating: Data("p".utf8), count: 5)),
            FrameCase("a continuation of nothing", [Frame(0, "x"), Frame(1, "y")], code: 1_002),
            FrameCase("an unfinished one of nothing", [Frame(0, "x", isFinal: false), Frame(1, "y")], code: 1_002),
            FrameCase(
                "one of nothing behind a message", [first, last, Frame(0, "x")], echo: ["fragment"], code: 1_002),
            FrameCase("a message within another", [first, Frame(1, "x")], code: 1_002),
            FrameCase("an unfinished one within another", [first, Frame(2, "x", isFinal: false)], code: 1_002),
            FrameCase("a Close within a message", [first]),
            FrameCase(
                "empty pieces", [Frame(1, isFinal: false), Frame(0, isFinal: false), Frame(0)], echo: [""]),
        ]
    }()

    static let utf8: [FrameCase] = {
        let good = [
            "κόσμε", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
            "\u{D7FF}\u{E000}",
        ]
        let bad: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0, 0x80, 0x65],
        ]
        return good.flatMap { text in
            let bytes = Data(text.utf8)
            let cut = bytes.indices.map {
                Frame($0 == 0 ? 1 : 0, bytes[$0..<$0 + 1], isFinal: $0 == bytes.count - 1)
            }
            return [
                FrameCase("\(bytes as NSData)", [Frame(1, text)], echo: [.text(text)]),
                FrameCase("\(bytes as NSData), a frame for each byte", cut, echo: [.text(text)]),
            ]
        }
            + bad.flatMap { bytes in
                [
                    FrameCase("\(bytes)", [Frame(1, "first"), Frame(1, Data(bytes))], echo: ["first"], code: 1_007),
                    FrameCase("\(bytes) as bytes", [Frame(2, Data(bytes))], echo: [.binary(Data(bytes))]),
                    FrameCase("\(bytes), one at a time", [Frame(1, Data(bytes))], code: 1_007, step: 1),
                ]
            }
            // What cannot become good is refused before the message has ended.
            + [
                FrameCase("as soon as it is wrong", [Frame(1, Data([0xF4, 0x90]), isFinal: false)], code: 1_007),
                FrameCase(
                    "cut within a character", [Frame(1, Data([0xCE]), isFinal: false), Frame(0, Data([0xBA]))],
                    echo: ["κ"]),
            ]
    }()

    static let closing: [FrameCase] = {
        func close(_ code: Int, _ reason: Data = Data()) -> Frame {
            Frame(8, Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + reason)
        }
        let large = Data(repeating: 7, count: 200_000)
        let good = [1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_009, 1_010, 1_011, 3_000, 3_999, 4_000, 4_999]
        let bad = [0, 999, 1_004, 1_005, 1_006, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535]
        return [
            FrameCase("behind a message", [Frame(1, "first")], echo: ["first"]),
            FrameCase("behind a large one", [Frame(2, large)], echo: [.binary(large)]),
            FrameCase("behind many", (0..<20).map { Frame(1, "\($0)") }, echo: (0..<20).map { .text("\($0)") }),
            FrameCase("twice", [close(1_000)]), FrameCase("a ping behind it", [close(1_000), Frame(9)]),
            FrameCase("a message behind it", [close(1_000), Frame(1, "late")]),
            FrameCase("a continuation behind it", [Frame(1, "x", isFinal: false), close(1_000), Frame(0, "y")]),
            FrameCase("without a code", [Frame(8)], code: 1_005),
            FrameCase("of one byte", [Frame(8, Data([3]))], code: 1_002),
            FrameCase("with a reason", [close(1_000, Data("enough".utf8))]),
            FrameCase("with one of 123 bytes", [close(1_000, Data(repeating: 0x2A, count: 123))]),
            FrameCase("with one of 124 bytes", [close(1_000, Data(repeating: 0x2A, count: 124))], code: 1_002),
            FrameCase("with one that is no UTF-8", [close(1_000, Data([0xCE, 0xED, 0xA0]))], code: 1_007),
        ] + good.map { FrameCase("with \($0)", [close($0)], code: UInt16($0)) }
            + bad.map { FrameCase("with \($0)", [close($0)], code: 1_002) }
    }()

    static let large: [FrameCase] = {
        let text = String(repeating: "0123456789abcdef", count: 16 << 10)
        let data = sampleBytes(seed: 9, count: 256 << 10)
        func cut(_ opcode: UInt8, _ data: Data, _ size: Int) -> [Frame] {
            stride(from: 0, to: data.count, by: size).map { start in
                Frame(
                    start == 0 ? opcode : 0, data[start..<min(start + size, data.count)],
                    isFinal: start + size >= data.count)
            }
        }
        return [
            FrameCase("text", [Frame(1, text)], echo: [.text(text)]),
            FrameCase("bytes", [Frame(2, data)], echo: [.binary(data)]),
            FrameCase("text in frames of 64", cut(1, Data(text.utf8), 64), echo: [.text(text)]),
            FrameCase("bytes in frames of 1,300", cut(2, data, 1_300), echo: [.binary(data)]),
            FrameCase("bytes in frames of 64 KiB", cut(2, data, 65_536), echo: [.binary(data)]),
            FrameCase(
                "text, 64 bytes at a time", [Frame(1, String(text.prefix(65_536)))],
                echo: [.text(String(text.prefix(65_536)))], step: 64),
        ]
    }()
}
