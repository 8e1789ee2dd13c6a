extension ParameterStyle {
    /// How keys are written, at every level and those of dictionaries too.
    ///
    /// Two keys of one object that come out alike are an error, never a silent loss.
    public enum Keys: Sendable {
        /// The keys as the app wrote them.
        case asIs
        /// `user_id` and `user-id` become `userId`.
        case camelCase
        /// `userID` becomes `user_id`, `myURLProperty` becomes `my_url_property`.
        case snakeCase
        /// `userID` becomes `user-id`.
        case kebabCase
        /// The first letter becomes a capital: `UserID`.
        case capitalized
        /// `userID` becomes `USERID`.
        case uppercased
        /// `userID` becomes `userid`.
        case lowercased
        /// Whatever the closure makes of a key. It must make the same of the same key each time.
        case custom(@Sendable (String) -> String)

        func text(_ key: String) -> String {
            switch self {
            case .asIs: key
            case .camelCase: Self.camelCase(key)
            case .snakeCase: Self.words(of: key, joinedBy: "_")
            case .kebabCase: Self.words(of: key, joinedBy: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let convert): convert(key)
            }
        }

        var isIdentity: Bool {
            if case .asIs = self { true } else { false }
        }

        /// A word begins at a capital that follows a small letter or a digit, and at the last of several capitals
        /// when a small letter follows.
        private static func words(of key: String, joinedBy separator: Character) -> String {
            let letters = Array(key)
            var output = ""
            for (index, letter) in letters.enumerated() {
                if index > 0, letter.isUppercase {
                    let previous = letters[index - 1]
                    let endsCapitals =
                        previous.isUppercase && index + 1 < letters.count && letters[index + 1].isLowercase
                    if previous.isLowercase || previous.isNumber || endsCapitals { output.append(separator) }
                }
                output += letter.lowercased()
            }
            return output
        }

        /// Separators at the beginning and at the end stay.
        private static func camelCase(_ key: String) -> String {
            let isSeparator: (Character) -> Bool = { $0 == "_" || $0 == "-" }
            let leading = key.prefix(while: isSeparator)
            let rest = key.dropFirst(leading.count)
            let trailing = rest.reversed().prefix(while: isSeparator).count
            let words = rest.dropLast(trailing).split(whereSeparator: isSeparator)
            guard let first = words.first else { return key }
            let others = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
            return leading + first + others.joined() + rest.suffix(trailing)
        }
    }
}

extension ParameterObject {
    /// The members under the keys that go to the wire, in the order in which they are written.
    func members(
        _ style: ParameterStyle.Keys, _ order: ParameterStyle.Order
    ) throws(ParameterEncodingError) -> [(key: String, value: ParameterValue)] {
        var members: [(key: String, value: ParameterValue)] = []
        members.reserveCapacity(count)
        for (key, value) in self { members.append((style.text(key), value)) }
        if !style.isIdentity { try Self.refuseDuplicates(members) }
        if order == .sorted { members.sort { $0.key.precedesInUTF8($1.key) } }
        return members
    }

    private static func refuseDuplicates(
        _ members: [(key: String, value: ParameterValue)]
    ) throws(ParameterEncodingError) {
        var seen: Set<String> = []
        for (key, _) in members where !seen.insert(key).inserted {
            throw ParameterEncodingError(.duplicateKey, path: [key])
        }
    }
}
