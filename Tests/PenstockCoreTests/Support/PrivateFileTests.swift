import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// Files that nobody but their owner may read.
@Suite(.timeLimit(.minutes(5)))
struct PrivateFileTests {
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("private-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        var file: URL { url.appendingPathComponent("state/app/file") }
    }

    private static func mode(_ url: URL) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
    }

    private static func error(_ body: () throws(PrivateFileError) -> some Any) -> PrivateFileError? {
        do throws(PrivateFileError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("A file is 0600 and its folders 0700, whatever was in their place, and what is read is what was written last")
    func replacing() throws {
        let folder = try Folder()
        let file = PrivateFile(folder.file)
        #expect(file.exists == false)
        #expect(try file.contents(limit: 10, .refuses) == nil)
        try file.makeFolder()
        for name in ["state", "state/app"] { #expect(try Self.mode(folder.url.appendingPathComponent(name)) == 0o700) }
        let remains = folder.file.appendingPathExtension("new")
        for text in ["first", "", "second"] {
            // What an earlier process left under the name in between is neither kept nor written through.
            try Data("remains".utf8).write(to: folder.url.appendingPathComponent("elsewhere"))
            try FileManager.default.createSymbolicLink(
                at: remains, withDestinationURL: folder.url.appendingPathComponent("elsewhere"))
            try file.replace(with: Data(text.utf8))
            #expect(try file.contents(limit: 10, .refuses) == Data(text.utf8))
            #expect(try Self.mode(folder.file) == 0o600)
            #expect(
                try String(contentsOf: folder.url.appendingPathComponent("elsewhere"), encoding: .utf8) == "remains")
            #expect(!FileManager.default.fileExists(atPath: remains.path))
        }
        #expect(file.exists)
        try file.remove()
        try file.remove()
        #expect(file.exists == false)
    }

    @Test("What is behind the last byte of a file that was replaced is written after it")
    func appending() throws {
        let folder = try Folder()
        let file = PrivateFile(folder.url.appendingPathComponent("file"))
        let handle = try file.replace(with: Data("one".utf8))
        try handle.write(contentsOf: Data(" two".utf8))
        #expect(try file.contents(limit: 7, .refuses) == Data("one two".utf8))
    }

    @Test("A file that is too large, a folder and a pipe are unusable, and a link is exposed")
    func unusable() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("file")
        let file = PrivateFile(url)
        try file.replace(with: Data("12345".utf8))
        #expect(try file.contents(limit: 5, .refuses) == Data("12345".utf8))
        #expect(Self.error { () throws(PrivateFileError) in try file.contents(limit: 4, .refuses) } == .unusable)
        let other = folder.url.appendingPathComponent("other")
        try FileManager.default.moveItem(at: url, to: other)
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: other)
        #expect(
            Self.error { () throws(PrivateFileError) in try file.contents(limit: 9, .narrows { _ in true }) }
                == .exposed)
        try file.remove()
        #expect(mkfifo(url.path, 0o600) == 0)
        #expect(
            Self.error { () throws(PrivateFileError) in try file.contents(limit: 9, .narrows { _ in true }) }
                == .unusable)
        try file.remove()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        #expect(
            Self.error { () throws(PrivateFileError) in try file.contents(limit: 9, .narrows { _ in true }) }
                == .unusable)
        #expect(Self.error { () throws(PrivateFileError) in try file.replace(with: Data()) } != nil)
        #expect(!FileManager.default.fileExists(atPath: url.path + ".new"), "what failed leaves nothing")
    }

    @Test(
        "What others may read or write is narrowed, where it is one of ours, or refused, as is asked for",
        arguments: [0o640, 0o620, 0o604, 0o602])
    func permissions(mode: Int) throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("file")
        let file = PrivateFile(url)
        try file.replace(with: Data("text".utf8))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        #expect(Self.error { () throws(PrivateFileError) in try file.contents(limit: 9, .refuses) } == .exposed)
        #expect(try Self.mode(url) == mode)
        #expect(try file.contents(limit: 9, .narrows { $0.isEmpty }) == Data("text".utf8))
        #expect(try Self.mode(url) == mode)
        #expect(try file.contents(limit: 9, .narrows { $0 == Data("text".utf8) }) == Data("text".utf8))
        #expect(try Self.mode(url) == 0o600)
    }

    private func made(
        _ file: PrivateFile, _ text: String, patience: Duration = .seconds(60)
    ) throws(PrivateFileError) -> Data {
        try file.contents(limit: 9, .refuses, patience: patience) { Data(text.utf8) }
    }

    @Test("Of several who make a file at one time, all get what the first has written")
    func making() throws {
        for _ in 0..<50 {
            let folder = try Folder()
            let file = PrivateFile(folder.url.appendingPathComponent("file"))
            let found = Locked<[Data]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let data = try? made(file, "text \(number)")
                found.withLock { $0.append(data ?? Data()) }
            }
            let contents = found.withLock(\.self)
            #expect(Set(contents).count == 1 && contents.first?.count == 6)
            #expect(try file.contents(limit: 9, .refuses) == contents.first)
            #expect(try Self.mode(folder.url.appendingPathComponent("file")) == 0o600)
        }
    }

    @Test("What is there is not made anew, unless it is empty, and is refused as when it is read")
    func makingOver() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("file")
        let file = PrivateFile(url)
        try file.replace(with: Data())
        #expect(try made(file, "first") == Data("first".utf8))
        #expect(try made(file, "second") == Data("first".utf8))
        try file.replace(with: Data(count: 10))
        #expect(Self.error { () throws(PrivateFileError) in try made(file, "x") } == .unusable)
        try file.replace(with: Data())
        let holder = open(url.path, O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(Self.error { () throws(PrivateFileError) in try made(file, "x", patience: .zero) } == .busy)
        close(holder)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: url.path)
        #expect(Self.error { () throws(PrivateFileError) in try made(file, "x") } == .exposed)
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        #expect(Self.error { () throws(PrivateFileError) in try made(PrivateFile(link), "x") } == .exposed)
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(Self.error { () throws(PrivateFileError) in try made(PrivateFile(pipe), "x") } == .unusable)
    }

    @Test("One has the lock at a time, and the next one when it is let go")
    func lock() throws {
        let folder = try Folder()
        let file = PrivateFile(folder.url.appendingPathComponent("file"))
        #expect(!file.hasLock)
        do {
            let lock = try FileLock(beside: file)
            #expect(file.hasLock)
            #expect(Self.error { () throws(PrivateFileError) in try FileLock(beside: file) } == .busy)
            withExtendedLifetime(lock) {}
        }
        #expect(Self.error { () throws(PrivateFileError) in try FileLock(beside: file) } == nil)
        #if os(Linux)
            // A process that is started meanwhile does not keep it.
            var lock: FileLock? = try FileLock(beside: file)
            let copies = try DescriptorCopies(of: folder.url.appendingPathComponent("file.lock"))
            withExtendedLifetime(lock) { #expect(copies.count == 1) }
            lock = nil
            #expect(Self.error { () throws(PrivateFileError) in try FileLock(beside: file) } == nil)
            _ = consume copies
        #endif
        #expect(try Self.mode(folder.url.appendingPathComponent("file.lock")) == 0o600)
        let nowhere = PrivateFile(folder.url.appendingPathComponent("none/file"))
        #expect(Self.error { () throws(PrivateFileError) in try FileLock(beside: nowhere) } == .system(ENOENT))
        #expect(Self.error { () throws(PrivateFileError) in try nowhere.replace(with: Data()) } == .system(ENOENT))
    }
}
