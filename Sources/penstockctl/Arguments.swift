/// The words after a command, sorted into options and operands. Written by hand since the package depends on no other.
///
/// Strict: a word that begins with `-` must be a known option, a value must be there, and only what may be repeated is.
/// A known option is never taken as the value of the one before it; `--name=value` passes any value, and after `--`
/// every word is an operand.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(_ words: [String], options: [OptionRule]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            if word.hasPrefix("-"), word != "-" {
                try take(word, &rest, options)
            } else {
                operands.append(word)
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option that is given at most once.
    func value(_ name: String) -> String? { values[name]?.first }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    private mutating func take(
        _ word: String, _ rest: inout ArraySlice<String>, _ options: [OptionRule]
    ) throws(UsageError) {
        let (name, attached) = Self.split(word)
        guard let rule = options.first(where: { $0.names.contains(name) }) else {
            throw Self.unknown(name, options)
        }
        guard rule.isRepeatable || !has(rule.key) else { throw UsageError("\(name) is given twice") }
        values[rule.key, default: []].append(try Self.value(of: rule, name, attached, &rest, options))
    }

    /// What a short option's value is attached to, and what has more than a name in it, may hold a secret.
    private static func unknown(_ name: String, _ options: [OptionRule]) -> UsageError {
        guard !name.hasPrefix("--") else { return UsageError("no such option\(UsageError.named(name))") }
        let short = String(name.unicodeScalars.prefix(2))
        let isKnown = options.contains { $0.names.contains(short) }
        return UsageError(isKnown ? "\(short): a value is a word of its own" : "no such option: \(short)")
    }

    private static func value(
        of rule: OptionRule, _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>,
        _ options: [OptionRule]
    ) throws(UsageError) -> String {
        guard let placeholder = rule.placeholder else {
            if attached != nil { throw UsageError("\(name) takes no value") }
            return ""
        }
        if let attached { return attached }
        guard let next = rest.first, next != "--", !options.contains(where: { $0.names.contains(next) }) else {
            throw UsageError("\(name) needs a value: \(placeholder)")
        }
        return rest.removeFirst()
    }

    /// Only long options have their value attached.
    private static func split(_ word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let mark = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<mark]), String(word[word.index(after: mark)...]))
    }
}

/// One row of a command's table of options.
struct OptionRule {
    /// The last one is the key.
    let names: [String]
    /// What its value is called; `nil` for an option without one.
    let placeholder: String?
    let help: String
    var isRepeatable = false

    var key: String { names[names.count - 1] }
}

/// The user asked for something that cannot be: nothing was done.
struct UsageError: Error {
    let message: String
    let command: String?

    /// - Parameter message: names the argument. Not the URL nor a header's value, which may hold secrets.
    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// A word as a message ends in it; empty for one that is no mere name, and so may be a URL, a field or a parameter.
    static func named(_ word: String) -> String { isName(word) ? ": \(word)" : "" }

    /// A word as a message says something of it.
    static func quoted(_ word: String) -> String { isName(word) ? String(reflecting: word) : "what is given" }

    private static func isName(_ word: String) -> Bool {
        !word.unicodeScalars.contains { ":=/".unicodeScalars.contains($0) || $0.properties.isWhitespace }
    }
}
