import Foundation

/// How a log of events is written: a line for each thing that has happened, each with a sum of its own, so that damage costs the
/// lines that it is in and no others.
///
/// ```
/// penstock-events 1
/// E 1f2e3d4c 7 eyJuYW1lIjoidGFwIn0=        event 7 was recorded
/// S 99aabbcc 5d0c…  7                       events up to 7 are the batch of that id
/// D 00112233 5d0c…                          the batch was delivered, or refused for good
/// ```
package enum EventLogFormat {
    package static let header = "penstock-events 1\n"
    private static let name = "penstock-events "

    package enum Problem: Error, Hashable, Sendable {
        /// A later version of Penstock has written it.
        case newerVersion
        /// It holds something else.
        case foreign
    }

    /// What a log holds.
    package struct Content: Sendable {
        package var records: [EventLogMachine.Record] = []
        package var batch: EventLogMachine.Seal?
        package var nextNumber: UInt64 = 1
        /// Lines that could not be read.
        package var damagedLines = 0
    }

    package static func event(_ record: EventLogMachine.Record) -> String {
        line("E", "\(record.number) \(record.data.base64EncodedString())")
    }

    package static func seal(_ seal: EventLogMachine.Seal) -> String { line("S", "\(seal.id) \(seal.last)") }

    package static func done(_ id: String) -> String { line("D", id) }

    /// A log that holds just this.
    package static func whole(_ records: [EventLogMachine.Record], _ batch: EventLogMachine.Seal?) -> String {
        header + records.map(event).joined() + (batch.map(seal) ?? "")
    }

    /// Reads a log, whatever has happened to it. The last line counts only with its end: without it, its writing was cut short.
    package static func read(_ data: Data) throws(Problem) -> Content {
        var content = Content()
        var lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.popLast()?.isEmpty == false { content.damagedLines += 1 }
        guard let first = lines.first else {
            if Data(header.utf8).starts(with: data) { return Content() }
            throw .foreign
        }
        let head = String(decoding: first, as: UTF8.self)
        let isIntact = head + "\n" == header
        if isIntact {
            lines.removeFirst()
        } else if let version = Int(head.dropFirst(name.count)), head.hasPrefix(name), version > 1 {
            throw .newerVersion
        }
        var readable = 0
        for line in lines { if content.take(line) { readable += 1 } else { content.damagedLines += 1 } }
        // Without a header, only what reads as a log is one.
        guard isIntact || readable > 0 else { throw .foreign }
        return content
    }

    private static func line(_ kind: String, _ text: String) -> String {
        "\(kind) \(sum(kind, text)) \(text)\n"
    }

    fileprivate static func sum(_ kind: some StringProtocol, _ text: some StringProtocol) -> String {
        String(SHA256.hex("\(kind) \(text)".utf8).prefix(8))
    }
}

extension EventLogFormat.Content {
    fileprivate mutating func take(_ bytes: Data.SubSequence) -> Bool {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard parts.count == 3, EventLogFormat.sum(parts[0], parts[2]) == parts[1] else { return false }
        let words = parts[2].split(separator: " ")
        switch (parts[0], words.count) {
        case ("E", 2): return takeEvent(words)
        case ("S", 2): return takeSeal(words)
        case ("D", 1):
            finish(String(words[0]))
            return true
        default: return false
        }
    }

    private mutating func takeEvent(_ words: [Substring]) -> Bool {
        guard let number = UInt64(words[0]), number < .max, number >= nextNumber,
            let data = Data(base64Encoded: String(words[1]))
        else { return false }
        records.append(.init(number: number, data: data))
        nextNumber = number + 1
        return true
    }

    private mutating func takeSeal(_ words: [Substring]) -> Bool {
        guard let last = UInt64(words[1]), last < .max else { return false }
        // The line that ended the batch before may be the one that was lost.
        batch = EventLogMachine.Seal(id: String(words[0]), last: last)
        return true
    }

    private mutating func finish(_ id: String) {
        guard let done = batch, done.id == id else { return }
        records.removeAll { $0.number <= done.last }
        batch = nil
    }
}
