import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is wanted is known after a relaunch, and so is what became of the rest.
@Suite(.timeLimit(.minutes(5))) struct TransferListTests {
    struct Order: Codable, Hashable, Sendable {
        var film: Int
    }

    private static func withList(_ body: (URL, URL) async throws -> Void) async throws {
        try await MultipartTests.withFolder { folder in
            try await body(folder.appendingPathComponent("list.json"), folder)
        }
    }

    private static func states(_ list: TransferList<Order>) async -> [String: TransferState] {
        await Dictionary(uniqueKeysWithValues: list.items.map { ($0.id, $0.state) })
    }

    @Test func `every change is there for the next process, in the order of the additions`() async throws {
        try await Self.withList { file, _ in
            do {
                let list = try await TransferList<Order>.open(file)
                for film in 1...3 { #expect(try await list.add(Order(film: film), as: "film/\(film)")) }
                #expect(try await !list.add(Order(film: 9), as: "film/1"))
                try await list.set(.paused, of: "film/2")
                try await list.set(.paused, of: "unheard of")
                try await list.remove("film/3")
                try await list.remove("film/3")
            }
            let list = try await TransferList<Order>.open(file)
            let items = await list.items
            #expect(items.map(\.id) == ["film/1", "film/2"])
            #expect(items.map(\.order.film) == [1, 2])
            #expect(items.map(\.state) == [.waiting, .paused])
        }
    }

    @Test func `who hears of the changes of a list that is gone has heard all`() async throws {
        try await Self.withList { file, _ in
            var list: TransferList<Order>? = try await TransferList<Order>.open(file)
            let changes = try #require(await list?.changes)
            try await list?.add(Order(film: 1), as: "1")
            list = nil
            var last: [String] = []
            for await items in changes { last = items.map(\.id) }
            #expect(last == ["1"])
        }
    }

    @Test func `what changes nothing is not written`() async throws {
        try await Self.withList { file, _ in
            func number() throws -> UInt64? {
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
                return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
            }
            let list = try await TransferList<Order>.open(file)
            try await list.add(Order(film: 1), as: "1")
            let first = try number()
            try await list.set(.waiting, of: "1")
            try await list.set(.paused, of: "unheard of")
            try await list.remove("unheard of")
            try await list.add(Order(film: 2), as: "1")
            #expect(try first != nil && number() == first)
            try await list.set(.paused, of: "1")
            #expect(try number() != first)
        }
    }

    @Test func `changes that are made at once are all there`() async throws {
        try await Self.withList { file, _ in
            do {
                let list = try await TransferList<Order>.open(file)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for film in 0..<50 { group.addTask { _ = try await list.add(Order(film: film), as: "\(film)") } }
                    try await group.waitForAll()
                }
            }
            let list = try await TransferList<Order>.open(file)
            #expect(await Set(list.items.map(\.id)) == Set((0..<50).map(String.init)))
        }
    }

    @Test func `a change that cannot be written is none`() async throws {
        try await MultipartTests.withFolder { folder in
            let inner = folder.appendingPathComponent("inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            let list = try await TransferList<Order>.open(inner.appendingPathComponent("list.json"))
            try await list.add(Order(film: 1), as: "1")
            try FileManager.default.moveItem(at: inner, to: folder.appendingPathComponent("elsewhere"))
            var changes = await list.changes.makeAsyncIterator()
            _ = await changes.next()
            await #expect(throws: APIError.self) { try await list.add(Order(film: 2), as: "2") }
            await #expect(throws: APIError.self) { try await list.set(.paused, of: "1") }
            await #expect(throws: APIError.self) { try await list.remove("1") }
            #expect(await Self.states(list) == ["1": .waiting])
            try FileManager.default.moveItem(at: folder.appendingPathComponent("elsewhere"), to: inner)
            #expect(try await list.add(Order(film: 2), as: "2"))
            #expect(await changes.next()?.map(\.id) == ["1", "2"])
        }
    }

    @Test func `a second list on the file, and a file that is something else, are refused and left as they are`()
        async throws
    {
        try await Self.withList { file, folder in
            let list = try await TransferList<Order>.open(file)
            try await list.add(Order(film: 1), as: "1")
            let busy = await #expect(throws: APIError.self) { try await TransferList<Order>.open(file) }
            #expect(busy?.kind == .storage(.inUse))
            let other = folder.appendingPathComponent("other")
            for text in ["", "{}", "{\"version\":2,\"items\":[]}", "{\"version\":1,\"items\":[{}]}"] {
                try Data(text.utf8).write(to: other)
                #expect(chmod(other.path, 0o664) == 0)
                let error = await #expect(throws: APIError.self) { try await TransferList<Order>.open(other) }
                #expect(error?.kind == .storage(.failed))
                #expect(try Data(contentsOf: other) == Data(text.utf8))
                let mode = try FileManager.default.attributesOfItem(atPath: other.path)[.posixPermissions] as? Int
                #expect(mode == 0o664)
                #expect(!FileManager.default.fileExists(atPath: other.path + ".lock"))
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(await list.items.count == 1)
        }
    }

    @Test func `a call is followed to its end: what passes is waiting still, what does not has failed`() async throws {
        try await Self.withList { file, folder in
            let server = FileServer(DownloadTests.content)
            let client = DownloadTests.client(server)
            do {
                let list = try await TransferList<Order>.open(file)
                for id in ["a", "b", "c"] { try await list.add(Order(film: 7), as: id) }
                server.twist(FileServer.cutting(after: 200_000), { $1.status = 404 })
                let once = CallOptions.retry(.none)
                for (id, state) in [("a", TransferState.waiting), ("b", .failed("httpStatus"))] {
                    let call = client.download(DownloadTests.Film(), to: .folder(folder), id: id, options: once)
                    #expect(try await list.follow(call, as: id) == state)
                }
                let call = client.download(DownloadTests.Film(), to: .file(folder.appendingPathComponent("c")))
                _ = try await list.follow(call, as: "c")
            }
            let list = try await TransferList<Order>.open(file)
            let path = folder.appendingPathComponent("c").path
            #expect(await Self.states(list) == ["a": .waiting, "b": .failed("httpStatus"), "c": .finished(file: path)])
            // What is waiting goes on where it was.
            let call = client.download(DownloadTests.Film(), to: .folder(folder), id: "a")
            #expect(try await list.follow(call, as: "a") == .finished(file: folder.appendingPathComponent("7").path))
            #expect(server.requests.last?.fields[.range] == "bytes=200000-")
        }
    }

    static let ends: [(APIError.Kind, TransferState)] = [
        (.cancelled, .waiting), (.unreachable(.offline), .waiting), (.timeout(.idle), .waiting),
        (.storage(.noSpace), .waiting),
        (.storage(.inUse), .waiting), (.unavailable(reason: ""), .waiting), (.transport(.connectionLost), .waiting),
        (.limitExceeded(.minimumThroughput), .waiting), (.limitExceeded(.bodyBytes), .failed("limitExceeded")),
        (.httpStatus(503), .waiting), (.httpStatus(429), .waiting), (.httpStatus(403), .failed("httpStatus")),
        (.storage(.exists), .failed("storage")), (.transport(.protocolViolation), .failed("transport")),
        (.validation(rule: "sha256"), .failed("validation")), (.tls(.expired), .failed("tls")),
        (.httpStatus(408), .waiting), (.httpStatus(425), .waiting), (.httpStatus(500), .waiting),
        (.httpStatus(502), .waiting), (.httpStatus(504), .waiting), (.httpStatus(501), .failed("httpStatus")),
        (.httpStatus(505), .failed("httpStatus")), (.httpStatus(404), .failed("httpStatus")),
        (.httpStatus(416), .failed("httpStatus")), (.storage(.failed), .failed("storage")),
    ]

    @Test("an error that may pass leaves it waiting", arguments: ends)
    func failures(kind: APIError.Kind, state: TransferState) {
        #expect(TransferState(Result<APIResponse<Data>, APIError>.failure(APIError(kind, stage: .transport))) == state)
    }

    @Test func `who listens hears the items and each change`() async throws {
        try await Self.withList { file, _ in
            let list = try await TransferList<Order>.open(file)
            var changes = await list.changes.makeAsyncIterator()
            #expect(await changes.next()?.isEmpty == true)
            try await list.add(Order(film: 1), as: "1")
            #expect(await changes.next()?.map(\.id) == ["1"])
            try await list.set(.paused, of: "1")
            #expect(await changes.next()?.map(\.state) == [.paused])
            // Who is slow hears of the last one alone.
            var slow = await list.changes.makeAsyncIterator()
            for film in 2...4 { try await list.add(Order(film: film), as: "\(film)") }
            #expect(await slow.next()?.map(\.id) == ["1", "2", "3", "4"])
        }
    }
}
