import Foundation

/// How a log of events is written: a line for each thing that has happened, each with a sum of its own, so that damage costs the
/// lines that it is in and no others.
///
/// ```
/// penstock-events 2
/// E 1f2e3d4c 7 0f3a… eyJuYW1lIjoidGFwIn0=  event 7 was recorded under the identity of that digest
/// S 99aabbcc 5d0c…  7 0f3a…                 its events up to 7 are the batch of that id
/// D 00112233 5d0c…                          the batch was delivered, or refused for good
/// ```
///
/// The first version named no identity; what it has kept is nobody's.
package enum EventLogFormat {
    package static let header = "penstock-events 2\n"
    private static let firstHeader = "penstock-events 1\n"
    private static let name = "penstock-events "

    /// Whose events are that were recorded while nobody was signed in.
    package static let nobody = owner("")

    /// The digest that stands for an identity.
    package static func owner(_ identity: String) -> String { NameDigest.of(identity: identity) }

    package enum Problem: Error, Hashable, Sendable {
        /// A later version of Penstock has written it.
        case newerVersion
        /// It holds something else.
        case foreign
    }

    /// What a log holds.
    package struct Content: Sendable {
        package var records: [EventLogMachine.Record] = []
        /// Those that were not delivered: one of an identity at most.
        package var batches: [EventLogMachine.Seal] = []
        package var nextNumber: UInt64 = 1
        /// Lines that could not be read.
        package var damagedLines = 0
    }

    package static func event(_ record: EventLogMachine.Record) -> String {
        line("E", "\(record.number) \(record.owner) \(record.data.base64EncodedString())")
    }

    package static func seal(_ seal: EventLogMachine.Seal) -> String {
        line("S", "\(seal.id) \(seal.last) \(seal.owner)")
    }

    package static func done(_ id: String) -> String { line("D", id) }

    /// A log that holds just this.
    package static func whole(_ records: [EventLogMachine.Record], _ batches: [EventLogMachine.Seal]) -> String {
        header + records.map(event).joined() + batches.map(seal).joined()
    }

    /// Reads a log, whatever has happened to it. The last line counts only with its end: without it, its writing was cut short.
    package static func read(_ data: Data) throws(Problem) -> Content {
        var content = Content()
        var lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.popLast()?.isEmpty == false { content.damagedLines += 1 }
        guard let first = lines.first else {
            if [header, firstHeader].contains(where: { Data($0.utf8).starts(with: data) }) { return Content() }
            throw .foreign
        }
        let head = String(decoding: first, as: UTF8.self)
        let isIntact = [header, firstHeader].contains(head + "\n")
        if isIntact {
            lines.removeFirst()
        } else if let version = Int(head.dropFirst(name.count)), head.hasPrefix(name), version > 2 {
            throw .newerVersion
        }
        var isReadable = false
        for line in lines { if content.take(line) { isReadable = true } else { content.damagedLines += 1 } }
        // Without a header, only what reads as a log is one.
        guard isIntact || isReadable else { throw .foreign }
        return content
    }

    /// Whether it is a log, of whatever version and however damaged.
    static func isOurs(_ data: Data) -> Bool {
        do throws(Problem) {
            _ = try read(data)
            return !data.isEmpty
        } catch {
            return error == .newerVersion
        }
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
        case ("E", 2): return takeEvent(words[0], EventLogFormat.nobody, words[1])
        case ("E", 3): return takeEvent(words[0], String(words[1]), words[2])
        case ("S", 2): return takeSeal(words[0], words[1], EventLogFormat.nobody)
        case ("S", 3): return takeSeal(words[0], words[1], String(words[2]))
        case ("D", 1):
            finish(String(words[0]))
            return true
        default: return false
        }
    }

    private mutating func takeEvent(_ number: Substring, _ owner: String, _ text: Substring) -> Bool {
        guard let number = UInt64(number), number < .max, number >= nextNumber,
            let data = Data(base64Encoded: String(text))
        else { return false }
        records.append(.init(number: number, owner: owner, data: data))
        nextNumber = number + 1
        return true
    }

    private mutating func takeSeal(_ id: Substring, _ last: Substring, _ owner: String) -> Bool {
        guard let last = UInt64(last), last < .max else { return false }
        // The line that ended the batch before may be the one that was lost.
        batches.removeAll { $0.owner == owner }
        batches.append(EventLogMachine.Seal(id: String(id), last: last, owner: owner))
        return true
    }

    private mutating func finish(_ id: String) {
        guard let index = batches.firstIndex(where: { $0.id == id }) else { return }
        let done = batches.remove(at: index)
        records.removeAll { $0.owner == done.owner && $0.number <= done.last }
    }
}
