import PenstockCore

/// What statuses, methods, variants and validators make of what is stored.
extension CacheCase {
    static let statuses: [CacheCase] =
        [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599].map {
            CacheCase(
                // Its age, by which some would be reused for a day, does not count beside that.
                "\($0) is reused for as long as it says",
                .load(
                    ["Cache-Control": "max-age=10", "Last-Modified": date(-864_000), "Date": date(0)], status: $0),
                .hit(1, status: $0).after(9), .asks([:]).after(2))
        }
        + [200, 203, 204, 300, 404, 405, 410, 414, 501].map {
            CacheCase(
                "\($0) says nothing, and is reused by its age",
                .load(["Last-Modified": date(-864_000), "Date": date(0)], status: $0), .hit(1, status: $0).after(3_600))
        }
        + [201, 202, 302, 400, 403, 500, 502, 599].map {
            CacheCase(
                "\($0) says nothing, and is not reused",
                .load(["Last-Modified": date(-864_000), "Date": date(0)], status: $0), .asks([:]).answered(200))
        }
        + [
            CacheCase(
                "public lets any status be reused by its age",
                .load(["Cache-Control": "public", "Last-Modified": date(-864_000), "Date": date(0)], status: 599),
                .hit(1, status: 599).after(3_600))
        ]

    static let methods: [CacheCase] =
        [HTTPMethod.post, .put, .patch, .delete, HTTPMethod(rawValue: "M-SEARCH")].compactMap { $0 }.flatMap { method in
            [
                CacheCase(
                    "\(method.rawValue) that succeeds makes what is stored invalid",
                    .load(["Cache-Control": "max-age=100"]), .load().by(method), .load()),
                CacheCase(
                    "\(method.rawValue) that fails does not", .load(["Cache-Control": "max-age=100"]),
                    .load(status: 500).by(method), .hit(1)),
            ]
        }
        + [HTTPFieldName.location, "Content-Location"].flatMap { name in
            [
                CacheCase(
                    "What \(name) names becomes invalid too", .load(["Cache-Control": "max-age=100"]).at("/other"),
                    .load([name: "/other"], status: 201).by(.post), .load().at("/other")),
                CacheCase(
                    "What \(name) names at another origin does not",
                    .load(["Cache-Control": "max-age=100"]).at("/other"),
                    .load([name: "http://127.0.0.1:1/other"], status: 201).by(.post), .hit(1).at("/other")),
            ]
        }
        + [
            CacheCase(
                "POST brings what a GET would have, when it says so",
                .load(["Cache-Control": "max-age=100", "Content-Location": "/item"]).by(.post), .hit(1)),
            CacheCase("POST brings nothing else", .load(["Cache-Control": "max-age=100"]).by(.post), .load()),
            CacheCase("PUT brings nothing", .load(["Cache-Control": "max-age=100"]).by(.put), .load()),
            CacheCase(
                "HEAD is answered by what GET brought", .load(["Cache-Control": "max-age=100"]), .hit().by(.head)),
            CacheCase("GET is not answered by HEAD", .load(["Cache-Control": "max-age=100"]).by(.head), .load()),
            CacheCase(
                "HEAD freshens what it is the head of",
                .load(["Cache-Control": "max-age=10", "ETag": "\"a\"", "X-A": "old", "X-B": "kept"]),
                .asks([:]).after(11).by(.head)
                    .answered(200, ["Cache-Control": "max-age=10", "ETag": "\"a\"", "X-A": "new"]),
                .hit(1).after(9).gets(["X-A": "new", "X-B": "kept"])),
            CacheCase(
                "HEAD of something else makes what is stored invalid",
                .load(["Cache-Control": "max-age=10", "ETag": "\"a\""]),
                .asks([:]).by(.head).asking(["Cache-Control": "no-cache"]).answered(200, ["ETag": "\"b\""]),
                .validation(["If-None-Match": "\"a\""]).answered(200)),
        ]

    private static let vary: HTTPFields = ["Cache-Control": "max-age=100", "Vary": "Foo"]

