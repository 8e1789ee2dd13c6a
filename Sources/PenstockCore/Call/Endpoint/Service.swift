/// The name of a service, by which endpoints ask for it.
///
/// ```swift
/// nonisolated extension ServiceID { static let shop: ServiceID = "shop" }
/// ```
///
/// `nonisolated` is for modules whose default isolation is the main actor: endpoints are asked for their service elsewhere.
public struct ServiceID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as endpoints and the registry write it.
    public let name: String

    /// A name made at run time; a literal makes the others.
    public init(_ name: String) {
        self.name = name
    }

    /// The name of a service, so that it can be written as text.
    public init(stringLiteral value: String) {
        name = value
    }

    /// The service of endpoints that name none: for apps that have only one.
    public static let main: ServiceID = "main"

    public var description: String { name }
}

/// Where an API lives in each environment, or in all.
///
/// ```swift
/// Service(.main, "https://api.example.com")
/// Service(.main, [.development: "http://127.0.0.1:8080", .production: "https://shop.example.com/api"])
/// Service(.main, BaseURLs { _ in settings.server })     // read anew for every call, so that it can change
/// ```
public struct BaseURLs: Sendable, ExpressibleByStringInterpolation, ExpressibleByDictionaryLiteral {
    private let read: @Sendable (ServerEnvironment) -> String?
    /// Whether what is read may be another text each time.
    let isLive: Bool

    /// The same in every environment.
    public init(_ text: String) {
        read = { _ in text }
        isLive = false
    }

    /// One for each environment.
    public init(_ texts: [ServerEnvironment: String]) {
        read = { texts[$0] }
        isLive = false
    }

    /// A call stays to its end where it began: also where it is sent again with a new credential, which is renewed there by what
    /// ``RefreshContext/client`` sends, where a download goes on after a break, and for all steps of an upload that one process
    /// makes. Each connection of an event stream and of a WebSocket is a call of its own.
    ///
    /// - Parameter read: asked anew for every call; `nil` for an environment where the service is not.
    public init(_ read: @escaping @Sendable (ServerEnvironment) -> String?) {
        self.read = read
        isLive = true
    }

    /// The same in every environment.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Collects a base URL. What is interpolated and ends in a slash, as the text of a URL does, is joined with what follows by one.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate private(set) var text = ""
        private var endsInArgument = false

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ literal: String) {
            let isSeam = endsInArgument && text.hasSuffix("/") && literal.hasPrefix("/")
            text += isSeam ? String(literal.dropFirst()) : literal
            endsInArgument = false
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += value.description
            endsInArgument = true
        }

        /// A value that has no text of its own, such as a case of an enumeration.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value>(_ value: Value) {
            text += String(describing: value)
            endsInArgument = true
        }
    }

    /// The same in every environment: `"\(server.url)/api"`.
    public init(stringInterpolation: StringInterpolation) {
        self.init(stringInterpolation.text)
    }

    /// One for each environment; of two for the same one the last.
    public init(dictionaryLiteral elements: (ServerEnvironment, String)...) {
        self.init(Dictionary(elements) { _, last in last })
    }

    /// The base URL in an environment, as it was written.
    func text(in environment: ServerEnvironment) -> String? { read(environment) }
}

/// Where an API lives in each environment, and what is common to its calls.
///
/// ```swift
/// let shop = Service(
///     .shop, [.development: "http://127.0.0.1:8080", .production: "https://shop.example.com/api"], version: "v2",
///     envelope: .retcode)
/// ```
public struct Service: Sendable {
    /// The name by which endpoints ask for it.
    public let id: ServiceID
    /// Where it lives, as the app wrote it; ``baseURL(in:)`` parses.
    public let baseURLs: BaseURLs
    /// The version, appended to the base URL as a path segment; `nil` for none. One with a slash is no segment, and fails every call as
    /// ``APIError/Kind/invalidConfiguration(reason:)``; so does an empty one.
    public var version: String?
    /// The envelope, opened on every response before the data is decoded; `nil` when the data is all there is.
    public var envelope: Envelope?
    /// The common headers, read anew for every call.
    public var headers: CommonHeaders
    /// The common parameters, read anew for every call.
    public var parameters: CommonParameters
    /// What its calls want different from the client's: they stand between the client's options and those of an
    /// endpoint.
    public var options: CallOptions
    /// The interceptors around each call, inside the client's and outside the endpoint's. None by default.
    public var callInterceptors: [any Interceptor]
    /// The interceptors around each attempt, inside the client's and outside the endpoint's. None by default.
    public var attemptInterceptors: [any Interceptor]
    /// Encrypts what its calls send and decrypts what comes back; `nil`, the default, for plain content. Its responses
    /// cannot be streamed.
    public var sealer: (any Sealer)?
    /// Signs each attempt of its calls, last of all; `nil`, the default, for none.
    public var signer: (any Signer)?
    /// How its calls say on whose behalf they are made; `nil` when they do not.
    public var authenticator: (any Authenticator)?
    /// The mapper of errors that is asked before the client's.
    public var errorMapper: ErrorMapper?

