import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A part that is the whole, of a download that ended before it had its name.
@Suite(.timeLimit(.minutes(5))) struct WholePartTests {
    private typealias Film = DownloadTests.Film

    /// Has all of a file come, whose name is taken by then.
    private static func leave(_ server: FileServer, _ client: APIClient, at url: URL) async throws {
        server.twist { _, _ in try? Data("other".utf8).write(to: url) }
        let error = await #expect(throws: APIError.self) { try await client.download(Film(), to: .file(url)).value }
        #expect(error?.kind == .storage(.exists))
        try FileManager.default.removeItem(at: url)
    }

    @Test func `a whole part is given its name once the server has said that it is the same, by one byte`() async throws
    {
        try await DownloadTests.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            try await Self.leave(server, client, at: url)
            let response = try await client.download(Film(), to: .file(url)).response
            #expect(response.value.wasResumed && response.source == .revalidated)
            #expect(try Data(contentsOf: url) == DownloadTests.content)
            #expect(DownloadTests.ranges(server) == [nil, "bytes=499999-"])
            #expect(server.bytes == 500_001)
            #expect(try DownloadTests.names(in: folder) == ["a.mp4"])
        }
    }

    @Test func `a whole part of a version that is no more is loaded anew`() async throws {
        try await DownloadTests.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            for (number, count) in [300_000, 500_000, 700_000].enumerated() {
                try await Self.leave(server, client, at: url)
                let new = sampleBytes(seed: UInt64(30 + number), count: count)
                server.replace(new, tag: "\"v\(number + 2)\"")
                let file = try await client.download(Film(), to: .file(url, overwriting: .replace)).value
                #expect(try Data(contentsOf: url) == new)
                #expect(!file.wasResumed && file.length == count)
                try FileManager.default.removeItem(at: url)
            }
        }
    }

    @Test func `a whole part stays while nobody can be asked about it`() async throws {
        try await DownloadTests.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            try await Self.leave(server, client, at: url)
            server.twist { $1.status = 503 }
            await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .file(url), options: .retry(.none)).value
            }
            #expect(!FileManager.default.fileExists(atPath: url.path))
            let file = try await client.download(Film(), to: .file(url)).value
            #expect(file.wasResumed && server.bytes <= 1_000_000)
            #expect(try Data(contentsOf: url) == DownloadTests.content)
        }
    }

    @Test func `a whole part that has the digest that the app names needs nobody's word`() async throws {
        try await DownloadTests.run { server, client, folder in
            let url = folder.appendingPathComponent("a.mp4")
            try await Self.leave(server, client, at: url)
            server.replace(Data("new".utf8), tag: "\"v2\"")
            let digest = SHA256.hex(DownloadTests.content)
            let response = try await client.download(Film(), to: .file(url), sha256: digest).response
            #expect(response.value.wasResumed && response.source == .disk)
            #expect(server.requests.count == 1)
        }
    }
}
