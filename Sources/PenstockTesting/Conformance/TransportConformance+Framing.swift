import Foundation
import PenstockCore

extension TransportConformance {
    /// Where the content of a response ends (RFC 9112 §6 and §7).
    public static let framing: [Rule] = [
        goodFraming, noContent, badLengths, contradictions, badCodings, badSizes, badChunks, laxChunks, cutShort,
    ].flatMap(\.self)

    // MARK: What has a meaning

    private static let goodFraming: [Rule] = [
        .accepts(
            "A length that is told twice is one", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
        .accepts("A length may begin with zeros", "HTTP/1.1 200 OK\r\nContent-Length: 0002\r\n\r\nok"),
        .accepts("A length of zero is no content", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", content: ""),
        .accepts("Chunks may be none", "\(chunked)0\r\n\r\n", content: ""),
        .accepts(
            "Sizes of chunks are read in either case, with zeros before them",
            "\(chunked)00a\r\n0123456789\r\nA\r\nabcdefghij\r\n0000\r\n\r\n", content: "0123456789abcdefghij"),
        .accepts(
            "What is said beside the size of a chunk is passed over",
            "\(chunked)2;name=value;q=\"x;y\"\r\nok\r\n0;last\r\n\r\n"),
        .accepts(
            "What is said beside the size of a chunk may have blanks and quotes in it",
            "\(chunked)2 ; a = b ;c=\"\\\"\t\\\\\"\t; d\r\nok\r\n0;e=\"\"\r\n\r\n"),
        .accepts(
            "A coding's name is known in any case",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: ChunKed\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        .accepts(
            "Trailers are no header", "\(chunked)2\r\nok\r\n0\r\nX-Late: 1\r\nContent-Length: 9\r\n\r\n",
            requires: .trailers
        ) {
            try expect($0.fields["X-Late"], is: nil, "a trailer among the header")
            try expect($0.fields[.contentLength], is: nil, "a length from the trailers")
        },
        .accepts(
            "Trailers are handed up", "\(chunked)2\r\nok\r\n0\r\nX-Late: 1\r\nX-Later:  2 \r\n\r\n", requires: .trailers
        ) {
            try expect($0.trailers, is: ["X-Late": "1", "X-Later": "2"], "trailers")
        },
        .accepts(
            "Content without a length ends with the connection, of HTTP/1.0 too", "HTTP/1.0 200 OK\r\n\r\nok",
            ending: .drop),
        Rule(
            "A reply that comes byte by byte is read as one that comes at once", requires: .trailers,
            starting: {
                var slow = LoopbackServer.Configuration()
                slow.sending = .init(bytes: 1, per: .microseconds(100))
                return try LoopbackServer(slow) { _ in
                    .chunks([Data("ab".utf8), Data("c".utf8)], fields: ["X-A": "1"]).trailers(["X-Late": "2"])
                }
            }
        ) { probe in
            for _ in 1...3 {
                let response = try await probe.send()
                try expect(response.fields["X-A"], is: "1", "value")
                try expect(String(decoding: response.body, as: UTF8.self), is: "abc", "content")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Thousands of small chunks are one content", needsWire: true,
            server: { _ in .wire(chunked + String(repeating: "1\r\nx\r\n", count: 20_000) + "0\r\n\r\n", .keepAlive) }
        ) { probe in
            try expect(await probe.send().body.count, is: 20_000, "bytes")
        },
    ]

    /// What has no content, whatever its fields say, and leaves its connection for the next (RFC 9112 §6.3).
    private static let noContent: [Rule] = [
        hasNoContent(
            "204 has no content, whatever length it tells", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"),
        hasNoContent(
            "204 has no content, whatever coding it tells",
            "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"),
        hasNoContent(
            "304 has no content, and the length of another", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        hasNoContent(
            "304 may tell of more than is accepted", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99999999999\r\n\r\n"),
        hasNoContent("A reply to HEAD may tell of chunks", "\(chunked)", to: .head),
        hasNoContent(
            "A reply to HEAD may tell of more than is accepted",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            to: .head),
        hasNoContent("A reply to HEAD may tell of nothing", "HTTP/1.1 404 Not Found\r\n\r\n", to: .head),
    ]

    private static func hasNoContent(_ name: String, _ reply: String, to method: HTTPMethod = .get) -> Rule {
        Rule(name, needsWire: true, server: { _ in .wire(reply, .keepAlive) }) { probe in
            for _ in 1...2 {
                let response = try await probe.send(method, timeouts: .total(.seconds(20)))
                try expect(response.body.count, is: 0, "bytes of content")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        }
    }

    // MARK: What has none

    private static let badLengths: [Rule] = [
        "+5", "-5", "0x5", "5.0", "5 5", "5;", "five", "", "99999999999999999999", "5, 6",
    ].map { value in
        Rule.refuses(
            "\(String(reflecting: value)) is no length", "HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello",
            requires: .exactHeads)
    }

    private static let contradictions: [Rule] = [
        .refuses(
            "Chunks that are told twice are none",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            requires: .exactHeads),
        .refuses(
            "HTTP/1.0 has no chunks",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            requires: .exactHeads),
        .refuses(
            "Two lengths that differ are none",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", requires: .exactHeads),
        .refuses(
            "A length and chunks contradict each other",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            requires: .exactHeads),
        .refuses(
            "Chunks and a length contradict each other",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            requires: .exactHeads),
    ]

    private static let badCodings: [Rule] = [
        "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "xchunked", "identity", "chunked;q=1", "",
    ].map { value in
        Rule.refuses(
            "\(String(reflecting: value)) is no coding of the transfer that was asked for",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n5\r\nhello\r\n0\r\n\r\n", requires: .exactHeads)
    }

    private static let badSizes: [Rule] = [
        ("that is no number", "zz"), ("with a sign", "+5"), ("below zero", "-5"), ("with a prefix", "0x5"),
        ("of nothing", ""), ("beyond 64 bits", "10000000000000005"), ("beyond 63 bits", "8000000000000005"),
        ("with endless zeros", "\(String(repeating: "0", count: 100))5"),
    ].map { what, size in
        Rule.refuses(
            "A chunk's size \(what) is refused", "\(chunked)\(size)\r\nhello\r\n0\r\n\r\n")
    }

    private static let badChunks: [Rule] = [
        .refuses(
            "A chunk that is longer than its size is refused", "\(chunked)2\r\nhello\r\n0\r\n\r\n"),
        .refuses("A chunk that does not end is refused", "\(chunked)5\r\nhello0\r\n\r\n"),
        .refuses(
            "A trailer that is no field is refused", "\(chunked)5\r\nhello\r\n0\r\nnonsense\r\n\r\n",
            requires: .trailers),
        .refuses(
            "A trailer without a name is refused", "\(chunked)5\r\nhello\r\n0\r\n: x\r\n\r\n", requires: .trailers),
        .refuses(
            "A trailer with a CR in it is refused", "\(chunked)5\r\nhello\r\n0\r\nX-A: a\rb\r\n\r\n",
            requires: .trailers),
    ]

    /// Chunks that somebody else may read in another way (RFC 9112 §7.1).
    private static let laxReplies: [(name: String, chunks: String)] = [
        ("A size with a letter behind it", "5g\r\nhello\r\n0\r\n\r\n"),
        ("A size with a sign behind it", "5+\r\nhello\r\n0\r\n\r\n"),
        ("A size with a blank behind it", "5 \r\nhello\r\n0\r\n\r\n"),
        ("A size with a tab behind it", "5\t\r\nhello\r\n0\r\n\r\n"),
        ("A size with a blank before it", " 5\r\nhello\r\n0\r\n\r\n"),
        ("A size in two parts", "5 5\r\nhello\r\n0\r\n\r\n"),
        ("A size that ends with LF alone", "5\nhello\r\n0\r\n\r\n"),
        ("A size that ends with CR alone", "5\rhello\r\n0\r\n\r\n"),
        ("A size that ends with two CRs", "5\r\r\nhello\r\n0\r\n\r\n"),
        ("A chunk that ends with LF alone", "5\r\nhello\n0\r\n\r\n"),
        ("A chunk that ends with CR alone", "5\r\nhello\r0\r\n\r\n"),
        ("A chunk that ends with two CRs", "5\r\nhello\r\r\n0\r\n\r\n"),
        ("A last chunk with a letter behind it", "5\r\nhello\r\n0x\r\n\r\n"),
        ("A last chunk that ends with LF alone", "5\r\nhello\r\n0\n\r\n"),
        ("An end of LF alone", "5\r\nhello\r\n0\r\n\n"),
        ("An extension without a name", "5;\r\nhello\r\n0\r\n\r\n"),
        ("An extension whose name has blanks", "5;a b\r\nhello\r\n0\r\n\r\n"),
        ("An extension without its value", "5;a=\r\nhello\r\n0\r\n\r\n"),
        ("An extension with a blank behind it", "5;a=b \r\nhello\r\n0\r\n\r\n"),
        ("An extension whose quotes do not end", "5;a=\"b\r\nhello\r\n0\r\n\r\n"),
        ("An extension whose quotes do not end in their line", "5;a=\"b\r\nc\"\r\nhello\r\n0\r\n\r\n"),
        ("An extension with something behind its quotes", "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n"),
        ("An extension with CR in it", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        ("An extension with LF in it", "5;a\n\r\nhello\r\n0\r\n\r\n"),
        ("An extension with a control character in it", "5;a=\"\u{1}\"\r\nhello\r\n0\r\n\r\n"),
    ]

    private static let laxChunks: [Rule] =
        laxReplies.map { name, chunks in
            .refuses("\(name) is refused", "\(chunked)\(chunks)", requires: .exactHeads)
        } + [
            Rule(
                "Chunks that are refused as they come at once are refused byte by byte", requires: .exactHeads,
                starting: {
                    var slow = LoopbackServer.Configuration()
                    slow.sending = .init(bytes: 1, per: .microseconds(100))
                    return try LoopbackServer(slow) { request in
                        .wire("\(chunked)\(laxReplies[Int(request.path.dropFirst()) ?? 0].chunks)", .hold)
                    }
                }
            ) { probe in
                for (index, reply) in laxReplies.enumerated() {
                    let error = try await probe.failure(.get, "/\(index)", timeouts: .total(.seconds(20)))
                    try expect(error.kind == .protocolViolation, "\(reply.name) failed with \(error.kind)")
                    try expect(error.sendState, is: .answered, "send state")
                }
                try expect(probe.server.connectionCount, is: laxReplies.count, "connections")
            },
            Rule(
                "Chunks that are refused are refused behind a status whose content nobody looks at too",
                requires: [.exactHeads, .skipsContent], needsWire: true,
                server: {
                    $0.path == "/" ? .wire("\(redirected)5g\r\nhello\r\n0\r\n\r\n", .keepAlive) : .text("ok")
                }
            ) { probe in
                var exchange = try probe.exchange(timeouts: .total(.seconds(20)))
                exchange.skipsContent = { $0.status == 302 }
                try await expect(probe.failure(of: exchange), .protocolViolation, sendState: .answered)
                try expect(await probe.send(.get, "/next").status, is: 200, "status of the next exchange")
                try expect(probe.server.connectionCount, is: 2, "connections")
            },
            Rule(
                "A reader of content gets none of a chunk that is refused",
                requires: [.exactHeads, .streamedResponses],
                needsWire: true,
                server: { _ in .wire("\(chunked)2\r\nok\r\n5g\r\nhello\r\n0\r\n\r\n", .hold) }
            ) { probe in
                let stream = try await probe.open(timeouts: .total(.seconds(20)))
                var content = Data()
                do throws(TransportError) {
                    while let piece = try await stream.content.next() { content += piece }
                    throw TransportError(.other, sendState: .answered, message: "the content seems to be whole")
                } catch { try expect(error, .protocolViolation, sendState: .answered) }
                try expect([Data(), Data("ok".utf8)].contains(content), "content: \(content)")
                try await probe.server.waitForAborts(count: 1)
            },
        ]

    private static let redirected = "HTTP/1.1 302 Found\r\nLocation: /\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let cutShort: [Rule] = [
        .isCutShort("Content that ends before its length is lost", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"),
        .isCutShort("Content that never begins is lost", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        .isCutShort("A chunk that ends before its size is lost", "\(chunked)5\r\nhell"),
        .isCutShort("Chunks without the last one are lost", "\(chunked)5\r\nhello\r\n"),
        .isCutShort("Chunks of which none comes are lost", chunked),
        .isCutShort("A chunk's size that breaks off is lost", "\(chunked)5"),
        .isCutShort(
            "Chunks whose last one breaks off are lost", "\(chunked)5\r\nhello\r\n0\r\n"),
        .isCutShort(
            "Trailers that break off are lost", "\(chunked)5\r\nhello\r\n0\r\nX-A: 1\r\n", requires: .trailers),
        .isCutShort("A header that breaks off is lost", "HTTP/1.1 200 OK\r\nX-A: 1\r\n", requires: .brokenReplies),
        .isCutShort(
            "A field that breaks off is lost", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A", requires: .brokenReplies),
        .isCutShort("A status line that is all there is lost", "HTTP/1.1 200 OK\r\n", requires: .brokenReplies),
    ]

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
}
