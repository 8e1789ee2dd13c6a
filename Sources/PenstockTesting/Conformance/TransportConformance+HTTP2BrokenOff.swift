import Foundation
import PenstockCore

extension TransportConformance {
    /// Content that neither a length nor the end of its stream delimits (RFC 9113 §8.1).
    static let brokenOff: [Rule] = ends.flatMap { end in
        [
            brokenOff(end, "at once") { $0.frames(Frames(for: $1).head().data("abc", isLast: false)).response },
            brokenOff(end, "later") { end, request in
                Frames(for: request).head().data("abc", isLast: false).response
                    .followed(by: end.frames(Frames(for: request)).bytes, after: .milliseconds(50))
            },
        ]
    }

    private struct End: Sendable {
        let name: String
        /// Whether a transport may take the content for whole if it says that it does not know.
        var mayBeUntold = false
        /// Whether the connection ends behind it.
        var isLast = false
        let frames: @Sendable (Frames) -> Frames
    }

    private static let ends: [End] = [
        End(name: "a reset without an error", mayBeUntold: true) { $0.reset(.noError) },
        End(name: "a reset with CANCEL") { $0.reset(.cancel) },
        End(name: "a reset with INTERNAL_ERROR") { $0.reset(.init(rawValue: 2)) },
        End(name: "a reset with ENHANCE_YOUR_CALM") { $0.reset(.enhanceYourCalm) },
        End(name: "the connection's end", isLast: true) { $0 },
        End(name: "a GOAWAY and the connection's end", mayBeUntold: true, isLast: true) {
            $0.goAway(lastStream: $0.stream)
        },
        End(name: "a GOAWAY with an error and the connection's end", mayBeUntold: true, isLast: true) {
            $0.goAway(lastStream: $0.stream, .init(rawValue: 2))
        },
        End(name: "a GOAWAY that leaves it out", mayBeUntold: true) { $0.goAway(lastStream: 0) },
        End(name: "DATA on stream 0", mayBeUntold: true) { $0.data("x", on: 0) },
        End(name: "PING of seven bytes", mayBeUntold: true) { $0.frame(.ping, on: 0, Data(count: 7)) },
        End(name: "a frame longer than allowed", mayBeUntold: true) { $0.frame(.data, Data(count: 16_385)) },
        End(name: "a block that refers to nothing", mayBeUntold: true) {
            $0.frame(.headers, flags: Frames.endHeaders, Data([0x80]))
        },
    ]

    private static func brokenOff(
        _ end: End, _ moment: String,
        _ respond: @escaping @Sendable (End, LoopbackServer.Request) -> LoopbackServer.Response
    ) -> Rule {
        Rule(
            "Content without a length is not taken for whole, \(moment) broken off by \(end.name)", over: .http2,
            server: { request in
                var response = respond(end, request)
                if end.isLast { response.ending = .drop }
                return response
            }
        ) { probe in
            switch await probe.outcome(of: try probe.exchange(timeouts: soon)) {
            case .failure(let error):
                try expect(error, .connectionLost, .protocolViolation)
                // The head may have been overtaken by the end.
                try expect(error.sendState >= .maybeProcessed, "send state \(error.sendState)")
            case .success(let answer):
                try expect(end.mayBeUntold, "it was taken for whole")
                try expect(answer.connection.mayBeCutOff, "nobody was told that it may be cut off")
            }
        }
    }
}
