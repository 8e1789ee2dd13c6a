/// How a service wraps every reply: where the code, the message and the data are, and which code means success.
///
/// ```swift
/// let envelope = Envelope.retcode                                   // {"retcode": 0, "retdesc": "", "data": …}
/// let other = Envelope(code: "status.code", message: "status.text", data: "result", success: ["OK"], codeType: .string)
/// ```
///
/// A call succeeds only when the code says so. A reply that is no object, or whose code is absent or of the wrong type, is
/// ``APIError/Kind/malformedEnvelope(reason:)``; any other code is ``APIError/Kind/business(code:message:)``.
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
    /// The codes that mean success.
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
