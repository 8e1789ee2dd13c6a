/// What is kept out of everything that prints: a property of the values themselves, not of who prints them.
///
/// One rule decides for header and trailer fields, for URLs and for parameters. A value is replaced by ``mark`` where its name
/// says that it is a secret, or where it looks like one: a JSON Web Token, the token of a well-known service, or a long random text of at
/// least 20 characters.
/// URLs inside a value, such as that of `Location`, are redacted as ``HTTPURL`` is. What is named like nothing and looks like
/// a word cannot be known, and is shown.
public enum Redaction {
    /// What stands in place of a secret.
    public static let mark = "‹redacted›"

    /// Whether the values of a field are secret: the fields that carry credentials, and any whose name says so.
    public static func isSecret(_ name: HTTPFieldName) -> Bool {
        SecretName.saysSecret(name.text)
    }

    /// Whether the value of a parameter is secret, by its name. Besides the names that fields have, `code` and `key` count,
    /// which are credentials in a URL or a form and seldom elsewhere. Percent-escapes in the name are undone.
    public static func isSecret(parameter name: some StringProtocol) -> Bool {
        SecretName.saysSecret(name, isParameter: true)
    }

    /// Whether a text looks like a secret, whatever its name: a JSON Web Token, credentials with their scheme, the token of a
    /// well-known service by its beginning, or a long random text. Random means that digits, small and capital letters follow each other as in no word. Hexadecimal digits
    /// count from 32 on, as shorter ones name resources, and UUIDs do not count, as they name requests.
    public static func looksSecret(_ value: some StringProtocol) -> Bool {
        SecretShape.isSecret(value)
    }

    /// The value of a field as it may be shown.
    public static func value(_ value: String, of name: HTTPFieldName) -> String {
        isSecret(name) ? mark : shown(value, of: name)
    }

    /// Whether something in the value of a field would be hidden, of which the name says nothing.
    static func hides(_ value: String, in name: HTTPFieldName) -> Bool {
        !RedactedText.isPlainWord(value) && !shown(value, of: name).isWritten(as: value)
    }

    private static func shown(_ value: String, of name: HTTPFieldName) -> String {
        if name == "Sec-WebSocket-Protocol" {
            return subprotocols(value.split(separator: ",").map { HTTPSyntax.trimmed(String($0)) })
                .joined(separator: ", ")
        }
        return RedactedText.make(of: value, byShape: !fieldsOfRandomText.contains(name))
    }

    /// The value of a parameter as it may be shown.
    public static func value(_ value: String, ofParameter name: some StringProtocol) -> String {
        isSecret(parameter: name) ? mark : RedactedText.make(of: value, byShape: true)
    }

    /// The subprotocols of a WebSocket as they may be shown: from the first on whose name says that it is a secret, or that the next
    /// one is, each is replaced.
    static func subprotocols(_ names: [String]) -> [String] {
        let plain = names.prefix { !isSecret(parameter: $0) }
        return plain.map(text) + names.dropFirst(plain.count).map { _ in mark }
    }

    /// A query, a form or a fragment with the values of its secret parameters replaced.
    public static func query(_ query: String) -> String {
        RedactedText.make(ofPairs: query)
    }

    /// A text in which URLs, parameters and tokens may stand, each of them redacted.
    public static func text(_ text: String) -> String {
        RedactedText.make(of: text, byShape: true)
    }

    /// Fields whose values are long and random by nature, and give nobody access: validators, digests, boundaries, and the
    /// numbers of requests, by which they are found in logs.
    private static let fieldsOfRandomText: Set<HTTPFieldName> = [
        .contentType, .eTag, .ifMatch, .ifNoneMatch, .ifRange, "Content-Digest", "Repr-Digest", "Digest", "Content-MD5",
        "Traceparent", "Tracestate", "X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Trace-Id", "X-Amzn-Trace-Id",
        "X-Amz-Request-Id", "X-Amzn-RequestId", "X-Amz-Id-2", "X-Amz-Cf-Id", "X-Goog-Hash", "Cf-Ray", "X-Ms-Request-Id",
        "Idempotency-Key", "Last-Event-ID", "Sec-WebSocket-Key", "Sec-WebSocket-Accept", "Content-Security-Policy",
        "Report-To",
        "NEL", .userAgent, "Server", "Via",
    ]
}

