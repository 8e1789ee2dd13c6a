import Foundation
import Penstock

/// The archive and the report that `fetch` leaves behind.
struct Recorder: Sendable {
    let sink: HARRecorder
    private let archive: URL
    private let report: URL?
    /// Whether the archive is there for the report alone.
    private let isTemporary: Bool

    /// - Returns: `nil` where neither is asked for.
    init?(archive: String?, report: OutputFile?, contents: HARRecorder.Contents) throws(UsageError) {
        guard archive != nil || report != nil else { return nil }
        isTemporary = archive == nil
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(
            "penstockctl-\(UUID().uuidString).har")
        self.archive = archive.map { URL(fileURLWithPath: $0) } ?? temporary
        self.report = report?.url
        // What the user did not ask for by name is not named.
        let option = archive == nil ? "--report" : "--har"
        do throws(HARError) {
            sink = try HARRecorder(file: self.archive, contents: contents, startsOver: true) {
                Console.note("\(option): \(ReportCommand.text($0))")
            }
        } catch {
            throw UsageError("\(option): \(ReportCommand.text(error))")
        }
    }

    /// Writes what is left, and says where it is.
    func finish() async throws(OutputFailure) {
        await sink.flush()
        if !isTemporary { Console.note("the archive is \(archive.path)") }
        defer { if isTemporary { try? FileManager.default.removeItem(at: archive) } }
        guard let report else { return }
        do throws(HARError) {
            try HTMLReport.write(archive: archive, to: report)
            Console.note("the report is \(report.path)")
        } catch {
            throw OutputFailure("--report: \(ReportCommand.text(error))")
        }
    }
}

/// `penstockctl report`: the page of an archive.
enum ReportCommand {
    static let table = [
        OptionRule(
            names: ["-o", "--output"], placeholder: "FILE",
            help: "write the report to FILE (default: the archive's name with .html)"),
        OptionRule(names: ["--title"], placeholder: "TEXT", help: "what stands at the top"),
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]

    static func run(_ arguments: Arguments) throws(UsageError) -> Int32 {
        guard arguments.operands.count == 1, let path = arguments.operands.first else {
            throw UsageError("one archive is wanted")
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.isReadableFile(atPath: path),
            FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        else { throw UsageError("\(Redaction.text(path)): it cannot be read") }
        guard !isDirectory.boolValue else { throw UsageError("\(Redaction.text(path)): it is a directory") }
        let archive = URL(fileURLWithPath: path)
        let report = try place(of: arguments.value("--output"), for: archive)
        do throws(HARError) {
            try HTMLReport.write(
                archive: archive, to: report, title: arguments.value("--title") ?? archive.lastPathComponent
            ) { Console.note("\(path): \(text($0))") }
        } catch {
            switch error {
            case .notAnArchive: throw UsageError("\(Redaction.text(path)): \(text(error))")
            default:
                Console.note("\(report.path): \(text(error))")
                return ExitCode.output
            }
        }
        Console.note("the report is \(report.path)")
        return ExitCode.success
    }

    private static func place(of output: String?, for archive: URL) throws(UsageError) -> URL {
        let path = output ?? archive.deletingPathExtension().appendingPathExtension("html").path
        guard !OutputFile.isSame(archive.path, path) else {
            throw UsageError("-o: the report would take the place of the archive")
        }
        return try OutputFile(path: path).url
    }

    static func text(_ error: HARError) -> String {
        switch error {
        case .foreignFile: "the file is none of Penstock's archives, and is left as it is"
        case .inUse: "another program is writing the file"
        case .unusableFile(let reason): reason
        case .notAnArchive(let reason): "this is no HTTP archive: \(reason)"
        case .full(let count): "the archive is full; \(count) entries are lost"
        case .cutOff(let whole, let lost):
            "the archive was cut off: \(whole) entries are whole, and \(lost) bytes behind them are left out"
        case .unreadable(let count): "\(count) entries of the archive cannot be read, and are left out"
        case .missingContent(let entry): "the archive has not kept the content of the answer to \(entry)"
        }
    }
}
