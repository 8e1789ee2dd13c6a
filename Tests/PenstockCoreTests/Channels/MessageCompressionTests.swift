import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// What a machine asks of that which compresses its messages (RFC 7692 §7.2), whatever that is.
@Suite(.covers("X14")) struct MessageCompressionTests {
    private static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    private static func deflate(_ change: (inout WebSocketDeflate) -> Void = { _ in }) -> WebSocketDeflate {
        var deflate = WebSocketDeflate()
        change(&deflate)
        return deflate
    }

    private static func machine(
        _ role: WebSocketMachine.Role, _ coder: NotedCompression, _ deflate: WebSocketDeflate = .init(),
        limit: Int = 1_000
    ) throws -> WebSocketMachine {
        try WebSocketMachine(
            role, limits: WebSocketLimits(messageBytes: limit), deflate: deflate, compression: coder)
    }

    /// A frame of a compressed message, as the other end of a client sends it.
    private static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> Data {
        RawFrame(opcode, Data(payload), isFinal: isFinal, reserved: opcode == 0 ? 0 : 0x40).bytes
    }

    @Test("The window of each end is its own", arguments: [WebSocketMachine.Role.client, .server])
    func windows(role: WebSocketMachine.Role) throws {
        let coder = NotedCompression()
        _ = try Self.machine(
            role, coder,
            Self.deflate {
                ($0.clientMaxWindowBits, $0.serverMaxWindowBits) = (9, 10)
            })
        let (own, others) = role == .client ? (9, 10) : (10, 9)
        #expect(coder.windows.value == [.own: own, .others: others])
    }

    @Test("A message of 64 bytes is compressed, and a shorter one is sent as it is", arguments: [0, 1, 63, 64, 65])
    func least(count: Int) throws {
        let coder = NotedCompression()
        var end = try Self.machine(.server, coder)
        try end.send(.binary(Data(count: count)))
        let isCompressed = count >= 64
        #expect(end.takeOutput() == RawFrame(2, Data(count: count), reserved: isCompressed ? 0x40 : 0).bytes)
        #expect(coder.calls.value == (isCompressed ? [.deflate(count)] : []))
    }

    @Test(
        "Each end forgets its messages where that was agreed on for it, and only then",
        arguments: [WebSocketMachine.Role.client, .server])
    func takeover(role: WebSocketMachine.Role) throws {
        for (client, server) in [(false, false), (true, false), (false, true), (true, true)] {
            let coder = NotedCompression()
            let deflate = Self.deflate { ($0.clientNoContextTakeover, $0.serverNoContextTakeover) = (client, server) }
            var end = try Self.machine(role, coder, deflate)
            let (own, others) = role == .client ? (client, server) : (server, client)
            let sent: [NotedCompression.Call] = own ? [.deflate(64), .forgetOwn] : [.deflate(64)]
            for _ in 0..<2 { try end.send(.binary(Data(count: 64))) }
            #expect(coder.calls.value == sent + sent)
            coder.calls.value = []
            let key: [UInt8]? = role == .server ? [1, 2, 3, 4] : nil
            end.receive(RawFrame(1, Data("ab".utf8), isFinal: false, reserved: 0x40, key: key).bytes)
            #expect(try end.next() == nil)
            var read: [NotedCompression.Call] = [.inflate(Array("ab".utf8), 1_000)]
            #expect(coder.calls.value == read)
            end.receive(RawFrame(0, Data("cd".utf8), key: key).bytes)
            #expect(try end.next() == .message("abcd"))
            read += [.inflate(Array("cd".utf8), 998), .inflate(Self.tail, 996)]
            if others { read.append(.forgetOthers) }
            #expect(coder.calls.value == read)
        }
    }

    @Test("A message that ends within a block is refused, and a piece of it may")
    func incomplete() throws {
        let coder = NotedCompression()
        var end = try Self.machine(.client, coder)
        coder.isComplete.value = false
        end.receive(Self.frame(2, [1, 2], isFinal: false))
        #expect(try end.next() == nil)
        end.receive(Self.frame(0, [3]))
        let failure = #expect(throws: WebSocketFailure.self) { try end.next() }
        #expect(failure?.kind == .compression)
    }

    /// An eighth, a 64th and a KiB more than the message itself may have.
    @Test(
        "A compressed frame may be as much longer than the limit as DEFLATE makes what it cannot shorten, and no longer",
        arguments: [(0, 1_024), (10, 1_035), (1_048_576, 1_197_056), (.max, .max)] as [(Int, Int)])
    func longest(limit: Int, length: Int) throws {
        for excess in limit == .max ? [0] : [0, 1] {
            var raw = RawFrame(2, Data(), reserved: 0x40)
            raw.length = (length > 65_535 ? 8 : 2, UInt64(length + excess))
            var end = try Self.machine(.client, NotedCompression(), limit: limit)
            end.receive(raw.bytes)
            if excess == 0 {
                #expect(try end.next() == nil)
                #expect(end.state == .open)
            } else {
                let failure = #expect(throws: WebSocketFailure.self) { try end.next() }
                #expect(failure?.kind == .messageTooBig)
            }
        }
    }

    @Test("A continuation of a compressed message may be as long as its first frame, whatever was expanded before")
    func longContinuation() throws {
        var end = try Self.machine(.client, NotedCompression(), limit: 10)
        end.receive(Self.frame(2, Array(repeating: 1, count: 10), isFinal: false))
        var raw = RawFrame(0, Data(), isFinal: false)
        raw.length = (2, 1_035)
        end.receive(raw.bytes)
        #expect(try end.next() == nil)
        #expect(end.state == .open)
    }

    @Test("The first frame of a message says that it is compressed, and no other", arguments: [0, 8, 9, 10])
    func whereItIsSaid(opcode: UInt8) throws {
        var end = try Self.machine(.client, NotedCompression())
        end.receive(Self.frame(2, [1], isFinal: false) + RawFrame(opcode, Data(), reserved: 0x40).bytes)
        let failure = #expect(throws: WebSocketFailure.self) { try end.next() }
        #expect(failure?.kind == .reservedBits)
    }

    @Test("What is compressed is text all the same, or it is refused")
    func text() throws {
        var good = try Self.machine(.client, NotedCompression())
        good.receive(Self.frame(1, Array("é".utf8)))
        #expect(try good.next() == .message("é"))
        for bytes: [UInt8] in [[0xFF], [0x61, 0xC3]] {
            var end = try Self.machine(.client, NotedCompression())
            end.receive(Self.frame(1, bytes))
            let failure = #expect(throws: WebSocketFailure.self) { try end.next() }
            #expect(failure?.kind == .invalidText)
            var binary = try Self.machine(.client, NotedCompression())
            binary.receive(Self.frame(2, bytes))
            #expect(try binary.next() == .message(.binary(Data(bytes))))
        }
    }
}

