import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What an upload keeps on disk, and what of it is believed.
@Suite(.timeLimit(.minutes(5))) struct ResumableUploadStateTests {
    private static let subject = ResumableUploadState.Subject(
        form: .tus, target: "POST https://a.example/videos", environment: "test", identity: "alice", length: 10,
        digest: "abc")

    private static func withPlace(_ body: (URL) async throws -> Void) async throws {
        try await MultipartTests.withFolder { try await body($0.appendingPathComponent("clip.mov.upload")) }
    }

    private static func read(_ place: URL) throws(ResumableUploadError) -> ResumableUploadState? {
        try ResumableUploadState.read(place, for: subject)
    }

    private static func state(_ confirmed: Int, location: String? = nil) throws -> ResumableUploadState {
        ResumableUploadState(
            subject,
            .init(
                location: try location.map { try HTTPURL($0) }, confirmed: confirmed, sent: max(confirmed, 6),
                hasSentEnd: true))
    }

    @Test func `an upload that has not begun has nothing at the server`() {
        let progress = ResumableUploadMachine.Progress()
        #expect(progress.location == nil && progress.confirmed == 0 && progress.sent == 0)
        #expect(!progress.mayBeComplete && !progress.hasSentEnd)
        #expect(!UploadAnswer(status: 200).isCompletedProblem)
    }

    @Test func `each user has a place of their own in each environment, and nobody the one that was asked for`() {
        let base = URL(fileURLWithPath: "/films/clip.mov.upload")
        #expect(ResumableUploadState.place(at: base, for: "", in: "prod") == base)
        let place = ResumableUploadState.place(at: base, for: "alice", in: "prod")
        #expect(place.path == "/films/clip.mov.upload-c337feca07785884")
        #expect(ResumableUploadState.place(of: URL(fileURLWithPath: "/films/clip.mov")).path == base.path)
    }

    @Test func `what was written is read, from no byte to the last`() async throws {
        try await Self.withPlace { place in
            #expect(try Self.read(place) == nil)
            for state in [
                try Self.state(0), try Self.state(1, location: "https://a.example/u/1"), try Self.state(10),
            ] {
                try state.write(place)
                #expect(try Self.read(place) == state)
            }
            let text = try String(contentsOf: place, encoding: .utf8)
            #expect(text.hasPrefix("penstock upload 1\n{") && text.hasSuffix("}\n"))
        }
    }

    @Test(
        "A state that cannot be is none",
        arguments: [
            ("\"confirmed\":4", "\"confirmed\":-1"), ("\"confirmed\":4", "\"confirmed\":11"),
            ("\"sent\":6", "\"sent\":3"), ("\"sent\":6", "\"sent\":11"),
            ("https://a.example/u/1", "nowhere"), ("}\n", "}\n{}\n"), ("\"form\":\"tus\"", "\"form\":\"other\""),
        ])
    func damage(whole: String, part: String) async throws {
        try await Self.withPlace { place in
            try Self.state(4, location: "https://a.example/u/1").write(place)
            #expect(try Self.read(place)?.progress.confirmed == 4)
            let text = try String(contentsOf: place, encoding: .utf8)
            #expect(text.contains(whole))
            try Data(text.replacingOccurrences(of: whole, with: part).utf8).write(to: place)
            #expect(try Self.read(place) == nil)
        }
    }

    @Test func `of a state of a version before nobody knows how much was sent`() async throws {
        try await Self.withPlace { place in
            try Self.state(4).write(place)
            let text = try String(contentsOf: place, encoding: .utf8)
            for (part, sent) in [("", nil), ("\"sent\":4,", 4), ("\"sent\":10,", 10)] as [(String, Int?)] {
                try Data(text.replacingOccurrences(of: "\"sent\":6,", with: part).utf8).write(to: place)
                let state = try #require(try Self.read(place))
                #expect(state.progress.sent == sent && state.progress.confirmed == 4)
            }
        }
    }

    @Test func `what is longer than 64 KiB is something else`() async throws {
        try await Self.withPlace { place in
            try Self.state(4).write(place)
            let data = try Data(contentsOf: place)
            for (count, isRead) in [(65_536, true), (65_537, false), (65_538, false)] {
                try (data.dropLast() + Data(repeating: 0x20, count: count - data.count) + Data([0x0A])).write(to: place)
                if isRead {
                    #expect(try Self.read(place)?.progress.confirmed == 4)
                } else {
                    #expect(throws: ResumableUploadError.self) { try Self.read(place) }
                }
            }
        }
    }

    @Test func `who uploads and to which path stands in no file, and is known again`() async throws {
        try await Self.withPlace { place in
            try Self.state(4, location: "https://a.example/u/1").write(place)
            let text = try String(contentsOf: place, encoding: .utf8)
            #expect(!text.contains("alice") && !text.contains("videos") && text.contains("https://a.example/u/1"))
            let mode = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            try Self.state(4, location: "https://a.example/u/1").write(place)
            #expect(try String(contentsOf: place, encoding: .utf8) != text, "each file has a key of its own")
            #expect(try Self.read(place)?.subject == Self.subject)
            var others = [Self.subject, Self.subject]
            others[0].identity = "bob"
            others[1].target = "POST https://a.example/pictures"
            for other in others {
                let found = try #require(try ResumableUploadState.read(place, for: other))
                #expect(found.subject != other && found.subject != Self.subject && found.progress.confirmed == 4)
                let record = try UploadRecord.open(place, other)
                #expect(record.progress.confirmed == 0, "another one's is none")
                try Self.state(4, location: "https://a.example/u/1").write(place)
            }
            #expect(try UploadRecord.open(place, Self.subject).progress.confirmed == 4)
        }
    }

    @Test func `what an earlier version wrote as it is goes on, and is written anew without it`() async throws {
        try await Self.withPlace { place in
            let old = """
                penstock upload 1
                {"confirmed":4,"hasSentEnd":true,"mayBeComplete":false,"subject":{"digest":"abc","environment":"test",\
                "form":"tus","identity":"alice","length":10,"target":"POST https://a.example/videos"}}

                """
            try Data(old.utf8).write(to: place)
            var state = try Self.state(4)
            state.progress.sent = nil
            #expect(try Self.read(place) == state, "it does not say how much was sent")
            #expect(try UploadRecord.open(place, Self.subject).progress.confirmed == 4)
            let text = try String(contentsOf: place, encoding: .utf8)
            #expect(!text.contains("alice") && !text.contains("videos"))
        }
    }
}
