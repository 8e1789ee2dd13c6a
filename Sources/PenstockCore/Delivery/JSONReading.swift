import Foundation

/// The one pass over a body: the envelope's head and the output at its place, from a single parse.
///
/// It never fails itself: a broken head and a broken output are told apart later, in the order of the request path.
struct Located<Output: Decodable>: Decodable {
    /// `nil` without an envelope.
    let head: Result<Envelope.Head, Envelope.Refusal>?
    /// `nil` when the head was refused: the output is then not looked at.
    let output: Result<Output, any Error>?

    init(from decoder: any Decoder) {
        guard let session = decoder.session else {
            (head, output) = (nil, .failure(JSONFault.invalid))
            return
        }
        let envelope = session.envelope
        head = envelope.map { envelope in
            Result { () throws(Envelope.Refusal) in try envelope.open(decoder, options: session.options) }
        }
        if case .failure = head {
            output = nil
        } else {
            output = Result { try JSONReading.output(Output.self, of: decoder, session: session) }
        }
    }
}

enum JSONReading {
    /// Decodes the output at the session's path.
    static func decode<Output: Decodable>(
        _ type: Output.Type, from data: Data, session: DecodingSession
    ) throws(APIError) -> (value: Output, notes: [DecodingNote]) {
        if let decoder = session.options.decoder { return (try decode(type, from: data, by: decoder, session), []) }
        do {
            let located = try locate(type, in: data, session: session)
            return try (value(of: located.output, session: session), session.notes)
        } catch let fault as JSONFault {
            if fault == .empty, let none = AbsentData.none(type) { return (none, []) }
            throw APIError.decoding(fault, at: JSONPath(""))
        } catch {
            throw error as? APIError ?? APIError.decoding(error, at: session.path)
        }
    }

    /// Has the app's own decoder make the output of the whole body.
    private static func decode<Output: Decodable>(
        _ type: Output.Type, from data: Data, by decoder: any ModelDecoder, _ session: DecodingSession
    ) throws(APIError) -> Output {
        guard session.path.isRoot else { throw DecodingOptions.wholeBodiesOnly }
        if data.isEmpty, let none = AbsentData.none(type) { return none }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw error as? APIError ?? APIError.decoding(error, at: session.path)
        }
    }

    /// Parses the body once and reads what the session asks for.
    static func locate<Output: Decodable>(
        _ type: Output.Type, in data: Data, session: DecodingSession
    ) throws(JSONFault) -> Located<Output> {
        guard !data.isEmpty else { throw .empty }
        try JSONFault.check(data, maximumDepth: session.options.maximumDepth)
        do {
            return try session.options.decoder(for: session).decode(Located<Output>.self, from: data)
        } catch {
            throw .invalid
        }
    }

    static func value<Output>(
        of output: Result<Output, any Error>?, session: DecodingSession
    ) throws(APIError) -> Output {
        do {
            guard let output else { throw JSONFault.invalid }
            return try output.get()
        } catch {
            throw APIError.decoding(error, at: session.path)
        }
    }

    static func output<Output: Decodable>(
        _ type: Output.Type, of decoder: any Decoder, session: DecodingSession
    ) throws -> Output {
        guard let place = try decoder.descend(session.path, options: session.options) else {
            return try AbsentData.value(type, session: session)
        }
        do {
            return try place.singleValueContainer().decode(type)
        } catch {
            guard let none = AbsentData.none(type), AbsentData.isEmptyObject(place) else { throw error }
            return none
        }
    }
}

/// What stands for data that is not there.
///
/// Absent, `null` and `{}` mean the same: nothing. An `Optional` is then `nil`, a type all of whose properties have
/// defaults takes them, and everything else fails.
enum AbsentData {
    static func none<Output>(_ type: Output.Type) -> Output? {
        guard let nilable = type as? any ExpressibleByNilLiteral.Type else { return nil }
        return nilable.init(nilLiteral: ()) as? Output
    }

    static func isEmptyObject(_ place: any Decoder) -> Bool {
        (try? place.container(keyedBy: AnyKey.self))?.allKeys.isEmpty ?? false
    }

    static func value<Output: Decodable>(_ type: Output.Type, session: DecodingSession) throws -> Output {
        if let none = none(type) { return none }
        let empty = Data("{}".utf8)
        let inner = DecodingSession(empty, options: session.options, path: JSONPath(""))
        guard let value = try? session.options.decoder(for: inner).decode(type, from: empty) else {
            throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: ""))
        }
        session.note(.absent, at: session.path)
        return value
    }
}