    static let variants: [CacheCase] =
        [
            CacheCase(
                "The same field, the same response; another field, another one", .load(vary).asking(["Foo": "1"]),
                .hit(1).asking(["Foo": "1"]), .load(vary).asking(["Foo": "2"]), .hit(1).asking(["Foo": "1"]),
                .hit(2).asking(["Foo": "2"])),
            CacheCase("No field is not the same as some", .load(vary), .load(vary).asking(["Foo": "1"]), .hit(1)),
            CacheCase("Some field is not the same as none", .load(vary).asking(["Foo": "1"]), .load(vary)),
            CacheCase(
                "Names are compared without regard to case",
                .load(["Cache-Control": "max-age=100", "Vary": "fOO"])
                    .asking(["Foo": "1"]), .hit().asking(["FOO": "1"]), .load().asking(["foo": "2"])),
            CacheCase(
                "All of several fields must be the same",
                .load(["Cache-Control": "max-age=100", "Vary": "A, B", "Vary": "C"]).asking([
                    "A": "1", "B": "2", "C": "3",
                ]),
                .hit().asking(["C": "3", "B": "2", "A": "1"]),
                .load(["Cache-Control": "max-age=100", "Vary": "A, B, C"]).asking(["A": "1", "C": "4", "B": "2"]),
                .load().asking(["A": "1", "B": "2"])),
            CacheCase(
                "A field that is absent from both is the same",
                .load(["Cache-Control": "max-age=100", "Vary": "A, B"]).asking(["A": "1"]), .hit().asking(["A": "1"])),
            CacheCase("Other fields do not matter", .load(vary).asking(["Bar": "1"]), .hit().asking(["Bar": "2"])),
            CacheCase(
                "Several lines are one", .load(vary).asking(["Foo": "1", "Foo": "2"]), .hit().asking(["Foo": "1, 2"])),
            CacheCase(
                "White space in lists does not count", .load(vary).asking(["Foo": "1,2"]),
                .hit().asking(["Foo": "1 ,  2"])),
            CacheCase(
                "Languages are compared without regard to case",
                .load(["Cache-Control": "max-age=100", "Vary": "Accept-Language"]).asking([
                    "Accept-Language": "en-US, de"
                ]),
                .hit().asking(["Accept-Language": "EN-us,DE"])),
            CacheCase(
                "The language that is liked best is taken",
                .load(["Cache-Control": "max-age=100", "Vary": "Accept-Language", "Content-Language": "de"])
                    .asking(["Accept-Language": "fr;q=0.5, de;q=1.0"]),
                .hit().asking(["Accept-Language": "de"]), .load().asking(["Accept-Language": "fr"])),
            CacheCase(
                "The server may choose among all that is stored",
                .load(["Cache-Control": "max-age=100", "Vary": "Foo", "ETag": "\"a\""]).asking(["Foo": "1"]),
                .validation(["If-None-Match": "\"a\"", "Foo": "2"]).asking(["Foo": "2"])
                    .answered(304, ["ETag": "\"a\"", "Vary": "Foo", "Cache-Control": "max-age=100"])
                    .gets(200, body: "1")),
        ]
        + (["*", "Foo, *", ", *", "*, *"] as [String]).map {
            CacheCase("\($0): never the same", .load(["Cache-Control": "max-age=100", "Vary": $0]), .load())
        }

