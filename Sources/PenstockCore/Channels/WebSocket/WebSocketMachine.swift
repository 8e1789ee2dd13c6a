import Foundation

/// One end of a WebSocket behind its opening handshake, frame by frame (RFC 6455, with RFC 7692): bytes in, events and bytes
/// out. It waits for nothing and opens nothing, so a test, a proxy or a server drives it as it likes.
///
/// ```swift
/// var end = try WebSocketMachine(.server)
/// end.receive(bytes)
/// while let event = try end.next() { if case .message(let message) = event { try end.send(message) } }
/// write(end.takeOutput())
/// ```
///
/// Pings are answered by themselves. What breaks the protocol fails ``next()`` for good, and puts the Close frame that says
/// why behind what is to be written. Copies share their compression, so only one of them may go on.
public struct WebSocketMachine: Sendable {
    /// Which end it is: the client masks what it sends, the server does not (RFC 6455 §5.1).
    public enum Role: Hashable, Sendable {
        /// The end that asked for the socket.
        case client
        /// The end that was asked.
        case server
    }

    /// What came.
    public enum Event: Hashable, Sendable {
        /// A whole message, whatever the number of its frames.
        case message(WebSocketMessage)
        /// A ping; its answer is in the output already.
        case ping(Data)
        /// The answer to a ping, or one that nobody asked for.
        case pong(Data)
        /// The other end's Close frame, which is answered already. Nothing comes after it.
        ///
        /// - Parameter code: ``WebSocketCloseCode/none`` where there was none in it.
        case closed(code: WebSocketCloseCode, reason: String)
    }

    /// How far it has come towards its end.
    public enum State: Hashable, Sendable {
        /// Both ends may send.
        case open
        /// This end has sent its Close frame, and the other one has not.
        case closing
        /// Both Close frames have been sent, or the protocol was broken.
        case closed
    }

    private struct Frame: Sendable {
        var head: WebSocketFrameHead
        /// How much of its payload was taken.
        var taken = 0
    }

    /// A message of which not all frames have come.
    private struct Assembly: Sendable {
        let opcode: WebSocketOpcode
        let isCompressed: Bool
        var content = Data()
        var fragments = 1
        var text = UTF8Scanner()
    }

    /// How long a frame of a compressed message may be. Whatever DEFLATE makes longer, it does by no more than this: zlib's own bound
    /// (`deflateBound`) for the least memory, and for the fixed codes. What the message expands to is counted as it comes, and no
    /// frame is kept, so that more room costs no memory.
    private var longestCompressed: Int {
        let (limit, excess) = (limits.messageBytes, limits.messageBytes / 8 + limits.messageBytes / 64 + 1_024)
        return min(limit, .max - excess) + excess
    }
    /// How many pongs are kept for a reader that does not write. The newest are the ones to be sent (RFC 6455 §5.5.3).
    private static let mostPongs = 64

    /// Which end of the connection it is.
    public let role: Role
    /// What it takes from the other end at most.
    public let limits: WebSocketLimits
    /// How far it has come towards its end.
    public private(set) var state = State.open
    private let coders: WebSocketCoders?
    private var random: RandomSource
    private var input: [UInt8] = []
    private var start = 0
    private var frame: Frame?
    private var control: [UInt8] = []
    private var assembly: Assembly?
    private var failure: WebSocketFailure?
    private var output = Data()
    private var pongs: [Data] = []
    private var farewell: Data?
    /// Whether messages can still be sent behind the other end's Close frame, or behind what broke the protocol, until
    /// ``conclude()``: an end may hold its own Close frame back for so long (RFC 6455 §5.5.1).
    var concludesLater = false
    /// What the Close frame says that ``conclude()`` sends.
    private var goodbye: Data?

