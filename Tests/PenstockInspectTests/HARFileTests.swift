import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockInspect

/// The archive on disk, whatever happens to the process and the file.
@Suite(.timeLimit(.minutes(5))) struct HARFileTests {
    private func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("calls.har"))
    }

    private func record(_ count: Int, to file: URL, limit: Int = 1 << 30, _ problems: Locked<[HARError]> = .init([]))
        async throws
    {
        let recorder = try HARRecorder(file: file, limit: limit) { problem in problems.withLock { $0.append(problem) } }
        let client = InspectRig.client { $0.sinks = [recorder] }
        for _ in 0..<count { _ = try await client.send(Hello()) }
        await recorder.close()
    }

    private func count(_ file: URL) throws -> Int {
        try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file)).log.entries.count
    }

    @Test("The archive is whole after each entry, and is added to when it is opened again", .covers("X11"))
    func grows() async throws {
        try await withFile { file in
            try await record(0, to: file)
            #expect(try count(file) == 0)
            try await record(1, to: file)
            #expect(try count(file) == 1)
            try await record(2, to: file)
            #expect(try count(file) == 3)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "Wherever it was cut off, opening it again makes it whole, and only the last entry may be lost", .covers("X11"))
    func repairs() async throws {
        try await withFile { file in
            try await record(3, to: file)
            let whole = try Data(contentsOf: file)
            let lines = whole.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let ends = lines.indices.dropLast().map { lines[...$0].reduce(0) { $0 + $1.count + 1 } }
            for length in stride(from: 0, through: whole.count, by: 7) + ends + ends.map({ $0 - 1 })
                + ends.map({ $0 + 1 })
            where length <= whole.count {
                try whole.prefix(length).write(to: file)
                _ = try HARRecorder(file: file)
                let entries = ends.dropFirst().prefix(3).count { $0 <= length }
                #expect(try count(file) == entries, "cut at \(length)")
            }
        }
    }

    #if os(Linux)
        @Test("A process that is started while the archive is open does not keep it from being opened again")
        func descriptorsOfOthers() async throws {
            try await withFile { file in
                for closes in [true, false] {
                    var recorder: HARRecorder? = try HARRecorder(file: file)
                    let copies = try DescriptorCopies(of: file)
                    #expect(copies.count == 1)
                    #expect(throws: HARError.inUse) { try HARRecorder(file: file) }
                    if closes { await recorder?.close() }
                    recorder = nil
                    #expect(throws: Never.self) { try HARRecorder(file: file) }
                    _ = consume copies
                }
            }
        }
    #endif

    @Test("A write that was cut off in the middle leaves every entry before it", .covers("X11"))
    func tornWrites() async throws {
        try await withFile { file in
            try await record(2, to: file)
            let before = try Data(contentsOf: file)
            try await record(1, to: file)
            let after = try Data(contentsOf: file)
            let place = before.count - HARSamples.footer.utf8.count
            for torn in 1..<(after.count - place) where torn < 12 || torn.isMultiple(of: 41) {
                var data = before
                data.replaceSubrange(
                    place..<min(place + torn, before.count), with: after[place..<min(place + torn, before.count)])
                if place + torn > before.count { data.append(after[before.count..<(place + torn)]) }
                try data.write(to: file)
                _ = try HARRecorder(file: file)
                let entries = try count(file)
                #expect(entries == 2 || entries == 3 && torn >= after.count - place - HARSamples.footer.utf8.count)
            }
        }
    }

    @Test(
        "Wherever an archive was cut off behind its header, its whole entries are read, and what is lost is said",
        .covers("X11"))
    func readsTorn() async throws {
        try await withFile { file in
            try await record(3, to: file)
            let whole = try Data(contentsOf: file)
            let lines = whole.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let ends = lines.indices.dropLast().map { lines[...$0].reduce(0) { $0 + $1.count + 1 } }
            let report = file.deletingPathExtension().appendingPathExtension("html")
            for length in stride(from: 1, to: whole.count, by: 11) + ends.flatMap({ [$0 - 2, $0 - 1, $0, $0 + 1] })
            where length < whole.count - 1 {
                try whole.prefix(length).write(to: file)
                var problems: [HARError] = []
                guard length >= ends[0] else {
                    #expect(throws: HARError.self) { try HAR(contentsOf: file) }
                    continue
                }
                let count = ends.dropFirst().prefix(3).count { $0 <= length }
                let footer = length > ends[3] ? length - ends[3] : 0
                let lost = length - ends[count] - footer
                let har = try HAR(contentsOf: file) { problems.append($0) }
                #expect(har.log.entries.count == count && har.log.creator?.name == "Penstock", "cut at \(length)")
                #expect(problems == [.cutOff(wholeEntries: count, lostBytes: lost)], "cut at \(length)")
                try HTMLReport.write(archive: file, to: report) { problems.append($0) }
                _ = try HARAnswers.read(file) { problems.append($0) }
                #expect(problems.count == 3 && problems[0] == problems[1] && problems[1] == problems[2])
            }
            // Reading changes nothing, and says nothing of what is whole.
            try whole.write(to: file)
            _ = try HAR(contentsOf: file) { _ in Issue.record("the archive is whole") }
            #expect(try Data(contentsOf: file) == whole)
        }
    }

    @Test("An archive of another program that was cut off is none")
    func foreignTorn() async throws {
        try await withFile { file in
            try await record(1, to: file)
            let whole = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            try Data(whole.replacing("Penstock", with: "Another").utf8.dropLast(4)).write(to: file)
            let error = #expect(throws: HARError.self) { try HAR(contentsOf: file) }
            #expect(error == .notAnArchive(reason: "it is no JSON object with a log"))
        }
    }

    @Test("What is no archive of ours is left as it is, and so is one that another recorder has")
    func foreign() async throws {
        try await withFile { file in
            for text in ["hello", #"{"log":{"version":"1.2","creator":{"name":"Other"}}}"#, "{\"log\"", "\n"] {
                try Data(text.utf8).write(to: file)
                if Data(#"{"log":{"version":"1.2","creator":{"name":"Penstock","#.utf8).starts(with: Data(text.utf8)) {
                    continue
                }
                #expect(throws: HARError.foreignFile) { try HARRecorder(file: file) }
                #expect(try Data(contentsOf: file) == Data(text.utf8))
            }
            try FileManager.default.removeItem(at: file)
            let first = try HARRecorder(file: file)
            #expect(throws: HARError.inUse) { try HARRecorder(file: file) }
            await first.flush()
            #expect(throws: HARError.self) { try HARRecorder(file: file.appendingPathComponent("none/x")) }
        }
    }

    private func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test("The user alone may read archive and report, also where others could read those before")
    func privacy() async throws {
        try await withFile { file in
            let report = file.deletingPathExtension().appendingPathExtension("html")
            try await record(1, to: file)
            try HTMLReport.write(archive: file, to: report)
            #expect(try mode(file) == 0o600 && mode(report) == 0o600)
            let page = try Data(contentsOf: report)
            for (startsOver, wide) in [(false, 0o644), (true, 0o666), (false, 0o601), (true, 0o620)] {
                try FileManager.default.setAttributes([.posixPermissions: wide], ofItemAtPath: file.path)
                try FileManager.default.setAttributes([.posixPermissions: wide], ofItemAtPath: report.path)
                _ = try HARRecorder(file: file, startsOver: startsOver)
                try await record(1, to: file)
                try HTMLReport.write(archive: file, to: report)
                #expect(try mode(file) == 0o600 && mode(report) == 0o600, "from \(String(wide, radix: 8))")
            }
            #expect(try !page.isEmpty && !Data(contentsOf: report).isEmpty)
            // What is not ours keeps its permissions too.
            try Data("hello".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(throws: HARError.foreignFile) { try HARRecorder(file: file) }
            #expect(try mode(file) == 0o644)
        }
    }

    @Test("A link in the archive's place is refused, whatever it leads to, and what it leads to stays as it is")
    func links() async throws {
        try await withFile { file in
            let link = file.deletingLastPathComponent().appendingPathComponent("link.har")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let refusal = HARError.unusableFile(reason: "it is a symbolic link")
            #expect(throws: refusal) { try HARRecorder(file: link) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            try await record(1, to: file)
            let before = try Data(contentsOf: file)
            #expect(throws: refusal) { try HARRecorder(file: link, startsOver: true) }
            #expect(try Data(contentsOf: file) == before)
            // A report takes the place of a link.
            try HTMLReport.write(archive: file, to: link)
            #expect(try Data(contentsOf: file) == before)
            let type = try FileManager.default.attributesOfItem(atPath: link.path)[.type] as? FileAttributeType
            #expect(try type == .typeRegular && mode(link) == 0o600)
        }
    }

    @Test("Lines of any length are found from behind, in time that grows as they do", .covers("X11"))
    func longLines() async throws {
        try await withFile { file in
            try await record(2, to: file)
            let whole = try Data(contentsOf: file).dropLast(HARSamples.footer.utf8.count)
            for length in [0, 1, 65_534, 65_535, 65_536, 65_537, 131_072, 200_001] {
                for ending in ["", "\n"] {
                    let torn = "," + String(repeating: "x", count: length) + ending
                    try (whole + Data(torn.utf8)).write(to: file)
                    _ = try HARRecorder(file: file)
                    #expect(try count(file) == 2, "\(length)")
                }
            }
            let long = whole + Data(repeating: UInt8(ascii: "x"), count: 16 << 20)
            for startsOver in [false, true] {
                try long.write(to: file)
                let began = ContinuousClock.now
                _ = try HARRecorder(file: file, startsOver: startsOver)
                #expect(ContinuousClock.now - began < .seconds(20))
                #expect(try count(file) == (startsOver ? 0 : 2))
            }
        }
    }

    @Test("A pipe is no place for an archive, and takes a report as it is")
    func pipes() async throws {
        try await withFile { file in
            try await record(1, to: file)
            let pipe = file.deletingLastPathComponent().appendingPathComponent("pipe")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            let reason = "it is a pipe, in which nothing can be overwritten"
            #expect(throws: HARError.unusableFile(reason: reason)) { try HARRecorder(file: pipe) }
            let reader = FileHandle(fileDescriptor: open(pipe.path, O_RDWR), closeOnDealloc: true)
            try HTMLReport.write(archive: file, to: pipe)
            #expect(try reader.read(upToCount: 2) == Data("<!".utf8))
        }
    }

    @Test("An archive may start over, and keeps to its limit")
    func limits() async throws {
        try await withFile { file in
            try await record(2, to: file)
            let one = (try Data(contentsOf: file).count) / 2
            _ = try HARRecorder(file: file, startsOver: true)
            #expect(try count(file) == 0)
            let problems = Locked<[HARError]>([])
            let limit = one * 2 + 150
            try await record(5, to: file, limit: limit, problems)
            let (entries, size) = (try count(file), try Data(contentsOf: file).count)
            #expect(entries >= 1 && size <= limit)
            #expect(problems.withLock(\.last) == .full(lostEntries: 5 - entries))
        }
    }

    @Test("Two independent readers accept it: har-validator and haralyzer", .covers("X11"))
    func readers() async throws {
        try await withFile { file in
            let recorder = try HARRecorder(file: file, contents: .upTo(bytes: 1000))
            let script = ScriptedTransport([
                .fail(TransportError(.timeout(.connect), sendState: .unsent)), .respond(InspectRig.greeting),
                .respond(
                    HTTPResponse(
                        status: 200, fields: [.setCookie: "a=b; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
                        body: Data([0xFF]))),
            ])
            let client = InspectRig.client(script) {
                $0.sinks = [recorder]
                $0.options.retry = .limit(2)
            }
            _ = try await client.send(Hello())
            _ = try? await client.send(Order())
            _ = try? await client.send(HTTPRequest(method: .get, url: try HTTPURL("http://plain.example/")))
            await recorder.flush()
            let node = try await Subprocess.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                ["NODE_PATH=/usr/share/nodejs", "node", "-e", HARSamples.validator, file.path])
            #expect(node.status == 0 && node.output == "valid 4\n", "\(node.output)")
            let python = try await Subprocess.run(try Python.executable(), ["-c", HARSamples.analyser, file.path])
            #expect(python.status == 0 && python.output == "['GET', 'GET', 'POST', 'NONE'] True\n", "\(python.output)")
        }
    }
}

enum HARSamples {
    static let footer = "]}}\n"

    /// With the JSON schemas of the format.
    static let validator = """
        const validate = require('/usr/share/nodejs/har-validator/lib/promise.js');
        const har = JSON.parse(require('fs').readFileSync(process.argv[1]));
        validate.har(har).then(() => console.log('valid ' + har.log.entries.length))
            .catch((error) => { console.log(JSON.stringify(error.errors || String(error))); process.exit(1); });
        """

    static let analyser = """
        import json, sys
        from haralyzer import HarParser
        parser = HarParser(json.load(open(sys.argv[1])))
        entries = [entry for page in parser.pages for entry in page.entries]
        sums = []
        for entry in entries:
            timings = {k: v for k, v in entry.timings.items() if k != 'ssl' and v >= 0}
            sums.append(abs(sum(timings.values()) - entry.time) < 0.001)
        print([entry.request.method for entry in entries], all(sums))
        """
}

/// The Python with the packages of `Scripts/requirements.txt`.
enum Python {
    static func executable() throws -> URL {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent(".venv/bin/python")
    }
}
