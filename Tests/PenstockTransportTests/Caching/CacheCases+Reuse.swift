import PenstockCore

/// How long a response is reused, and what lengthens, shortens or forbids it.
extension CacheCase {
    static let freshness: [CacheCase] = [
        CacheCase(
            "A response is reused as long as max-age says, and no longer",
            .load(["Cache-Control": "max-age=10"]), .hit().after(9), .load().after(2)),
        CacheCase(
            "2^31 - 1 seconds are very long", .load(["Cache-Control": "max-age=2147483647"]), .hit().after(1_000_000)),
        CacheCase("2^31 seconds too", .load(["Cache-Control": "max-age=2147483648"]), .hit().after(1_000_000)),
        CacheCase("And more than that", .load(["Cache-Control": "max-age=99999999999"]), .hit().after(1_000_000)),
        CacheCase(
            "What was old when it came is not reused", .load(["Cache-Control": "max-age=3600", "Age": "7200"]), .load()),
        CacheCase(
            "The age at which it came is a part of its age",
            .load(["Cache-Control": "max-age=10", "Age": "5"]), .hit().after(4).gets(["Age": "9"]), .load().after(2)),
        CacheCase(
            "An old Date is an age too",
            .load(["Cache-Control": "max-age=10", "Date": date(-11)]), .load()),
        CacheCase(
            "Expires is when it ends, counted from Date",
            .load(["Expires": date(10), "Date": date(0)]), .hit().after(9), .load().after(2)),
        CacheCase(
            "By a server's slow clock, Age counts all the same",
            .load(["Expires": date(10), "Date": date(-10), "Age": "25"]), .load()),
        CacheCase("Expires in the past ends at once", .load(["Expires": date(-10), "Date": date(0)]), .load()),
        CacheCase("Expires that is Date ends at once", .load(["Expires": date(0), "Date": date(0)]), .load()),
        CacheCase("Expires may be without Date", .load(["Expires": date(10)]), .hit().after(9), .load().after(2)),
        CacheCase(
            "max-age overrules an earlier Expires",
            .load(["Cache-Control": "max-age=10", "Expires": date(-10), "Date": date(0)]), .hit().after(9)),
        CacheCase(
            "max-age overrules a later Expires",
            .load(["Cache-Control": "max-age=0", "Expires": date(100), "Date": date(0)]), .load()),
        CacheCase(
            "Expires may lie beyond 32 bits", .load(["Expires": "Tue, 19 Jan 2100 00:00:00 GMT"]),
            .hit().after(1_000_000)),
        CacheCase(
            "The older form of a date is one", .load(["Expires": "Sunday, 09-Sep-01 02:46:40 GMT"]), .hit().after(3_000)
        ),
        CacheCase("The form of C's asctime too", .load(["Expires": "Sun Sep  9 02:46:40 2001"]), .hit().after(3_000)),
        CacheCase(
            "The lifetime for shared caches does not lengthen",
            .load(["Cache-Control": "max-age=1, s-maxage=100"]), .load().after(2)),
        CacheCase(
            "Nor does it shorten", .load(["Cache-Control": "max-age=100", "Cache-Control": "s-maxage=1"]),
            .hit().after(2)),
        CacheCase(
            "Nor does it lengthen from a line of its own",
            .load(["Cache-Control": "s-maxage=100", "Cache-Control": "max-age=1"]), .load().after(2)),
        CacheCase("What says nothing is not reused", .load(), .load()),
        CacheCase(
            "What was last modified long ago is reused for a tenth of that time",
            .load(["Last-Modified": date(-864_000), "Date": date(0)]), .hit().after(86_000),
            .validation(["If-Modified-Since": date(-864_000)]).after(1_000).answered(200)),
        CacheCase(
            "The answer tells its age", .load(["Cache-Control": "max-age=100"]), .hit().after(7).gets(["Age": "7"])),
        CacheCase(
            "And keeps its date", .load(["Cache-Control": "max-age=100", "Date": date(0)]),
            .hit().after(7).gets(["Date": date(0)])),
        CacheCase(
            "So it is where Expires is its end", .load(["Expires": date(100), "Date": date(0), "Age": "30"]),
            .hit().after(7).gets(["Age": "37", "Date": date(0)])),
        CacheCase(
            "Another query is another resource", .load(["Cache-Control": "max-age=100"]).at("/item?a=1"),
            .load(["Cache-Control": "max-age=100"]).at("/item?a=2"), .hit(1).at("/item?a=1"), .hit(2).at("/item?a=2")),
        CacheCase(
            "Escapes in another case are the same resource",
            .load(["Cache-Control": "max-age=100"]).at("/caf%c3%a9"), .hit().at("/caf%C3%A9")),
    ]

