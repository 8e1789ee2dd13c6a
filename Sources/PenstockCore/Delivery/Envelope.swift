import Foundation

/// How a service wraps every reply: where the code, the message and the data are, and which code means success.
///
/// ```swift
/// let envelope = Envelope.retcode                                   // {"retcode": 0, "retdesc": "", "data": …}
/// let other = Envelope(code: "status.code", message: "status.text", data: "result", success: ["OK"], codeType: .string)
/// ```
///
/// A call succeeds only when the code says so. A reply that is no object, or whose code is absent or of the wrong type, is
/// ``APIError/Kind/malformedEnvelope(reason:)``; any other code is ``APIError/Kind/business(code:message:)``.
///
/// What is asked for as it comes need not have an envelope, since what is downloaded may be a JSON document of its own: for bytes
/// (``ResponseDecoding/data``) and files only a refusal counts, JSON whose envelope has another code than a success. None is
/// looked for in ``ResponseDecoding/text``, in the content of a stream, nor in a reply that has no content by its nature
/// (204, 205, and any to `HEAD`) where the output may be nothing.
public struct Envelope: Hashable, Sendable {
    /// What a code looks like on the wire.
    @nonexhaustive
    public enum CodeType: Hashable, Sendable {
        /// A JSON number without a fraction. The text `"0"` is malformed.
        case integer
        /// A JSON string. The number `0` is malformed.
        case string
        /// Both, each as it is: `0` is not `"0"`.
        case either
        /// A number, or a string that holds one: `"0"` reads as `0`. For servers that send both.
        case lenientInteger
    }

    /// Dotted path of the code.
    public var code: String
    /// Dotted path of the message; a reply without one has the message `""`.
    public var message: String
    /// Dotted path of the data; `""` for services that put the fields beside the code.
    public var data: String
    /// The codes that mean success, as ``codeType`` gives them: `"0"` where they are strings, and `0` where they are integers.
    public var success: Set<BusinessCode>
    /// How strictly the code is read. An integer by default.
    public var codeType: CodeType

    /// An envelope. A path whose steps are joined with dots leads into nested objects.
    ///
    /// - Parameters:
    ///   - code: path of the code. `code` by default.
    ///   - message: path of the message. `message` by default.
    ///   - data: path of the data; `""` for services that put the fields beside the code. `data` by default.
    ///   - success: the codes that mean success. The number 0 alone by default.
    ///   - codeType: what a code looks like on the wire. An integer by default.
    public init(
        code: String = "code", message: String = "message", data: String = "data", success: Set<BusinessCode> = [0],
        codeType: CodeType = .integer
    ) {
        self.code = code
        self.message = message
        self.data = data
        self.success = success
        self.codeType = codeType
    }

    /// `{"retcode": 0, "retdesc": "…", "data": …}`.
    public static let retcode = Envelope(code: "retcode", message: "retdesc", data: "data")
}

/// An error in the shape of a reply, for code that knows failures only as `{"retcode": …, "retdesc": …}`.
///
/// The library itself never makes one: it is for teams that move old call sites over one by one.
public struct LegacyEnvelope: Codable, Hashable, Sendable {
    /// The app's own code when its ``ErrorMapper`` gave one; else the number that the server sent; else the negative of
    /// ``APIError/errorCode``, so that no local failure looks like a server's code. Never `0`.
    public let retcode: Int
    /// The text for users.
    public let retdesc: String

    /// An error as a reply. ``retcode`` and ``retdesc`` tell what of it becomes what; nothing else of it is kept.
    public init(_ error: APIError) {
        let code = error.presentation?.code ?? error.businessNumber ?? -error.errorCode
        retcode = code == 0 ? -error.errorCode : code
        retdesc = error.userText
    }

    /// The reply as JSON with sorted keys.
    public var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }
}

extension Envelope {
    /// What an envelope says of a call that succeeded.
    struct Head: Hashable, Sendable {
        let code: BusinessCode
        let message: String
    }

    enum Refusal: Error, Hashable, Sendable {
        case malformed(String)
        case business(BusinessCode, String)

        /// - Parameter data: the body, of which a malformed envelope shows the beginning.
        func error(for data: Data) -> APIError {
            switch self {
            case .malformed(let reason):
                APIError(.malformedEnvelope(reason: reason), stage: .envelope, debugMessage: BodyExcerpt.text(of: data))
            case .business(let code, let message):
                APIError(.business(code: code, message: message), stage: .envelope)
            }
        }
    }

    func open(_ decoder: any Decoder, options: DecodingOptions) throws(Refusal) -> Head {
        guard (try? decoder.container(keyedBy: AnyKey.self)) != nil else {
            throw .malformed(JSONFault.notObject.reason)
        }
        let code = try readCode(decoder, options: options)
        let message = readMessage(decoder, options: options)
        guard success.contains(code) else { throw .business(code, message) }
        return Head(code: code, message: message)
    }

    private func readCode(_ decoder: any Decoder, options: DecodingOptions) throws(Refusal) -> BusinessCode {
        guard let place = try? decoder.descend(JSONPath(code), options: options) else {
            throw .malformed("\(code) is absent")
        }
        guard let container = try? place.singleValueContainer(), let found = readCode(container) else {
            throw .malformed("\(code) is not \(codeType.expectation)")
        }
        return found
    }

    private func readCode(_ container: any SingleValueDecodingContainer) -> BusinessCode? {
        let text = codeType == .integer ? nil : try? container.decode(String.self)
        let number = codeType == .string ? nil : try? container.decode(Int.self)
        return switch codeType {
        case .lenientInteger: (number ?? text.flatMap { Int($0) }).map(BusinessCode.int)
        default: number.map(BusinessCode.int) ?? text.map(BusinessCode.string)
        }
    }

    /// Why no reply can be a success: no code of such a type is one of those that mean it; `nil` where one can.
    var fault: String? {
        guard !success.isEmpty, !success.contains(where: codeType.canGive) else { return nil }
        return "reads its code as \(codeType.expectation), which none of its codes for success is: \(success.listed)"
    }

    /// Why no reply says that a credential has expired, although one would if the numbers among the codes for it were no texts;
    /// `nil` where one can. Other codes may be meant for an envelope that an endpoint has of its own.
    func fault(ofExpiry codes: Set<BusinessCode>) -> String? {
        guard !codes.contains(where: codeType.canGive), codes.contains(where: \.isNumberAsText) else { return nil }
        return "reads its code as \(codeType.expectation), which none of the codes for expiry is: \(codes.listed)"
    }

    private func readMessage(_ decoder: any Decoder, options: DecodingOptions) -> String {
        let place = try? decoder.descend(JSONPath(message), options: options)
        return (try? place?.singleValueContainer().decode(String.self)) ?? ""
    }
}

extension Set<BusinessCode> {
    fileprivate var listed: String { map(\.debugDescription).sorted().joined(separator: ", ") }
}

extension BusinessCode {
    fileprivate var isNumberAsText: Bool {
        if case .string(let text) = self { Int(text) != nil } else { false }
    }
}

extension Envelope.CodeType {
    /// Whether a code can be what is read.
    func canGive(_ code: BusinessCode) -> Bool {
        switch (self, code) {
        case (.either, _), (.string, .string), (.integer, .int), (.lenientInteger, .int): true
        default: false
        }
    }

    var expectation: String {
        switch self {
        case .integer: "an integer"
        case .string: "a string"
        case .either: "an integer or a string"
        case .lenientInteger: "an integer, plain or in a string"
        }
    }
}
