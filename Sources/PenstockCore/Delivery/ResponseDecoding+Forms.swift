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
        ResponseDecoding(accepting: .json) { (payload, envelope, common) throws(APIError) in
            let options = options ?? common
            let place = JSONPath(envelope?.data ?? "").appending(JSONPath(path))
            let session = DecodingSession(payload.data, options: options, envelope: envelope, path: place)
            guard envelope != nil else {
                return Opened(nil, payload: payload.decoding(with: options)) { () throws(APIError) in
                    try JSONReading.decode(Output.self, from: payload.data, session: session)
                }
            }
            guard options.decoder == nil else { throw DecodingOptions.wholeBodiesOnly }
            let (head, located) = try payload.opened(Output.self, session: session)
            let output = Result { () throws(APIError) in try JSONReading.value(of: located.output, session: session) }
            return Opened(head, payload: payload.content(under: envelope, options)) { () throws(APIError) in
                try (output.get(), session.notes)
            }
        }
    }
}

extension ResponseDecoding where Output: Decodable {
    /// What an output of this type is made by unless its endpoint says otherwise: bytes for `Data`, and a model from JSON for
    /// every other but `String`. That is the text (``text``); under an envelope, which must say success, it is the string
    /// that the envelope holds as its data. The type is looked at when the program runs, so that generic code gets the same.
    public static var standard: ResponseDecoding {
        if Output.self == Data.self, let data = ResponseDecoding<Data>.data as? ResponseDecoding { return data }
        if Output.self == String.self, let text = ResponseDecoding<String>.textOrEnveloped as? ResponseDecoding {
            return text
        }
        return .json
    }
}

extension ResponseDecoding {
    /// The form for an output that is this one by another name.
    static func same<Other>(as other: ResponseDecoding<Other>) -> ResponseDecoding {
        other as? ResponseDecoding
            ?? .custom { _ in
                let reason = "\(Other.self) is not \(Output.self)"
                throw APIError(.invalidConfiguration(reason: reason), stage: .decoding)
            }
    }
}

extension ResponseDecoding where Output == Data {
    /// The bytes as they came. Of an envelope only a refusal counts: where the content says that it is JSON, and its envelope has
    /// another code than a success, that is ``APIError/Kind/business(code:message:)``, so that no refusal passes for a picture.
    /// Everything else is the bytes, an envelope that says success with them; use ``payload`` where there must be one.
    public static var data: ResponseDecoding {
        ResponseDecoding(accepting: .anything, refusing: .envelopedJSON) {
            (payload, envelope, options) throws(APIError) in
            if let refusal = payload.refusal(under: envelope, options) { throw refusal }
            return Opened(nil, payload: payload) { (payload.data, []) }
        }
    }
}

extension ResponseDecoding where Output == String {
    /// The body as text, in the character set that a byte order mark or the `charset` of `Content-Type` names, or else in
    /// UTF-8. No envelope is looked for.
    ///
    /// A character set that is not known, and bytes that do not fit theirs, are ``APIError/Kind/decoding(path:reason:)``.
    public static var text: ResponseDecoding {
        ResponseDecoding(accepting: .text, opensEnvelope: false) { payload, _, _ in
            Opened(nil, payload: payload) { () throws(APIError) in (try payload.text(), []) }
        }
    }

    /// ``text``, or under an envelope the string that it holds, so that no refusal passes for a text.
    fileprivate static var textOrEnveloped: ResponseDecoding {
        ResponseDecoding(accepting: .text, enveloped: .json) { (payload, envelope, options) throws(APIError) in
            let form = envelope == nil ? text : json
            return try form.open(payload, envelope: envelope, options: options)
        }
    }
}

extension ResponseDecoding where Output == Payload {
    /// The payload itself, once the envelope says success; for reformers.
    public static var payload: ResponseDecoding {
        afterEnvelope(accepting: .json, refusing: .enveloped) { payload in payload }
    }
}

extension ResponseDecoding where Output == Void {
    /// No output. The envelope must say success; the data is not looked at, and without an envelope neither is the body.
    public static var nothing: ResponseDecoding {
        afterEnvelope(accepting: .json, refusing: .enveloped) { _ in }
    }
}

extension ResponseDecoding {
    /// An output made by the app's own code, once the envelope says success.
    ///
    /// - Parameter make: gets the payload, its paths beginning at the envelope's data key; the defaults that
    ///   ``Payload/value(_:at:)`` takes are among ``APIResponse/notes``. An ``APIError`` it throws is passed on; any other
    ///   becomes ``APIError/Kind/decoding(path:reason:)`` with the error as its cause.
    public static func custom(_ make: @escaping @Sendable (Payload) throws -> Output) -> ResponseDecoding {
        afterEnvelope(accepting: .anything, make)
    }

    private static func afterEnvelope(
        accepting accepts: AcceptedMedia, refusing refusable: RefusableContent = .all,
        _ make: @escaping @Sendable (Payload) throws -> Output
    ) -> ResponseDecoding {
        ResponseDecoding(accepting: accepts, refusing: refusable) { (payload, envelope, options) throws(APIError) in
            let content = payload.content(under: envelope, options)
            let session = DecodingSession(payload.data, options: options, envelope: envelope, path: JSONPath(""))
            let head = envelope == nil ? nil : try payload.opened(Ignored.self, session: session).head
            return Opened(head, payload: content) { () throws(APIError) in
                do {
                    return try (make(content.noting(in: session)), session.notes)
                } catch {
                    throw error as? APIError ?? .decoding(error, at: JSONPath(content.root))
                }
            }
        }
    }
}

extension Payload {
    /// What the envelope says against content that is bytes unless it is JSON with an envelope. What cannot be read is no refusal.
    func refusal(under envelope: Envelope?, _ options: DecodingOptions) -> APIError? {
        guard let envelope, isJSON else { return nil }
        let session = DecodingSession(data, options: options, envelope: envelope, path: JSONPath(""))
        do throws(APIError) {
            _ = try opened(Ignored.self, session: session)
            return nil
        } catch {
            guard case .business = error.kind else { return nil }
            return error
        }
    }

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