    static let malformed: [CacheCase] =
        (["max-age=-5", "max-age='3600'", "max-age=", "max-age", "ext=\"max-age=3600\"", "x-max-age=3600"] as [String])
        .map {
            CacheCase("\($0) gives no lifetime", .load(["Cache-Control": $0]), .load())
        }
        + (["max-age=0010", "MAX-age=10", "a, b=\"c, d\", max-age=10", ",,max-age=10,"] as [String]).map {
            CacheCase("\($0) is ten seconds", .load(["Cache-Control": $0]), .hit().after(9), .load().after(2))
        }
        + (["old", "-1", "1.5", ""] as [String]).map {
            CacheCase("\"\($0)\" is no Age", .load(["Cache-Control": "max-age=10", "Age": $0]), .hit().after(9))
        }
        + (["2147483648", "99999999999999999999", "7200, 0", "7200, 7200"] as [String]).map {
            CacheCase("\($0) is a great age", .load(["Cache-Control": "max-age=3600", "Age": $0]), .load())
        }
        + ([
            "0", "-1", "soon", "Sun, 09 Sep 2001 02:46:40 UTC", "Sun, 09 Sep 2001 02:46:40 -0100",
            "Mon, 09 Sep 2097 02:46:40 AEST",
            "Sun, 09 Sep 01 02:46:40 GMT", "Sun, 09-Sep-2001 02:46:40 GMT", "Sun, 09 Sep 2001 02.46.40 GMT",
            "Sun, 31 Sep 2001 02:46:40 GMT",
        ] as [String]).map { CacheCase("\($0) is no date, so it has passed", .load(["Expires": $0]), .load()) }
        + [
            CacheCase(
                "Text in quotes is no directive", .load(["Cache-Control": "max-age=1, ext=\"max-age=100\""]),
                .load().after(2)),
            CacheCase(
                "Of two lines of Age the first counts: old",
                .load(
                    ["Cache-Control": "max-age=3600", "Age": "7200", "Age": "0"]), .load()),
            CacheCase(
                "Of two lines of Age the first counts: new",
                .load(
                    ["Cache-Control": "max-age=3600", "Age": "0", "Age": "7200"]), .hit()),
            CacheCase(
                "Two lines of Age that are the same are one",
                .load(["Cache-Control": "max-age=100", "Age": "60", "Age": "60"]), .hit().after(39), .load().after(2)),
            CacheCase(
                "Two lines of no age are no age",
                .load(["Cache-Control": "max-age=10", "Age": "0", "Age": "0"]), .hit().after(9), .load().after(2)),
            CacheCase(
                "Nor is no age told twice in one line",
                .load(["Cache-Control": "max-age=10", "Age": "0, 0"]), .hit().after(9), .load().after(2)),
            CacheCase("Two lines of Expires are none", .load(["Expires": date(100), "Expires": date(100)]), .load()),
            CacheCase(
                "Letter case in dates does not count", .load(["Expires": "sun, 09 SEP 2001 02:46:40 gmt"]), .hit()),
        ]

    static let responseDirectives: [CacheCase] =
        (["no-store", "max-age=100, No-Store", "no-store, max-age=100", "max-age=100, no-store"] as [String]).map {
            CacheCase("\($0): nothing is stored", .load(["Cache-Control": $0]), .load())
        }
        + (["no-cache", "max-age=100, No-Cache", "no-cache, max-age=100"] as [String]).map {
            CacheCase(
                "\($0): stored, and asked about before each use", .load(["Cache-Control": $0, "ETag": "\"a\""]),
                .validation(["If-None-Match": "\"a\""]).answered(304).gets(200, body: "1"))
        }
        + [
            CacheCase(
                "What may not be stored does not take the place of what was",
                .load(["Cache-Control": "max-age=100"]),
                .load(["Cache-Control": "no-store"]).asking(["Cache-Control": "no-cache"]), .hit(1)),
            CacheCase(
                "Nor where it has no lifetime either", .load(["Cache-Control": "max-age=100"]),
                .load(["Cache-Control": "no-store, max-age=0"]).asking(["Cache-Control": "no-cache"]), .hit(1)),
            CacheCase(
                "A private cache stores what is private", .load(["Cache-Control": "private, max-age=10"]), .hit()),
            CacheCase(
                "must-revalidate is nothing while it is fresh",
                .load(["Cache-Control": "max-age=10, must-revalidate", "ETag": "\"a\""]), .hit().after(9),
                .validation(["If-None-Match": "\"a\""]).after(2).answered(304).gets(200, body: "1")),
            CacheCase(
                "must-understand forbids what is not understood",
                .load(["Cache-Control": "max-age=100, no-store, must-understand"], status: 599), .load()),
            CacheCase(
                "must-understand takes no-store away from what is understood",
                .load(["Cache-Control": "max-age=100, no-store, must-understand"]), .hit()),
            CacheCase(
                "A reload of what cannot change is answered at once",
                .load(["Cache-Control": "max-age=100, immutable"]), .hit().asking(["Cache-Control": "max-age=0"])),
            CacheCase(
                "Until it is stale", .load(["Cache-Control": "max-age=10, immutable", "ETag": "\"a\""]),
                .validation(["If-None-Match": "\"a\"", "Cache-Control": "max-age=0"]).after(11)
                    .asking(["Cache-Control": "max-age=0"]).answered(304).gets(200, body: "1")),
            CacheCase(
                "Pragma in a response means nothing",
                .load(["Cache-Control": "max-age=10", "Pragma": "no-cache"]), .hit().after(9)),
        ]

