/// Headers that every call carries, read anew each time.
///
/// ```swift
/// let fixed: CommonHeaders = ["X-App": "Shop"]
/// let live = CommonHeaders { ["X-Trace": trace.current] }     // nil leaves the header out
/// ```
public struct CommonHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private enum Source: Sendable {
        case fixed(HTTPFields)
        case live(@Sendable () -> HTTPFields)
    }

    private let source: Source

    /// Headers that may change from call to call.
    ///
    /// - Parameter read: asked once for each pass of a call, on the thread that makes the request; it must return soon.
    public init(_ read: @escaping @Sendable () -> HTTPFields) {
        source = .live(read)
    }

    /// Headers that stay the same.
    public init(_ fields: HTTPFields) {
        source = .fixed(fields)
    }

    /// Headers that stay the same. Of a name that comes twice both lines are sent, and `nil` leaves one out.
    public init(dictionaryLiteral elements: (HTTPFieldName, String?)...) {
        source = .fixed(
            HTTPFields(elements.compactMap { name, value in value.map { HTTPField(name: name, value: $0) } }))
    }

    func read() -> HTTPFields {
        switch source {
        case .fixed(let fields): fields
        case .live(let read): read()
        }
    }
}

/// Parameters that every call carries, read anew each time, so that a changed login shows in the next request.
///
/// ```swift
/// CommonParameters { ["loginId": login.id, "loginToken": login.token] }
/// ```
///
/// They join the call's own parameters wherever those go: into the query or the body. A parameter of the same name
/// wins when it comes from closer to the call: call, endpoint, service, client.
public struct CommonParameters: Sendable {
    let read: @Sendable () -> ParameterObject

    /// Parameters that may change from call to call.
    ///
    /// - Parameter read: asked once for each pass of a call, on the thread that makes the request; it must return soon.
    public init(_ read: @escaping @Sendable () -> ParameterObject) {
        self.read = read
    }

    /// No parameters.
    public static let none = CommonParameters { ParameterObject() }
}
