/// Tokens of well-known services and JSON Web Tokens, by what they begin with. Many of them are less random than they are long,
/// and stand under names that say nothing.
///
/// Keys that are meant to be published, such as `pk_live_…`, and the names of keys, such as `AKIA…`, are not among them.
enum KnownToken {
    private struct Kind {
        let beginning: [UInt8]
        /// How many bytes follow at least.
        let count: Int
        /// Whether these are letters and digits alone, and not `-` and `_`, which words have between them. Where they may be
        /// those, there is a digit or a capital among them, which words seldom have.
        let isPlain: Bool
    }

    private static let kinds: [UInt8: [Kind]] = {
        let short = [
            "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_",
        ]
        let long = [
            "github_pat_", "glpat-", "sk-proj-", "sk-ant-", "shpat_", "shpca_", "shppa_", "shpss_", "ya29.", "SG.",
            "dckr_pat_", "pypi-AgE",
        ]
        let plain = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "sk_", "rk_", "sk-"]
        let longPlain = ["npm_", "hf_", "EAA"]
        let all =
            kinds(short, 11, isPlain: false) + kinds(long, 16, isPlain: false) + kinds(plain, 20, isPlain: true)
            + kinds(longPlain, 30, isPlain: true) + kinds(["AIza"], 30, isPlain: false)
            // The beginning of a JSON object, `{"`, in base64.
            + kinds(["eyJ"], 13, isPlain: false)
        return Dictionary(grouping: all) { $0.beginning[0] }
    }()

    private static func kinds(_ beginnings: [String], _ count: Int, isPlain: Bool) -> [Kind] {
        beginnings.map { Kind(beginning: Array($0.utf8), count: count, isPlain: isPlain) }
    }

    /// How many bytes are looked at to tell whether one begins.
    static let longest = 40

    /// Whether one stands in a text, behind no letter and no digit.
    static func stands(in text: [UInt8]) -> Bool {
        var before: UInt8 = 0
        for index in text.indices {
            if !SecretName.isAlphanumeric(before), begins(text[index...]) { return true }
            before = text[index]
        }
        return false
    }

    /// Whether a text begins with one.
    static func begins(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, let kinds = kinds[first] else { return false }
        return kinds.contains { kind in
            guard text.starts(with: kind.beginning) else { return false }
            let rest = text.dropFirst(kind.beginning.count).prefix(longest).prefix { isOfToken($0, kind.isPlain) }
            return rest.count >= kind.count && (kind.isPlain || !rest.allSatisfy(isOfWords))
        }
    }

    private static func isOfWords(_ byte: UInt8) -> Bool {
        SecretName.isSmall(byte) || !SecretName.isAlphanumeric(byte)
    }

    private static func isOfToken(_ byte: UInt8, _ isPlain: Bool) -> Bool {
        SecretName.isAlphanumeric(byte) || !isPlain && (byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"))
    }
}
