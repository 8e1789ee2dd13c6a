import Foundation

/// How an endpoint's output is made from the body of a response.
///
/// ```swift
/// let decoding: ResponseDecoding<[Product]> = .json(at: "items")   // below the envelope's data key
/// let image: ResponseDecoding<Data> = .data
/// ```
public struct ResponseDecoding<Output: Sendable>: Sendable {
    private let opening: @Sendable (Payload, Envelope?, DecodingOptions) throws(APIError) -> Opened<Output>
    private let accepted: AcceptedMedia
    private let acceptedInEnvelope: AcceptedMedia
    private let refusable: RefusableContent
    /// Whether it looks for an envelope.
    let opensEnvelope: Bool

    /// - Parameters:
    ///   - enveloped: what a request asks for whose response has an envelope; `nil` for the same.
    ///   - refusable: the content that it may refuse.
    ///   - opensEnvelope: whether it looks for an envelope.
    init(
        accepting accepted: AcceptedMedia, enveloped: AcceptedMedia? = nil, refusing refusable: RefusableContent = .all,
        opensEnvelope: Bool = true,
        _ opening: @escaping @Sendable (Payload, Envelope?, DecodingOptions) throws(APIError) -> Opened<Output>
    ) {
        self.accepted = accepted
        acceptedInEnvelope = enveloped ?? accepted
        self.refusable = refusable
        self.opensEnvelope = opensEnvelope
        self.opening = opening
    }

    /// What a request for it asks for.
    func accepts(under envelope: Envelope?) -> AcceptedMedia {
        envelope == nil ? accepted : acceptedInEnvelope
    }

    /// Whether it may refuse content of this type.
    func mayRefuse(_ contentType: String?, under envelope: Envelope?) -> Bool {
        switch refusable {
        case .all: true
        case .enveloped: envelope != nil
        case .envelopedJSON: envelope != nil && Payload(Data(), contentType: contentType).isJSON
        }
    }

    /// Reads the envelope. What follows it waits for ``Opened/decoded()``, so that validators of the payload come first.
    ///
    /// - Parameter options: the service's; an endpoint that has its own uses those.
    /// - Throws: ``APIError/Kind/malformedEnvelope(reason:)`` or ``APIError/Kind/business(code:message:)``.
    package func open(
        _ payload: Payload, envelope: Envelope?, options: DecodingOptions = DecodingOptions()
    ) throws(APIError) -> Opened<Output> {
        try opening(payload, envelope, options)
    }
}

/// A body whose envelope, if any, says success.
package struct Opened<Output: Sendable>: Sendable {
    /// `nil` without an envelope.
    package let code: BusinessCode?
    package let message: String?
    /// The payload, its paths beginning at the envelope's data key: what validators and reformers get.
    package let payload: Payload
    private let resolve: @Sendable () throws(APIError) -> (value: Output, notes: [DecodingNote])

    init(
        _ head: Envelope.Head?, payload: Payload,
        resolve: @escaping @Sendable () throws(APIError) -> (value: Output, notes: [DecodingNote])
    ) {
        code = head?.code
        message = head?.message
        self.payload = payload
        self.resolve = resolve
    }

    /// The output, and the properties that took their defaults; the first hundred.
    ///
    /// - Throws: ``APIError/Kind/decoding(path:reason:)``.
    package func decoded() throws(APIError) -> (value: Output, notes: [DecodingNote]) {
        try resolve()
    }
}

/// Which content the making of an output may refuse.
enum RefusableContent: Sendable {
    case all
    /// None without an envelope.
    case enveloped
    /// None without an envelope, and under one only what says that it is JSON.
    case envelopedJSON
}

/// What a request's `Accept` field asks for by default (RFC 9110 §12.5.1): what the endpoint's output is made from. The
/// rest is accepted as well, so that no server has a reason to answer 406.
enum AcceptedMedia: Sendable {
    case json
    case text
    case anything

    /// The value of the field.
    var value: String {
        switch self {
        case .json: "application/json, */*;q=0.5"
        case .text: "text/*, */*;q=0.5"
        case .anything: "*/*"
        }
    }
}
