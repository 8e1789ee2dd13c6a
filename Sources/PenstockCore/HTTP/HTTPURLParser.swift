import Foundation

/// Turns text into an ``HTTPURL`` (RFC 3986 §3 and §5.2). Written by hand because Foundation's parser accepts what
/// this one must refuse. Works on bytes: as a `Character`, a slash followed by a combining mark is no slash.
enum HTTPURLParser {
    static func parse(_ text: String) throws(HTTPURL.ParseError) -> HTTPURL {
        try refuseForbiddenBytes(text)
        guard let (schemeText, rest) = splitScheme(text), rest.utf8.starts(with: "//".utf8) else { throw .notAbsolute }
        let scheme = try parseScheme(schemeText)
        return try parseHierarchy(scheme: scheme, Substring(rest.utf8.dropFirst(2)))
    }

    static func resolve(_ reference: String, against base: HTTPURL) throws(HTTPURL.ParseError) -> HTTPURL {
        try refuseForbiddenBytes(reference)
        if let (schemeText, _) = splitScheme(reference) {
            _ = try parseScheme(schemeText)
            return try parse(reference)
        }
        if reference.utf8.starts(with: "//".utf8) {
            return try parseHierarchy(scheme: base.scheme, Substring(reference.utf8.dropFirst(2)))
        }
        let (path, query) = splitPathAndQuery(Substring(reference))
        if path.isEmpty {
            return HTTPURL(origin: base.origin, path: base.path, query: query ?? base.query)
        }
        let merged = path.hasPrefix("/") ? path : directory(of: base.path) + path
        return HTTPURL(origin: base.origin, path: removeDotSegments(merged), query: query)
    }

    private static func parseHierarchy(
        scheme: HTTPURL.Scheme, _ text: Substring
    ) throws(HTTPURL.ParseError) -> HTTPURL {
        let end = text.utf8.firstIndex(where: isAuthorityEnd) ?? text.endIndex
        let origin = try parseAuthority(scheme: scheme, text[..<end])
        let (path, query) = splitPathAndQuery(text[end...])
        return HTTPURL(origin: origin, path: path.isEmpty ? "/" : removeDotSegments(path), query: query)
    }

    // MARK: Scheme and authority

    /// `nil` when the text begins with no scheme; a colon after a slash belongs to a path.
    private static func splitScheme(_ text: String) -> (Substring, Substring)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon]
        guard let first = scheme.utf8.first, isLetter(first),
            scheme.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E })
        else { return nil }
        return (scheme, text[text.utf8.index(after: colon)...])
    }

    private static func parseScheme(_ text: Substring) throws(HTTPURL.ParseError) -> HTTPURL.Scheme {
        guard let scheme = HTTPURL.Scheme(rawValue: text.lowercased()) else { throw .foreignScheme(String(text)) }
        return scheme
    }

    private static func parseAuthority(
        scheme: HTTPURL.Scheme, _ text: Substring
    ) throws(HTTPURL.ParseError) -> HTTPURL.Origin {
        guard !text.utf8.contains(UInt8(ascii: "@")) else { throw .userInformation }
        let (hostText, portText) = try splitHostAndPort(text)
        guard !hostText.isEmpty else { throw .missingHost }
        let host = try HTTPHostParser.parse(hostText)
        return HTTPURL.Origin(scheme: scheme, host: host, port: try parsePort(portText) ?? scheme.defaultPort)
    }

    private static func splitHostAndPort(
        _ text: Substring
    ) throws(HTTPURL.ParseError) -> (host: Substring, port: Substring?) {
        if text.utf8.first == UInt8(ascii: "[") {
            guard let close = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw .invalidHost }
            let rest = text[text.utf8.index(after: close)...]
            guard rest.isEmpty || rest.utf8.first == UInt8(ascii: ":") else { throw .invalidHost }
            return (text[...close], rest.isEmpty ? nil : Substring(rest.utf8.dropFirst()))
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (text, nil) }
        return (text[..<colon], text[text.utf8.index(after: colon)...])
    }

    /// An empty port means the default one (RFC 3986 §3.2.3).
    private static func parsePort(_ text: Substring?) throws(HTTPURL.ParseError) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= 5, text.utf8.allSatisfy(isDigit), let port = Int(text), (1...65535).contains(port)
        else { throw .invalidPort }
        return port
    }

    // MARK: Path and query

    private static func splitPathAndQuery(_ text: Substring) -> (path: String, query: String?) {
        let visible = Substring(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        guard let mark = visible.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return (PercentEncoding.completed(visible), nil)
        }
        let query = visible[visible.utf8.index(after: mark)...]
        return (PercentEncoding.completed(visible[..<mark]), PercentEncoding.completed(query))
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }

    /// RFC 3986 §5.2.4. Escaped dots count as dots, so that `%2e%2e` cannot climb past what was checked.
    static func removeDotSegments(_ path: String) -> String {
        guard path.contains("/.") || path.contains("/%2") else { return path }
        var output: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch PercentEncoding.dots(segment) {
            case 1:
                if isLast { output.append("") }
            case 2:
                if !output.isEmpty { output.removeLast() }
                if isLast { output.append("") }
            default:
                output.append(segment)
            }
        }
        return "/" + output.joined(separator: "/")
    }

    private static func refuseForbiddenBytes(_ text: String) throws(HTTPURL.ParseError) {
        let isFine = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
        // Browsers take the spaces around a URL away, and see another host in ` //evil.example` than a parser that sees a path.
        guard isFine, text.utf8.first != 0x20, text.utf8.last != 0x20 else { throw .forbiddenCharacter }
    }

    private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }
}

