import Testing

@testable import PenstockCore

/// What is read of `Content-Encoding`.
@Suite struct ContentCodingTests {
    static let lists: [(lines: [String], names: [String])] = [
        ([], []),
        (["gzip"], ["gzip"]),
        (["identity"], []),
        (["Identity, GZIP"], ["GZIP"]),
        ([" br ,, ,\tzstd "], ["br", "zstd"]),
        (["gzip", "deflate, unheard-of"], ["gzip", "deflate", "unheard-of"]),
    ]

    @Test("The codings are listed in their order, over all lines, without identity and empty members", arguments: lists)
    func listed(lines: [String], names: [String]) {
        var fields = HTTPFields()
        for line in lines { fields.append(line, for: .contentEncoding) }
        #expect(ContentCoding.names(in: fields) == names)
        #expect(ContentCoding.isCoded(fields) == !names.isEmpty)
    }

    static let known: [(String, ContentCoding?)] = [
        ("gzip", .gzip), ("x-gzip", .gzip), ("X-GZip", .gzip), ("deflate", .deflate), ("br", .brotli), ("zstd", .zstd),
        ("brotli", nil), ("identity", nil), ("compress", nil), ("", nil), ("\"gzip\"", nil),
    ]

    @Test("A coding is known by its registered name, in any case", arguments: known)
    func named(name: String, coding: ContentCoding?) {
        #expect(ContentCoding(name: name) == coding)
    }
}