/// The rule for names.
enum SecretName {
    /// A name is a secret's where one of these stands anywhere in it; case, `-`, `_` and the like left out.
    private static let parts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "apikey", "signature", "credential",
        "session", "sessid", "jwt", "dpop", "assertion", "bearer", "csrf", "xsrf", "samlresponse", "samlart",
        "accesskey",
        "accountkey", "appkey", "applicationkey", "authkey", "clientkey", "consumerkey", "encryptionkey",
        "functionskey", "licensekey",
        "masterkey", "privatekey", "sharedkey", "signingkey", "subscriptionkey", "accesscode", "codeverifier",
        "devicecode", "devicekey", "mfacode",
        "smscode", "usercode", "verificationcode", "verifycode", "pswd", "passwort", "passkey", "dbpass", "sshkey",
        "serverkey", "cardnumber", "rememberme",
    ].map { Array($0.utf8) }

    /// A name is a secret's, too, where one of these is a word of its own in it: `user_sid`, `userSid`, `X-OTP`.
    private static let words: Set<[UInt8]> = Set(
        [
            "sig", "otp", "totp", "sid", "pass", "pw", "ticket", "pin", "hdnea", "creds", "hmac", "cvv", "cvc", "iban",
            "ssn",
        ].map { Array($0.utf8) })

    /// A name is a secret's, too, where one of these is all of it.
    private static let names: Set<[UInt8]> = Set(
        ["cookie", "setcookie", "cookies", "setcookies", "xrefresh", "sign", "xsign"].map { Array($0.utf8) })
    /// What a code is for that lets somebody in: `security_code`, `backupCodes`, `one-time-code`, `2fa_code`. Other codes, such as those
    /// of countries and of errors, are meant to be read.
    private static let uses: Set<[UInt8]> = Set(
        [
            "security", "recovery", "backup", "emergency", "scratch", "mfa", "2fa", "twofactor", "otp", "totp",
            "onetime", "login", "signin", "confirm", "confirmation", "verification", "verify", "access", "reset",
            "unlock", "activation", "pairing",
        ].map { Array($0.utf8) })
    private static let codes = ["codes", "code"].map { Array($0.utf8) }
    private static let parameterNames: Set<[UInt8]> = Set(["code", "key"].map { Array($0.utf8) })

    /// What is the name of a signature in URLs and forms, and an ordinary word elsewhere: of a number, a zodiac or a language.
    private static let weak = Array("sign".utf8)

    /// No name that is meant to be read is longer. A longer one is taken for a secret's, so that the work has a bound.
    static let longest = 128

    static func saysSecret(_ name: some StringProtocol, isParameter: Bool = false) -> Bool {
        guard name.utf8.count <= longest else { return true }
        let plain = Array(PercentEncoding.unescaped(name).utf8)
        let compact = compact(plain)
        if names.contains(compact) || isParameter && parameterNames.contains(compact)
            || parts.contains(where: { firstIndex(of: $0, in: compact[...]) != nil })
            || saysAuthentication(compact[...])
        {
            return true
        }
        let split = split(plain)
        return split.contains { words.contains($0) } || saysCode(split)
    }

    /// Whether a name, in JSON, markup or a text, says that a value is secret. What is often an ordinary word says it of what may be a
    /// signature alone.
    static func saysSecret(_ name: some StringProtocol, of value: @autoclosure () -> String) -> Bool {
        saysSecret(name) && (!isWeak(name) || SecretShape.mayBeSignature(value()))
    }

    /// Whether it is an ordinary word, if no value is one of a signature.
    static func isWeak(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= longest && compact(Array(PercentEncoding.unescaped(name).utf8)) == weak
    }

    /// A name in small letters without its signs, and without the number of the second one.
    private static func compact(_ name: [UInt8]) -> [UInt8] {
        let letters = name.filter(isAlphanumeric).map(HTTPSyntax.lowercased)
        return letters.last == UInt8(ascii: "2") ? letters.dropLast() : letters
    }

    /// What may stand beside the name of a secret, and says only whose it is or what it is for.
    private static let relations: Set<[UInt8]> = Set(
        ["access", "refresh", "api", "client", "user", "x", "id", "auth", "my", "app", "db"].map { Array($0.utf8) })

    /// Whether a name, which says that it is a secret's, is nothing more: `password` and `access_token`, but not `session-notes`.
    static func isWhole(_ name: String) -> Bool {
        let words = split(Array(name.utf8)).filter { !$0.isEmpty }
        let essence = words.filter { !relations.contains($0) }
        let compact = Array(words.joined())
        return essence.isEmpty || essence.count == 1 && self.words.contains(essence[0]) || names.contains(compact)
            || [compact, Array(essence.joined())].contains(where: isPart)
    }

    private static func isPart(_ name: [UInt8]) -> Bool {
        parts.contains(name) || saysAuthentication(name[...]) && name.starts(with: "auth".utf8)
    }

    /// Whether a code is named that lets somebody in: in a word of its own behind what it is for, or in one word with that.
    private static func saysCode(_ words: [[UInt8]]) -> Bool {
        words.indices.contains { index in
            let word = words[index]
            guard let code = codes.first(where: { word.suffix($0.count).elementsEqual($0) }) else { return false }
            let use = word.dropLast(code.count)
            if !use.isEmpty { return uses.contains(Array(use)) }
            let before = words[..<index].suffix(2)
            return before.last.map(uses.contains) ?? false || uses.contains(Array(before.joined()))
        }
    }

    /// `auth`, `oauth`, `authorization`, but not `author` and `authority`.
    private static func saysAuthentication(_ name: ArraySlice<UInt8>) -> Bool {
        guard let start = firstIndex(of: Array("auth".utf8), in: name) else { return false }
        let rest = name[(start + 4)...]
        let isAuthor =
            rest.starts(with: "or".utf8) && !rest.starts(with: "oriz".utf8) && !rest.starts(with: "oris".utf8)
        return !isAuthor || saysAuthentication(rest)
    }

    private static func firstIndex(of part: [UInt8], in name: ArraySlice<UInt8>) -> Int? {
        guard name.count >= part.count else { return nil }
        return (name.startIndex...(name.endIndex - part.count)).first { name[$0...].starts(with: part) }
    }

    /// The words of a name in small letters: `userSID_2` is `user`, `sid` and `2`.
    static func split(_ name: [UInt8]) -> [[UInt8]] {
        var words: [[UInt8]] = [[]]
        for (index, byte) in name.enumerated() {
            let previous = index > 0 ? name[index - 1] : byte
            let next = index + 1 < name.count ? name[index + 1] : byte
            let endsAcronym = isCapital(previous) && isCapital(byte) && isSmall(next)
            let isBoundary =
                !isAlphanumeric(byte) || isSmall(previous) && isCapital(byte) || endsAcronym
                || isDigit(previous) != isDigit(byte)
            if isBoundary { words.append([]) }
            if isAlphanumeric(byte) { words[words.count - 1].append(HTTPSyntax.lowercased(byte)) }
        }
        return words
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isSmall(byte | 0x20) }
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    static func isSmall(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    static func isCapital(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
}

/// The rule for values: what a secret looks like.
enum SecretShape {
    private static let schemes = ["basic", "bearer", "dpop", "negotiate"]
    private static let longestScheme = 9
    private static let shortest = 20
    private static let shortestHexadecimal = 32
    private static let shortestWebToken = 16
    private static let shortestSignature = 4

    static func isSecret(_ value: some StringProtocol) -> Bool {
        if hasScheme(value) { return true }
        guard mayBeToken(value) else { return false }
        let bytes = Array(value.utf8)
        return KnownToken.stands(in: bytes)
            || bytes.split(whereSeparator: { !isPartOfToken($0) }).contains { isToken(Array($0)) }
    }

    /// Whether it holds a token that is known by its beginning, and not by its randomness: so that the segment of a path may be
    /// long and random, and is none.
    static func holdsKnownToken(_ text: some StringProtocol) -> Bool {
        guard mayBeToken(text) else { return false }
        return text.utf8.starts(with: "eyJ".utf8) || KnownToken.stands(in: Array(text.utf8))
    }

    /// Whether a text holds a UUID, which often names a user.
    static func holdsUUID(_ text: some StringProtocol) -> Bool {
        text.utf8.split { !SecretName.isAlphanumeric($0) && $0 != UInt8(ascii: "-") }.contains { isUUID(Array($0)) }
    }

    /// Whether it is long enough for a token at all, as most values are not.
    static func mayBeToken(_ value: some StringProtocol) -> Bool { value.utf8.count >= shortestWebToken }

    /// Credentials as `Authorization` has them: a scheme and one more word (RFC 9110 §11.4), whatever white space stands
    /// around them.
    static func hasScheme(_ value: some StringProtocol) -> Bool {
        let text = value.utf8.drop(while: isWhite)
        guard text.prefix(longestScheme + 1).contains(where: isWhite) else { return false }
        let words = text.split(maxSplits: 2, whereSeparator: isWhite)
        guard words.count > 1, words.dropFirst(2).joined().allSatisfy(isWhite) else { return false }
        return words[1].count >= 4 && schemes.contains { $0.utf8.elementsEqual(words[0].map(HTTPSyntax.lowercased)) }
    }

    /// Whether a signature may stand in a text: what has a digit, is written in capitals, or is long. Words have none of it.
    static func mayBeSignature(_ text: some StringProtocol) -> Bool {
        text.utf8.split { !isPartOfToken($0) }.contains { part in
            part.count >= shortestSignature
                && (part.count >= shortest || part.contains(where: SecretName.isDigit)
                    || !part.contains(where: SecretName.isSmall))
        }
    }

    private static func isWhite(_ byte: UInt8) -> Bool { byte <= 0x20 }

    /// What tokens are made of. A dot parts the parts of a JSON Web Token, of which the first is known by its beginning.
    private static func isPartOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: "~"):
            true
        default: SecretName.isAlphanumeric(byte)
        }
    }

    private static func isToken(_ text: [UInt8]) -> Bool {
        guard text.count >= shortestWebToken else { return false }
        // The beginning of a JSON object, `{"`, in base64.
        if text.starts(with: "eyJ".utf8) { return true }
        return text.count >= shortest && !isUUID(text) && isRandom(text)
    }

    /// How often neighbours are of different kinds tells random text from words, in which a kind goes on for long.
    private static func isRandom(_ text: [UInt8]) -> Bool {
        let letters = text.filter(SecretName.isAlphanumeric)
        let digits = letters.count(where: SecretName.isDigit)
        guard digits > 0, digits < letters.count else { return false }
        let isHexadecimal = letters.allSatisfy { SecretName.isDigit($0) || ($0 | 0x20) &- UInt8(ascii: "a") < 6 }
        guard letters.count >= (isHexadecimal ? shortestHexadecimal : shortest) else { return false }
        let isMixed = letters.contains(where: SecretName.isSmall) && letters.contains(where: SecretName.isCapital)
        let changes = zip(text, text.dropFirst()).count { changesKind($0, $1) }
        return changes * (isMixed ? 4 : 6) >= letters.count
    }

    private static func changesKind(_ left: UInt8, _ right: UInt8) -> Bool {
        guard SecretName.isAlphanumeric(left), SecretName.isAlphanumeric(right) else { return false }
        return SecretName.isDigit(left) != SecretName.isDigit(right)
            || SecretName.isSmall(left) && SecretName.isCapital(right)
    }

    /// `123e4567-e89b-12d3-a456-426614174000` (RFC 9562 §4).
    private static func isUUID(_ text: [UInt8]) -> Bool {
        text.count == 36 && [8, 13, 18, 23].allSatisfy { text[$0] == UInt8(ascii: "-") }
            && text.count(where: { $0 == UInt8(ascii: "-") }) == 4
            && text.allSatisfy { SecretName.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }
}

extension Redaction {
    /// A mirror of `subject` that shows these children, texts among them by the rule for parameters of their names.
    static func mirror<Subject>(
        of subject: Subject, _ children: KeyValuePairs<String, Any>
    ) -> Mirror {
        mirror(of: subject, children: children.map { (label: $0.key, value: $0.value) })
    }

    private static func mirror<Subject>(of subject: Subject, children: [Mirror.Child]) -> Mirror {
        let children: [Mirror.Child] = children.map { ($0.label, shown($0.value, $0.label ?? "")) }
        return Mirror(subject, children: children, displayStyle: .struct)
    }

    /// A mirror of `subject` that shows what it is made of.
    static func mirror<Subject>(of subject: Subject, parts: Any) -> Mirror {
        mirror(of: subject, children: Array(Mirror(reflecting: parts).children))
    }

    private static func shown(_ value: Any, _ name: String) -> Any {
        switch value {
        case let text as String: self.value(text, ofParameter: name)
        case let texts as [String]: texts.map { self.value($0, ofParameter: name) }
        case let texts as [AnyHashable: String]: texts.mapValues { self.value($0, ofParameter: name) }
        default: value
        }
    }
}