    /// A service that differs from its client by what is named here and by nothing else.
    ///
    /// - Parameters:
    ///   - baseURLs: absolute `http` or `https` URLs, one for each environment that the service has. They are looked at
    ///     when a call is made: one that is none, or is missing, fails it with
    ///     ``APIError/Kind/invalidConfiguration(reason:)``.
    ///   - version: a path segment after the base URL; `nil`, the default, for none.
    ///   - envelope: opened on every response; `nil`, the default, when the data is all there is.
    ///   - headers: carried by every call, over the client's. None by default.
    ///   - parameters: carried by every call, over the client's. None by default.
    ///   - options: what its calls want different from the client's. Nothing by default.
    ///   - callInterceptors: around each call. None by default.
    ///   - attemptInterceptors: around each attempt. None by default.
    ///   - sealer: encrypts and decrypts content. None by default.
    ///   - signer: signs each attempt. None by default.
    ///   - errorMapper: asked before the client's. None by default.
    public init(
        _ id: ServiceID, _ baseURLs: BaseURLs, version: String? = nil,
        envelope: Envelope? = nil, headers: CommonHeaders = [:], parameters: CommonParameters = .none,
        options: CallOptions = .init(), callInterceptors: [any Interceptor] = [],
        attemptInterceptors: [any Interceptor] = [], sealer: (any Sealer)? = nil, signer: (any Signer)? = nil,
        authenticator: (any Authenticator)? = nil, errorMapper: ErrorMapper? = nil
    ) {
        self.id = id
        self.baseURLs = baseURLs
        self.version = version
        self.envelope = envelope
        self.headers = headers
        self.parameters = parameters
        self.options = options
        self.callInterceptors = callInterceptors
        self.attemptInterceptors = attemptInterceptors
        self.sealer = sealer
        self.signer = signer
        self.authenticator = authenticator
        self.errorMapper = errorMapper
    }

    /// Why no reply in its envelope can be what it was meant to be; `nil` where that cannot be seen. An endpoint may have an
    /// envelope of its own.
    var fault: String? {
        guard let envelope else { return nil }
        let fault = envelope.fault ?? authenticator.flatMap { envelope.fault(ofExpiry: $0.expiry.codes) }
        return fault.map { "the envelope of the service \(id.name) \($0)" }
    }

    /// The base URL in an environment, with the version.
    ///
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` when the service has none there, or a text that is no
    ///   `http` or `https` URL.
    public func baseURL(in environment: ServerEnvironment) throws(APIError) -> HTTPURL {
        guard let text = baseURLs.text(in: environment) else {
            throw misconfigured("has no base URL in the environment \(environment)")
        }
        return try parse(text, for: "the environment \(environment)")
    }

    /// Parses a base URL in place of the service's own, with the version.
    func parse(_ text: String, for place: String) throws(APIError) -> HTTPURL {
        do {
            return try versioned(HTTPURL(text))
        } catch let error as APIError {
            throw error
        } catch {
            throw misconfigured("has an unusable base URL for \(place): \(error)")
        }
    }

    /// The same service with one base URL for good.
    ///
    /// - Parameter base: with the version.
    func staying(at base: HTTPURL) -> Service {
        Service(
            id, BaseURLs(base.absoluteString), envelope: envelope, headers: headers, parameters: parameters,
            options: options, callInterceptors: callInterceptors, attemptInterceptors: attemptInterceptors,
            sealer: sealer, signer: signer, authenticator: authenticator, errorMapper: errorMapper)
    }

    private func versioned(_ base: HTTPURL) throws(APIError) -> HTTPURL {
        guard let version else { return base }
        guard !version.contains("/") else {
            throw misconfigured("has the version \(version), which is no path segment: write it without slashes")
        }
        do {
            return try base.appending(RoutePath("\(version)"))
        } catch {
            throw misconfigured(
                "has an unusable version, \(String(reflecting: version)): it \(error.reason.explanation)")
        }
    }

    private func misconfigured(_ what: String) -> APIError {
        APIError(.invalidConfiguration(reason: "the service \(id) \(what)"), stage: .prepare)
    }
}

extension BaseURLs: CustomStringConvertible, CustomReflectable {
    /// Where the service is, without secrets.
    public var description: String {
        let texts = ServerEnvironment.standard.compactMap { environment in
            text(in: environment).map { "\(environment): \(Redaction.value($0, ofParameter: "baseURL"))" }
        }
        return texts.joined(separator: ", ")
    }

    public var customMirror: Mirror { Mirror(self, children: ["urls": description], displayStyle: .struct) }
}

extension Service: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "id": id, "baseURLs": baseURLs, "version": version as Any, "envelope": envelope as Any,
            "headers": headers, "options": options, "callInterceptors": callInterceptors,
            "attemptInterceptors": attemptInterceptors,
        ]
        return Redaction.mirror(of: self, children)
    }
}
