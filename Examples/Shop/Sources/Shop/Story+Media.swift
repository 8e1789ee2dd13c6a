import Foundation
import Penstock
import ShopKit
import ShopServer
import Synchronization

/// Files both ways, and a wire that is no request and response.
extension Story {
    func sendPicture() async throws -> [String] {
        try await inFolder { folder in
            let picture = MediaServer.content(of: 8 << 20)
            let file = folder.appendingPathComponent("beach.jpg")
            try picture.write(to: file)
            let bar = Bar(draw)
            let sent = try await shop.media.upload(file, title: "On the beach") { bar.show($0) }
            let stored = world.media.pictures[sent.name]
            try expect(stored == picture && sent.bytes == picture.count, "the shop has \(sent)")
            return [
                try bar.finished(), "\(sent.title): \(sent.name), \(sent.bytes) bytes, and the shop has the very same",
            ]
        }
    }

    /// The server breaks off in the middle, and the app notices nothing of it.
    func watchFilm() async throws -> [String] {
        try await inFolder { folder in
            let file = folder.appendingPathComponent("seven.mp4")
            let seen = world.media.wire.requestCount
            let bar = Bar(draw)
            let film = try await shop.media.download(film: 7, to: file) { bar.show($0) }
            let asked = world.media.wire.requests.dropFirst(seen).map { $0.fields["Range"] }
            // What had come last may have been on its way to the file still.
            let start = asked.last??.dropFirst("bytes=".count).dropLast()
            try expect(try Data(contentsOf: file) == MediaServer.film, "the file is another one")
            try expect(asked.count == 2 && asked[0] == nil, "asked for: \(asked)")
            try expect((1...MediaServer.cut).contains(start.flatMap { Int($0) } ?? 0), "asked for: \(asked)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            try expect(names == ["seven.mp4"], "in the folder: \(names)")
            return [
                try bar.finished(),
                "cut after \(MediaServer.cut) of \(film.length) bytes; the app has asked for all of it, and then for the rest",
                "\(film.url.lastPathComponent) is the film, byte for byte, and nothing else is in the folder",
            ]
        }
    }

    func talk() async throws -> [String] {
        let conversation = shop.chat.conversation()
        var answers: [String] = []
        for line in ["Is the tea fresh?", "♥"] {
            try await conversation.send(.text(line))
            for try await answer in conversation.messages {
                answers.append(answer.text ?? "\(answer)")
                break
            }
        }
        await conversation.close()
        let upgrade = world.development.wire.requests.last
        try expect(answers == ["Is the tea fresh?", "♥"], "the shop answers \(answers)")
        return [
            "\(upgrade?.method.rawValue ?? "?") \(upgrade?.path ?? "?") became a \(upgrade?.fields["Upgrade"] ?? "?")",
            "the shop says what it is told: \(answers.joined(separator: " "))",
        ]
    }
}

/// A bar of how far a transfer is.
private final class Bar: Sendable {
    private let draw: @Sendable (String) -> Void
    private let shown = Mutex<[TransferProgress]>([])

    init(_ draw: @escaping @Sendable (String) -> Void) {
        self.draw = draw
    }

    func show(_ progress: TransferProgress) {
        shown.withLock { $0.append(progress) }
        draw("   " + Self.line(progress))
    }

    /// Takes the bar away.
    ///
    /// - Returns: the bar as it was at the end.
    /// - Throws: ``Surprise`` for a bar that went back, that jumped, or was not full at the end and at the end alone.
    func finished() throws -> String {
        draw("")
        let all = shown.withLock { $0 }
        let fractions = all.map { $0.fraction ?? 0 }
        guard let last = all.last, fractions.last == 1, fractions.dropLast().allSatisfy({ $0 < 1 }) else {
            throw Surprise("the bar ends at \(fractions.suffix(2))")
        }
        guard fractions.sorted() == fractions, fractions.contains(where: { 0.1..<0.9 ~= $0 }) else {
            throw Surprise("the bar went \(fractions)")
        }
        return Self.line(last)
    }

    private static func line(_ progress: TransferProgress) -> String {
        let fraction = progress.fraction ?? 0
        let filled = Int(fraction * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        return "\(bar) \(Int(fraction * 100)) %, \((max(progress.sent, progress.received)) >> 10) KiB"
    }
}
