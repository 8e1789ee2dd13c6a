import Foundation

@testable import PenstockInspect

enum ReportSamples {
    static func entry(
        _ call: UInt64, attempt: Int, of attempts: Int, at start: Double, took: Double, status: Int = 200,
        url: String = "https://shop.example.com/products?page=2", source: String = "network", decisions: [String] = []
    ) -> HAR.Entry {
        var entry = HAR.Entry(
            startedDateTime: HARDate.text(Date(timeIntervalSince1970: 1_790_000_000 + start / 1000)), time: took,
            request: HAR.Request(
                method: "GET", url: url, httpVersion: "HTTP/2", cookies: [],
                headers: [
                    .init(name: "Accept", value: "application/json"), .init(name: "Authorization", value: "‹redacted›"),
                ],
                queryString: [.init(name: "page", value: "2")], headersSize: -1, bodySize: 0),
            response: HAR.Response(
                status: status, statusText: "", httpVersion: "HTTP/2", cookies: [],
                headers: [.init(name: "Content-Type", value: "application/json")],
                content: HAR.Content(size: 48_210, compression: 39_000, mimeType: "application/json"), redirectURL: "",
                headersSize: -1, bodySize: attempt == 0 ? 0 : 9_210),
            timings: HAR.Timings(
                blocked: took * 0.05, dns: took * 0.05, connect: took * 0.3, ssl: took * 0.2, send: 0, wait: took * 0.4,
                receive: took * 0.2))
        var own = HAR.Call(
            number: call, endpoint: "ProductList", service: "main", environment: "production", attempt: attempt,
            attempts: attempts, offset: 0, elapsed: took, outcome: "success")
        own.source = source
        own.decisions =
            decisions.isEmpty
            ? nil : decisions.enumerated().map { .init(at: Double($0.offset), attempt: 1, text: $0.element) }
        entry._call = own
        return entry
    }

    /// Three calls: one of three attempts, one out of the cache, stale, and one plain.
    static func archive() -> HAR {
        var entries: [HAR.Entry] = []
        for attempt in 1...3 {
            var entry = entry(
                1, attempt: attempt, of: 3, at: Double(attempt - 1) * 120, took: 80, status: attempt < 3 ? 503 : 200,
                decisions: attempt < 3
                    ? []
                    : [
                        "the cache asks the server (uri-miss): nothing is stored for this URL",
                        "retried after 41 ms: 503", "retried after 38 ms: 503; the origin's budget has 8 left",
                    ])
            entry._call?.offset = Double(attempt - 1) * 120
            entry._call?.elapsed = 320
            entry._call?.sendState = "answered"
            entries.append(entry)
        }
        var stale = entry(
            2, attempt: 0, of: 0, at: 150, took: 4, source: "disk",
            decisions: ["served stale: the server answered with an error, 62 s past its freshness"])
        stale._call?.isStale = true
        entries += [stale, entry(3, attempt: 1, of: 1, at: 400, took: 95, url: "https://id.example.com/token")]
        return HAR(log: .init(version: "1.2", creator: .init(name: "Penstock", version: "0.1.0"), entries: entries))
    }

    /// Seven calls that leave little to draw.
    static func odd() -> HAR {
        func one(_ call: UInt64, at start: Double, _ change: (inout HAR.Entry) -> Void) -> HAR.Entry {
            var entry = entry(call, attempt: 1, of: 1, at: start, took: 50)
            entry.timings = HAR.Timings(wait: 50)
            change(&entry)
            return entry
        }
        let entries = [
            entry(1, attempt: 0, of: 0, at: 0, took: 0, source: "memory"),
            one(2, at: 10) {
                ($0._call, $0.time, $0.timings, $0.response.status) = (nil, 0, HAR.Timings(wait: -1), 0)
            },
            one(3, at: 20) {
                $0._call?.outcome = "cancelled"
                $0.response.status = 0
            },
            one(4, at: 30) { $0.timings = HAR.Timings() },
            one(5, at: 40) { $0.timings.wait = 30 },
            one(6, at: 50) {
                $0._call?.attempt = 0
                $0._call?.outcome = "failure"
                $0.response.status = 0
            },
            one(7, at: 860) {
                $0._call?.offset = 800
                $0._call?.elapsed = 850
            },
        ]
        return HAR(log: .init(version: "1.2", creator: .init(name: "Penstock", version: "0.1.0"), entries: entries))
    }

    static func many(_ count: Int) -> HAR {
        let paths = ["products?page=2", "cart", "orders/7", "users/me", "images/tea.jpg"]
        let entries = (0..<count).map { index -> HAR.Entry in
            let (start, took) = (Double(index * 37), Double(20 + index * 7919 % 400))
            let status = index.isMultiple(of: 23) ? 500 : 200
            let url = "https://shop\(index % 4).example.com/" + paths[index % 5]
            return entry(UInt64(index + 1), attempt: 1, of: 1, at: start, took: took, status: status, url: url)
        }
        return HAR(log: .init(version: "1.2", creator: .init(name: "Penstock", version: "0.1.0"), entries: entries))
    }
}
