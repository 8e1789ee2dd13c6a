/// The path of an endpoint below its service's base URL.
///
/// In an interpolated literal the text is the template and every value is an argument: it fills exactly its place and
/// can never change the structure of the path. A `%` of the text that begins no escape becomes `%25`, so that no argument after
/// it makes one of it.
///
/// ```swift
/// let path: RoutePath = "/products/\(id, name: "id")/reviews"
/// path.encoded    // "/products/caf%C3%A9%2F7/reviews" for the id "café/7"
/// path.template   // "/products/{id}/reviews"
/// ```
///
/// A path that cannot be used safely does not trap. It remembers what is wrong, and ``validated()`` throws it before
/// anything is sent.
public struct RoutePath: Sendable, Hashable {
    /// The path as it goes into a URL: ASCII, escaped, beginning with exactly one `/` unless it is empty.
    public let encoded: String
    /// The path with a placeholder for every argument, `{}` or `{name}`: the same for all calls of an endpoint.
    public let template: String
    private let failure: Invalid?
    /// Whether its text was made by the running program, so that anything in it may be an argument.
    private(set) var isMadeAtRunTime = false

    /// A path made at run time, without arguments. Escapes in it are kept; what a path may not hold is escaped, and so is a `%`
    /// that begins no escape.
    public init(literal: String) {
        self.init(text: literal)
        isMadeAtRunTime = true
    }

    private init(text literal: String) {
        guard !PathRules.isPlain(literal) else {
            self.init(plain: literal)
            return
        }
        var builder = Interpolation(literalCapacity: literal.utf8.count, interpolationCount: 0)
        builder.appendLiteral(literal)
        self.init(stringInterpolation: builder)
    }

    private init(plain text: String) {
        (encoded, template, failure) = (text, text, nil)
    }

    /// Checks that the path can be used, as every call does before it sends anything.
    ///
    /// - Throws: what makes the path unusable; of several flaws the first one.
    public func validated() throws(Invalid) {
        if let failure { throw failure }
    }
}

extension RoutePath: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        self.init(text: value)
    }

    public init(stringInterpolation builder: Interpolation) {
        encoded = Self.withOneLeadingSlash(builder.encoded)
        template = Self.withOneLeadingSlash(builder.template)
        failure = builder.failure ?? (PathRules.hasDotSegment(encoded) ? Invalid(.path, .dotSegment) : nil)
    }

    /// Two slashes at the beginning of a request target would read as a host.
    private static func withOneLeadingSlash(_ text: String) -> String {
        let slashes = text.utf8.prefix { $0 == UInt8(ascii: "/") }.count
        return text.isEmpty || slashes == 1 ? text : "/" + String(Substring(text.utf8.dropFirst(slashes)))
    }
}

extension RoutePath {
    public static func == (left: RoutePath, right: RoutePath) -> Bool {
        left.encoded == right.encoded && left.template == right.template && left.failure == right.failure
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(encoded)
        hasher.combine(template)
    }
}

extension RoutePath {
    /// The escaped text of each segment that has arguments, from the first to the last of them; all of a path that was made at run
    /// time. An argument has no slash, so that the segments are those of the template.
    var arguments: [Substring] {
        if isMadeAtRunTime { return [encoded[...]] }
        let parts = template.split(separator: "/", omittingEmptySubsequences: false)
        return zip(parts, encoded.split(separator: "/", omittingEmptySubsequences: false)).compactMap { part, text in
            guard let first = part.firstIndex(of: "{"), let last = part.lastIndex(of: "}") else { return nil }
            return text.dropFirst(part[..<first].count).dropLast(part[last...].count - 1)
        }
    }

    /// The template without the names of its arguments: the same for two paths that no server could tell apart. The text
    /// of a template has no braces of its own, since they are escaped in it.
    var shape: String {
        var isName = false
        return template.filter { character in
            if character == "}" { isName = false }
            defer { if character == "{" { isName = true } }
            return !isName
        }
    }
}

