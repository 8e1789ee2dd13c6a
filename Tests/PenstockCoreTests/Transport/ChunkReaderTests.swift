import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What is taken out of chunks, however they are cut into the pieces that libcurl hands over.
@Suite struct ChunkReaderTests {
    private struct Taken: Equatable {
        var content = ""
        var trailers: [String] = []
        var failure: TransportError.Kind?
        var isOver = false
        var rest = ""
    }

    private func take(_ text: String, in size: Int, maxLine: Int = 1 << 10) -> Taken {
        var chunks = ChunkReader(maxLine: maxLine)
        var taken = Taken()
        var content: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) where taken.failure == nil {
            Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes { piece in
                guard !chunks.takeContent(piece.count) else { return content += piece }
                var place = 0
                while taken.failure == nil, let next = chunks.next(in: piece, from: &place) {
                    switch next {
                    case .content(let range): content += piece[range]
                    case .trailer(let line): taken.trailers.append(String(decoding: line, as: UTF8.self))
                    case .failure(let kind): taken.failure = kind
                    }
                }
                if taken.failure == nil { taken.rest += String(decoding: piece[place...], as: UTF8.self) }
            }
        }
        taken.content = String(decoding: content, as: UTF8.self)
        taken.isOver = chunks.isOver
        #expect(chunks.contentBytes == content.count)
        return taken
    }

    /// The same in pieces of each size.
    private func takeAnyhow(_ text: String, maxLine: Int = 1 << 10) -> [Taken] {
        (1...text.utf8.count).map { take(text, in: $0, maxLine: maxLine) }
    }

    @Test(
        "Chunks by the letter are their content", .covers("H4"),
        arguments: [
            ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
            ("00a\r\n0123456789\r\n0000\r\n\r\n", "0123456789"),
            ("A\r\n0123456789\r\n2\r\nok\r\n0\r\n\r\n", "0123456789ok"), ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
            ("2;a\r\nok\r\n0;b=c;d\r\n\r\n", "ok"), ("2 ;\ta = \"\\\"; \\\\\" ; b\r\nok\r\n0\r\n\r\n", "ok"),
            ("2;a=\"é\"\r\nok\r\n0\r\n\r\n", "ok"), ("0000000000000002\r\nok\r\n0\r\n\r\n", "ok"),
        ])
    func good(text: String, content: String) {
        for taken in takeAnyhow(text) { #expect(taken == Taken(content: content, isOver: true)) }
    }

    @Test("Trailers come one by one, and what follows upon the end is left", .covers("H4", "H6"))
    func trailers() {
        for taken in takeAnyhow("2\r\nok\r\n0\r\nA: 1\r\nB:\r\n\r\nHTTP/1.1 200 OK\r\n") {
            #expect(
                taken
                    == Taken(
                        content: "ok", trailers: ["A: 1", "B:"], isOver: true, rest: "HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(
        "What is no size, no end of a line and no extension is refused", .covers("H4"),
        arguments: [
            "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\t\r\n", "1g\r\n", "1,\r\n",
            "1\n", "1\r\r", "1\rx", "00000000000000001", "8000000000000000", "ffffffffffffffff",
            "1;\r\n", "1;;", "1; \r\n", "1;=a", "1;a=\r\n", "1;a=;", "1;a b", "1;a=b c", "1;a \r\n", "1;a=b \r\n",
            "1;a\n", "1;a\rb", "1;a\0", "1;\"a\"", "1;a=\"\n", "1;a=\"\r", "1;a=\"\u{7F}", "1;a=\"\\\r",
            "1;a=\"b\"c", "1;a=b\"", "1;é", "0\n", "0\r\n\n", "0\r\n\rx", "0\r\nA: 1\n", "0\r\nA: 1\rB",
            "0\r\nA: a\0b",
        ])
    func bad(text: String) {
        for taken in takeAnyhow(text) { #expect(taken.failure == .protocolViolation) }
    }

    @Test(
        "A chunk that ends by anything but CRLF is refused", .covers("H4"),
        arguments: ["2\r\nok\n", "2\r\nok0\r\n", "2\r\nokay\r\n", "2\r\nok\r\r\n", "2\r\nok\rx"])
    func badEnd(text: String) {
        for taken in takeAnyhow(text) {
            #expect(taken.failure == .protocolViolation && taken.content == "ok")
        }
    }

    @Test("Chunks are not over before their last byte", .covers("H5"))
    func unfinished() {
        let whole = "2\r\nok\r\n0\r\nA: 1\r\n\r\n"
        for count in 1..<whole.utf8.count {
            let taken = take(String(decoding: whole.utf8.prefix(count), as: UTF8.self), in: 3)
            #expect(!taken.isOver && taken.failure == nil)
        }
    }

    @Test(
        "A line is accepted up to the limit, and not a byte more", .covers("H4"),
        arguments: [
            "2;aaaaa\r\nok\r\n0\r\n\r\n", "0\r\nA:aaaaa\r\n\r\n", "2;aaaaa\r\nok\r\n1;aaaaa\r\n!\r\n0\r\n\r\n",
        ])
    func limit(text: String) {
        for maxLine in [9, .max] {
            for taken in takeAnyhow(text, maxLine: maxLine) { #expect(taken.isOver) }
        }
        for taken in takeAnyhow(text, maxLine: 8) { #expect(taken.failure == .limitExceeded(.headerBytes)) }
    }
}