    /// An end of a socket whose handshake is over.
    ///
    /// - Parameters:
    ///   - limits: the defaults of ``WebSocketLimits`` unless told otherwise.
    ///   - deflate: what the handshake agreed on; `nil`, the default, where nothing is compressed.
    ///   - compression: what compresses; needed with `deflate` alone.
    ///   - random: where a client takes its masks from.
    /// - Throws: ``WebSocketFailure/Kind/compression`` where `deflate` needs what `compression` has not.
    public init(
        _ role: Role, limits: WebSocketLimits = .init(), deflate: WebSocketDeflate? = nil,
        compression: (any WebSocketCompression)? = nil, random: RandomSource = .system
    ) throws(WebSocketFailure) {
        self.role = role
        // A limit below zero counts as zero: no length could be taken away from it.
        self.limits = WebSocketLimits(messageBytes: max(0, limits.messageBytes), fragments: limits.fragments)
        self.random = random
        coders = try deflate.map { deflate throws(WebSocketFailure) in
            try WebSocketCoders(role, deflate, compression)
        }
    }

    // MARK: What comes

    /// Adds bytes as they came over the wire. They are read by ``next()``; after the end they are dropped.
    public mutating func receive(_ bytes: some Collection<UInt8>) {
        guard state != .closed, goodbye == nil else { return }
        if start == input.count {
            input.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 65_536 {
            input.removeSubrange(..<start)
            start = 0
        }
        input.append(contentsOf: bytes)
    }

    /// What came next; `nil` where more bytes are needed, and once it is closed.
    ///
    /// - Throws: what broke the protocol or a limit, then and from then on.
    public mutating func next() throws(WebSocketFailure) -> Event? {
        if let failure { throw failure }
        do throws(WebSocketFailure) {
            while state != .closed, goodbye == nil {
                guard try beginFrame() else { return nil }
                guard let event = try takePayload() else {
                    if frame != nil { return nil }
                    continue
                }
                return event
            }
            return nil
        } catch {
            fail(error)
            throw error
        }
    }

    /// - Returns: whether there is a frame whose payload can be taken.
    private mutating func beginFrame() throws(WebSocketFailure) -> Bool {
        guard frame == nil else { return true }
        guard
            let (head, bytes) = try WebSocketFrameHead.read(
                input[start...], isMasked: role == .server, knowsCompression: coders != nil)
        else { return false }
        start += bytes
        if !head.opcode.isControl { try beginData(head) }
        frame = Frame(head: head)
        return true
    }

    private mutating func beginData(_ head: WebSocketFrameHead) throws(WebSocketFailure) {
        if head.opcode == .continuation {
            guard assembly != nil else { throw WebSocketFailure(.fragmentation, "a continuation continues nothing") }
            assembly?.fragments += 1
        } else {
            guard assembly == nil else { throw WebSocketFailure(.fragmentation, "a message begins within another") }
            assembly = Assembly(opcode: head.opcode, isCompressed: head.isCompressed)
        }
        guard let assembly, assembly.fragments <= limits.fragments else {
            throw WebSocketFailure(.tooManyFragments, "a message is in more than \(limits.fragments) frames")
        }
        let room = assembly.isCompressed ? longestCompressed : limits.messageBytes - assembly.content.count
        guard head.length <= room else { throw tooBig }
    }

    private var tooBig: WebSocketFailure {
        WebSocketFailure(.messageTooBig, "a message is larger than \(limits.messageBytes) bytes")
    }

    private mutating func takePayload() throws(WebSocketFailure) -> Event? {
        guard var current = frame else { return nil }
        let count = min(current.head.length - current.taken, input.count - start)
        if count > 0 {
            input.withUnsafeMutableBytes { bytes in
                current.head.mask?.apply(
                    to: UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + count)]), offset: current.taken)
            }
            let piece = start..<(start + count)
            start += count
            current.taken += count
            if current.head.opcode.isControl { control += input[piece] } else { try take(piece) }
        }
        guard current.taken == current.head.length else {
            frame = current
            return nil
        }
        frame = nil
        if current.head.opcode.isControl { return try endControl(current.head.opcode) }
        return current.head.isFinal ? try endMessage() : nil
    }

    private mutating func take(_ piece: Range<Int>) throws(WebSocketFailure) {
        if assembly?.isCompressed == true { return try add(expanded(Data(input[piece]), isLast: false)) }
        let isGood = input.withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[piece])
            bytes.withMemoryRebound(to: UInt8.self) { assembly?.content.append($0) }
            return acceptText(bytes)
        }
        if !isGood { throw noText }
    }

    private mutating func add(_ content: Data) throws(WebSocketFailure) {
        guard content.withUnsafeBytes({ acceptText($0) }) else { throw noText }
        assembly?.content.append(content)
    }

    /// Takes the next bytes of a message.
    ///
    /// - Returns: whether the message may go on with them.
    private mutating func acceptText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        assembly?.opcode != .text || assembly?.text.accept(bytes) != false
    }

    private var noText: WebSocketFailure { WebSocketFailure(.invalidText, "a text is not UTF-8") }

    private func expanded(_ content: Data, isLast: Bool) throws(WebSocketFailure) -> Data {
        guard let coders else { return content }
        let room = limits.messageBytes - (assembly?.content.count ?? 0)
        return try coders.expand(content, isLast: isLast, upTo: room)
    }

    private mutating func endMessage() throws(WebSocketFailure) -> Event? {
        if assembly?.isCompressed == true { try add(expanded(Data(), isLast: true)) }
        guard let whole = assembly else { return nil }
        assembly = nil
        guard whole.opcode == .text else { return .message(.binary(whole.content)) }
        guard whole.text.isComplete else { throw WebSocketFailure(.invalidText, "a text ends within a character") }
        return .message(.text(String(decoding: whole.content, as: UTF8.self)))
    }

    private mutating func endControl(_ opcode: WebSocketOpcode) throws(WebSocketFailure) -> Event? {
        let payload = Data(control)
        control.removeAll(keepingCapacity: true)
        switch opcode {
        case .ping:
            answer(payload)
            return .ping(payload)
        case .pong: return .pong(payload)
        default: return try endClose(payload)
        }
    }

    private mutating func answer(_ ping: Data) {
        guard state == .open else { return }
        if pongs.count == Self.mostPongs { pongs.removeFirst() }
        pongs.append(written(.pong, ping))
    }

    private mutating func endClose(_ payload: Data) throws(WebSocketFailure) -> Event? {
        let close = try WebSocketClose(payload)
        end(state == .open ? payload.prefix(2) : nil)
        return .closed(code: close.code, reason: close.reason)
    }

    // MARK: What goes

    /// Bytes to be written to the wire, in order; empty where there is nothing to write.
    public mutating func takeOutput() -> Data {
        var bytes = output
        output = Data()
        for pong in pongs { bytes.append(pong) }
        pongs.removeAll()
        if let farewell { bytes.append(farewell) }
        farewell = nil
        return bytes
    }

    /// Puts a message behind what is to be written, compressed where that was agreed on and it is not tiny.
    ///
    /// - Parameter fragmentBytes: at most so much of it in a frame, and at least one byte. All in one frame by default.
    /// - Throws: ``WebSocketFailure/Kind/notOpen`` once a Close frame was sent or received.
    public mutating func send(
        _ message: WebSocketMessage, fragmentBytes: Int = .max
    ) throws(WebSocketFailure) {
        try checkIsOpen()
        var payload = message.data
        var opcode = message.isText ? WebSocketOpcode.text : .binary
        var isCompressed = false
        if let short = coders?.compress(payload) { (payload, isCompressed) = (short, true) }
        repeat {
            let piece = payload.count <= fragmentBytes ? payload : payload.prefix(max(1, fragmentBytes))
            payload = payload.count == piece.count ? Data() : payload.dropFirst(piece.count)
            let frame = written(opcode, piece, isFinal: payload.isEmpty, isCompressed: isCompressed)
            if output.isEmpty { output = frame } else { output.append(frame) }
            (opcode, isCompressed) = (.continuation, false)
        } while !payload.isEmpty
    }

    /// Puts a ping behind what is to be written.
    ///
    /// - Throws: ``WebSocketFailure/Kind/invalidRequest`` for more than 125 bytes; ``WebSocketFailure/Kind/notOpen``.
    public mutating func ping(_ payload: Data = Data()) throws(WebSocketFailure) {
        try checkIsOpen()
        guard payload.count <= WebSocketFrameHead.controlBytes else {
            throw WebSocketFailure(.invalidRequest, "a ping has 125 bytes at most")
        }
        output.append(written(.ping, payload))
    }

    /// Puts a Close frame behind what is to be written. Messages still come until the other end has answered it. Nothing
    /// where one was sent already.
    ///
    /// - Parameters:
    ///   - code: ``WebSocketCloseCode/none`` for a frame without any.
    ///   - reason: up to 123 bytes of UTF-8.
    /// - Throws: ``WebSocketFailure/Kind/invalidRequest`` for a code that may not be sent, and for a longer reason.
    public mutating func close(_ code: WebSocketCloseCode = .normal, reason: String = "") throws(WebSocketFailure) {
        guard state == .open else { return }
        let payload = try WebSocketClose.payload(code, reason)
        if goodbye != nil { return conclude() }
        farewell = written(.close, payload)
        state = .closing
    }

    private func checkIsOpen() throws(WebSocketFailure) {
        guard state == .open else { throw WebSocketFailure(.notOpen, "the socket is closing or closed") }
    }

    private mutating func fail(_ failure: WebSocketFailure) {
        self.failure = failure
        end(state == .open ? failure.closeCode.flatMap { try? WebSocketClose.payload($0, "") } : nil)
    }

    /// Nothing more is read, and nothing of what was read is kept.
    ///
    /// - Parameter payload: of the Close frame that is owed to the other end; `nil` where none is.
    private mutating func end(_ payload: Data?) {
        (input, start) = ([], 0)
        (frame, assembly) = (nil, nil)
        control = []
        goodbye = payload
        if payload == nil { state = .closed } else if !concludesLater { conclude() }
    }

    /// Puts the Close frame that is owed behind what is to be written; nothing where none is.
    mutating func conclude() {
        guard let payload = goodbye else { return }
        goodbye = nil
        farewell = written(.close, payload)
        state = .closed
    }

    /// Whether ``conclude()`` has something to do.
    var owesGoodbye: Bool { goodbye != nil }

    private mutating func written(
        _ opcode: WebSocketOpcode, _ payload: Data, isFinal: Bool = true, isCompressed: Bool = false
    ) -> Data {
        let mask = role == .client ? WebSocketMask(random: random.next()) : nil
        var bytes = Data(capacity: payload.count + WebSocketFrameHead.mostBytes)
        WebSocketFrameHead(
            isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, length: payload.count, mask: mask
        ).write(to: &bytes)
        let begin = bytes.count
        bytes.append(payload)
        guard let mask else { return bytes }
        bytes.withUnsafeMutableBytes { bytes in
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[begin...]), offset: 0)
        }
        return bytes
    }
}

