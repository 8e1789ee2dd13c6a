import Foundation
import PenstockCore

extension TransportConformance {
    /// What breaks a whole connection of HTTP/2 (RFC 9113 §5.4.1): the exchange fails, never twice and never hanging, and
    /// the next one takes another connection.
    public static let http2Broken: [Rule] =
        breaches.map { name, frames in
            Rule(
                "A broken connection of HTTP/2: \(name)", over: .http2,
                server: { request in
                    request.path == "/bad" ? frames(Frames(for: request)).response : .text("ok")
                }
            ) { probe in
                try await probe.send()
                let error = try await probe.failure(.post, "/bad", timeouts: soon)
                try expect(error, .protocolViolation, .connectionLost)
                try expect(error.sendState >= .maybeProcessed, "send state \(error.sendState)")
                try expect(probe.server.requestCount, is: 2, "requests")
                try await probe.send(timeouts: soon)
                // One more may have been made for another attempt, which was then not sent.
                let connections = probe.server.connectionCount
                try expect((2...3).contains(connections), "expected another connection, saw \(connections)")
            }
        } + [
            Rule(
                "Plain text in place of HTTP/2 breaks the protocol", over: .http2,
                server: { _ in .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), ending: .hold) }
            ) { probe in
                let error = try await probe.failure(.post, timeouts: soon)
                try expect(error, .protocolViolation, .connectionLost)
                try expect(probe.server.requestCount, is: 1, "requests")
            }
        ]

    private static let breaches: [(name: String, frames: @Sendable (Frames) -> Frames)] = [
        ("content before the head", { $0.data("ok", isLast: false).head().data("") }),
        ("an end without a head", { $0.data("") }),
        ("DATA on stream 0", { $0.data("x", on: 0) }),
        ("HEADERS on stream 0", { $0.headers([(":status", "200")], on: 0) }),
        ("RST_STREAM on stream 0", { $0.reset(.cancel, on: 0) }),
        ("SETTINGS on a stream", { $0.frame(.settings) }),
        ("SETTINGS of an odd length", { $0.frame(.settings, on: 0, Data(count: 5)) }),
        ("an acknowledgement of SETTINGS with content", { $0.frame(.settings, flags: 1, on: 0, Data(count: 6)) }),
        ("an acknowledgement of SETTINGS that were not sent", { $0.frame(.settings, flags: 1, on: 0) }),
        ("a window beyond all bounds", { $0.setting(4, 0x8000_0000) }),
        ("frames too short to be allowed", { $0.setting(5, 100) }),
        ("a server that allows pushing", { $0.setting(2, 1) }),
        ("PING on a stream", { $0.frame(.ping, Data(count: 8)) }),
        ("PING of seven bytes", { $0.frame(.ping, on: 0, Data(count: 7)) }),
        ("GOAWAY on a stream", { $0.frame(.goAway, Data(count: 8)) }),
        ("RST_STREAM of three bytes", { $0.frame(.resetStream, Data(count: 3)) }),
        ("RST_STREAM of a stream that is idle", { $0.reset(.cancel, on: 9_999) }),
        ("HEADERS of a stream that is idle", { $0.headers([(":status", "200")], on: 9_999) }),
        ("DATA of a stream that is idle", { $0.data("x", on: 9_999) }),
        ("a window that does not grow", { $0.window(0, on: 0) }),
        ("a window that overflows", { $0.window(0x7FFF_FFFF, on: 0) }),
        ("a frame longer than allowed", { $0.head([("content-length", "20000")]).frame(.data, Data(count: 16_385)) }),
        (
            "more padding than the frame is long",
            { $0.head([("content-length", "3")]).frame(.data, flags: 8, Data([200, 1, 2])) }
        ),
        ("CONTINUATION of nothing", { $0.frame(.continuation, flags: Frames.endHeaders, Data()) }),
        (
            "a frame between HEADERS and CONTINUATION",
            { $0.frame(.headers, Data()).frame(.ping, on: 0, Data(count: 8)) }
        ),
        ("a push that was refused beforehand", { push($0) }),
        ("a block that refers to nothing", { $0.frame(.headers, flags: Frames.endHeaders, Data([0x80])) }),
        (
            "a block that refers beyond the table",
            { $0.frame(.headers, flags: Frames.endHeaders, Data([0xFF, 0xFF, 0x7F])) }
        ),
        ("a block that is cut off", { $0.frame(.headers, flags: Frames.endHeaders, Data([0, 9, 0x61])) }),
        (
            "a block that makes the table too large",
            { $0.frame(.headers, flags: Frames.endHeaders, Data([0x3F, 0xE1, 0xFF, 0x7F])) }
        ),
        ("a number without end", { $0.frame(.headers, flags: Frames.endHeaders, Data(repeating: 0xFF, count: 40)) }),
    ]

    private static func push(_ frames: Frames) -> Frames {
        let block = Frames.block([
            (":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/"),
        ])
        return frames.frame(.pushPromise, flags: Frames.endHeaders, Frames.number(2, bytes: 4) + block)
    }
}
