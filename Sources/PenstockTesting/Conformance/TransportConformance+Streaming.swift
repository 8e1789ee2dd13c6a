import Foundation
import PenstockCore

extension TransportConformance {
    /// Responses that are received as they are read.
    public static let streaming: [Rule] = [
        Rule("A streamed response brings its head first and then all of its content", requires: .streamedResponses) {
            probe in
            let stream = try await probe.open()
            try expect(stream.response.status, is: 200, "status")
            try expect(stream.response.body.isEmpty, "the head came with a body")
            try expect(await stream.content.collect(), is: Data("ok".utf8), "content")
            try expect(await stream.content.next(), is: nil, "what follows the end")
        },
        Rule(
            "Streamed content is whole, however it comes", requires: .streamedResponses,
            server: { _ in .chunks((0..<50).map { allBytes.prefix($0 * 997) }) }
        ) { probe in
            let expected = Data((0..<50).map { allBytes.prefix($0 * 997) }.joined())
            try expect(await probe.open().content.collect() == expected, "the content is another")
        },
        Rule(
            "The head of a streamed response does not wait for content", requires: .streamedResponses,
            needsWire: true, server: { _ in .short(Data(), declared: 10, ending: .hold) }
        ) { probe in
            let stream = try await probe.open()
            try expect(stream.response.fields[.contentLength], is: "10", "Content-Length")
            stream.content.discard()
            try await probe.server.waitForAborts(count: 1)
        },
        Rule("A status is no failure of a stream", requires: .streamedResponses, server: { _ in .init(status: 503) }) {
            probe in
            try expect(await probe.open().response.status, is: 503, "status")
        },
        Rule(
            "What nobody reads stays on the wire", requires: .streamedResponses, needsWire: true, server: floods.answer
        ) {
            probe in
            let flood = floods.open()
            defer { floods.close(flood) }
            let stream = try await probe.open(.get, flood)
            try await waitForStillness(of: flood, floods, probe)
            let before = floods.count(flood)
            while floods.count(flood) < before + 10 { _ = try await stream.content.next() }
            stream.content.discard()
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Letting go of a stream closes its wire", requires: .streamedResponses, needsWire: true,
            server: floods.answer
        ) { probe in
            let flood = floods.open()
            defer { floods.close(flood) }
            try expect(await probe.open(.get, flood).content.next()?.isEmpty, is: false, "an empty piece")
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Cancelling ends who reads a stream", requires: .streamedResponses, needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            let control = ExchangeControl()
            let stream = try await probe.open(control: control)
            try expect(await stream.content.next(), is: Data("abc".utf8), "what came")
            async let error = failure(of: stream)
            control.cancel()
            try await expect(error, .cancelled, sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
            try await expect(failure(of: stream), .cancelled)
        },
        Rule(
            "A stream that is cut short fails after what came, for good", requires: .streamedResponses,
            needsWire: true, server: { _ in .short(Data("abc".utf8), declared: 10) }
        ) { probe in
            let stream = try await probe.open()
            try await expect(failure(of: stream), .connectionLost, sendState: .answered)
            try await expect(failure(of: stream), .connectionLost)
        },
        breaksOff("ends", .drop, after: [1, 80, 5_000, 60_000]), breaksOff("is reset", .reset, after: [1, 80, 5_000]),
        Rule(
            "The total time ends with the head of a stream, and content may take longer", requires: .streamedResponses,
            needsWire: true,
            server: { _ in .chunks(Array(repeating: Data("x".utf8), count: 20), pause: .milliseconds(100)) }
        ) { probe in
            let stream = try await probe.open(timeouts: .total(.seconds(1)))
            try expect(await stream.content.collect().count, is: 20, "bytes")
        },
        Rule(
            "Silence ends a stream that is read", requires: .streamedResponses, needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .milliseconds(500), total: nil)
            let stream = try await probe.open(timeouts: limits)
            try await expect(failure(of: stream), .timeout(.idle), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "The connection of a stream that was read to its end is used again", requires: .streamedResponses,
            needsWire: true
        ) { probe in
            for _ in 1...3 { _ = try await probe.open().content.collect() }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Content that nobody wants is passed over, and its connection used again", requires: .streamedResponses,
            needsWire: true, server: { _ in .init(status: 302, body: allBytes.prefix(10_000)) }
        ) { probe in
            for _ in 1...3 {
                let stream = try await probe.open()
                stream.content.discard()
                try expect(await stream.content.next(), is: nil, "content")
            }
            var exchange = try probe.exchange()
            exchange.skipsContent = { $0.status == 302 }
            try expect(await probe.transport.perform(exchange).response.body, is: Data(), "content")
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
    ]

    /// What comes and the break that follows it are often met at once, so that it takes many times to see what is lost then.
    private static func breaksOff(
        _ how: String, _ ending: LoopbackServer.Response.Ending, after counts: [Int]
    ) -> Rule {
        Rule(
            "All that came is read before the stream fails, where the connection \(how) right behind it",
            requires: .streamedResponses, needsWire: true,
            server: { .short(Data(count: Int($0.path.dropFirst()) ?? 0), declared: 1 << 20, ending: ending) }
        ) { probe in
            for count in Array(repeating: counts, count: 25).joined() {
                let stream = try await probe.open(.get, "/\(count)")
                var received = 0
                do throws(TransportError) {
                    while let piece = try await stream.content.next() { received += piece.count }
                    throw TransportError(.other, sendState: .answered, message: "it ended well")
                } catch { try expect(error, .connectionLost, sendState: .answered) }
                try expect(received, is: count, "bytes")
            }
        }
    }

    private static let floods = RunningTaps(piece: Data(count: 64 << 10), pause: .zero)

    /// Returns once the server could send nothing more while a hundred other calls came and went.
    static func waitForStillness(of flood: String, _ floods: RunningTaps, _ probe: Probe) async throws {
        var (seen, stillFor) = (-1, 0)
        while stillFor < 100 {
            try await probe.send(.get, "/other")
            let count = floods.count(flood)
            try expect(count < 1_024, "64 MiB were taken that nobody read")
            (seen, stillFor) = count == seen ? (seen, stillFor + 1) : (count, 0)
        }
    }

    private static func failure(of stream: TransportStream) async throws -> TransportError {
        do throws(TransportError) { _ = try await stream.content.collect() } catch { return error }
        throw Unmet(description: "expected a failure, and the stream ended well")
    }
}

extension TransportContent {
    fileprivate func collect() async throws(TransportError) -> Data {
        var data = Data()
        while let piece = try await next() { data.append(piece) }
        return data
    }
}