extension RoutePath: CustomStringConvertible {
    /// The template, as arguments may be private, without the secret parameters in its text.
    public var description: String { RedactedText.make(of: template, byShape: false) }
}

extension RoutePath {
    /// Why a path cannot be used. It does not hold the argument, which may be private.
    public struct Invalid: Error, Hashable, Sendable {
        /// The part of the path that is at fault.
        @nonexhaustive
        public enum Part: Hashable, Sendable {
            /// The text of the template.
            case literal
            /// An interpolated value, counted from 0.
            case argument(index: Int, name: String?)
            /// Text and arguments together.
            case path
        }

        /// What is wrong with the part.
        @nonexhaustive
        public enum Reason: Hashable, Sendable {
            /// The argument has no text, so that its segment would vanish.
            case empty
            /// `.` or `..` between slashes or backslashes, in any escaped form.
            case dotSegment
            /// A control character, plain or escaped.
            case controlCharacter
            /// A backslash, which some servers take for a slash, in the template, plain or escaped.
            case backslash
            /// `?` or `#` in the template: a query belongs to the parameters.
            case queryOrFragment
            /// It begins with `http://` or `https://`: it is a URL, and would go below the service's base URL.
            case url
        }

        /// Which part of the path is at fault.
        public let part: Part
        /// What is wrong with it.
        public let reason: Reason

        init(_ part: Part, _ reason: Reason) {
            self.part = part
            self.reason = reason
        }
    }
}

extension RoutePath.Invalid: CustomStringConvertible {
    public var description: String { "\(subject) \(reason.explanation)" }

    private var subject: String {
        switch part {
        case .literal: "the path's template"
        case .argument(let index, nil): "the path's argument \(index)"
        case .argument(let index, let name?): "the path's argument \(index) (\(name))"
        case .path: "the path"
        }
    }
}

extension RoutePath.Invalid.Reason {
    /// What is wrong, in words that follow the name of the part.
    var explanation: String {
        switch self {
        case .empty: "is empty"
        case .dotSegment: "holds a segment of dots"
        case .controlCharacter: "holds a control character"
        case .backslash: "holds a backslash"
        case .queryOrFragment: "holds ? or #: a query goes into the parameters"
        case .url: "is a URL: the option .at(url) calls the service there, and send(HTTPRequest) any server"
        }
    }
}

extension RoutePath: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["template": description], displayStyle: .struct) }
}

extension HTTPURL {
    /// This URL, as a base, with a path and a query added.
    ///
    /// The base path is always kept and stands before `path` with exactly one slash between them, whether or not
    /// `path` begins with one. An empty path changes nothing. The pairs of `query` follow those of the base.
    ///
    /// | base | path | query | result |
    /// |---|---|---|---|
    /// | `https://a/api` | `users` | | `https://a/api/users` |
    /// | `https://a/api/` | `/users/` | | `https://a/api/users/` |
    /// | `https://a/api/?k=1` | (empty) | `p=2` | `https://a/api/?k=1&p=2` |
    ///
    /// - Parameter query: escaped pairs without a `?`, as ``FormFormat/text(_:)`` makes them.
    /// - Throws: what makes `path` unusable.
    public func appending(_ path: RoutePath, query: String? = nil) throws(RoutePath.Invalid) -> HTTPURL {
        try path.validated()
        return HTTPURL(origin: origin, path: joined(with: path.encoded), query: joined(withQuery: query))
    }

    private func joined(with encoded: String) -> String {
        guard !encoded.isEmpty else { return path }
        if path == "/" { return encoded }
        var base = path[...]
        while base.utf8.last == UInt8(ascii: "/") { base = Substring(base.utf8.dropLast()) }
        return base + encoded
    }

    private func joined(withQuery added: String?) -> String? {
        guard let added, !added.isEmpty else { return query }
        let repaired = PercentEncoding.repaired(added)
        guard let query, !query.isEmpty else { return repaired }
        return "\(query)&\(repaired)"
    }
}
