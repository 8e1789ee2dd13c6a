/// Headers that every call carries, read anew each time.
///
/// ```swift
/// let fixed: CommonHeaders = ["X-App": "Shop"]
/// let live = CommonHeaders { ["X-Trace": trace.current] }
/// ```
public struct CommonHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private enum Source: Sendable {
        case fixed(HTTPFields)
        case live(@Sendable () -> HTTPFields)
    }

    private let source: Source

    public init(_ read: @escaping @Sendable () -> HTTPFields) {
        source = .live(read)
    }

    public init(_ fields: HTTPFields) {
        source = .fixed(fields)
    }

    public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
        source = .fixed(HTTPFields(elements.map { HTTPField(name: $0.0, value: $0.1) }))
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

    public init(_ read: @escaping @Sendable () -> ParameterObject) {
        self.read = read
    }

    public static let none = CommonParameters { ParameterObject() }
}
