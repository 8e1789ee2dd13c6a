import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// The rules of RFC 6455 for frames, as a server sees them; a client differs in the mask alone.
@Suite(.covers("X14")) struct WebSocketMachineTests {
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    private func frame(_ opcode: UInt8, _ text: String = "", isFinal: Bool = true) -> Data {
        RawFrame(opcode, text, isFinal: isFinal, key: Self.key).bytes
    }

    // MARK: Framing

    @Test(
        "A message of any length comes whole, however its bytes are cut",
        arguments: [0, 1, 125, 126, 127, 128, 65_535, 65_536, 70_001], [1, 3, 997, Int.max])
    func lengths(count: Int, step: Int) throws {
        let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let reading = try Reading(.server, RawFrame(2, content, key: Self.key).bytes, step: step)
        #expect(reading.messages == [.binary(content)])
        #expect(reading.failure == nil)
        #expect(reading.output.isEmpty)
        let text = String(repeating: "a", count: count)
        #expect(try Reading(.client, RawFrame(1, text).bytes, step: step).messages == [.text(text)])
    }

    @Test("Messages come one after the other, however their bytes are cut", arguments: 1...16)
    func several(step: Int) throws {
        let contents = [5, 0, 1, 7, 126, 2].map { count in Data((0..<count).map { UInt8($0 + count) }) }
        let pieces = frame(2, "ab", isFinal: false) + frame(9, "ping") + frame(0, "cdefg")
        let bytes = contents.reduce(pieces) { $0 + RawFrame(2, $1, key: Self.key).bytes } + frame(1, "last")
        let reading = try Reading(.server, bytes, step: step)
        let binary = ([Data("abcdefg".utf8)] + contents).map { WebSocketMessage.binary($0) }
        #expect(reading.messages == binary + ["last"])
        #expect(reading.failure == nil)
        #expect(reading.output == RawFrame(10, "ping").bytes)
    }

    @Test("The standard's own examples are read as they are there")
    func examples() throws {
        let masked = Data([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(try Reading(.server, masked).messages == ["Hello"])
        #expect(try Reading(.client, Data([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])).messages == ["Hello"])
        let pieces = Data([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
        #expect(try Reading(.client, pieces).messages == ["Hello"])
    }

    @Test("What is sent has the shortest length and the mask of its role", arguments: [0, 125, 126, 65_535, 65_536])
    func sending(count: Int) throws {
        let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        var server = try WebSocketMachine(.server)
        try server.send(.binary(content))
        #expect(server.takeOutput() == RawFrame(2, content).bytes)
        #expect(server.takeOutput().isEmpty)
        var client = try WebSocketMachine(.client, random: RandomSource { 0x0807_0605_0403_0201 })
        try client.send(.binary(content))
        #expect(client.takeOutput() == RawFrame(2, content, key: [1, 2, 3, 4]).bytes)
    }

    @Test("Without a limit a frame of 2^63 - 1 bytes is waited for; a limit below zero is none of bytes")
    func unlimited() throws {
        var endless = RawFrame(2, Data([1, 2]), key: Self.key)
        endless.length = (8, UInt64(Int64.max))
        let reading = try Reading(.server, endless.bytes, limits: WebSocketLimits(messageBytes: .max))
        #expect(reading.failure == nil && reading.events.isEmpty && reading.state == .open)
        for limit in [-1, Int.min] {
            let limits = WebSocketLimits(messageBytes: limit)
            #expect(try Reading(.server, frame(1), limits: limits).messages == [""])
            #expect(try Reading(.server, frame(1, "a"), limits: limits).closeCode == 1_009)
        }
    }

    @Test("Each frame of a client has a mask of its own")
    func masks() throws {
        var client = try WebSocketMachine(.client)
        try client.send("same")
        let first = client.takeOutput()
        try client.send("same")
        #expect(client.takeOutput() != first)
    }

    @Test(
        "A message is sent in as many frames as it is asked for, and read back whole",
        arguments: [-1, 0, 1, 2, 5, 6, 7])
    func fragmentsOut(size: Int) throws {
        var client = try WebSocketMachine(.client)
        try client.send("héllo", fragmentBytes: size)
        let bytes = client.takeOutput()
        #expect(bytes.count == 6 + 6 * ((6 + max(1, size) - 1) / max(1, size)))
        #expect(try Reading(.server, bytes).messages == ["héllo"])
    }

    // MARK: Pings and pongs

    @Test("A ping is answered with its own bytes; 125 of them and no more", arguments: [0, 1, 125, 126])
    func pings(count: Int) throws {
        let payload = Data((0..<count).map { UInt8($0) })
        let reading = try Reading(.server, RawFrame(9, payload, key: Self.key).bytes)
        if count <= 125 {
            #expect(reading.events == [.ping(payload)])
            #expect(reading.output == RawFrame(10, payload).bytes)
        } else {
            #expect(reading.failure?.kind == .controlFrame)
            #expect(reading.closeCode == 1_002)
        }
    }

    @Test("Pongs that nobody asked for are let pass, and pings are answered in their order")
    func manyPings() throws {
        let reading = try Reading(.server, frame(10, "x") + (0..<10).reduce(Data()) { $0 + frame(9, "\($1)") })
        #expect(reading.events == [.pong(Data("x".utf8))] + (0..<10).map { .ping(Data("\($0)".utf8)) })
        #expect(reading.output == (0..<10).reduce(Data()) { $0 + RawFrame(10, "\($1)").bytes })
    }

    @Test("Of a flood of pings the last 64 are answered")
    func pingFlood() throws {
        let reading = try Reading(.server, (0..<1_000).reduce(Data()) { $0 + frame(9, "\($1)") })
        #expect(reading.output == (936..<1_000).reduce(Data()) { $0 + RawFrame(10, "\($1)").bytes })
    }

    @Test("What an end sends goes before its answers to pings, a Close frame behind them, and each of them once")
    func order() throws {
        var end = try WebSocketMachine(.server)
        end.receive(frame(9, "1") + frame(9, "2"))
        for payload in ["1", "2"] { #expect(try end.next() == .ping(Data(payload.utf8))) }
        try end.send("message")
        try end.close()
        let pongs = RawFrame(10, "1").bytes + RawFrame(10, "2").bytes
        #expect(end.takeOutput() == RawFrame(1, "message").bytes + pongs + Data([0x88, 2, 0x03, 0xE8]))
        #expect(end.takeOutput().isEmpty)
    }

    @Test("A ping is sent up to 125 bytes")
    func ownPings() throws {
        var end = try WebSocketMachine(.server)
        try end.ping(Data(count: 125))
        #expect(end.takeOutput() == RawFrame(9, Data(count: 125)).bytes)
        #expect(throws: WebSocketFailure.self) { try end.ping(Data(count: 126)) }
        #expect(end.takeOutput().isEmpty)
    }

    // MARK: Reserved bits and opcodes

    @Test("A reserved bit fails the socket", arguments: [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70], [1, 2, 8, 9, 10])
    func reservedBits(bits: UInt8, opcode: UInt8) throws {
        let bad = RawFrame(opcode, Data(), reserved: bits, key: Self.key).bytes
        let reading = try Reading(.server, frame(1, "before") + bad + frame(1, "after"))
        #expect(reading.messages == ["before"])
        #expect(reading.failure?.kind == .reservedBits)
        #expect(reading.closeCode == 1_002)
        #expect(reading.state == .closed)
    }

    @Test("A reserved opcode fails the socket with its first byte", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
    func reservedOpcodes(opcode: UInt8) throws {
        let reading = try Reading(.server, Data([0x80 | opcode]))
        #expect(reading.failure?.kind == .reservedOpcode)
        #expect(reading.closeCode == 1_002)
    }

    // MARK: Masks and lengths

    @Test("A server refuses what is not masked, and a client what is", arguments: [1, 2, 8, 9, 10])
    func maskRules(opcode: UInt8) throws {
        let bare = try Reading(.server, RawFrame(opcode, "ab").bytes)
        #expect(bare.failure?.kind == .masking)
        #expect(bare.closeCode == 1_002)
        #expect(try Reading(.client, frame(opcode, "ab")).failure?.kind == .masking)
    }

    @Test(
        "A length in more bytes than it needs is refused, and the least that needs them is not",
        arguments: [(2, 125, true), (2, 126, false), (8, 65_535, true), (8, 65_536, false)])
    func minimalLengths(bytes: Int, value: Int, isRefused: Bool) throws {
        var raw = RawFrame(2, Data(count: value), key: Self.key)
        raw.length = (bytes, UInt64(value))
        let reading = try Reading(.server, raw.bytes)
        #expect(reading.failure?.kind == (isRefused ? .length : nil))
        #expect(reading.messages.count == (isRefused ? 0 : 1))
    }

    @Test(
        "A length of 2^63 is no length, and one just below it is over any limit",
        arguments: [(0x8000_0000_0000_0000, 1_002), (0x7FFF_FFFF_FFFF_FFFF, 1_009), (0x100_0001, 1_009)]
            as [(UInt64, UInt16)])
    func hugeLengths(length: UInt64, code: UInt16) throws {
        var raw = RawFrame(2, Data(), key: Self.key)
        raw.length = (8, length)
        let reading = try Reading(.server, raw.bytes)
        #expect(reading.closeCode == code)
        let isNone = reading.failure == WebSocketFailure(.length, "the highest bit of a length is set")
        #expect(isNone == (code == 1_002))
    }

    @Test("What came of the next message while a long one was read is read on")
    func longInput() throws {
        var end = try WebSocketMachine(.server)
        let (content, next) = (Data(count: 70_000), frame(1, "the next one"))
        let long = RawFrame(2, content, key: Self.key).bytes
        for cut in 0...next.count {
            end.receive(long + next.prefix(cut))
            #expect(try end.next() == .message(.binary(content)))
            #expect(try end.next() == (cut == next.count ? .message("the next one") : nil))
            end.receive(next.dropFirst(cut) + frame(1, "after"))
            if cut < next.count { #expect(try end.next() == .message("the next one")) }
            #expect(try end.next() == .message("after"))
        }
    }

    @Test("A message may be as large as the limit and no larger, in one frame or in several")
    func messageLimit() throws {
        let limits = WebSocketLimits(messageBytes: 10)
        #expect(try Reading(.server, frame(1, "0123456789"), limits: limits).messages == ["0123456789"])
        let over = try Reading(.server, frame(1, "0123456789a"), limits: limits)
        #expect(over.failure?.kind == .messageTooBig)
        #expect(over.closeCode == 1_009)
        let exact = frame(1, "01234", isFinal: false) + frame(0, "56789")
        #expect(try Reading(.server, exact, limits: limits).messages == ["0123456789"])
        let pieces = frame(1, "01234", isFinal: false) + frame(0, "56789a")
        #expect(try Reading(.server, pieces, limits: limits).failure?.kind == .messageTooBig)
    }

    // MARK: Fragments

    @Test("Control frames may come between the pieces of a message, one byte at a time")
    func controlBetween() throws {
        let bytes =
            frame(1, "a", isFinal: false) + frame(9, "p") + frame(0, "b", isFinal: false) + frame(10)
            + frame(0, "", isFinal: false) + frame(0, "c") + frame(1, "next")
        let reading = try Reading(.server, bytes, step: 1)
        #expect(reading.events == [.ping(Data("p".utf8)), .pong(Data()), .message("abc"), .message("next")])
    }

    @Test("A piece that continues nothing, a message within a message, and a control frame in pieces fail the socket")
    func brokenFragments() throws {
        for (bytes, kind) in [
            (frame(0, "x"), WebSocketFailure.Kind.fragmentation), (frame(0, "x", isFinal: false), .fragmentation),
            (frame(1, "x", isFinal: false) + frame(1, "y"), .fragmentation),
            (frame(2, "x", isFinal: false) + frame(2, "y", isFinal: false), .fragmentation),
            (frame(1, "x") + frame(0, "y"), .fragmentation), (frame(9, "x", isFinal: false), .controlFrame),
            (frame(10, "x", isFinal: false), .controlFrame), (frame(8, "", isFinal: false), .controlFrame),
        ] {
            let reading = try Reading(.server, bytes)
            #expect(reading.failure?.kind == kind)
            #expect(reading.closeCode == 1_002)
        }
    }

    @Test("A message may come in so many frames and in none more", arguments: [3, 4])
    func fragmentLimit(count: Int) throws {
        let pieces = (1..<count).reduce(frame(1, "", isFinal: false)) { bytes, _ in bytes + frame(0, "", isFinal: false)
        }
        let reading = try Reading(.server, pieces, limits: WebSocketLimits(fragments: 3))
        #expect(reading.failure?.kind == (count > 3 ? .tooManyFragments : nil))
        #expect(reading.closeCode == (count > 3 ? 1_008 : nil))
    }

    @Test("A million fragments of one message are refused long before they are there")
    func millionFragments() throws {
        var end = try WebSocketMachine(.server)
        end.receive(frame(2, "", isFinal: false))
        let piece = (0..<1_000).reduce(Data()) { bytes, _ in bytes + frame(0, "", isFinal: false) }
        var rounds = 0
        let failure = #expect(throws: WebSocketFailure.self) {
            while rounds < 1_000 {
                rounds += 1
                end.receive(piece)
                _ = try end.next()
            }
        }
        #expect(failure?.kind == .tooManyFragments)
        #expect(rounds == 132)
    }

    // MARK: The end

    static let closeCodeTable: [(UInt16, Bool)] = [
        (0, false), (999, false), (1_000, true), (1_003, true), (1_004, false), (1_005, false), (1_006, false),
        (1_007, true), (1_014, true), (1_015, false), (1_016, false), (2_999, false), (3_000, true), (4_999, true),
        (5_000, false), (65_535, false),
    ]

    @Test("A Close frame is answered with its code, and nothing comes after it")
    func closing() throws {
        let close = RawFrame(8, Data([0x03, 0xE8]) + Data("bye".utf8), key: Self.key).bytes
        let reading = try Reading(.server, close + frame(1, "late") + Data([0xFF]))
        #expect(reading.events == [.closed(code: .normal, reason: "bye")])
        #expect(reading.output == Data([0x88, 2, 0x03, 0xE8]))
        #expect(reading.state == .closed)
        let empty = try Reading(.server, frame(8))
        #expect(empty.events == [.closed(code: .none, reason: "")])
        #expect(empty.output == Data([0x88, 0]))
    }

    @Test(
        "Of the codes those may be sent that have a meaning on the wire",
        arguments: closeCodeTable)
    func closeCodes(code: UInt16, isGood: Bool) throws {
        let payload = Data([UInt8(code >> 8), UInt8(truncatingIfNeeded: code)])
        let reading = try Reading(.server, RawFrame(8, payload, key: Self.key).bytes)
        #expect(reading.closeCode == (isGood ? code : 1_002))
        #expect(reading.failure?.kind == (isGood ? nil : .closeFrame))
        var end = try WebSocketMachine(.server)
        let sent: Void? = try? end.close(WebSocketCloseCode(rawValue: code))
        #expect((sent != nil) == (isGood || code == 1_005))
    }

    @Test("A Close frame of one byte, with a reason that is no UTF-8, or of more than 125 bytes is refused")
    func brokenClose() throws {
        #expect(try Reading(.server, frame(8, "x")).failure?.kind == .closeFrame)
        let badText = RawFrame(8, Data([0x03, 0xE8, 0xCE, 0xBA, 0xE1]), key: Self.key).bytes
        #expect(try Reading(.server, badText).closeCode == 1_007)
        let long = RawFrame(8, Data([0x03, 0xE8]) + Data(count: 124), key: Self.key).bytes
        #expect(try Reading(.server, long).failure?.kind == .controlFrame)
        let whole = RawFrame(8, Data([0x03, 0xE8]) + Data(repeating: 0x61, count: 123), key: Self.key).bytes
        #expect(try Reading(.server, whole).failure == nil)
    }

    @Test("After its own Close frame an end sends nothing, still reads, and is closed by the answer")
    func ownClose() throws {
        var end = try WebSocketMachine(.server)
        try end.send("last")
        try end.close(.goingAway, reason: "bye")
        #expect(end.state == .closing)
        #expect(throws: WebSocketFailure(.notOpen, "the socket is closing or closed")) { try end.send("later") }
        #expect(throws: WebSocketFailure(.notOpen, "the socket is closing or closed")) { try end.ping() }
        try end.close(.normal)
        let expected = RawFrame(1, "last").bytes + RawFrame(8, Data([0x03, 0xE9]) + Data("bye".utf8)).bytes
        #expect(end.takeOutput() == expected)
        let reading = Reading(&end, frame(1, "crossed") + frame(9) + RawFrame(8, Data([3, 0xE9]), key: Self.key).bytes)
        #expect(reading.events == [.message("crossed"), .ping(Data()), .closed(code: .goingAway, reason: "")])
        #expect(reading.output.isEmpty)
        #expect(reading.state == .closed)
    }

    @Test("What breaks the protocol behind an end's own Close frame has no second one")
    func brokenWhileClosing() throws {
        var end = try WebSocketMachine(.server)
        try end.close(.goingAway)
        _ = end.takeOutput()
        let reading = Reading(&end, Data([0xFF]))
        #expect(reading.failure?.kind == .reservedBits)
        #expect(reading.output.isEmpty && reading.state == .closed)
    }

    @Test("A Close frame without a code has no reason")
    func reasonWithoutCode() throws {
        var end = try WebSocketMachine(.server)
        let failure = #expect(throws: WebSocketFailure.self) { try end.close(.none, reason: "x") }
        #expect(failure?.kind == .invalidRequest && end.state == .open)
        try end.close(.none)
        #expect(end.takeOutput() == Data([0x88, 0]) && end.state == .closing)
    }

    @Test("A reason may have 123 bytes", arguments: [123, 124])
    func reasons(count: Int) throws {
        var end = try WebSocketMachine(.server)
        let isSent = (try? end.close(.normal, reason: String(repeating: "x", count: count))) != nil
        #expect(isSent == (count == 123))
        #expect(end.state == (count == 123 ? .closing : .open))
    }

    @Test("A failure is for good: it is thrown again, nothing more is read, and one Close frame goes")
    func failures() throws {
        var end = try WebSocketMachine(.server)
        try end.send("before")
        end.receive(Data([0xFF]))
        #expect(throws: WebSocketFailure.self) { try end.next() }
        end.receive(frame(1, "x"))
        #expect(throws: WebSocketFailure.self) { try end.next() }
        #expect(throws: WebSocketFailure.self) { try end.send("x") }
        #expect(end.takeOutput() == RawFrame(1, "before").bytes + Data([0x88, 2, 0x03, 0xEA]))
        #expect(end.takeOutput().isEmpty)
    }
}

/// Text is looked at as it comes.
@Suite(.covers("X14")) struct WebSocketTextTests {
    static let good: [[UInt8]] = [
        [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5], [0], [0x7F], [0xC2, 0x80], [0xDF, 0xBF],
        [0xE0, 0xA0, 0x80], [0xEF, 0xBF, 0xBF],
        [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xE1, 0x80, 0x80],
        [0xEC, 0xBF, 0xBF], [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF],
        [
            0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0xC3, 0xA9, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
            0xC3, 0xBC,
        ],
    ]
    /// What is wrong, and with which of its bytes that shows.
    static let bad: [([UInt8], Int)] = [
        ([0x80], 0), ([0xBF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0xBF], 0), ([0xC2, 0x41], 1), ([0xC2, 0x7F], 1),
        ([0xC2, 0xC0], 1), ([0xC2, 0xC2], 1),
        ([0xE0, 0x9F, 0xBF], 1), ([0xE1, 0x7F], 1), ([0xE1, 0x80, 0xC0], 2), ([0xED, 0xA0, 0x80], 1),
        ([0xED, 0xBF, 0xBF], 1), ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5], 0), ([0xFF], 0),
        ([0xFE], 0), ([0xF0, 0x90, 0x80, 0x41], 3), ([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0xF8], 8),
        ([0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xED, 0xA0, 0x80, 0x65], 12),
    ]

    @Test("Every good text is taken, wherever it is cut", arguments: good)
    func accepted(bytes: [UInt8]) throws {
        for cut in 0...bytes.count {
            let raw =
                RawFrame(1, Data(bytes[..<cut]), isFinal: false).bytes + RawFrame(0, Data(bytes[cut...])).bytes
            let reading = try Reading(.client, raw, step: 1)
            #expect(reading.messages == [.text(String(decoding: bytes, as: UTF8.self))])
        }
    }

    @Test("A bad text is refused with its first bad byte, in the middle of a frame and behind another", arguments: bad)
    func refused(bytes: [UInt8], place: Int) throws {
        for cut in 0...place {
            let head = RawFrame(1, Data(bytes[..<cut]), isFinal: false).bytes
            // The frame goes on for long, and the bytes behind the bad one never come.
            var raw = RawFrame(0, Data(count: 1_000)).bytes.prefix(4) + Data(bytes[cut..<place])
            #expect(try Reading(.client, head + raw).failure == nil)
            raw.append(bytes[place])
            let reading = try Reading(.client, head + raw)
            #expect(reading.failure?.kind == .invalidText)
            #expect(reading.state == .closed)
            #expect(reading.output.isEmpty == false)
        }
    }

    @Test("A text that ends within a character is refused, and binary content may be anything")
    func halves() throws {
        let half = try Reading(.server, RawFrame(1, Data([0x61, 0xC3]), key: WebSocketMachineTests.key).bytes)
        #expect(half.failure?.kind == .invalidText)
        #expect(half.closeCode == 1_007)
        #expect(try Reading(.client, RawFrame(2, Data([0xFF, 0xC3])).bytes).messages == [.binary(Data([0xFF, 0xC3]))])
    }
}