/// Compresses nothing, and notes what it is asked for.
private final class NotedCompression: WebSocketCompression {
    enum Call: Hashable, Sendable {
        case deflate(Int), inflate([UInt8], Int), forgetOwn, forgetOthers
    }
    enum End: Hashable, Sendable { case own, others }

    let calls = Box<[Call]>([])
    let windows = Box<[End: Int]>([:])
    let isComplete = Box(true)

    func deflater(windowBits: Int) -> (any MessageDeflater)? {
        windows.update { $0[.own] = windowBits }
        return Deflater(calls: calls)
    }

    func inflater(windowBits: Int) -> (any MessageInflater)? {
        windows.update { $0[.others] = windowBits }
        return Inflater(calls: calls, complete: isComplete)
    }

    private final class Deflater: MessageDeflater {
        let calls: Box<[Call]>

        init(calls: Box<[Call]>) {
            self.calls = calls
        }

        func deflate(_ message: Data) -> Data? {
            calls.update { $0.append(.deflate(message.count)) }
            return message
        }

        func reset() {
            calls.update { $0.append(.forgetOwn) }
        }
    }

    private final class Inflater: MessageInflater {
        let calls: Box<[Call]>
        let complete: Box<Bool>

        init(calls: Box<[Call]>, complete: Box<Bool>) {
            (self.calls, self.complete) = (calls, complete)
        }

        var isComplete: Bool { complete.value }

        func inflate(_ piece: Data, upTo limit: Int) throws(WebSocketFailure) -> Data {
            calls.update { $0.append(.inflate(Array(piece), limit)) }
            let isTail = piece.elementsEqual([0, 0, 0xFF, 0xFF])
            let content = isTail ? Data() : piece
            guard content.count <= limit else { throw WebSocketFailure(.messageTooBig, "too big") }
            return content
        }

        func reset() {
            calls.update { $0.append(.forgetOthers) }
        }
    }
}
