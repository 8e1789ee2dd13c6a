#if os(Linux)
    import Foundation
    import PenstockCore

    /// The head of the response as its lines come in: only the last block counts, interim (1xx) ones are dropped
    /// (RFC 9110 §15.2).
    struct CurlHead {
        enum Phase {
            case statusLine
            case fields
            /// What still comes are trailers.
            case body
        }

        /// Content codings, one over the other, that are put up with.
        static let maxCodings = 5

        private(set) var phase = Phase.statusLine
        private(set) var status = 0
        private(set) var version = HTTPVersion.unknown
        private(set) var fields = HTTPFields()
        private(set) var trailers = HTTPFields()
        /// The length as it was told; 204 and 304 have no content all the same.
        private(set) var contentLength: Int?
        /// How many codings the content has.
        private(set) var codings = 0
        private(set) var isChunked = false
        private var interim = 0
        /// The interim response that the last line has ended.
        private(set) var endedInterim: HTTPResponse?
        /// The bytes of all lines, interim responses and trailers with them.
        private(set) var bytes = 0
        private var lines = 0

        /// Whether any response began.
        var hasBegun: Bool { phase != .statusLine || interim > 0 }
        /// Whether it is longer than what libcurl may hand over at a time.
        var isLong: Bool { bytes > 8 << 10 }
        /// Whether the content goes on until the connection ends (RFC 9112 §6.3).
        var endsWithConnection: Bool {
            contentLength == nil && !isChunked && version != .http2 && status != 204 && status != 304
        }
        /// Whether libcurl drops what comes behind the content without closing the connection (``CurlFault/untoldSurplus``).
        func mayHideSurplus(_ method: HTTPMethod) -> Bool {
            version != .http2 && (contentLength == 0 || !allowsContent || method == .head)
        }
        /// Whether the final response's head is complete.
        var isComplete: Bool { phase == .body }

        /// Whether a line is the one that ends the final response's head.
        func isEnd(_ line: UnsafeRawBufferPointer) -> Bool {
            phase == .fields && status >= 200 && Self.withoutLineEnd(line).isEmpty
        }

        /// Whether content may follow (RFC 9110 §6.4.1).
        var allowsContent: Bool { status != 204 && status != 304 }

        /// Takes one line with its line end.
        ///
        /// - Parameter known: the lines of the response before.
        /// - Returns: what is wrong with it.
        mutating func take(
            _ line: UnsafeRawBufferPointer, _ limits: ResponseLimits, _ known: CurlHeaderLineCache?
        ) -> TransportError.Kind? {
            bytes += line.count
            guard bytes <= limits.headerBytes else { return .limitExceeded(.headerBytes) }
            let text = Self.withoutLineEnd(line)
            if interim > 0 { endedInterim = nil }
            switch phase {
            case .statusLine: return takeStatusLine(text)
            case .fields where text.isEmpty: return endOfBlock(limits)
            case .fields: return takeField(text, limits, known)
            case .body where text.isEmpty: return nil
            case .body: return takeTrailer(text, limits)
            }
        }

        // MARK: Status line

        private mutating func takeStatusLine(_ line: UnsafeRawBufferPointer) -> TransportError.Kind? {
            guard let space = line.firstIndex(of: 0x20), line.count >= space + 4,
                let code = Self.number(UnsafeRawBufferPointer(rebasing: line[(space + 1)..<(space + 4)])),
                line.count == space + 4 || line[space + 4] == 0x20, code >= 100,
                let version = Self.version(UnsafeRawBufferPointer(rebasing: line[..<space]))
            else { return .protocolViolation }
            status = code
            self.version = version
            phase = .fields
            return nil
        }

        /// HTTP/1 as the wire has it, or the line that libcurl makes for a transfer of another version; `nil` for what is
        /// neither (RFC 9112 §2.3).
        private static func version(_ text: UnsafeRawBufferPointer) -> HTTPVersion? {
            guard text.count >= 6, let base = text.baseAddress, memcmp(base, "HTTP/", 5) == 0 else { return nil }
            switch (text.count, text[5]) {
            case (8, 0x31) where text[6] == 0x2E:
                return text[7] == 0x31 ? .http11 : text[7] == 0x30 ? .http10 : .unknown
            case (6, 0x32): return .http2
            case (6, 0x33): return .http3
            default: return nil
            }
        }

        // MARK: Fields

        private mutating func takeField(
            _ line: UnsafeRawBufferPointer, _ limits: ResponseLimits, _ known: CurlHeaderLineCache?
        ) -> TransportError.Kind? {
            lines += 1
            guard lines <= limits.headerCount else { return .limitExceeded(.headerCount) }
            if fields.isEmpty { fields.reserveCapacity(12) }
            if let framing = known?.add(line, to: &fields) { return frame(framing) }
            guard line[0] != 0x20, line[0] != 0x09 else { return unfold(line) }
            guard let (name, value) = Self.split(line) else { return .protocolViolation }
            let field = Self.field(name, value)
            fields.add(field)
            guard let framing = Self.framing(name, value) else { return .protocolViolation }
            known?.remember(line, at: fields.count - 1, field, framing)
            return frame(framing)
        }

        private mutating func takeTrailer(
            _ line: UnsafeRawBufferPointer, _ limits: ResponseLimits
        ) -> TransportError.Kind? {
            guard trailers.count < limits.headerCount else { return .limitExceeded(.headerCount) }
            guard let (name, value) = Self.split(line) else { return .protocolViolation }
            trailers.add(Self.field(name, value))
            return nil
        }

        private static func field(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> HTTPField {
            let name = HTTPFieldName(String(decoding: name, as: UTF8.self))
            return HTTPField(name: name, value: text(value, of: name))
        }

        /// NUL is refused before, by libcurl and in trailers by ``ChunkReader``; libcurl does not refuse a CR that ends no line
        /// (RFC 9112 §2.2).
        private static func split(
            _ line: UnsafeRawBufferPointer
        ) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
            guard let colon = line.firstIndex(of: 0x3A), colon > 0 else { return nil }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            guard let base = line.baseAddress, memchr(base, 0x0D, line.count) == nil,
                name.allSatisfy(HTTPSyntax.isTokenByte)
            else {
                return nil
            }
            return (name, trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])))
        }

        /// - Returns: `nil` where the content could be read in two ways. The length must be one plain number, or the next
        ///   response on the connection begins where an attacker wants it to (RFC 9112 §6.3).
        private static func framing(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> CurlFraming? {
            switch name.count {
            case 14 where matches(name, "content-length"): number(value).map { .length($0) }
            case 16 where matches(name, "content-encoding"): .codings(codings(value))
            // Nobody asked for another, and libcurl would decode it without a bound (RFC 9112 §7).
            case 17 where matches(name, "transfer-encoding"): matches(value, "chunked") ? .chunked : nil
            default: .nothing
            }
        }

        private mutating func frame(_ framing: CurlFraming) -> TransportError.Kind? {
            switch framing {
            case .nothing: break
            case .length(let number):
                guard contentLength ?? number == number else { return .protocolViolation }
                contentLength = number
            case .codings(let count): codings += count
            case .chunked:
                // Chunks in chunks, which nobody asked for, to some, and one coding told twice to others.
                guard !isChunked else { return .protocolViolation }
                isChunked = true
            }
            return nil
        }

        private static func codings(_ value: UnsafeRawBufferPointer) -> Int {
            value.split(separator: 0x2C).count { part in
                let name = trimmed(UnsafeRawBufferPointer(rebasing: part))
                return !name.isEmpty && !matches(name, "identity")
            }
        }

        private static func codings(of value: String) -> Int {
            Array(value.utf8).withUnsafeBytes(codings)
        }

        /// A line that continues the one before joins it with one space (RFC 9112 §5.2), which is no part of the value where
        /// either has none.
        private mutating func unfold(_ line: UnsafeRawBufferPointer) -> TransportError.Kind? {
            guard let last = fields.last else { return .protocolViolation }
            let known = [HTTPFieldName.contentLength, .transferEncoding]
            guard !known.contains(last.name) else { return .protocolViolation }
            var rebuilt = HTTPFields()
            for field in fields.dropLast() { rebuilt.add(field) }
            let more = Self.text(Self.trimmed(line), of: last.name)
            let value = last.value.isEmpty || more.isEmpty ? last.value + more : "\(last.value) \(more)"
            if last.name == .contentEncoding { codings += Self.codings(of: value) - Self.codings(of: last.value) }
            rebuilt.add(HTTPField(name: last.name, value: value))
            fields = rebuilt
            return nil
        }

        private mutating func endOfBlock(_ limits: ResponseLimits) -> TransportError.Kind? {
            // HTTP/1.0 has no chunks (RFC 9112 §6.1).
            if isChunked, contentLength != nil || version == .http10 { return .protocolViolation }
            // Nobody asked for another protocol, and what follows is no HTTP (RFC 9110 §15.2.2).
            if status == 101 { return .protocolViolation }
            guard status < 200 else {
                phase = .body
                bytes = 0
                return nil
            }
            interim += 1
            let seen = (interim, bytes, lines)
            let response = HTTPResponse(status: status, fields: fields)
            self = CurlHead()
            (interim, bytes, lines) = seen
            endedInterim = response
            return interim > limits.interimResponses ? .limitExceeded(.interimResponses) : nil
        }
    }

    // MARK: - Bytes

    extension CurlHead {
        private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            var end = line.count
            if end > 0, line[end - 1] == 0x0A { end -= 1 }
            if end > 0, line[end - 1] == 0x0D { end -= 1 }
            return UnsafeRawBufferPointer(rebasing: line[..<end])
        }

        private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            var (start, end) = (0, text.count)
            while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
            while end > start, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
            return UnsafeRawBufferPointer(rebasing: text[start..<end])
        }

        /// Digits only: no sign, no white space, nothing that overflows.
        private static func number(_ text: UnsafeRawBufferPointer) -> Int? {
            guard !text.isEmpty, text.count <= 18 else { return nil }
            var result = 0
            for byte in text {
                guard byte &- 0x30 < 10 else { return nil }
                result = result * 10 + Int(byte &- 0x30)
            }
            return result
        }

        private static func matches(_ text: UnsafeRawBufferPointer, _ lowercased: StaticString) -> Bool {
            guard text.count == lowercased.utf8CodeUnitCount else { return false }
            return text.indices.allSatisfy { HTTPSyntax.lowercased(text[$0]) == lowercased.utf8Start[$0] }
        }

        private static func text(_ bytes: UnsafeRawBufferPointer, of name: HTTPFieldName) -> String {
            let isASCII = bytes.allSatisfy { $0 < 0x80 }
            return isASCII ? String(decoding: bytes, as: UTF8.self) : HTTPSyntax.value(bytes, of: name)
        }
    }

    /// What a field line says about where the content ends and how it is coded.
    enum CurlFraming {
        case nothing
        case length(Int)
        case codings(Int)
        case chunked
    }

    /// A cache of the field lines of the response before, by their positions in its head.
    ///
    /// Most lines come again, word for word, in the next response of the same pool. Such a line is neither parsed nor stored a
    /// second time. Cookies are not kept.
    final class CurlHeaderLineCache {
        private struct Line {
            let length: Int
            let framing: CurlFraming
        }

        private static let places = 24
        /// The longest line that is kept, in bytes: longer ones seldom come again.
        private static let longest = 128

        /// Whoever drives the loop is alone in touching it, and nothing that is called while it is touched comes back here. So
        /// the checks of exclusive access are left out: they would cost some instructions for each line of each head.
        @exclusivity(unchecked) private var state = State()

        private struct State {
            var lines: [Line] = []
            var fields: [HTTPField] = []
            /// The texts of the lines as they came, each at a multiple of ``longest``.
            var texts: [UInt8] = []
        }

        /// Adds the field of a line to those of a head, if the line at its place was the same.
        ///
        /// - Returns: what the line says of the content; `nil` where it was another.
        func add(_ text: UnsafeRawBufferPointer, to others: inout HTTPFields) -> CurlFraming? {
            let place = others.count
            guard place < state.lines.count, state.lines[place].length == text.count, isSame(text, at: place) else {
                return nil
            }
            others.add(state.fields[place])
            return state.lines[place].framing
        }

        private func isSame(_ text: UnsafeRawBufferPointer, at place: Int) -> Bool {
            state.texts.withUnsafeBufferPointer { texts in
                guard let base = text.baseAddress, let known = texts.baseAddress else { return false }
                return memcmp(known + place * Self.longest, base, text.count) == 0
            }
        }

        func remember(_ text: UnsafeRawBufferPointer, at place: Int, _ field: HTTPField, _ framing: CurlFraming) {
            guard place < Self.places, place <= state.lines.count, text.count <= Self.longest, field.name != .setCookie
            else {
                return
            }
            if place == state.lines.count {
                state.lines.append(Line(length: text.count, framing: framing))
                state.fields.append(field)
                state.texts += repeatElement(0, count: Self.longest)
            } else {
                state.lines[place] = Line(length: text.count, framing: framing)
                state.fields[place] = field
            }
            state.texts.withUnsafeMutableBytes { texts in
                UnsafeMutableRawBufferPointer(rebasing: texts[(place * Self.longest)...]).copyMemory(from: text)
            }
        }
    }
#endif
