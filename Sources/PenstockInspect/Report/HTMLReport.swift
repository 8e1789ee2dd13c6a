import Foundation
import PenstockCore

/// A page that shows what happened: a waterfall of calls and attempts with their phases, what was decided and why, totals for each
/// host. One file, which needs no network and no other program but a browser. It is worked by pointer or by keyboard, and goes by
/// the reader's choice of light or dark.
///
/// ```swift
/// try HTMLReport.write(archive: folder.appending(path: "calls.har"), to: folder.appending(path: "report.html"))
/// ```
///
/// It is made of an archive: of one that ``HARRecorder`` has written, however long ago, or of any other HAR 1.2, which is redacted as
/// it is read, since other programs keep credentials in theirs. What comes from
/// the archive is data to the page and never markup; its content security policy allows its own script and style by a
/// random nonce, and nothing from anywhere.
public enum HTMLReport {
    /// Reads an archive and writes the report, which the user alone may read. A device or a pipe is written into. The report
    /// takes the place of a link to a file: somebody else may have put it there.
    ///
    /// - Parameters:
    ///   - title: stands at the top; `Calls` unless given.
    ///   - onProblem: told of an archive that was cut off, ``HARError/cutOff(wholeEntries:lostBytes:)``, and of entries that are
    ///     none, ``HARError/unreadable(entries:)``. The report shows what is whole, and says how many entries are not there.
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    public static func write(
        archive: URL, to report: URL, title: String = "Calls", onProblem: (HARError) -> Void = { _ in }
    ) throws(HARError) {
        let har = try HAR(contentsOf: archive, onProblem: onProblem)
        do {
            try put(page(har, title: title), at: report)
        } catch {
            throw HARError(error)
        }
    }

    private static func put(_ page: Data, at report: URL) throws {
        var status = stat()
        // What is no file would be destroyed if a file took its place.
        guard stat(report.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
            try PrivateFile(report).replace(with: page)
            return
        }
        let handle = try FileHandle(forWritingTo: report)
        defer { try? handle.close() }
        try handle.write(contentsOf: page)
    }

    /// The page for an archive.
    package static func page(_ har: HAR, title: String = "Calls") throws(HARError) -> Data {
        let page = ReportPage(title: title, unreadable: har.log.unreadable)
        do {
            return Data(page.beforeData.utf8) + (try data(of: har)) + Data(page.afterData.utf8)
        } catch {
            throw HARError(error)
        }
    }

    /// How long a part of the data is at least, in bytes, but for the last one. A browser parses one in a few milliseconds.
    private static let partSize = 1 << 18

    /// The entries, in parts that the page reads one after the other, so that it answers in between.
    private static func data(of har: HAR) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        var (result, part) = (Data(), Data())
        for entry in har.log.entries {
            let entry = har.isOwn ? entry : entry.redacted()
            part += Data((part.isEmpty ? "[" : ",\n").utf8) + escaped(try encoder.encode(entry))
            guard part.count >= partSize else { continue }
            result += ReportPage.element(part)
            part.removeAll()
        }
        return part.isEmpty ? result : result + ReportPage.element(part)
    }

    /// JSON that no parser of HTML takes for markup: `<` and `&` stand in its texts alone, where they may be escaped.
    static func escaped(_ json: Data) -> Data {
        var result = Data(capacity: json.count + json.count / 16)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): result += Data(#"\u003c"#.utf8)
            case UInt8(ascii: ">"): result += Data(#"\u003e"#.utf8)
            case UInt8(ascii: "&"): result += Data(#"\u0026"#.utf8)
            default: result.append(byte)
            }
        }
        return result
    }
}
