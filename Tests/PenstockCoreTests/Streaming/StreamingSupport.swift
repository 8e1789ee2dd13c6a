import Foundation
import PenstockCore
import PenstockTestSupport

/// What a parser made of its input.
struct Parsed<Element: Equatable & Sendable>: Equatable, Sendable {
    var elements: [Element] = []
    var error: StreamLimitError?
}

func events(_ pieces: [Data], _ parser: ServerSentEventParser = .init()) -> Parsed<ServerSentEvent> {
    var parser = parser
    var parsed = Parsed<ServerSentEvent>()
    do throws(StreamLimitError) {
        for piece in pieces {
            parser.push(piece)
            while let event = try parser.next() { parsed.elements.append(event) }
        }
    } catch {
        parsed.error = error
    }
    return parsed
}

func lines(_ pieces: [Data], _ parser: JSONLinesParser = .init()) -> Parsed<String> {
    var parser = parser
    var parsed = Parsed<String>()
    do throws(StreamLimitError) {
        for piece in pieces {
            parser.push(piece)
            while let line = try parser.next() { parsed.elements.append(String(decoding: line, as: UTF8.self)) }
        }
        parser.finish()
        while let line = try parser.next() { parsed.elements.append(String(decoding: line, as: UTF8.self)) }
    } catch {
        parsed.error = error
    }
    return parsed
}

/// The same bytes in two pieces, at each position, and in pieces of one byte.
func splits(_ bytes: Data) -> [[Data]] {
    (0...bytes.count).map { [bytes.prefix($0), bytes.dropFirst($0)] } + [bytes.map { Data([$0]) }]
}

/// Bytes that mean something to a parser, in an order that means nothing, cut anywhere.
func babble(_ words: [String], _ random: inout Seeded) -> (whole: Data, pieces: [Data]) {
    let pieces = (0..<Int.random(in: 1...30, using: &random)).map { _ in
        Int.random(in: 0..<5, using: &random) == 0
            ? Data([UInt8.random(in: 0...255, using: &random)])
            : Data((words.randomElement(using: &random) ?? "").utf8)
    }
    return (pieces.reduce(Data(), +), pieces)
}