    static let validation: [CacheCase] =
        (["\"a\"", "W/\"a\"", "\"\"", "\"a,b\""] as [String]).map {
            CacheCase(
                "The tag \($0) goes as it came", .load(["Cache-Control": "max-age=1", "ETag": $0]),
                .validation(["If-None-Match": $0], without: ["If-Modified-Since"]).after(2).answered(304)
                    .gets(200, body: "1"))
        }
        + [
            CacheCase(
                "The date goes as it came, and what is stored is the answer",
                .load(["Cache-Control": "max-age=1", "Last-Modified": date(-100), "X-A": "1"]),
                .validation(["If-Modified-Since": date(-100)], without: ["If-None-Match"]).after(2).answered(304)
                    .gets(200, body: "1").gets(["X-A": "1"])),
            CacheCase(
                "A 304 brings new fields and a new lifetime",
                .load([
                    "Cache-Control": "max-age=1", "ETag": "\"a\"", "X-A": "old", "Content-Foo": "old", "X-B": "kept",
                ]),
                .validation(["If-None-Match": "\"a\""]).after(2)
                    .answered(304, ["Cache-Control": "max-age=100", "X-A": "new", "Content-Foo": "new"])
                    .gets(200, body: "1").gets(["X-A": "new", "Content-Foo": "new", "X-B": "kept"]),
                .hit(1).after(99).gets(["X-A": "new", "Content-Foo": "new", "X-B": "kept"])),
            CacheCase(
                "A 304 that says nothing begins the old lifetime again",
                .load(["Cache-Control": "max-age=10", "ETag": "\"a\""]),
                .validation(["If-None-Match": "\"a\""]).after(11).answered(304).gets(200, body: "1"), .hit(1).after(9)),
            CacheCase(
                "A 304 does not change what describes the content",
                .load(["Cache-Control": "max-age=1", "ETag": "\"a\"", "Content-Type": "text/x-one"]),
                .validation(["If-None-Match": "\"a\""]).after(2)
                    .answered(304, ["Cache-Control": "max-age=9", "Content-Range": "bytes 0-0/1"]).gets(200, body: "1"),
                .hit(1).gets(["Content-Type": "text/x-one", "Content-Length": "1"], without: ["Content-Range"])),
            CacheCase(
                "Another response takes the place of what was asked about",
                .load(["Cache-Control": "max-age=1", "ETag": "\"a\""]),
                .validation(["If-None-Match": "\"a\""]).after(2)
                    .answered(200, ["Cache-Control": "max-age=10", "ETag": "\"b\""]), .hit(2)),
            CacheCase(
                "What the request varies by goes along",
                .load(["Cache-Control": "max-age=1", "ETag": "\"a\"", "Vary": "Foo"]).asking(["Foo": "1"]),
                .validation(["If-None-Match": "\"a\"", "Foo": "1"]).after(2).asking(["Foo": "1"]).answered(304)
                    .gets(200, body: "1")),
            CacheCase(
                "The caller's own condition is answered", .load(["Cache-Control": "max-age=100", "ETag": "\"a\""]),
                .hit(1, status: 304).asking(["If-None-Match": "\"a\""]).gets(["ETag": "\"a\""]),
                .hit(1, status: 304).asking(["If-None-Match": "\"x\", W/\"a\""]),
                .hit(1, status: 304).asking(["If-None-Match": "*"]), .hit(1).asking(["If-None-Match": "\"x\""])),
            CacheCase(
                "By date too, when there is no tag in it",
                .load(["Cache-Control": "max-age=100", "ETag": "\"a\"", "Last-Modified": date(-100)]),
                .hit(1, status: 304).asking(["If-Modified-Since": date(-100)]),
                .hit(1, status: 304).asking(["If-Modified-Since": date(-50)]),
                .hit(1).asking(["If-Modified-Since": date(-200)]),
                .hit(1).asking(["If-Modified-Since": date(-100), "If-None-Match": "\"x\""]),
                .hit(1, status: 304).asking(["If-Modified-Since": date(-200), "If-None-Match": "\"a\""])),
            CacheCase(
                "A weak tag meets a condition too", .load(["Cache-Control": "max-age=100", "ETag": "W/\"a\""]),
                .hit(1, status: 304).asking(["If-None-Match": "W/\"a\""])),
            CacheCase(
                "What is stale meets the caller's condition once the server has said that it does",
                .load(["Cache-Control": "max-age=1", "Last-Modified": date(-100)]),
                .validation(["If-Modified-Since": date(-100)]).after(2).asking(["If-Modified-Since": date(-100)])
                    .answered(304)),
            CacheCase(
                "The caller's condition is the server's when nothing is stored",
                .asks(["If-None-Match": "\"a\""]).asking(["If-None-Match": "\"a\""]).answered(304)),
        ]

    static let fields: [CacheCase] = [
        CacheCase(
            "What is for the caller comes back as it came",
            .load([
                "Cache-Control": "max-age=100", "X-A": "1", "X-A": "2", "Content-Foo": "x", "Content-Type": "text/odd",
                "Content-Location": "/elsewhere", "Content-Security-Policy": "default-src 'none'", "Set-Cookie": "a=b",
                "Clear-Site-Data": "\"cookies\"", "Public-Key-Pins": "odd",
            ]),
            .hit().gets([
                "X-A": "1, 2", "Content-Foo": "x", "Content-Type": "text/odd", "Content-Location": "/elsewhere",
                "Content-Security-Policy": "default-src 'none'", "Set-Cookie": "a=b", "Clear-Site-Data": "\"cookies\"",
                "Public-Key-Pins": "odd",
            ])),
        CacheCase(
            "What was for the connection is not stored",
            .load([
                "Cache-Control": "max-age=100", "Connection": "X-Hop, X-Jump", "X-Hop": "1", "X-Jump": "2", "X-A": "3",
                "Keep-Alive": "timeout=9", "Proxy-Authenticate": "Basic", "Proxy-Authorization": "Basic YTpi",
                "Upgrade": "h9",
            ]),
            .hit().gets(
                ["X-A": "3"],
                without: [
                    "X-Hop", "X-Jump", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
                    "Upgrade",
                ])),
        CacheCase(
            "A response in a coding of the transfer that nobody asked for is refused, and not stored",
            .load(["Cache-Control": "max-age=100", "Transfer-Encoding": "odd"]).failing(), .load()),
        CacheCase(
            "A coding that nobody knows is left as it is",
            .load(["Cache-Control": "max-age=100", "Content-Encoding": "odd"]),
            .hit().gets(["Content-Encoding": "odd"])),
        CacheCase(
            "Who is logged in does not matter to a private cache",
            .load(["Cache-Control": "max-age=100"]).asking(["Authorization": "Basic YTpi"]),
            .hit().asking(["Authorization": "Basic YTpi"])),
    ]

