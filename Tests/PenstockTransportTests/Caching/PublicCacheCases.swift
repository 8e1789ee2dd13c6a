/// The cases of the public suite of HTTP caches (http-tests/cache-tests at b55b8bda) that count, by their ids, and the cases of
/// ours that show the same rule. Those of the suite that only record what a cache does are not here: both answers conform.
enum PublicCacheCases {
    /// An id of the suite's, and the titles of the cases of ours that show its rule together.
    typealias Shown = (id: String, by: [String])

    /// Every case that the suite requires of a private cache, with those where the caller follows no redirect or brings a
    /// condition of its own.
    static let required = words(
        """
        freshness-max-age-stale freshness-max-age-age freshness-max-age-negative freshness-max-age-s-maxage-private
        freshness-max-age-s-maxage-private-multiple
        freshness-max-age-ignore-quoted-rev freshness-max-age-leading-zero freshness-max-age-single-quoted
        age-parse-nonnumeric age-parse-negative age-parse-float age-parse-large age-parse-larger age-parse-suffix
        age-parse-suffix-twoline age-parse-prefix-twoline age-parse-dup-0 age-parse-dup-0-twoline age-parse-dup-old
        freshness-expires-past freshness-expires-present freshness-expires-age-slow-date
        freshness-expires-invalid-utc freshness-expires-invalid-aest freshness-expires-invalid-2-digit-year
        freshness-expires-invalid-date-dashes freshness-expires-invalid-time-periods
        freshness-expires-invalid-multiple-lines
        cc-resp-no-store cc-resp-no-store-case-insensitive cc-resp-no-store-fresh cc-resp-no-store-old-new
        cc-resp-no-store-old-max-age cc-resp-no-cache cc-resp-no-cache-case-insensitive cc-resp-must-revalidate-stale
        cc-resp-immutable-stale
        stale-while-revalidate-window stale-close-must-revalidate
        heuristic-201-not_cached heuristic-202-not_cached heuristic-502-not_cached heuristic-599-not_cached
        status-203-stale status-302-stale status-303-stale status-307-stale status-308-stale status-499-stale
        status-500-stale status-502-stale status-599-stale status-599-must-understand
        vary-no-match vary-omit-stored vary-2-match-omit vary-3-order vary-star
        vary-syntax-star-star vary-syntax-empty-star vary-syntax-foo-star
        conditional-304-etag conditional-etag-precedence conditional-etag-vary-headers
        headers-omit-headers-listed-in-Connection headers-store-X-Test-Header headers-store-Content-Foo
        headers-store-Connection headers-store-Content-Encoding headers-store-Content-Location
        headers-store-Content-Security-Policy headers-store-Content-Type headers-store-Clear-Site-Data
        headers-store-Keep-Alive headers-store-Proxy-Authenticate headers-store-Proxy-Authorization
        headers-store-Public-Key-Pins headers-store-Set-Cookie headers-store-Transfer-Encoding headers-store-Upgrade
        304-lm-use-stored-Test-Header 304-etag-update-response-Content-Foo 304-etag-update-response-X-Content-Foo
        invalidate-POST invalidate-PUT invalidate-DELETE invalidate-M-SEARCH
        partial-use-headers partial-use-stored-headers
        other-age-gen other-age-update-expires other-age-update-max-age other-date-update other-date-update-expires
        query-args-different
        """)

    /// The required cases that cannot be carried, and why. That it is refused is a case of ours.
    static let excused = [
        "headers-store-Transfer-Encoding":
            "The transport refuses a coding of the transfer that nobody asked for, so there is nothing to store."
    ]

