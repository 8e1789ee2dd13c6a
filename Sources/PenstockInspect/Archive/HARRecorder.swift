import Foundation
import PenstockCore

/// Writes what happens to calls into an HTTP archive (HAR 1.2), which browsers and many tools read, and ``HTMLReport`` as well.
///
/// ```swift
/// let recorder = try HARRecorder(file: folder.appending(path: "calls.har"))
/// configuration.sinks.append(recorder)
/// …
/// await recorder.flush()
/// ```
///
/// A call is written when it ends: an entry for each attempt, or one alone where nothing was sent. Members of Penstock's own
/// (`_call`) tell what was decided and why. What is held in memory are calls under way and those that wait for the disk; where their
/// content is too much, it is left out of the archive, which says so in the comments of these entries. The file is a whole archive whenever it is
/// looked at, and is repaired when it is opened again after a crash. Nothing secret is in it, by the rules of ``Redaction``.
public final class HARRecorder: EventSink {
    /// How much of the content of requests and responses is written.
    public enum Contents: Hashable, Sendable {
        /// Sizes and types alone.
        case none
        /// Content of so many bytes at most, redacted; what is no text as base64. Longer content is left out.
        case upTo(bytes: Int)

        fileprivate var longest: Int {
            switch self {
            case .none: -1
            case .upTo(let bytes): max(bytes, 0)
            }
        }
    }

    private let collector: Locked<CallCollector>
    private let writer: Writer
    private let contents: Contents
    /// 64 MiB.
    private static let mostContent = 64 << 20

    /// Opens the archive, or makes it. What is there stays, and is added to.
    ///
    /// - Parameters:
    ///   - contents: none by default, as content may hold what only its author knows to be secret.
    ///   - contentInMemory: how many bytes of content may be held until they are written; content beyond is left out. 64 MiB by
    ///     default, or a request and a response of the longest content that is kept where that is more.
    ///   - limit: how many bytes the file may have; entries beyond are lost. 1 GiB by default.
    ///   - startsOver: whether an archive that is there is emptied. It is not, by default.
    ///   - onProblem: told of what was lost and why, from any thread.
    /// - Throws: ``HARError/foreignFile``, ``HARError/inUse`` or ``HARError/unusableFile(reason:)``. The file is left as it was.
    public init(
        file: URL, contents: Contents = .none, contentInMemory: Int? = nil, limit: Int = 1 << 30,
        startsOver: Bool = false,
        onProblem: @escaping @Sendable (HARError) -> Void = { _ in }
    ) throws(HARError) {
        let file = try HARFile(file, version: PenstockVersion.current, startsOver: startsOver)
        writer = Writer(file, limit: limit, onProblem)
        let (longest, overflows) = contents.longest.multipliedReportingOverflow(by: 2)
        let most = contentInMemory ?? max(Self.mostContent, overflows ? .max : longest)
        collector = Locked(CallCollector(content: ContentBudget(longest: contents.longest, most: most)))
        self.contents = contents
    }

    public var interest: EventInterest { .calls }

    public func receive(_ event: Event, _ context: EventContext) {
        guard let record = collector.withLock({ $0.take(event, context) }) else { return }
        writer.write { [contents] in
            HAR.entries(of: record, keepsContent: contents != .none)
        } ended: { [collector] in
            collector.withLock { $0.release(record) }
        }
    }

    /// Returns when all calls that have ended are in the file, also after a loss of power.
    public func flush() async {
        await writer.flush()
    }

    /// Writes what is left, and lets go of the file, so that it can be opened again. Calls that end later are not written. A
    /// recorder that nobody holds any more closes by itself.
    public func close() async {
        await writer.flush(closes: true)
    }

    /// What writes: on a queue of its own, so that calls do not wait for the disk; a disk that is slower than the calls makes them
    /// wait.
    private final class Writer: Sendable {
        /// How many records wait to be written at most. Beside their content, which has a bound of its own, so many hold at most a few
        /// megabytes.
        private static let mostWaiting = 512

        private let output: SerialState<Output>
        private let waiting = Locked(0)

        init(_ file: HARFile, limit: Int, _ onProblem: @escaping @Sendable (HARError) -> Void) {
            output = SerialState(Output(file: file, limit: limit, onProblem: onProblem), label: "penstock.har")
        }

        func write(_ entries: @escaping @Sendable () -> [HAR.Entry], ended: @escaping @Sendable () -> Void) {
            let isCrowded = waiting.withLock { waiting in
                waiting += 1
                return waiting > Self.mostWaiting
            }
            let work = { @Sendable [waiting] (output: inout Output) in
                for entry in entries() { output.append(entry) }
                waiting.withLock { $0 -= 1 }
                ended()
            }
            if isCrowded { output.runAndWait(work) } else { output.run(work) }
        }

        func flush(closes: Bool = false) async {
            await withCheckedContinuation { continuation in
                output.run { output in
                    output.flush(closes: closes)
                    continuation.resume()
                }
            }
        }
    }

    /// The file, as the queue has it.
    private struct Output {
        /// `nil` once it is closed.
        var file: HARFile?
        let limit: Int
        let onProblem: @Sendable (HARError) -> Void
        private var lost = 0

        init(file: HARFile, limit: Int, onProblem: @escaping @Sendable (HARError) -> Void) {
            self.file = file
            self.limit = limit
            self.onProblem = onProblem
        }

        mutating func flush(closes: Bool) {
            file?.synchronize()
            guard closes else { return }
            file?.close()
            file = nil
        }

        mutating func append(_ entry: HAR.Entry) {
            guard let file else { return }
            do {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .withoutEscapingSlashes
                let line = try encoder.encode(entry)
                guard file.end + UInt64(line.count) + 16 <= UInt64(limit) else {
                    lost += 1
                    return onProblem(.full(lostEntries: lost))
                }
                try file.append(line)
            } catch {
                onProblem(HARError(error))
            }
        }
    }
}
