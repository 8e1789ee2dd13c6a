import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct ReformerTests {
    struct Names: Reformer {
        func reform(_ payload: Payload) async throws -> [String] {
            try payload.value([Product].self, at: "items").map(\.name)
        }
    }

    struct ByID: Reformer {
        func reform(_ payload: Payload) async throws -> [Int: String] {
            Dictionary(try payload.value([Product].self, at: "items").map { ($0.id, $0.name) }) { first, _ in first }
        }
    }

    static let body = #"{"retcode":0,"data":{"items":[{"id":1,"name":"tap"},{"id":2,"name":"hose"}]}}"#

    @Test(.covers("S3.15", "S3.16")) func `many views are made of one payload, which stays as it was`() async throws {
        let kept = try decode(Self.body, as: ResponseDecoding<Payload>.payload).value
        #expect(try await kept.reformed(with: Names()) == ["tap", "hose"])
        #expect(try await kept.reformed(with: ByID()) == [1: "tap", 2: "hose"])
        #expect(try await kept.reformed(with: Names()) == ["tap", "hose"])
        #expect(kept.data == Data(Self.body.utf8))
    }

    @Test(.covers("S3.17")) func `three payloads of different shape become one equal value`() async throws {
        let list = ClosureReformer { try $0.value([Product].self) }
        let single = ClosureReformer { [try $0.value(Product.self, at: "product")] }
        let raw = ClosureReformer<[Product]> { payload in
            try payload.json().array?.compactMap { row in
                guard let id = row[0]?.int, let name = row[1]?.string else { return nil }
                return Product(id: id, name: name)
            } ?? []
        }
        let expected = [Product(id: 1, name: "tap")]
        #expect(try await payload(#"[{"id":1,"name":"tap"}]"#).reformed(with: list) == expected)
        #expect(try await payload(#"{"product":{"id":1,"name":"tap"}}"#).reformed(with: single) == expected)
        #expect(try await payload(#"[[1,"tap"]]"#).reformed(with: raw) == expected)
    }

    @MainActor @Test(.covers("S3.47")) func `a reformer yields any type, off the main actor`() async throws {
        struct Picture: Sendable { let bytes: Data }
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        try #require(DispatchQueue.getSpecific(key: mark) == true, "the main actor is to be known by its queue")
        let (picture, isMain) = try await payload("PNG").reformed {
            (Picture(bytes: $0.data), DispatchQueue.getSpecific(key: mark) ?? false)
        }
        #expect(picture.bytes == Data("PNG".utf8))
        #expect(!isMain)
    }

    @Test(.covers("S3.47")) func `a cancelled task neither starts a reformer nor delivers what one made`() async throws
    {
        let started = Locked(0)
        let whole = payload("{}")
        let early = Task { () -> APIError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do { try await whole.reformed { _ in started.withLock { $0 += 1 } } } catch { return error as? APIError }
            return nil
        }
        #expect(await early.value?.kind == .cancelled)
        #expect(started.withLock { $0 } == 0)
        let late = Task { () -> APIError? in
            do {
                try await whole.reformed { _ in
                    started.withLock { $0 += 1 }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            } catch { return error as? APIError }
            return nil
        }
        #expect(await late.value?.kind == .cancelled)
        #expect(await late.value?.stage == .reform)
        #expect(started.withLock { $0 } == 1)
    }

    @Test func `errors of a reformer come out as one type with the stage`() async throws {
        struct Odd: Error {}
        let failures = await [
            failure { _ in throw Odd() }, failure { _ = try $0.value(Int.self, at: "a") },
            failure { _ in throw CancellationError() }, failure { _ in throw APIError(.cancelled, stage: .sign) },
        ]
        #expect(failures.allSatisfy { $0?.stage == .reform })
        #expect(failures[0]?.underlying is Odd)
        #expect(failures[1]?.kind == .decoding(path: "a", reason: "nothing where Int is required"))
        #expect(failures[2]?.kind == .cancelled)
        #expect(failures[3]?.kind == .cancelled)
    }

    private func failure(_ body: @escaping @Sendable (Payload) throws -> Void) async -> APIError? {
        do throws(APIError) {
            try await payload("{}").reformed(with: ClosureReformer { try body($0) })
            return nil
        } catch {
            return error
        }
    }
}