/// What a Close frame says (RFC 6455 §5.5.1).
struct WebSocketClose: Hashable, Sendable {
    let code: WebSocketCloseCode
    let reason: String

    init(_ payload: Data) throws(WebSocketFailure) {
        let bytes = Array(payload)
        guard let high = bytes.first else {
            (code, reason) = (.none, "")
            return
        }
        guard bytes.count > 1 else { throw WebSocketFailure(.closeFrame, "a Close frame has one byte") }
        let code = WebSocketCloseCode(rawValue: UInt16(high) << 8 | UInt16(bytes[1]))
        guard code.isSendable else { throw WebSocketFailure(.closeFrame, "a Close frame has the code \(code)") }
        guard let reason = String(utf8: bytes[2...]) else {
            throw WebSocketFailure(.invalidText, "the reason of a Close frame is not UTF-8")
        }
        (self.code, self.reason) = (code, reason)
    }

    static func payload(_ code: WebSocketCloseCode, _ reason: String) throws(WebSocketFailure) -> Data {
        if code == .none, reason.isEmpty { return Data() }
        guard code.isSendable else { throw WebSocketFailure(.invalidRequest, "the code \(code) is not to be sent") }
        guard reason.utf8.count <= WebSocketFrameHead.controlBytes - 2 else {
            throw WebSocketFailure(.invalidRequest, "a reason has 123 bytes at most")
        }
        return Data([UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]) + Data(reason.utf8)
    }
}
