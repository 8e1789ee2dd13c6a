import Foundation
import PenstockCore

/// A frame written by hand, so that anything can be wrong with it.
struct RawFrame {
    var first: UInt8
    var payload: Data
    /// `nil` for a frame without a mask.
    var key: [UInt8]?
    /// In place of the shortest form: how many bytes the length is written in (0, 2 or 8), and what it says.
    var length: (bytes: Int, value: UInt64)?

    init(_ opcode: UInt8, _ payload: Data = Data(), isFinal: Bool = true, reserved: UInt8 = 0, key: [UInt8]? = nil) {
        first = (isFinal ? 0x80 : 0) | reserved | opcode
        self.payload = payload
        self.key = key
    }

    init(_ opcode: UInt8, _ text: String, isFinal: Bool = true, key: [UInt8]? = nil) {
        self.init(opcode, Data(text.utf8), isFinal: isFinal, key: key)
    }

    var bytes: Data {
        let shortest = payload.count < 126 ? 0 : payload.count < 65_536 ? 2 : 8
        let (count, value) = length ?? (shortest, UInt64(payload.count))
        let mark: UInt8 = key == nil ? 0 : 0x80
        var bytes = Data([first, mark | (count == 0 ? UInt8(value) : count == 2 ? 126 : 127)])
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - index)))) }
        guard let key else { return bytes + payload }
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: payload.enumerated().map { $1 ^ key[$0 % 4] })
        return bytes
    }
}

/// What one end makes of bytes: its events, what it answers, and what it failed of.
struct Reading {
    var events: [WebSocketMachine.Event] = []
    var output = Data()
    var failure: WebSocketFailure?
    var state = WebSocketMachine.State.open

    /// - Parameter step: how many bytes come at a time; all at once by default.
    init(
        _ role: WebSocketMachine.Role, _ bytes: Data, limits: WebSocketLimits = .init(), step: Int = .max
    ) throws {
        var end = try WebSocketMachine(role, limits: limits)
        self.init(&end, bytes, step: step)
    }

    init(_ end: inout WebSocketMachine, _ bytes: Data, step: Int = .max) {
        var rest = bytes
        while !rest.isEmpty, failure == nil {
            let piece = rest.prefix(step)
            rest = rest.dropFirst(piece.count)
            end.receive(piece)
            do throws(WebSocketFailure) {
                while let event = try end.next() { events.append(event) }
            } catch {
                failure = error
            }
        }
        output = end.takeOutput()
        state = end.state
    }

    var messages: [WebSocketMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    /// The code of the Close frame at the end of what an end without mask has answered.
    var closeCode: UInt16? {
        let frame = Array(output.suffix(4))
        guard frame.count == 4, frame[0] == 0x88, frame[1] == 2 else { return nil }
        return UInt16(frame[2]) << 8 | UInt16(frame[3])
    }
}
