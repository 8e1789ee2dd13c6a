import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is no file, though a server says so, and what is left of none.
@Suite(.timeLimit(.minutes(5))) struct DownloadRefusalTests {
    @Test func `a digest that comes with the rest alone is one of the whole, and checked`() async throws {
        try await DownloadTests.run { server, client, folder in
            let wrong = "sha-256=:\(Data(count: 32).base64EncodedString()):"
            let lying: FileServer.Twist = { $1.fields["Repr-Digest"] = wrong }
            server.twist(FileServer.cutting(after: 200_000), lying)
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(folder.appendingPathComponent("a"))).value
            }
            #expect(error?.kind == .validation(rule: "Repr-Digest"))
            let left = try DownloadTests.names(in: folder)
            #expect(left.isEmpty)
            let right = "sha-256=:\(SHA256.bytes(DownloadTests.content).base64EncodedString()):"
            let naming: FileServer.Twist = { $1.fields["Repr-Digest"] = right }
            server.twist(FileServer.cutting(after: 200_000), naming)
            let file = try await client.download(DownloadTests.Film(), to: .folder(folder)).value
            #expect(file.length == 500_000)
        }
    }

    @Test(arguments: [204, 205]) func `an answer without content is no file, and replaces none`(
        status: Int
    ) async throws {
        try await DownloadTests.run { server, client, folder in
            let file = folder.appendingPathComponent("seven.mp4")
            try Data("good".utf8).write(to: file)
            server.twist { ($1.status, $1.body) = (status, Data()) }
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(file, overwriting: .replace)).value
            }
            #expect(error?.kind == .httpStatus(status))
            #expect(try Data(contentsOf: file) == Data("good".utf8))
        }
    }

    @Test func `a name that no folder holds fails before anything is sent`() async throws {
        try await DownloadTests.run { server, client, folder in
            let name = String(repeating: "ž", count: 128)
            let error = await #expect(throws: APIError.self) {
                try await client.download(DownloadTests.Film(), to: .file(folder.appendingPathComponent(name))).value
            }
            guard case .storage? = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a description that has lost its part is removed as well, and nothing that only looks like one`()
        async throws
    {
        try await DownloadTests.run { _, _, folder in
            let (digits, other) = (String(repeating: "0a", count: 12), String(repeating: "0b", count: 12))
            let names = [
                ".penstock-\(digits).json", ".penstock-\(other).json.new", ".penstock-app.json", "\(digits).json",
            ]
            for name in names { try Data("{}".utf8).write(to: folder.appendingPathComponent(name)) }
            #expect(await APIClient.removePartialDownloads(in: folder) == 0)
            let old = Date(timeIntervalSinceNow: -604_801)
            for name in names {
                let path = folder.appendingPathComponent(name).path
                try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
            }
            #expect(await APIClient.removePartialDownloads(in: folder) == 2)
            #expect(try DownloadTests.names(in: folder) == [".penstock-app.json", "\(digits).json"])
        }
    }
}
