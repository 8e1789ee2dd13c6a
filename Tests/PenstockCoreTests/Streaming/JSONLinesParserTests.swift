import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct JSONLinesParserTests {
    static let rows: [(String, [String])] = [
        ("", []),
        ("{}\n", ["{}"]),
        ("{\"a\":1}\n[2]\n\"é😀\"\n", ["{\"a\":1}", "[2]", "\"é😀\""]),
        // The last line needs no end.
        ("1\n2", ["1", "2"]),
        ("1\r\n2\r\n", ["1", "2"]),
        ("1\r\n2\r", ["1", "2"]),
        // CR alone ends nothing: within JSON it is white space.
        ("[1,\r2]\r\n3", ["[1,\r2]", "3"]),
        ("1\r\r\n2", ["1\r", "2"]),
        // Blank lines hold no value.
        ("\n\n1\n\n \t\n\r\n2\n \n", ["1", "2"]),
        ("1\n ", ["1"]),
        (" 1 \n", [" 1 "]),
        // What is no JSON is for the decoder to refuse.
        ("nonsense\n", ["nonsense"]),
    ]

    @Test("Each line that is not blank is a value, wherever the stream is split", arguments: rows)
    func rules(_ stream: String, _ values: [String]) {
        for pieces in splits(Data(stream.utf8)) {
            #expect(lines(pieces) == Parsed(elements: values))
        }
    }

    @Test("By default a line has 1 MiB, and no more", arguments: [1 << 20, 1 << 20 | 1])
    func defaultLimit(length: Int) {
        var parser = JSONLinesParser()
        parser.push(Data(repeating: 0x31, count: length) + [0x0A])
        #expect(((try? parser.next()) != nil) == (length == 1 << 20))
    }

    @Test("Lines are the bytes that came, counted from 0")
    func bytes() throws {
        var parser = JSONLinesParser()
        parser.push(Data([0x31, 0x0A, 0xFF, 0x00, 0x0A]))
        #expect(try parser.next() == Data([0x31]))
        let line = try #require(try parser.next())
        #expect(line == Data([0xFF, 0x00]))
        #expect(line.startIndex == 0)
    }

    @Test("A line comes as soon as it has ended, and the last one when the stream has")
    func timing() throws {
        var parser = JSONLinesParser()
        parser.push(Data("1\n2".utf8))
        #expect(try parser.next() == Data("1".utf8))
        #expect(try parser.next() == nil)
        parser.push(Data("3".utf8))
        #expect(try parser.next() == nil)
        parser.finish()
        parser.push(Data("4".utf8))
        #expect(try parser.next() == Data("23".utf8))
        #expect(try parser.next() == nil)
    }

    @Test("Pieces may come faster than lines are taken")
    func severalPieces() throws {
        var parser = JSONLinesParser()
        for piece in ["1", "2\n3", "\n4\n"] { parser.push(Data(piece.utf8)) }
        for line in ["12", "3", "4"] { #expect(try parser.next() == Data(line.utf8)) }
        #expect(try parser.next() == nil)
    }

    @Test("A line that is too long is an error behind the lines before it, wherever the stream is split")
    func limits() {
        let parser = JSONLinesParser(maxLineLength: 4)
        for stream in ["1234\n12345\n1", "1234\r\n12345", "1234\n1234\rx\n"] {
            for pieces in splits(Data(stream.utf8)) {
                #expect(lines(pieces, parser) == Parsed(elements: ["1234"], error: .lineTooLong(limit: 4)))
            }
        }
        for pieces in splits(Data("1234\r\n1234\r".utf8)) {
            #expect(lines(pieces, parser) == Parsed(elements: ["1234", "1234"]))
        }
    }

    @Test("An error stays, and lines of 1 MiB are accepted by default")
    func failed() {
        let line = String(repeating: "1", count: 1 << 20)
        #expect(lines([Data("\(line)\r\n".utf8)]).elements == [line])
        var parser = JSONLinesParser()
        parser.push(Data((line + "1").utf8))
        #expect(throws: StreamLimitError.lineTooLong(limit: 1 << 20)) { try parser.next() }
        parser.push(Data("\n1\n".utf8))
        parser.finish()
        #expect(throws: StreamLimitError.lineTooLong(limit: 1 << 20)) { try parser.next() }
    }

    @Test("Any bytes, split anywhere, mean what they mean in one piece")
    func fuzz() {
        let words = ["{}", "[1]", "\"a\"", " ", "\n", "\n", "\r", "\r\n", "\0", "é"]
        let parser = JSONLinesParser(maxLineLength: 6)
        for seed in 0..<5_000 {
            var random = Seeded(seed: UInt64(seed))
            let (whole, pieces) = babble(words, &random)
            #expect(lines(pieces, parser) == lines([whole], parser), "seed \(seed)")
            let separate = whole.split(separator: 0x0A).filter { !$0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }
            #expect(lines(pieces).elements.count == separate.count, "seed \(seed)")
        }
    }
}
