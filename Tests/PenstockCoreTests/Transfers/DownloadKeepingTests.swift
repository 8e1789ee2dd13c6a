import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What a download keeps while it comes, and what becomes of it at its end.
@Suite(.timeLimit(.minutes(5))) struct DownloadKeepingTests {
    private typealias Film = DownloadTests.Film

    @Test(
        "Of a long file all but the last 8 MiB is on the disk for sure, whatever happens to the machine", .covers("X16")
    )
    func synchronized() async throws {
        try await DownloadTests.run { server, client, folder in
            server.replace(sampleBytes(seed: 5, count: 20 << 20), tag: "\"v2\"")
            try await DownloadTests.interrupt(server, client, .folder(folder), after: 19 << 20)
            let name = try #require(try DownloadTests.names(in: folder).first { $0.hasSuffix(".json") })
            let data = try Data(contentsOf: folder.appendingPathComponent(name))
            let part = try JSONDecoder().decode(PartialDownload.self, from: data)
            #expect(((16 << 20)...(19 << 20)).contains(part.synced))
            #expect(part.usable(19 << 20, in: "another start of the machine") == part.synced)
        }
    }

    @Test("The exchanges of one download are no calls of one kind, whatever the options say of such", .covers("S3.7"))
    func independent() async throws {
        try await DownloadTests.run { server, plain, folder in
            let client = plain.with { $0.options.inFlight = .throttle(.seconds(3_600)) }
            server.twist(FileServer.cutting(after: 200_000), FileServer.cutting(after: 200_000))
            for name in ["a", "b"] {
                let file = folder.appendingPathComponent(name)
                let value = try await client.download(Film(), to: .file(file)).value
                #expect(value.length == 500_000)
                #expect(try Data(contentsOf: file) == DownloadTests.content)
            }
            #expect(DownloadTests.ranges(server).count == 4)
        }
    }

    @Test(
        "A download that is cancelled when all of it is there gets no name, and the next one goes on", .covers("S2.28"))
    func cancelledAtTheEnd() async throws {
        try await DownloadTests.run { server, client, folder in
            let destination = DownloadDestination.folder(folder) { _, name in
                client.cancelAll()
                return name
            }
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: destination).value
            }
            #expect(error?.kind == .cancelled && error?.stage == .file)
            let names = try DownloadTests.names(in: folder)
            let parts = names.filter { $0.hasPrefix(".") }
            #expect(parts == names && !names.isEmpty)
            let file = try await client.download(Film(), to: .folder(folder)).value
            #expect(try Data(contentsOf: file.url) == DownloadTests.content)
            // All is there: its last byte tells that it is still the same.
            #expect(DownloadTests.ranges(server) == [nil, "bytes=499999-"])
        }
    }

    @Test(
        "JSON of up to 1 MiB may be a refusal in the service's envelope, and what is longer is the file",
        arguments: [0, 1])
    func longestRefusal(more: Int) async throws {
        let (start, end) = (#"{"retcode":1001,"retdesc":""#, #""}"#)
        let filling = String(repeating: "x", count: (1 << 20) + more - (start + end).utf8.count)
        let refusal = Data((start + filling + end).utf8)
        try await DownloadTests.run { server, plain, folder in
            let client = plain.with {
                $0.services = ServiceRegistry([Service(.main, "https://films.example.com/api", envelope: .retcode)])
            }
            server.twist { _, answer in
                (answer.fields[.contentType], answer.fields[.contentLength]) = ("application/json", "\(refusal.count)")
                answer.body = refusal
            }
            let error = await failure { try await client.download(Film(), to: .folder(folder)).value }
            guard case .business(1_001, _)? = error?.kind else { return #expect(error == nil && more == 1) }
            #expect(more == 0)
        }
    }

    @Test("A name gets numbers up to 10,000, and is taken beyond that", .covers("S2.28"))
    func lastNumber() async throws {
        try await DownloadTests.run { _, client, folder in
            let file = folder.appendingPathComponent("a.mp4")
            for number in 1..<10_000 {
                let name = number == 1 ? "a.mp4" : FileNameRules.numbered("a.mp4", number)
                _ = FileManager.default.createFile(atPath: folder.appendingPathComponent(name).path, contents: nil)
            }
            let last = try await client.download(Film(), to: .file(file, overwriting: .numbered)).value
            #expect(last.url.lastPathComponent == "a 10000.mp4")
            let error = await #expect(throws: APIError.self) {
                try await client.download(Film(), to: .file(file, overwriting: .numbered)).value
            }
            #expect(error?.kind == .storage(.exists))
        }
    }
}
