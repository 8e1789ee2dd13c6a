/// A property that took its default while a response was decoded.
public struct DecodingNote: Hashable, Sendable {
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        case absent
        case null
        /// The server sent something that is no value of the property's type; the text tells what, without the value.
        case wrongType(String)
    }

    /// Where, in dotted form, for example `data.items[3].stock`.
    public let path: String
    public let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}

/// What one decoding carries along: its options, and the notes it takes.
final class DecodingSession: Sendable {
    /// Of a list with many gaps, the first notes tell enough.
    static let noteLimit = 100

    let options: DecodingOptions
    let envelope: Envelope?
    /// Where the output lies in the document.
    let path: JSONPath
    private let collected = Locked<[DecodingNote]>([])

    init(options: DecodingOptions, envelope: Envelope? = nil, path: JSONPath) {
        self.options = options
        self.envelope = envelope
        self.path = path
    }

    var notes: [DecodingNote] { collected.withLock { $0 } }

    func note(_ reason: DecodingNote.Reason, at path: @autoclosure () -> JSONPath) {
        guard collected.withLock({ $0.count < Self.noteLimit }) else { return }
        let note = DecodingNote(path: path().text, reason: reason)
        collected.withLock { $0.append(note) }
    }
}

extension CodingUserInfoKey {
    static let decodingSession = CodingUserInfoKey(rawValue: "Penstock.DecodingSession")
}

extension Decoder {
    /// `nil` under a decoder that is not Penstock's.
    var session: DecodingSession? {
        guard let key = CodingUserInfoKey.decodingSession else { return nil }
        return userInfo[key] as? DecodingSession
    }
}