    private static let ten = "0123456789"
    private static let whole: CacheStep = .load(
        ["Cache-Control": "max-age=100", "ETag": "\"a\"", "X-A": "1"], body: ten)

    private static func part(_ range: String, _ body: String, tag: String = "\"a\"") -> CacheStep {
        .load(
            ["Cache-Control": "max-age=100", "ETag": tag, "Content-Range": "bytes \(range)"], status: 206, body: body)
    }

    static let parts: [CacheCase] = [
        CacheCase(
            "A range is cut out of what is stored", whole,
            .hit().asking(["Range": "bytes=2-4"]).gets(206, body: "234")
                .gets(["Content-Range": "bytes 2-4/10", "Content-Length": "3", "X-A": "1"]),
            .hit().asking(["Range": "bytes=7-"]).gets(206, body: "789"),
            .hit().asking(["Range": "bytes=-2"]).gets(206, body: "89"),
            .hit().asking(["Range": "bytes=10-"]).gets(416, body: "").gets(["Content-Range": "bytes */10"])),
        CacheCase(
            "If-Range gives a range of the one that is meant alone", whole,
            .hit().asking(["Range": "bytes=2-4", "If-Range": "\"a\""]).gets(206, body: "234"),
            .hit().asking(["Range": "bytes=2-4", "If-Range": "\"b\""]).gets(200, body: ten)),
        CacheCase(
            "A part answers for what lies within it",
            part("4-9/10", "456789").asking(["Range": "bytes=4-9"]),
            .hit().asking(["Range": "bytes=6-7"]).gets(206, body: "67").gets(["Content-Range": "bytes 6-7/10"]),
            .load(status: 206).asking(["Range": "bytes=2-5"])),
        CacheCase(
            "Where less came than its range says, it answers for what came",
            part("4-9/10", "45678").asking(["Range": "bytes=-6"]),
            .hit().asking(["Range": "bytes=6-8"]).gets(206, body: "678").gets(["Content-Range": "bytes 6-8/10"]),
            .load(status: 206).asking(["Range": "bytes=6-9"])),
        CacheCase(
            "Where more came than its range says, nothing is stored",
            part("4-8/10", "456789").asking(["Range": "bytes=4-8"]),
            .load(status: 206).asking(["Range": "bytes=4-5"])),
        CacheCase(
            "What is missing of a part is loaded, if it is still the same",
            part("0-4/10", "01234").asking(["Range": "bytes=0-4"]),
            .asks(["Range": "bytes=5-", "If-Range": "\"a\""])
                .answered(
                    206, ["Cache-Control": "max-age=100", "ETag": "\"a\"", "Content-Range": "bytes 5-9/10"],
                    body: "56789"
                ).gets(200, body: ten),
            .hit().gets(200, body: ten).gets(["Content-Length": "10"], without: ["Content-Range"])),
        CacheCase(
            "If it is not, all of the new one comes", part("0-4/10", "01234").asking(["Range": "bytes=0-4"]),
            .asks(["Range": "bytes=5-", "If-Range": "\"a\""])
                .answered(200, ["Cache-Control": "max-age=100", "ETag": "\"b\""], body: "new"),
            .hit().gets(200, body: "new")),
        CacheCase(
            "Without a strong tag nothing is joined",
            part("0-4/10", "01234", tag: "W/\"a\"").asking(["Range": "bytes=0-4"]), .load(body: ten)),
        CacheCase(
            "Parts of the same are joined", part("0-4/10", "01234").asking(["Range": "bytes=0-4"]),
            part("5-9/10", "56789").asking(["Range": "bytes=5-9"]), .hit().gets(200, body: ten)),
        CacheCase(
            "Parts of different ones are not", part("0-4/10", "01234").asking(["Range": "bytes=0-4"]),
            part("5-9/10", "56789", tag: "\"b\"").asking(["Range": "bytes=5-9"]),
            .asks(["If-Range": "\"b\""]).answered(200, body: ten)),
    ]
}
