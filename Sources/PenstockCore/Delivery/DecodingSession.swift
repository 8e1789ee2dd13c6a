import Foundation

/// What one decoding carries along: its options, and the notes it takes.
final class DecodingSession: Sendable {
    /// How many notes are taken: of a list with many gaps, the first ones tell enough.
    static let noteLimit = 100

    let options: DecodingOptions
    let envelope: Envelope?
    /// Where the output lies in the document.
    let path: JSONPath
    /// The bytes being decoded.
    private let data: Data
    private let document = Locked<JSONValue?>(nil)
    private let collected = Locked<[DecodingNote]>([])

    init(_ data: Data, options: DecodingOptions, envelope: Envelope? = nil, path: JSONPath) {
        self.data = data
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

    /// Takes over the notes of a decoding that was made on the way to this one's output.
    func take(_ notes: [DecodingNote]) {
        guard !notes.isEmpty else { return }
        collected.withLock { $0.append(contentsOf: notes.prefix(max(0, Self.noteLimit - $0.count))) }
    }
}

extension DecodingSession {
    /// The free-form JSON at a coding path, from one linear parse of the whole body.
    ///
    /// - Returns: `nil` where the coding path does not tell the place: under the app's own key strategy, or for keys that
    ///   are numbers.
    func freeForm(at codingPath: [any CodingKey]) throws(JSONFault) -> JSONValue? {
        if case .custom = options.keys { return nil }
        var value = try parsed()
        for key in codingPath {
            guard let next = key.intValue.map({ value[$0] }) ?? member(key.stringValue, of: value) else { return nil }
            value = next
        }
        return value
    }

    /// Keys of dictionaries stay as they are; those of models are found under the name that the strategy gives them.
    private func member(_ name: String, of value: JSONValue) -> JSONValue? {
        if let exact = value[name] { return exact }
        guard case .convertFromSnakeCase = options.keys else { return nil }
        let matches = value.object?.filter { DecodingOptions.camelCase($0.key) == name } ?? [:]
        return matches.count == 1 ? matches.first?.value : nil
    }

    private func parsed() throws(JSONFault) -> JSONValue {
        if let known = document.withLock({ $0 }) { return known }
        let value = try JSONParser.parse(data, maximumDepth: options.maximumDepth)
        document.withLock { $0 = value }
        return value
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

extension DecodingOptions {
    func decoder(for session: DecodingSession) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates
        decoder.dataDecodingStrategy = data
        decoder.keyDecodingStrategy = keys
        decoder.nonConformingFloatDecodingStrategy = nonConformingFloats
        for (key, value) in userInfo { decoder.userInfo[key] = value }
        if let key = CodingUserInfoKey.decodingSession { decoder.userInfo[key] = session }
        return decoder
    }

    /// Why an output cannot be had of the app's own decoder.
    static let wholeBodiesOnly = APIError(
        .invalidConfiguration(reason: "a decoder of the app's own takes no envelope and no path"), stage: .decoding)
}

/// A property that took its default while a response was decoded.
public struct DecodingNote: Hashable, Sendable {
    /// Why the property took its default.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The object has no member of that name.
        case absent
        /// The member is there, and is `null`.
        case null
        /// The server sent something that is no value of the property's type; the text tells what, without the value.
        case wrongType(String)
    }

    /// Where, in dotted form, for example `data.items[3].stock`.
    public let path: String
    /// Why the property took its default.
    public let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}

extension Decoder {
    /// The decoder for the value at `path`; `nil` when something on the way is absent or null.
    ///
    /// - Throws: what the decoder throws when something on the way is neither an object nor an array.
    func descend(_ path: JSONPath, options: DecodingOptions) throws -> (any Decoder)? {
        var place: any Decoder = self
        for step in path.steps {
            guard let next = try place.descend(step, options: options) else { return nil }
            place = next
        }
        return try place.singleValueContainer().decodeNil() ? nil : place
    }

    private func descend(_ step: JSONPath.Step, options: DecodingOptions) throws -> (any Decoder)? {
        guard try !singleValueContainer().decodeNil() else { return nil }
        switch step {
        case .key(let key): return try member(options.name(of: key, below: codingPath))
        case .index(let index): return try element(index)
        }
    }

    private func member(_ key: AnyKey) throws -> (any Decoder)? {
        let container = try container(keyedBy: AnyKey.self)
        return container.contains(key) ? try container.superDecoder(forKey: key) : nil
    }

    private func element(_ index: Int) throws -> (any Decoder)? {
        var container = try unkeyedContainer()
        guard index < container.count ?? 0 else { return nil }
        for _ in 0..<index { _ = try container.decode(Ignored.self) }
        return try container.superDecoder()
    }
}

/// Any JSON value, not looked at.
struct Ignored: Decodable, Sendable {
    init(from decoder: any Decoder) {}
}
