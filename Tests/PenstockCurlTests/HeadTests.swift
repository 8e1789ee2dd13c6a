#if os(Linux)
    import CCurl
    import Foundation
    import PenstockTestSupport
    import Testing

    @testable import PenstockCore
    @testable import PenstockCurl

    /// libcurl must not come to continue the last field line of the transfer before.
    @Suite struct FirstFieldTests {
        /// What libcurl takes in where it was about to take in `lines`.
        private func takenIn(_ lines: [String], _ first: inout CurlFirstField) -> [String] {
            lines.map { line in
                var bytes = Array(line.utf8CString)
                bytes.withUnsafeMutableBufferPointer {
                    first.look(at: UnsafeMutableBufferPointer(rebasing: $0.dropLast()))
                }
                return String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
        }

        @Test(
            "A line that continues nothing is no continued line any more",
            arguments: [
                ["HTTP/1.1 200 OK", " a: 1"], ["HTTP/1.1 200 OK", "\ta: 1"], [" a: 1"],
                ["HTTP/1.1 103 Early Hints", "\r\n", "HTTP/1.1 200 OK", " a: 1"], ["HTTP/2 200", "\n", " "],
            ])
        func continuesNothing(lines: [String]) throws {
            var first = CurlFirstField()
            let line = try #require(lines.last)
            #expect(takenIn(lines, &first) == lines.dropLast() + [":" + line.dropFirst()])
            #expect(!first.hasCome)
        }

        @Test("A line that continues a field line stays as it is, also behind an interim response")
        func continuesOne() {
            var first = CurlFirstField()
            let lines = ["HTTP/1.1 103 Early Hints", "a: 1", "", "\r\n", "HTTP/1.1 200 OK", " b", "c: 1", "\td"]
            #expect(takenIn(lines, &first) == lines)
            #expect(first.hasCome)
        }

        @Test("A field that was told before libcurl was listened to counts", arguments: [true, false])
        func toldBefore(isComplete: Bool) {
            var (head, first) = (CurlHead(), CurlFirstField())
            for line in ["HTTP/1.1 200 OK\r\n", isComplete ? "\r\n" : "a: 1\r\n"] {
                #expect(!first.hasCome)
                _ = Array(line.utf8).withUnsafeBytes { head.take($0, ResponseLimits(), nil) }
                first.note(head)
            }
            #expect(first.hasCome)
            #expect(takenIn([" b"], &first) == [" b"])
        }

        /// A line comes from libcurl: before it is taken in, where that is told, and then as a line of the head.
        private func come(_ line: String, to handle: CurlHandle, _ transfer: CurlTransfer) {
            if handle.isVerbose {
                var bytes = Array(line.utf8CString.dropLast())
                bytes.withUnsafeMutableBufferPointer { handle.takesLine($0) }
            }
            _ = Array(line.utf8).withUnsafeBytes { transfer.state.head.take($0, ResponseLimits(), nil) }
            handle.lineCame(transfer)
        }

        @Test(
            "libcurl is listened to from the status line to the first field line, and to no more of the response",
            .enabled(if: CurlFault.danglingField.isPresent, "this libcurl has not the fault"), arguments: [true, false])
        func listens(watchesText: Bool) throws {
            let loop = CurlLoop(.init())
            let order = TransportRequest(HTTPRequest(method: .get, url: try HTTPURL("http://a.example/")))
            let pool = try #require(CurlPool(CurlPools.key(order, isShared: true), CurlTrust(order.trust), loop: loop))
            let handle = try #require(pool.take())
            let transfer = CurlTransfer(order, loop: loop)
            handle.prepare(for: transfer)
            if watchesText { handle.watchText() }
            #expect(handle.isVerbose == watchesText)
            var told: [Bool] = []
            for line in ["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "B: 2\r\n", "\r\n"] {
                come(line, to: handle, transfer)
                told.append(handle.isVerbose)
            }
            #expect(told == [true, watchesText, watchesText, watchesText])
            handle.clear()
            #expect(!handle.isVerbose)
            pool.close()
        }
    }

    /// What is remembered from one head to the next must not be seen in what is read of it.
    @Suite struct KnownLinesTests {
        private static let lines = [
            "Server: nginx", "server: nginx", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
            "Date: Sun, 06 Nov 1994 08:49:38 GMT",
            "Content-Length: 5", "Content-Length: 6", "Content-Length: 05", "Transfer-Encoding: chunked",
            "Transfer-Encoding: gzip", "Content-Encoding: gzip", "Content-Encoding: gzip, br", "Set-Cookie: a=1",
            "Set-Cookie: a=2", " folded", "X:", "X: \u{E9}", "X: e\u{301}", "Not a field",
            "X-Long: " + String(repeating: "a", count: 200),
        ]

        private struct Reading: Equatable {
            var ends: [String] = []
            var fields: [String] = []
            var length: Int?
            var codings = 0
            var endsWithConnection = false
        }

        private func read(_ lines: [String], _ known: CurlHeaderLineCache?) -> Reading {
            var head = CurlHead()
            var reading = Reading()
            for line in lines + [""] {
                let kind = Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0, ResponseLimits(), known) }
                reading.ends.append(kind.map { "\($0)" } ?? "")
                if kind != nil { break }
            }
            reading.fields = head.fields.map { "\($0.name.text): \($0.value)" }
            (reading.length, reading.codings) = (head.contentLength, head.codings)
            reading.endsWithConnection = head.endsWithConnection
            return reading
        }

        @Test(
            "A continued line adds to the value of the first, and white space to neither end of it",
            arguments: [
                (["ETag:", " \"v1\""], "\"v1\""), (["ETag: a", " ", "\t"], "a"), (["ETag:", " ", " a", " b"], "a b"),
                (["ETag: a ", "  b  "], "a b"), (["ETag:", " "], ""),
            ])
        func continued(lines: [String], value: String) {
            #expect(read(["HTTP/1.1 200 OK"] + lines, nil).fields == ["ETag: \(value)"])
        }

        @Test(
            "Codings are counted in continued lines as well",
            arguments: [
                (["Content-Encoding:", " gzip"], 1), (["Content-Encoding: gzip,", " br, identity,", "\tgzip"], 3),
                (["Content-Encoding: gz", " ip"], 1), (["Content-Encoding: gzip", " "], 1),
                (["Content-Encoding: gzip", "X-A: a", " gzip, gzip"], 1),
            ])
        func continuedCodings(lines: [String], count: Int) {
            let lines = ["HTTP/1.1 200 OK"] + lines
            #expect(read(lines, nil).codings == count)
            #expect(read(lines, CurlHeaderLineCache()).codings == count)
        }

        @Test("A byte of Location that is no UTF-8 leads to itself, and in other fields stands for a character")
        func otherBytes() throws {
            var head = CurlHead()
            let lines: [[UInt8]] = [
                Array("HTTP/1.1 302 Found".utf8), Array("X-A: caf".utf8) + [0xE9],
                Array("Location: /caf".utf8) + [0xE9],
                Array("location: /\u{E9}/".utf8) + [0xE9, 0x3F, 0xFF], Array("Location: /caf\u{E9}".utf8), [],
            ]
            for line in lines {
                let kind = (line + [13, 10]).withUnsafeBytes { head.take($0, ResponseLimits(), nil) }
                #expect(kind == nil)
            }
            #expect(head.fields["X-A"] == "caf\u{E9}")
            let locations = head.fields.values(of: .location)
            #expect(locations == ["/caf%E9", "/%C3%A9/%E9?%FF", "/caf\u{E9}"])
            let url = try HTTPURL("http://a.example/").resolving(locations[0])
            #expect(url.absoluteString == "http://a.example/caf%E9")
        }

        @Test("A cookie with a byte that is no UTF-8 is not kept, as it could not go back as it came")
        func otherCookies() throws {
            var head = CurlHead()
            let lines: [[UInt8]] = [
                Array("HTTP/1.1 200 OK".utf8), Array("Set-Cookie: a=caf".utf8) + [0xE9] + Array("; Path=/".utf8),
                Array("set-cookie: b=caf\u{E9}".utf8), Array("Set-Cookie: c=1".utf8), [0x20, 0xFF], [],
            ]
            for line in lines {
                let kind = (line + [13, 10]).withUnsafeBytes { head.take($0, ResponseLimits(), nil) }
                #expect(kind == nil)
            }
            let url = try HTTPURL("https://a.example/")
            let values = head.fields.values(of: .setCookie)
                .map { Cookie(setCookie: $0, from: url, at: Date())?.value }
            #expect(values == [nil, "caf\u{E9}", nil])
        }

        @Test("A length has 18 digits at most, zeros among them, so that no two readers take it for two numbers")
        func longLengths() {
            for (digits, length) in [("999999999999999999", 999_999_999_999_999_999), ("000000000000000005", 5)] {
                let reading = read(["HTTP/1.1 200 OK", "Content-Length: \(digits)"], nil)
                #expect(reading.length == length && reading.ends.last == "")
            }
            for digits in ["1000000000000000000", "0000000000000000005"] {
                #expect(read(["HTTP/1.1 200 OK", "Content-Length: \(digits)"], nil).ends.last == "protocolViolation")
            }
        }

        @Test("There are as many trailers as there may be fields, and none more", .covers("H7"), arguments: [2, 3])
        func trailerCount(count: Int) {
            var head = CurlHead()
            let limits = ResponseLimits(headerCount: 2)
            let trailers = (0..<count).map { "X-\($0): a" }
            var kinds: [TransportError.Kind?] = []
            for line in ["HTTP/1.1 200 OK", "A: a", "B: b", ""] + trailers {
                kinds.append(Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0, limits, nil) })
            }
            let last = kinds.removeLast()
            #expect(last == (count > 2 ? .limitExceeded(.headerCount) : nil))
            #expect(kinds.compactMap(\.self).isEmpty && head.trailers.count == 2)
        }

        @Test("A change of protocols that nobody asked for is no response", .covers("H8"))
        func otherProtocol() {
            #expect(read(["HTTP/1.1 101 Switching Protocols", "Upgrade: x"], nil).ends.last == "protocolViolation")
        }

        @Test("A head reads the same whatever heads came before it")
        func unseen() {
            var random = Seeded(seed: 7)
            let known = CurlHeaderLineCache()
            var last: [String] = []
            for _ in 0..<3_000 {
                // Mostly the head before with a line changed, as servers send them.
                if last.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
                    last = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        Self.lines.randomElement(using: &random)!
                    }
                } else {
                    let place = Int.random(in: 0..<last.count, using: &random)
                    last[place] = Self.lines.randomElement(using: &random)!
                }
                let interim = Bool.random(using: &random) ? ["HTTP/1.1 103 Early Hints", "Link: </a>", ""] : []
                let lines = interim + ["HTTP/1.1 200 OK"] + last
                #expect(read(lines, known) == read(lines, nil), "\(lines)")
            }
        }

        private func isKnown(_ text: String, after first: String) throws -> Bool {
            let known = CurlHeaderLineCache()
            _ = read(["HTTP/1.1 200 OK", first], known)
            var fields = HTTPFields()
            return Array(text.utf8).withUnsafeBytes { known.add($0, to: &fields) } != nil
        }

        @Test("A line is known again only as it was written, at its place")
        func exact() throws {
            #expect(try isKnown("Server: nginx", after: "Server: nginx"))
            #expect(try !isKnown("server: nginx", after: "Server: nginx"))
            #expect(try !isKnown("Server: nginx ", after: "Server: nginx"))
            #expect(try !isKnown("Server: ngin", after: "Server: nginx"))
        }

        @Test("Cookies are not remembered")
        func cookies() throws {
            #expect(try !isKnown("Set-Cookie: a=1", after: "Set-Cookie: a=1"))
            #expect(try !isKnown("set-cookie: a=1", after: "set-cookie: a=1"))
        }
    }

    @Suite struct HeaderListTests {
        private func text(_ list: CurlHeaderList) -> [String] {
            var lines: [String] = []
            var node = list.head
            while let line = node?.pointee {
                lines.append(String(cString: line.data))
                node = line.next
            }
            return lines
        }

        @Test("Fields are sent as they are written, also where those before differed in nothing but that")
        func rebuilt() {
            var list = CurlHeaderList()
            defer { list.free() }
            let accepted: HTTPFields = ["Accept": "*/*", "Accept-Encoding": "br"]
            var sent: [[String]] = []
            for fields: HTTPFields in [
                ["X-A": "1"], ["x-a": "1"], ["x-a": "\u{E9}"], ["x-a": "e\u{301}"], ["x-a": "2"],
            ] {
                var all = accepted
                all.append(contentsOf: fields)
                list.build(all, hasBody: false)
                sent.append(text(list))
            }
            let own = ["X-A: 1", "x-a: 1", "x-a: \u{E9}", "x-a: e\u{301}", "x-a: 2"]
            #expect(
                sent.map { $0.map { Array($0.utf8) } }
                    == own.map {
                        ["Accept: */*", "Accept-Encoding: br", $0].map { Array($0.utf8) }
                    })
            list.build(accepted, hasBody: true)
            #expect(text(list) == ["Accept: */*", "Accept-Encoding: br", "Content-Type:", "Expect:"])
            list.build(accepted, hasBody: false)
            #expect(text(list) == ["Accept: */*", "Accept-Encoding: br"])
        }
    }
#endif
