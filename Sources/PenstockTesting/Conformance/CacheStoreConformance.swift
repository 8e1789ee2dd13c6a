import Foundation
import PenstockCore

/// The rules that every cache store keeps. They need no test library:
///
/// ```swift
/// for rule in CacheStoreConformance.rules {
///     try await rule.run { limits, time in MyStore(limits: limits, time: time) }
/// }
/// ```
public enum CacheStoreConformance {
    /// All rules.
    public static let rules = finding + bodies + changing + removing + limiting + sharing

    /// One rule.
    public struct Rule: Sendable, CustomStringConvertible {
        /// What must hold.
        public let name: String
        /// What the store is to be limited to.
        public let limits: CacheLimits
        private let check: @Sendable (Probe) async throws -> Void

        init(
            _ name: String, limits: CacheLimits = CacheLimits(bytes: 64 << 20, entries: 100_000),
            check: @escaping @Sendable (Probe) async throws -> Void
        ) {
            self.name = name
            self.limits = limits
            self.check = check
        }

        public var description: String { name }

        /// Runs the rule on an empty store, and closes it.
        ///
        /// - Parameter makeStore: makes a store of these limits, with its time.
        /// - Throws: ``ConformanceViolation``, which says what was expected and what was seen; or what `makeStore` throws.
        public func run(
            _ makeStore: @Sendable (CacheLimits, TimeSource) async throws -> any CacheStore
        ) async throws {
            let clock = TestClock()
            let store = try await makeStore(limits, clock.timeSource)
            do {
                try await check(Probe(store: store, clock: clock))
            } catch {
                await store.close()
                throw ConformanceViolation(rule: name, explanation: "\(error)")
            }
            await store.close()
        }
    }

    static func expect(_ condition: Bool, _ explanation: @autoclosure () -> String) throws {
        if !condition { throw Unmet(description: explanation()) }
    }

    static func expect<Value: Equatable>(_ seen: Value, is expected: Value, _ what: String) throws {
        try expect(seen == expected, "\(what): expected \(expected), saw \(seen)")
    }
}

extension CacheStoreConformance {
    /// The store under test, and what it is tried with.
    struct Probe: Sendable {
        let store: any CacheStore
        let clock: TestClock

        var now: Date { clock.timeSource.date() }

        func key(
            _ target: String, method: HTTPMethod = .get, environment: String = "test", identity: String = "",
            way: String = "", digest: String? = nil, credentials: String? = nil
        ) throws -> CacheKey {
            CacheKey(
                method: method, url: try url(target),
                partition: CachePartition(environment: environment, identity: identity, way: way),
                contentDigest: digest, credentialDigest: credentials)
        }

        func url(_ target: String) throws -> HTTPURL {
            try HTTPURL("https://shop.example.com" + target)
        }

        /// A response that says which one it is.
        func response(
            _ key: CacheKey, mark: String = "", language: String? = nil, tags: [String] = [], length: Int = 0
        ) -> CachedResponse {
            let selectors = language.map { [CacheVariant.Selector(name: "accept-language", value: $0)] } ?? []
            return CachedResponse(
                key: key, variant: CacheVariant(selectors: selectors), status: 200,
                fields: ["Content-Type": "text/plain", "X-Mark": mark], requestTime: now, responseTime: now,
                bodyLength: length, tags: tags)
        }

        @discardableResult
        func put(
            _ target: String, _ text: String = "body", identity: String = "", environment: String = "test",
            language: String? = nil, tags: [String] = []
        ) async throws -> StoredResponse {
            let key = try key(target, environment: environment, identity: identity)
            let response = response(key, mark: text, language: language, tags: tags)
            guard let stored = await store.put(response, body: Data(text.utf8)) else {
                throw Unmet(description: "\(target) was not stored")
            }
            return stored
        }

        /// The marks of what is found, in alphabetical order.
        func marks(_ target: String, identity: String = "", environment: String = "test") async throws -> [String] {
            let found = await store.find(try key(target, environment: environment, identity: identity))
            return found.map { $0.response.fields["X-Mark"] ?? "" }.sorted()
        }

        /// The only response of a key.
        func one(_ key: CacheKey) async throws -> StoredResponse {
            let found = await store.find(key)
            guard let one = found.first, found.count == 1 else {
                throw Unmet(description: "expected one response, found \(found.count)")
            }
            return one
        }

        func body(_ stored: StoredResponse) async throws -> Data {
            guard let body = await store.body(of: stored) else { throw Unmet(description: "the body is gone") }
            return body
        }
    }

    /// Bytes that repeat nowhere near.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed
        var bytes = Data(capacity: count + 8)
        while bytes.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state ^ (state >> 29)) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(count)
    }
}