    /// Every case of reuse that the suite calls optimal, where a cache does well that has it.
    static let optional = words(
        """
        freshness-max-age freshness-max-age-max-minus-1 freshness-max-age-max freshness-max-age-max-plus-1
        freshness-max-age-max-plus freshness-max-age-extension freshness-max-age-case-insenstive
        freshness-expires-future
        freshness-expires-32bit freshness-expires-rfc850 freshness-expires-ansi-c freshness-expires-wrong-case-month
        freshness-expires-wrong-case-tz
        cc-resp-no-cache-revalidate cc-resp-immutable-fresh
        stale-while-revalidate
        heuristic-200-cached heuristic-203-cached heuristic-204-cached heuristic-410-cached heuristic-414-cached
        heuristic-501-cached heuristic-599-cached
        method-POST
        status-200-fresh status-203-fresh status-204-fresh status-299-fresh status-301-fresh status-302-fresh
        status-303-fresh status-307-fresh status-308-fresh status-400-fresh status-404-fresh status-410-fresh
        status-499-fresh status-500-fresh status-502-fresh status-503-fresh status-504-fresh status-599-fresh
        vary-match vary-cache-key vary-2-match vary-3-match vary-3-omit vary-normalise-combine vary-normalise-lang-case
        vary-normalise-lang-space vary-normalise-lang-select vary-normalise-space
        conditional-lm-fresh-earlier conditional-lm-stale conditional-lm-fresh-no-lm
        conditional-etag-strong-respond conditional-etag-weak-respond conditional-etag-strong-respond-multiple-second
        conditional-etag-strong-generate conditional-etag-weak-generate-weak
        invalidate-POST-failed invalidate-M-SEARCH-failed
        partial-store-complete-reuse-partial partial-store-complete-reuse-partial-no-last
        partial-store-complete-reuse-partial-suffix partial-store-partial-reuse-partial-byterange
        partial-store-partial-complete
        query-args-same other-cookie
        interim-103 interim-no-header-reuse
        """)

    /// The optional cases that are left out, and why.
    static let leftOut = [
        "conditional-lm-fresh-no-lm": "Without Last-Modified the condition is to be passed over (RFC 9110 §13.1.3).",
        "partial-store-partial-complete": "Without a strong validator parts may not be joined (RFC 9111 §3.4).",
        "interim-103": "An interim response is not told to the caller of a client.",
        "interim-no-header-reuse": "An interim response is not told to the caller of a client.",
    ]

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

// MARK: Where each is shown

extension PublicCacheCases {
    static let shown: [Shown] =
        freshness + ages + expiry + directives + statuses + variants + conditions + fields + others

    private static let freshness: [Shown] = [
        ("freshness-max-age", ["A response is reused as long as max-age says, and no longer"]),
        ("freshness-max-age-stale", ["A response is reused as long as max-age says, and no longer"]),
        ("freshness-max-age-max-minus-1", ["2^31 - 1 seconds are very long"]),
        ("freshness-max-age-max", ["2^31 seconds too"]),
        ("freshness-max-age-max-plus-1", ["2^31 seconds too", "And more than that"]),
        ("freshness-max-age-max-plus", ["And more than that"]),
        ("freshness-max-age-age", ["What was old when it came is not reused"]),
        ("freshness-max-age-extension", ["a, b=\"c, d\", max-age=10 is ten seconds"]),
        ("freshness-max-age-case-insenstive", ["MAX-age=10 is ten seconds"]),
        ("freshness-max-age-negative", ["max-age=-5 gives no lifetime"]),
        ("freshness-max-age-s-maxage-private", ["The lifetime for shared caches does not lengthen"]),
        ("freshness-max-age-s-maxage-private-multiple", ["Nor does it lengthen from a line of its own"]),
        ("freshness-max-age-ignore-quoted-rev", ["Text in quotes is no directive"]),
        ("freshness-max-age-leading-zero", ["max-age=0010 is ten seconds"]),
        ("freshness-max-age-single-quoted", ["max-age='3600' gives no lifetime"]),
    ]

    private static let ages: [Shown] = [
        ("age-parse-nonnumeric", ["\"old\" is no Age"]),
        ("age-parse-negative", ["\"-1\" is no Age"]),
        ("age-parse-float", ["\"1.5\" is no Age"]),
        ("age-parse-large", ["2147483648 is a great age"]),
        ("age-parse-larger", ["2147483648 is a great age", "99999999999999999999 is a great age"]),
        ("age-parse-suffix", ["7200, 0 is a great age"]),
        ("age-parse-suffix-twoline", ["Of two lines of Age the first counts: old"]),
        ("age-parse-prefix-twoline", ["Of two lines of Age the first counts: new"]),
        ("age-parse-dup-0", ["Nor is no age told twice in one line"]),
        ("age-parse-dup-0-twoline", ["Two lines of no age are no age"]),
        ("age-parse-dup-old", ["Two lines of Age that are the same are one"]),
        ("other-age-gen", ["The answer tells its age"]),
        ("other-age-update-max-age", ["The age at which it came is a part of its age"]),
        ("other-age-update-expires", ["So it is where Expires is its end"]),
        ("other-date-update", ["And keeps its date"]),
        ("other-date-update-expires", ["So it is where Expires is its end"]),
    ]