    static let requestDirectives: [CacheCase] = [
        CacheCase(
            "max-age says how old it may be", .load(["Cache-Control": "max-age=100"]),
            .hit().after(5).asking(["Cache-Control": "max-age=10"]),
            .load().after(6).asking(["Cache-Control": "max-age=10"])),
        CacheCase(
            "max-age=0 asks the server", .load(["Cache-Control": "max-age=100"]),
            .load().asking(["Cache-Control": "max-age=0"])),
        CacheCase(
            "min-fresh says how long it must last", .load(["Cache-Control": "max-age=100"]),
            .hit().asking(["Cache-Control": "min-fresh=50"]),
            .load().after(60).asking(["Cache-Control": "min-fresh=50"])),
        CacheCase(
            "max-stale says how stale it may be", .load(["Cache-Control": "max-age=10"]),
            .hit().after(15).asking(["Cache-Control": "max-stale=10"]),
            .load().after(10).asking(["Cache-Control": "max-stale=10"])),
        CacheCase(
            "max-stale alone: however stale", .load(["Cache-Control": "max-age=10"]),
            .hit().after(10_000).asking(["Cache-Control": "max-stale"])),
        CacheCase(
            "max-stale does not overrule must-revalidate", .load(["Cache-Control": "max-age=10, must-revalidate"]),
            .load().after(15).asking(["Cache-Control": "max-stale"])),
        CacheCase(
            "no-cache asks the server", .load(["Cache-Control": "max-age=100"]),
            .load().asking(["Cache-Control": "no-cache"])),
        CacheCase(
            "About what is stored, when it has a tag", .load(["Cache-Control": "max-age=100", "ETag": "\"a\""]),
            .validation(["If-None-Match": "\"a\"", "Cache-Control": "no-cache"])
                .asking(["Cache-Control": "no-cache"]).answered(304).gets(200, body: "1")),
        CacheCase(
            "no-store neither uses what is stored nor stores", .load(["Cache-Control": "max-age=100"]),
            .load(["Cache-Control": "max-age=100"]).asking(["Cache-Control": "no-store"]), .hit(1)),
        CacheCase(
            "only-if-cached sends nothing", .refusal(504).asking(["Cache-Control": "only-if-cached"]),
            .load(["Cache-Control": "max-age=10"]), .hit(1).asking(["Cache-Control": "only-if-cached"]),
            .refusal(504).after(11).asking(["Cache-Control": "only-if-cached"])),
        CacheCase(
            "A cookie does not matter", .load(["Cache-Control": "max-age=100"]).asking(["Cookie": "a=1"]),
            .hit().asking(["Cookie": "a=2"])),
    ]

    static let stale: [CacheCase] = [
        CacheCase(
            "What is stale steps in when the connection breaks", .load(["Cache-Control": "max-age=10"]),
            .asks([:]).after(11).dropped().gets(200, body: "1")),
        CacheCase(
            "Not a week later", .load(["Cache-Control": "max-age=10"]), .asks([:]).after(700_000).dropped().failing()),
        CacheCase(
            "Not what must be validated once it is stale", .load(["Cache-Control": "max-age=10, must-revalidate"]),
            .asks([:]).after(11).dropped().failing()),
        CacheCase(
            "Not what must be validated always", .load(["Cache-Control": "max-age=10, no-cache"]),
            .asks([:]).dropped().failing()),
        CacheCase(
            "stale-if-error: nor when the server fails, for as long as it says",
            .load(["Cache-Control": "max-age=10, stale-if-error=100"]),
            .asks([:]).after(50).answered(503).gets(200, body: "1"), .asks([:]).after(100).answered(503)),
        CacheCase(
            "stale-if-error of the request", .load(["Cache-Control": "max-age=10"]),
            .asks([:]).after(50).asking(["Cache-Control": "stale-if-error=100"]).answered(500).gets(200, body: "1")),
        CacheCase(
            "Without it the failure is the answer", .load(["Cache-Control": "max-age=10"]),
            .asks([:]).after(11).answered(503)),
        CacheCase(
            "What the request is to blame for is the answer",
            .load(["Cache-Control": "max-age=10, stale-if-error=100"]), .asks([:]).after(11).answered(404)),
        CacheCase(
            "stale-while-revalidate: the stale one at once, the new one next",
            .load(["Cache-Control": "max-age=10, stale-while-revalidate=100"]),
            .hitAndRefresh(1, answered: ["Cache-Control": "max-age=10"]).after(50), .hit(2).after(9)),
        CacheCase(
            "And not when its time is over",
            .load(["Cache-Control": "max-age=10, stale-while-revalidate=100"]), .load().after(111)),
    ]
}
