import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ServerSentEventParserTests {
    typealias Event = ServerSentEvent

    /// A stream and what it holds.
    struct Row: Sendable, CustomTestStringConvertible {
        let stream: String
        let events: [Event]
        var testDescription: String { stream.debugDescription }

        init(_ stream: String, _ events: Event...) {
            self.stream = stream
            self.events = events
        }
    }

    static let rows = [
        Row(""),
        Row("data: a\n\n", Event(data: "a")),
        // Lines of data are joined; an empty one is a line.
        Row("data: YHOO\ndata: +2\ndata: 10\n\n", Event(data: "YHOO\n+2\n10")),
        Row("data\n\ndata\ndata\n\ndata:", Event(data: ""), Event(data: "\n")),
        Row("data:\n\n", Event(data: "")),
        // One space behind the colon is not part of the value.
        Row("data:test\n\ndata: test\n\n", Event(data: "test"), Event(data: "test")),
        Row("data:  two\n\ndata:\ttab\n\n", Event(data: " two"), Event(data: "\ttab")),
        Row("data: a:b: c\n\n", Event(data: "a:b: c")),
        // Line ends.
        Row("data: a\r\rdata: b\r\n\r\ndata: c\n\r", Event(data: "a"), Event(data: "b"), Event(data: "c")),
        Row("data: a\r\n\ndata: b\r\n\r", Event(data: "a"), Event(data: "b")),
        Row("data: a\r\ndata: b\rdata: c\n\n", Event(data: "a\nb\nc")),
        Row("\n\r\r\n\ndata: a\n\n", Event(data: "a")),
        Row("data: a\u{2028}b\u{85}c\n\n", Event(data: "a\u{2028}b\u{85}c")),
        // Comments, and fields nobody knows.
        Row(": test\n:\n::\n\n:data: x\ndata: a\n\n", Event(data: "a")),
        Row("Data: x\n data: y\ndata : z\ndatas: b\nda: c\n: d\n\n"),
        // Types.
        Row("event: add\ndata: 1\n\ndata: 2\n\n", Event(name: "add", data: "1"), Event(data: "2")),
        Row("event: a\nevent: b\ndata: 1\n\n", Event(name: "b", data: "1")),
        Row("event: a\nevent\ndata: 1\n\n", Event(data: "1")),
        Row("event: lost\n\ndata: 1\n\n", Event(data: "1")),
        // Ids stay, and may be taken back.
        Row("id: 1\ndata: a\n\ndata: b\n\n", Event(id: "1", data: "a"), Event(id: "1", data: "b")),
        Row("id: 1\ndata: a\n\nid\ndata: b\n\n", Event(id: "1", data: "a"), Event(data: "b")),
        Row("id: 1\n\ndata: b\n\n", Event(id: "1", data: "b")),
        Row("id: 1\nid: 2\0\ndata: b\n\n", Event(id: "1", data: "b")),
        Row("id:  é \ndata: b\n\n", Event(id: " é ", data: "b")),
        // Times are digits only.
        Row("retry: 1500\ndata: a\n\ndata: b\n\n", Event(data: "a", retry: .milliseconds(1500)), Event(data: "b")),
        Row(
            "retry: 1x\nretry: -1\nretry: 1.5\nretry: +1\nretry:  1\nretry: 1 \nretry:\nretry: ١\nretry: 1:\nretry: /1\ndata: a\n\n",
            Event(data: "a")),
        Row("retry: 5\nretry: x\ndata: a\n\n", Event(data: "a", retry: .milliseconds(5))),
        Row("retry: 99999999999999999999\ndata: a\n\n", Event(data: "a", retry: .milliseconds(Int.max))),
        // One byte order mark, at the beginning.
        Row("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", Event(data: "a")),
        Row("\u{FEFF}\u{FEFF}data: a\n\n"),
        Row("\u{FEFF}\n\ndata: a\n\n", Event(data: "a")), Row("\n\u{FEFF}data: a\n\n"),
        // What is not finished is dropped.
        Row("data: a\n\ndata: b", Event(data: "a")),
        Row("data: a\n\ndata: b\n", Event(data: "a")),
        Row("data: a"),
    ]

    @Test("A stream means what the standard says, wherever it is split", arguments: rows)
    func rules(_ row: Row) {
        for pieces in splits(Data(row.stream.utf8)) {
            #expect(events(pieces) == Parsed(elements: row.events))
        }
    }

    @Test("Bytes that are not UTF-8 become U+FFFD, wherever the stream is split")
    func notUTF8() {
        let bytes = Data("data: ".utf8) + [0xE2, 0x82, 0x0A] + Data("data: é€😀".utf8) + [0xFF, 0x0A, 0x0A]
        for pieces in splits(bytes) {
            #expect(events(pieces).elements == [Event(data: "\u{FFFD}\né€😀\u{FFFD}")])
        }
    }

    @Test("The last id counts once its block has ended, with data or without; the time counts at once")
    func state() throws {
        var parser = ServerSentEventParser(lastEventID: "0")
        parser.push(Data("data: a\n\nid: 1\nretry: 10\n".utf8))
        #expect(try parser.next() == Event(id: "0", data: "a"))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "0")
        #expect(parser.retry == .milliseconds(10))
        parser.push(Data("\ndata: b\n\n".utf8))
        #expect(try parser.next() == Event(id: "1", data: "b"))
        #expect(parser.lastEventID == "1")
        parser.push(Data("id: 2\n\n: still here\n".utf8))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "2")
        #expect(parser.retry == .milliseconds(10))
    }

    @Test("A line that is too long is an error behind the events before it, wherever the stream is split")
    func longLines() {
        let parser = ServerSentEventParser(maxLineLength: 10)
        for stream in [
            "data: 1234\n\ndata: 12345\n\ndata: x\n\n", "data: 1234\n\n:2345678901", "data: 1234\r\n\r\n:2345678901\r",
        ] {
            for pieces in splits(Data(stream.utf8)) {
                #expect(
                    events(pieces, parser) == Parsed(elements: [Event(data: "1234")], error: .lineTooLong(limit: 10)))
            }
        }
    }

    @Test("An event that is too long is an error behind the events before it, wherever the stream is split")
    func longEvents() {
        let parser = ServerSentEventParser(maxEventBytes: 5)
        for last in ["data: 12\ndata: 345\n", "data: 123456\n", "data\ndata\ndata\ndata\ndata\ndata\ndata\n"] {
            for pieces in splits(Data("data: 12\ndata: 34\n\n\(last)\ndata: x\n\n".utf8)) {
                #expect(
                    events(pieces, parser) == Parsed(elements: [Event(data: "12\n34")], error: .eventTooLong(limit: 5)))
            }
        }
    }

    @Test("An error stays")
    func failed() {
        var parser = ServerSentEventParser(maxEventBytes: 1)
        parser.push(Data("data: ab\n".utf8))
        #expect(throws: StreamLimitError.eventTooLong(limit: 1)) { try parser.next() }
        parser.push(Data("\ndata: a\n\n".utf8))
        #expect(throws: StreamLimitError.eventTooLong(limit: 1)) { try parser.next() }
    }

    @Test("Without limits reached, a stream may go on for ever: comments and blocks without data take no room")
    func endless() throws {
        var parser = ServerSentEventParser(maxLineLength: 100, maxEventBytes: 100)
        let bytes = Data(String(repeating: ": still here\nevent: x\nid: 7\n", count: 1_000).utf8)
        for _ in 0..<20 {
            parser.push(bytes)
            #expect(try parser.next() == nil)
        }
        parser.push(Data("data: a\n\n".utf8))
        #expect(try parser.next() == Event(id: "7", name: "x", data: "a"))
    }

    @Test("By default an event of 1 MiB is accepted, in one line or several, and no larger one")
    func defaults() {
        let line = String(repeating: "x", count: 1 << 20)
        #expect(events([Data("data: \(line)\n\n".utf8)]).elements.map(\.data) == [line])
        #expect(events([Data("data:\(line)x\n\n".utf8)]).error == .eventTooLong(limit: 1 << 20))
        #expect(events([Data("data: \(line)x\n\n".utf8)]).error == .lineTooLong(limit: (1 << 20) + 6))
        let twice = Data("data:\(line.dropLast(5))\ndata:12345\n\n".utf8)
        #expect(events([twice]).error == .eventTooLong(limit: 1 << 20))
    }

    @Test("Lines have room for the largest event unless they have a limit of their own")
    func lineLimits() {
        let line = Data("data: \(String(repeating: "x", count: 2 << 20))\n\n".utf8)
        #expect(events([line], ServerSentEventParser(maxEventBytes: 2 << 20)).elements.count == 1)
        #expect(events([line], ServerSentEventParser(maxEventBytes: .max)).elements.count == 1)
        let narrow = ServerSentEventParser(maxLineLength: 100, maxEventBytes: .max)
        #expect(events([line], narrow).error == .lineTooLong(limit: 100))
    }

    @Test("Any bytes, split anywhere, mean what they mean in one piece")
    func fuzz() {
        let words = [
            "data", "data:", "data: x", "id:", "id: 1", "event: e", "retry: 5", ":", " ", "\n", "\n", "\r", "\r\n",
            "\0", "\u{FEFF}", "é",
        ]
        let parser = ServerSentEventParser(maxLineLength: 12, maxEventBytes: 8)
        for seed in 0..<5_000 {
            var random = Seeded(seed: UInt64(seed))
            let (whole, pieces) = babble(words, &random)
            #expect(events(pieces, parser) == events([whole], parser), "seed \(seed)")
            #expect(events(pieces) == events([whole]), "seed \(seed)")
        }
    }
}