    private static let expiry: [Shown] = [
        ("freshness-expires-future", ["Expires is when it ends, counted from Date"]),
        ("freshness-expires-past", ["Expires in the past ends at once"]),
        ("freshness-expires-present", ["Expires that is Date ends at once"]),
        ("freshness-expires-age-slow-date", ["By a server's slow clock, Age counts all the same"]),
        ("freshness-expires-32bit", ["Expires may lie beyond 32 bits"]),
        ("freshness-expires-rfc850", ["The older form of a date is one"]),
        ("freshness-expires-ansi-c", ["The form of C's asctime too"]),
        ("freshness-expires-wrong-case-month", ["Letter case in dates does not count"]),
        ("freshness-expires-wrong-case-tz", ["Letter case in dates does not count"]),
        ("freshness-expires-invalid-utc", ["Sun, 09 Sep 2001 02:46:40 UTC is no date, so it has passed"]),
        ("freshness-expires-invalid-aest", ["Mon, 09 Sep 2097 02:46:40 AEST is no date, so it has passed"]),
        ("freshness-expires-invalid-2-digit-year", ["Sun, 09 Sep 01 02:46:40 GMT is no date, so it has passed"]),
        ("freshness-expires-invalid-date-dashes", ["Sun, 09-Sep-2001 02:46:40 GMT is no date, so it has passed"]),
        ("freshness-expires-invalid-time-periods", ["Sun, 09 Sep 2001 02.46.40 GMT is no date, so it has passed"]),
        ("freshness-expires-invalid-multiple-lines", ["Two lines of Expires are none"]),
    ]

    private static let directives: [Shown] = [
        ("cc-resp-no-store", ["no-store: nothing is stored"]),
        ("cc-resp-no-store-case-insensitive", ["max-age=100, No-Store: nothing is stored"]),
        ("cc-resp-no-store-fresh", ["max-age=100, no-store: nothing is stored"]),
        ("cc-resp-no-store-old-new", ["What may not be stored does not take the place of what was"]),
        ("cc-resp-no-store-old-max-age", ["Nor where it has no lifetime either"]),
        ("cc-resp-no-cache", ["no-cache, max-age=100: stored, and asked about before each use"]),
        (
            "cc-resp-no-cache-case-insensitive",
            ["max-age=100, No-Cache: stored, and asked about before each use"]
        ),
        ("cc-resp-no-cache-revalidate", ["no-cache: stored, and asked about before each use"]),
        ("cc-resp-must-revalidate-stale", ["must-revalidate is nothing while it is fresh"]),
        ("cc-resp-immutable-fresh", ["A reload of what cannot change is answered at once"]),
        ("cc-resp-immutable-stale", ["Until it is stale"]),
        ("stale-while-revalidate", ["stale-while-revalidate: the stale one at once, the new one next"]),
        ("stale-while-revalidate-window", ["And not when its time is over"]),
        (
            "stale-close-must-revalidate",
            [
                "What is stale steps in when the connection breaks",
                "Not what must be validated once it is stale",
            ]
        ),
        ("status-599-must-understand", ["must-understand forbids what is not understood"]),
    ]

    private static let statuses: [Shown] =
        [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599].map {
            ("status-\($0)-fresh", ["\($0) is reused for as long as it says"])
        }
        + [203, 302, 303, 307, 308, 499, 500, 502, 599].map {
            ("status-\($0)-stale", ["\($0) is reused for as long as it says"])
        }
        + [200, 203, 204, 410, 414, 501].map {
            ("heuristic-\($0)-cached", ["\($0) says nothing, and is reused by its age"])
        }
        + [201, 202, 502, 599].map {
            ("heuristic-\($0)-not_cached", ["\($0) says nothing, and is not reused"])
        }
        + [("heuristic-599-cached", ["public lets any status be reused by its age"])]