/// Turns the host part of an authority into the one form that is used everywhere.
enum HTTPHostParser {
    /// The longest name in bytes, before it is made ASCII: one of 253 characters has no more. The mapping takes as long as the square of
    /// the length of some texts.
    private static let longest = 1_024

    /// - Returns: a lower-case registered name, a dotted quad, or an IPv6 address without its brackets.
    static func parse(_ text: Substring) throws(HTTPURL.ParseError) -> String {
        guard text.utf8.count <= longest else { throw .invalidHost }
        if text.hasPrefix("[") { return try parseIPv6(text.dropFirst().dropLast()) }
        let ascii = text.unicodeScalars.allSatisfy(\.isASCII) ? text.lowercased() : try asciiForm(of: text)
        guard ascii.utf8.count <= 253, ascii.utf8.allSatisfy(isHostByte) else { throw .invalidHost }
        let labels = ascii.split(separator: ".", omittingEmptySubsequences: false)
        let significant = labels.last == "" ? labels.dropLast() : labels[...]
        guard !significant.isEmpty, significant.allSatisfy({ (1...63).contains($0.utf8.count) }) else {
            throw .invalidHost
        }
        try refuseOddNumbers(significant, trailingDot: labels.last == "")
        return ascii
    }

    /// Libraries disagree on `127.1`, `0x7f.0.0.1` and `2130706433`, so a host that ends in a number must be a
    /// dotted quad in decimal without leading zeros.
    private static func refuseOddNumbers(_ labels: ArraySlice<Substring>, trailingDot: Bool) throws(HTTPURL.ParseError)
    {
        guard let last = labels.last, isNumber(last) else { return }
        let isQuad =
            labels.count == 4 && !trailingDot
            && labels.allSatisfy { label in
                guard let number = UInt8(label) else { return false }
                return String(number) == label
            }
        guard isQuad else { throw .invalidHost }
    }

    private static func isNumber(_ label: Substring) -> Bool {
        label.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } || label.hasPrefix("0x")
    }

    private static func parseIPv6(_ text: Substring) throws(HTTPURL.ParseError) -> String {
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(text), &address) == 1 else { throw .invalidHost }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { throw .invalidHost }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// UTS #46 by Foundation, whose result is then checked like any other host.
    ///
    /// Foundation reads what the mapping gives as an authority: it undoes percent-escapes, and takes off brackets. A character
    /// that the mapping makes a percent sign of, such as the full-width or the small one, would so begin an escape that nobody
    /// else sees: `evil％2Ecom` is not `evil.com`; and a bracket behind a soft hyphen, which the mapping leaves out, would be
    /// one of an address. The mapping contains Unicode's compatibility mapping (UTS #46 §4), which tells all of these characters.
    private static func asciiForm(of text: Substring) throws(HTTPURL.ParseError) -> String {
        let mapped = String(text).precomposedStringWithCompatibilityMapping
        guard mapped.utf8.allSatisfy({ $0 >= 0x80 || isHostByte(HTTPSyntax.lowercased($0)) }),
            let url = URL(string: "http://\(text)/"), let host = url.host, host.unicodeScalars.allSatisfy(\.isASCII)
        else { throw .invalidHost }
        return host.lowercased()
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
}
