import Foundation

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

    private func readMessage(_ decoder: any Decoder, options: DecodingOptions) -> String {
        let place = try? decoder.descend(JSONPath(message), options: options)
        return (try? place?.singleValueContainer().decode(String.self)) ?? ""
    }
}

extension Envelope.CodeType {
    var expectation: String {
        switch self {
        case .integer: "an integer"
        case .string: "a string"
        case .either: "an integer or a string"
        case .lenientInteger: "an integer, plain or in a string"
        }
    }
}
