import Foundation

extension ResponseDecoding where Output: Decodable {
    /// A model from the envelope's data, or from the whole body without an envelope.
    public static var json: ResponseDecoding { json() }

    /// A model from JSON.
    ///
    /// Data that is absent, `null` or `{}` is `nil` for an `Optional` output, and the defaults for a type all of whose
    /// properties have them; for every other it is ``APIError/Kind/decoding(path:reason:)``.
    ///
    /// - Parameters:
    ///   - path: a dotted path below the envelope's data key.
    ///   - options: in place of the service's.
    public static func json(at path: String = "", options: DecodingOptions? = nil) -> ResponseDecoding {
        ResponseDecoding { (payload, envelope, common) throws(APIError) in
            let options = options ?? common
            let place = JSONPath(envelope?.data ?? "").appending(JSONPath(path))
            let session = DecodingSession(payload.data, options: options, envelope: envelope, path: place)
            guard envelope != nil else {
                return Opened(nil, payload: payload.decoding(with: options)) { () throws(APIError) in
                    try JSONReading.decode(Output.self, from: payload.data, session: session)
                }
            }
            let (head, located) = try payload.opened(Output.self, session: session)
            let output = Result { () throws(APIError) in try JSONReading.value(of: located.output, session: session) }
            return Opened(head, payload: payload.content(under: envelope, options)) { () throws(APIError) in
                try (output.get(), session.notes)
            }
        }
    }
}

extension ResponseDecoding where Output == Data {
    /// The bytes as they came. No envelope is looked for; use ``payload`` when the service's envelope is to be checked.
    public static var data: ResponseDecoding {
        ResponseDecoding { payload, _, _ in Opened(nil, payload: payload) { (payload.data, []) } }
    }
}

extension ResponseDecoding where Output == String {
    /// The bytes as UTF-8 text. No envelope is looked for.
    public static var text: ResponseDecoding {
        ResponseDecoding { payload, _, _ in
            Opened(nil, payload: payload) { () throws(APIError) in
                guard let text = String(bytes: payload.data, encoding: .utf8) else {
                    throw APIError(.decoding(path: "", reason: "the body is not UTF-8"), stage: .decoding)
                }
                return (text, [])
            }
        }
    }
}

extension ResponseDecoding where Output == Payload {
    /// The payload itself, once the envelope says success; for reformers.
    public static var payload: ResponseDecoding {
        afterEnvelope { payload in payload }
    }
}

extension ResponseDecoding where Output == Void {
    /// No output. The envelope must say success; the data is not looked at, and without an envelope neither is the body.
    public static var nothing: ResponseDecoding {
        afterEnvelope { _ in }
    }
}

extension ResponseDecoding {
    /// An output made by the app's own code, once the envelope says success.
    ///
    /// - Parameter make: gets the payload, its paths beginning at the envelope's data key. An ``APIError`` it throws is
    ///   passed on; any other becomes ``APIError/Kind/decoding(path:reason:)`` with the error as its cause.
    public static func custom(_ make: @escaping @Sendable (Payload) throws -> Output) -> ResponseDecoding {
        afterEnvelope(make)
    }

    private static func afterEnvelope(_ make: @escaping @Sendable (Payload) throws -> Output) -> ResponseDecoding {
        ResponseDecoding { (payload, envelope, options) throws(APIError) in
            let content = payload.content(under: envelope, options)
            let session = DecodingSession(payload.data, options: options, envelope: envelope, path: JSONPath(""))
            let head = envelope == nil ? nil : try payload.opened(Ignored.self, session: session).head
            return Opened(head, payload: content) { () throws(APIError) in
                do {
                    return try (make(content), [])
                } catch {
                    throw error as? APIError ?? .decoding(error, at: JSONPath(content.root))
                }
            }
        }
    }
}

extension Payload {
    fileprivate func content(under envelope: Envelope?, _ options: DecodingOptions) -> Payload {
        at(JSONPath(envelope?.data ?? "")).decoding(with: options)
    }

    /// Parses once; throws what the session's envelope says against the reply.
    fileprivate func opened<Output: Decodable>(
        _ type: Output.Type, session: DecodingSession
    ) throws(APIError) -> (head: Envelope.Head?, located: Located<Output>) {
        do {
            let located = try JSONReading.locate(type, in: data, session: session)
            return try (located.head?.get(), located)
        } catch let fault as JSONFault {
            throw Envelope.Refusal.malformed(fault.reason).error(for: data)
        } catch let refusal as Envelope.Refusal {
            throw refusal.error(for: data)
        } catch {
            throw Envelope.Refusal.malformed(JSONFault.invalid.reason).error(for: data)
        }
    }
}
