import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// What is found under a key.
    public static let finding: [Rule] = [
        Rule("An empty store has nothing") { probe in
            try expect(await probe.marks("/"), is: [], "found")
            try expect(await probe.store.statistics(), is: CacheStatistics(), "statistics")
            try expect(await probe.store.entries(after: nil, limit: 10).isEmpty, "something is listed")
        },
        Rule("All that is known of a response comes back") { probe in
            let key = try probe.key("/a?b=c", method: .post, identity: "anna", digest: "d1", credentials: "c1")
            let sent = everything(of: key, at: probe.now)
            _ = await probe.store.put(sent, body: Data("abc".utf8))
            let stored = try await probe.one(key)
            try expect(text(of: stored.response), is: text(of: sent), "response")
            try expect(await probe.body(stored), is: Data("abc".utf8), "body")
        },
        Rule("Keys that differ in anything are apart") { probe in
            let keys = try [
                probe.key("/a"), probe.key("/a?"), probe.key("/a?page=2"), probe.key("/a?page=20"), probe.key("/a/"),
                probe.key("/a", method: .post), probe.key("/a", method: .post, digest: ""),
                probe.key("/a", method: .post, digest: "1"), probe.key("/a", environment: "production"),
                probe.key("/a", identity: "anna"), probe.key("/a", environment: "", identity: "testanna"),
                probe.key("/a", credentials: ""), probe.key("/a", credentials: "1"),
                probe.key("/a", method: .post, digest: "", credentials: "1"),
            ]
            for (index, key) in keys.enumerated() {
                _ = await probe.store.put(probe.response(key, mark: "\(index)"), body: Data("\(index)".utf8))
            }
            for (index, key) in keys.enumerated() {
                let stored = try await probe.one(key)
                try expect(stored.response.fields["X-Mark"], is: "\(index)", "mark")
                try expect(await probe.body(stored), is: Data("\(index)".utf8), "body")
            }
        },
        Rule("What is selected by URL or tag goes whatever credentials it was asked for with") { probe in
            for (index, credentials) in [nil, "1", "2"].enumerated() {
                let key = try probe.key("/a", credentials: credentials)
                let response = probe.response(key, mark: "\(index)", tags: ["t"])
                _ = await probe.store.put(response, body: Data("\(index)".utf8))
            }
            let owner = CachePartition(environment: "test")
            await probe.store.invalidate([.url(try probe.url("/a"), in: .partition(owner))])
            for credentials in [nil, "1", "2"] {
                let stored = try await probe.one(try probe.key("/a", credentials: credentials))
                try expect(stored.response.isInvalidated, "\(credentials ?? "none") is not invalid")
            }
            await probe.store.remove([.key(try probe.key("/a", credentials: "1"))])
            try expect(await probe.store.statistics().entries, is: 2, "after one key")
            await probe.store.remove([.tag("t", in: .partition(owner))])
            try expect(await probe.store.statistics().entries, is: 0, "after the tag")
        },
        Rule("What came by another way is another response, and goes with its user all the same") { probe in
            let ways = ["", "1", "2"]
            for selection in [
                CacheSelection.identity("u"), .partition(CachePartition(environment: "test", identity: "u")),
            ] {
                for way in ways {
                    let response = probe.response(try probe.key("/a", identity: "u", way: way), mark: way)
                    _ = await probe.store.put(response, body: Data(way.utf8))
                }
                for way in ways {
                    let stored = try await probe.one(try probe.key("/a", identity: "u", way: way))
                    try expect(stored.response.fields["X-Mark"], is: way, "mark")
                    try expect(stored.response.key.partition.way, is: way, "way")
                    try expect(await probe.body(stored), is: Data(way.utf8), "body")
                }
                await probe.store.remove([selection])
                try expect(await probe.store.statistics().entries, is: 0, "after \(selection)")
            }
        },
        Rule("A head without content is kept as that") { probe in
            let key = try probe.key("/moved")
            var response = probe.response(key, mark: "moved")
            response.part = CachedPart(offset: 0, completeLength: nil)
            _ = await probe.store.put(response, body: Data())
            await probe.store.flush()
            let stored = try await probe.one(key)
            try expect(stored.response.part, is: CachedPart(offset: 0, completeLength: nil), "part")
            try expect(stored.response.bodyLength, is: 0, "length")
            try expect(stored.response.fields["X-Mark"], is: "moved", "mark")
        },
        Rule("The key for digests stays what it is") { probe in
            let key = await probe.store.digestKey()
            try expect(key?.count ?? 32 >= 16, "it is short")
            await probe.store.close()
            try expect(await probe.store.digestKey(), is: key, "key")
        },
        Rule("A URL of two thousand characters is stored like any other") { probe in
            let long = "/" + String(repeating: "a", count: 1_000) + "?q=" + String(repeating: "b", count: 1_000)
            try await probe.put(long + "1", "one")
            try await probe.put(long + "2", "two")
            try expect(await probe.marks(long + "1"), is: ["one"], "first")
            try expect(await probe.marks(long + "2"), is: ["two"], "second")
        },
        Rule("The variants of a key are kept side by side, each once") { probe in
            for language in ["nl", "en", "de", "en"] {
                try await probe.put("/a", "old \(language)", language: language)
                try await probe.put("/a", language, language: language)
            }
            try expect(await probe.marks("/a"), is: ["de", "en", "nl"], "variants")
            try expect(await probe.store.statistics().entries, is: 3, "entries")
        },
        Rule("An absent field of a variant is not an empty one") { probe in
            let key = try probe.key("/a")
            for value in [nil, ""] as [String?] {
                let variant = CacheVariant(selectors: [.init(name: "accept", value: value)])
                let response = CachedResponse(
                    key: key, variant: variant, status: 200, fields: [:], requestTime: probe.now,
                    responseTime: probe.now, bodyLength: 0)
                _ = await probe.store.put(response, body: Data())
            }
            try expect(await probe.store.find(key).count, is: 2, "variants")
        },
        Rule("Everything is listed once, page by page") { probe in
            for index in 0..<23 { try await probe.put("/\(index)", "\(index)") }
            var marks: [String] = []
            var last: CacheEntryID?
            while true {
                let page = await probe.store.entries(after: last, limit: 5)
                try expect(page.count <= 5, "a page of \(page.count)")
                guard let end = page.last else { break }
                last = end.entry
                marks += page.compactMap { $0.response.fields["X-Mark"] }
            }
            try expect(marks.sorted(), is: (0..<23).map(String.init).sorted(), "listed")
        },
    ]

    /// A response that has all there is.
    private static func everything(of key: CacheKey, at now: Date) -> CachedResponse {
        var fields: HTTPFields = ["Content-Type": "text/plain", "ETag": "\"ä\"", "X-Empty": ""]
        fields.append("a=1", for: "X-Twice")
        fields.append("a=2", for: "X-Twice")
        return CachedResponse(
            key: key,
            variant: CacheVariant(
                selectors: [.init(name: "accept", value: nil), .init(name: "accept-language", value: "nl")],
                isUnmatchable: true),
            status: 206, fields: fields, version: .http2, requestTime: now - 1.5, responseTime: now,
            bodyLength: 3, part: CachedPart(offset: 7, completeLength: 99), tags: ["shop", "", "ü"],
            appTTL: .milliseconds(1_500), appMaxStale: .seconds(-1), isInvalidated: true)
    }

    private static func text(of response: CachedResponse) -> String {
        let fields = response.fields.map { "\($0.name.text): \($0.value)" }
        return """
            \(response.key) \(response.variant) \(response.status) \(fields) \(response.version) \
            \(response.requestTime.timeIntervalSince1970) \(response.responseTime.timeIntervalSince1970) \
            \(response.bodyLength) \(String(describing: response.part)) \(response.tags) \
            \(String(describing: response.appTTL)) \(String(describing: response.appMaxStale)) \(response.isInvalidated)
            """
    }
}
