import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// What changes about a response that is stored.
    public static let changing: [Rule] = [
        Rule("A new response takes the place of the old one with its variant") { probe in
            let old = try await probe.put("/a", "old")
            try await probe.put("/a", "new")
            let stored = try await probe.one(probe.key("/a"))
            try expect(await probe.body(stored), is: Data("new".utf8), "body")
            try expect(old.entry != stored.entry, "both have one id")
            let left = await probe.store.bytes(of: old.entry, from: 0)
            try expect(left == nil || left == Data("old".utf8), "the old id gives the new body")
        },
        Rule("What is known of a response can be replaced; its body stays") { probe in
            for body in [Data("abc".utf8), bytes(200_000)] {
                let key = try probe.key("/\(body.count)")
                guard let old = await probe.store.put(probe.response(key, mark: "old", tags: ["t"]), body: body) else {
                    throw Unmet(description: "not stored")
                }
                probe.clock.advance(by: .seconds(10))
                let updated = await probe.store.update(old.entry, to: probe.response(key, mark: "new"))
                try expect(updated != nil, "not updated")
                let stored = try await probe.one(key)
                try expect(stored.response.fields["X-Mark"], is: "new", "mark")
                try expect(stored.response.responseTime, is: probe.now, "time")
                try expect(stored.response.bodyLength, is: body.count, "length")
                try expect(await probe.body(stored) == body, "the body changed")
                try expect(await probe.body(StoredResponse(stored.response, entry: old.entry, body: nil)) == body, "id")
                _ = await probe.store.remove([.tag("t")])
                try expect(await probe.store.find(key).count, is: 1, "found by a tag that it lost")
            }
        },
        Rule("What is gone or replaced is not updated") { probe in
            let key = try probe.key("/a")
            let old = try await probe.put("/a", "old")
            try await probe.put("/a", "new")
            try expect(await probe.store.update(old.entry, to: probe.response(key, mark: "late")) == nil, "updated")
            try expect(await probe.marks("/a"), is: ["new"], "marks")
            _ = await probe.store.remove([.all])
            try expect(await probe.store.update(old.entry, to: probe.response(key, mark: "late")) == nil, "updated")
            try expect(await probe.marks("/a"), is: [], "marks")
        },
        Rule("What is invalidated is found, and says so") { probe in
            try await probe.put("/a", "nl", language: "nl")
            try await probe.put("/a", "en", language: "en")
            try await probe.put("/b", "b", tags: ["t"])
            try await probe.put("/c", "c")
            try expect(
                await probe.store.invalidate([.url(probe.url("/a")), .tag("t")]), is: true, "done")
            for (target, isInvalidated) in [("/a", true), ("/b", true), ("/c", false)] {
                let found = await probe.store.find(try probe.key(target))
                try expect(found.count, is: target == "/a" ? 2 : 1, "found at \(target)")
                for stored in found {
                    try expect(stored.response.isInvalidated, is: isInvalidated, target)
                    try expect(await probe.body(stored).isEmpty, is: false, "empty body")
                }
            }
            try expect(await probe.marks("/a"), is: ["en", "nl"], "marks")
        },
        Rule("Several selections are invalidated at one moment") { probe in
            let (first, second) = (try probe.key("/a"), try probe.key("/b"))
            for round in 1...50 {
                try await probe.put("/a", "\(round)")
                try await probe.put("/b", "\(round)")
                async let change = probe.store.invalidate([.url(probe.url("/a")), .url(probe.url("/b"))])
                var isChanged = false
                while !Task.isCancelled, !isChanged {
                    // Whoever sees that the first is out of date may not find the second up to date.
                    isChanged = await probe.store.find(first).contains { $0.response.isInvalidated }
                    let other = await probe.store.find(second)
                    try expect(!isChanged || other.allSatisfy(\.response.isInvalidated), "the other one is up to date")
                    // A look-up that is answered on the spot keeps its thread, which the change may be waiting for.
                    await Task.yield()
                }
                try expect(await change, is: true, "done")
                for key in [first, second] {
                    try expect(await probe.one(key).response.isInvalidated, is: true, "\(key) in the end")
                }
            }
        },
        Rule("A validation makes an invalidated response usable again") { probe in
            let stored = try await probe.put("/a")
            _ = await probe.store.invalidate([.all])
            let response = probe.response(try probe.key("/a"), mark: "validated")
            _ = await probe.store.update(stored.entry, to: response)
            try expect(await probe.one(probe.key("/a")).response.isInvalidated, is: false, "invalidated")
        },
    ]
}
