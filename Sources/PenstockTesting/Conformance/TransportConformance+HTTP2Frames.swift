import Foundation
import PenstockCore

extension TransportConformance {
    /// Frames of HTTP/2 as bytes (RFC 9113 §4) for one stream, one after the other: for what a sound server would not say.
    /// Field blocks are written without the dynamic table (RFC 7541 §6.2.2), so they go between those of the server.
    struct Frames: Sendable {
        let stream: Int
        private(set) var bytes = Data()

        init(for request: LoopbackServer.Request) {
            stream = request.stream ?? 0
        }

        /// What goes out instead of a reply; the connection is kept.
        var response: LoopbackServer.Response { .raw(bytes, ending: .hold) }

        /// - Parameter other: the stream, where it is not the request's.
        func frame(_ type: UInt8, flags: UInt8 = 0, on other: Int? = nil, _ payload: Data = Data()) -> Frames {
            var copy = self
            copy.bytes += Self.number(payload.count, bytes: 3) + [type, flags]
            copy.bytes += Self.number(other ?? stream, bytes: 4) + payload
            return copy
        }

        func frame(
            _ kind: LoopbackServer.HTTP2Frame.Kind, flags: UInt8 = 0, on other: Int? = nil, _ payload: Data = Data()
        )
            -> Frames
        {
            frame(kind.rawValue, flags: flags, on: other, payload)
        }

        // MARK: Messages

        func headers(_ fields: [(String, String)], isLast: Bool = false, on other: Int? = nil) -> Frames {
            frame(.headers, flags: Self.endHeaders | (isLast ? Self.endStream : 0), on: other, Self.block(fields))
        }

        /// The head of a good response.
        func head(_ fields: [(String, String)] = [], status: Int = 200, isLast: Bool = false) -> Frames {
            headers([(":status", "\(status)")] + fields, isLast: isLast)
        }

        func data(_ text: String, isLast: Bool = true, on other: Int? = nil) -> Frames {
            frame(.data, flags: isLast ? Self.endStream : 0, on: other, Data(text.utf8))
        }

        /// The rest of a good response.
        func ok() -> Frames { head().data("ok") }

        // MARK: Control

        func reset(_ code: LoopbackServer.HTTP2ErrorCode, on other: Int? = nil) -> Frames {
            frame(.resetStream, on: other, Self.number(Int(code.rawValue), bytes: 4))
        }

        func goAway(lastStream: Int, _ code: LoopbackServer.HTTP2ErrorCode = .noError) -> Frames {
            frame(.goAway, on: 0, Self.number(lastStream, bytes: 4) + Self.number(Int(code.rawValue), bytes: 4))
        }

        func setting(_ id: Int, _ value: Int) -> Frames {
            frame(.settings, on: 0, Self.number(id, bytes: 2) + Self.number(value, bytes: 4))
        }

        func window(_ increment: Int, on other: Int? = nil) -> Frames {
            frame(.windowUpdate, on: other, Self.number(increment, bytes: 4))
        }

        /// The same so many times over.
        func repeated(_ count: Int, _ body: (Frames, Int) -> Frames) -> Frames {
            var (whole, none) = (self, self)
            none.bytes = Data()
            for index in 0..<count { whole.bytes += body(none, index).bytes }
            return whole
        }

        // MARK: Bytes

        static let endStream: UInt8 = 1
        static let endHeaders: UInt8 = 4

        static func number(_ value: Int, bytes: Int) -> Data {
            Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
        }

        static func block(_ fields: [(String, String)]) -> Data {
            fields.reduce(into: Data()) { $0 += [0] + string($1.0) + string($1.1) }
        }

        private static func string(_ text: String) -> Data { length(text.utf8.count) + Data(text.utf8) }

        /// RFC 7541 §5.1, with a prefix of seven bits.
        private static func length(_ count: Int) -> Data {
            guard count >= 127 else { return Data([UInt8(count)]) }
            var (rest, bytes) = (count - 127, Data([127]))
            while rest >= 128 {
                bytes.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            return bytes + [UInt8(rest)]
        }
    }
}