    private static let variants: [Shown] = [
        ("vary-match", ["The same field, the same response; another field, another one"]),
        ("vary-no-match", ["The same field, the same response; another field, another one"]),
        ("vary-omit-stored", ["No field is not the same as some"]),
        ("vary-cache-key", ["Other fields do not matter"]),
        ("vary-2-match", ["All of several fields must be the same"]),
        ("vary-2-match-omit", ["Some field is not the same as none", "All of several fields must be the same"]),
        ("vary-3-match", ["All of several fields must be the same"]),
        ("vary-3-order", ["All of several fields must be the same"]),
        ("vary-3-omit", ["A field that is absent from both is the same"]),
        ("vary-star", ["*: never the same"]),
        ("vary-syntax-star-star", ["*, *: never the same"]),
        ("vary-syntax-empty-star", [", *: never the same"]),
        ("vary-syntax-foo-star", ["Foo, *: never the same"]),
        ("vary-normalise-combine", ["Several lines are one"]),
        ("vary-normalise-space", ["White space in lists does not count"]),
        ("vary-normalise-lang-case", ["Languages are compared without regard to case"]),
        ("vary-normalise-lang-space", ["Languages are compared without regard to case"]),
        ("vary-normalise-lang-select", ["The language that is liked best is taken"]),
    ]

    private static let conditions: [Shown] = [
        ("conditional-etag-strong-generate", ["The tag \"a\" goes as it came"]),
        ("conditional-etag-weak-generate-weak", ["The tag W/\"a\" goes as it came"]),
        ("conditional-etag-vary-headers", ["What the request varies by goes along"]),
        ("conditional-etag-strong-respond", ["The caller's own condition is answered"]),
        ("conditional-etag-strong-respond-multiple-second", ["The caller's own condition is answered"]),
        ("conditional-etag-weak-respond", ["A weak tag meets a condition too"]),
        ("conditional-304-etag", ["The caller's own condition is answered"]),
        ("conditional-etag-precedence", ["By date too, when there is no tag in it"]),
        ("conditional-lm-fresh-earlier", ["By date too, when there is no tag in it"]),
        (
            "conditional-lm-stale",
            ["What is stale meets the caller's condition once the server has said that it does"]
        ),
        ("304-lm-use-stored-Test-Header", ["The date goes as it came, and what is stored is the answer"]),
        ("304-etag-update-response-Content-Foo", ["A 304 brings new fields and a new lifetime"]),
        ("304-etag-update-response-X-Content-Foo", ["A 304 brings new fields and a new lifetime"]),
    ]

    private static let fields: [Shown] =
        [
            "X-Test-Header", "Content-Foo", "Content-Location", "Content-Security-Policy", "Content-Type",
            "Clear-Site-Data", "Public-Key-Pins", "Set-Cookie",
        ].map { ("headers-store-\($0)", ["What is for the caller comes back as it came"]) }
        + ["Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Upgrade"].map {
            ("headers-store-\($0)", ["What was for the connection is not stored"])
        }
        + [
            ("headers-omit-headers-listed-in-Connection", ["What was for the connection is not stored"]),
            ("headers-store-Content-Encoding", ["A coding that nobody knows is left as it is"]),
        ]

    private static let others: [Shown] =
        ["POST", "PUT", "DELETE", "M-SEARCH"].map {
            ("invalidate-\($0)", ["\($0) that succeeds makes what is stored invalid"])
        }
        + ["POST", "M-SEARCH"].map { ("invalidate-\($0)-failed", ["\($0) that fails does not"]) }
        + [
            ("method-POST", ["POST brings what a GET would have, when it says so"]),
            ("partial-use-headers", ["A range is cut out of what is stored"]),
            ("partial-use-stored-headers", ["A range is cut out of what is stored"]),
            ("partial-store-complete-reuse-partial", ["A range is cut out of what is stored"]),
            ("partial-store-complete-reuse-partial-no-last", ["A range is cut out of what is stored"]),
            ("partial-store-complete-reuse-partial-suffix", ["A range is cut out of what is stored"]),
            (
                "partial-store-partial-reuse-partial-byterange",
                ["Where less came than its range says, it answers for what came"]
            ),
            ("query-args-different", ["Another query is another resource"]),
            ("query-args-same", ["Another query is another resource"]),
            ("other-cookie", ["A cookie does not matter"]),
        ]
}
