import Foundation

/// Seals what an ``Outbox`` keeps, so that nobody who reads its file learns what was written. Both are called off the main
/// actor, with the digest of what the bytes belong to: authenticate it, so that bytes cannot be moved from one row to another.
public protocol OutboxCipher: Sendable {
    /// - Throws: anything, which fails ``Outbox/put(_:)``.
    func seal(_ plain: Data, for context: String) throws -> Data

    /// - Throws: ``OutboxCipherUnavailable`` while the key cannot be had, such as before the first unlock of a phone: the
    ///   write waits. Anything else says that these bytes can never be opened, and the write is undeliverable.
    func open(_ sealed: Data, for context: String) throws -> Data
}

/// The key of an ``OutboxCipher`` cannot be had now.
public struct OutboxCipherUnavailable: Error, Hashable, Sendable {
    /// The key cannot be had now.
    public init() {}
}

/// What is kept of a write: its request, which is the same for ever, and its endpoint.
struct OutboxContent: Sendable {
    var head: Head
    var body: Data

    struct Head: Codable, Sendable {
        var name: String
        var lane: String
        var fold: String?
        var service: String
        var method: String
        var url: String
        /// The endpoint's own fields, name and value in turn; common ones are read anew for each attempt.
        var fields: [[String]]
        /// The endpoint as JSON.
        var endpoint: Data
        var numberField: String?
        /// `nil` in what an earlier version has kept.
        var terms: OutboxTerms?
    }

    struct Unreadable: Error {}

    /// A bit of the length of the head, which says that the endpoint stands behind the head. Earlier versions wrote it within the head,
    /// where it is a third longer.
    private static let isApart: UInt32 = 1 << 31

    /// The length of the head, the head as JSON without the endpoint, the length of the endpoint, the endpoint, the body.
    /// Lengths have four bytes, little end first.
    func encoded() throws -> Data {
        var head = head
        head.endpoint = Data()
        let json = try JSONEncoder().encode(head)
        var data = Self.bytes(of: UInt32(clamping: json.count) | Self.isApart)
        data.append(json)
        data.append(Self.bytes(of: UInt32(clamping: self.head.endpoint.count)))
        data.append(self.head.endpoint)
        data.append(body)
        return data
    }

    /// - Throws: whatever is wrong with the bytes; no length among them is trusted.
    init(_ data: Data) throws {
        var rest = data
        let length = try Self.length(&rest)
        head = try JSONDecoder().decode(Head.self, from: try Self.take(Int(length & ~Self.isApart), &rest))
        if length & Self.isApart != 0 { head.endpoint = try Self.take(Int(try Self.length(&rest)), &rest) }
        body = Data(rest)
    }

    private static func bytes(of length: UInt32) -> Data {
        withUnsafeBytes(of: length.littleEndian) { Data($0) }
    }

    private static func length(_ rest: inout Data) throws -> UInt32 {
        try take(4, &rest).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func take(_ count: Int, _ rest: inout Data) throws -> Data {
        guard rest.count >= count else { throw Unreadable() }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    init(head: Head, body: Data) {
        self.head = head
        self.body = body
    }

    /// The request without what is common to all.
    ///
    /// - Parameters:
    ///   - key: the mark by which the server knows the write.
    ///   - number: of its lane.
    func request(key: String, number: Int64?) throws -> HTTPRequest {
        guard let method = HTTPMethod(rawValue: head.method) else { throw Unreadable() }
        var fields = HTTPFields()
        for field in head.fields {
            guard field.count == 2 else { throw Unreadable() }
            fields.append(field[1], for: HTTPFieldName(field[0]))
        }
        fields[IdempotencyKey.field] = IdempotencyKey(key)?.fieldValue
        if let name = head.numberField, let number { fields[HTTPFieldName(name)] = String(number) }
        let body: HTTPBody = body.isEmpty && !fields.contains(.contentType) ? .none : .bytes(body)
        return HTTPRequest(method: method, url: try HTTPURL(head.url), fields: fields, body: body)
    }
}

extension APIClient {
    /// Makes the request of a write, to be kept.
    ///
    /// - Parameter isSealed: whether what is kept will be sealed.
    /// - Throws: what stands in its way: a parameter that breaks a rule, a body that cannot be kept, or may not be in plain.
    func frozen<E: OutboxEndpoint>(
        _ endpoint: E, limit: Int, _ owners: OutboxOwners, isSealed: Bool
    ) throws(OutboxError) -> (content: OutboxContent, owner: OutboxOwner, destination: String) {
        let call = begin(endpoint, .init(isSilent: true, isUnsent: true))
        defer { call.finish(nil) }
        let hasSealer = (try? call.runtime.get())?.service.sealer != nil
        let mustBeSealed = call.context.settings.sealing.seals(byDefault: hasSealer)
        guard isSealed || !mustBeSealed else {
            let reason =
                "what \(E.outboxName) sends is sealed, and would be kept in plain: give the outbox a cipher (Outbox.Configuration.cipher)"
            throw .request(APIError(.invalidConfiguration(reason: reason), stage: .seal, sendState: .unsent))
        }
        do {
            let request = try prepare(call)
            var fields = HTTPFields()
            if let type = request.fields[.contentType] { fields[.contentType] = type }
            endpoint.options.headers.apply(to: &fields)
            endpoint.headers.apply(to: &fields)
            if let name = fields.rejected.first {
                throw APIError(.invalidParameter(field: name, reason: "is no field of HTTP"), stage: .prepare)
            }
            let head = OutboxContent.Head(
                name: E.outboxName, lane: endpoint.lane.name, fold: endpoint.fold?.name, service: endpoint.service.name,
                method: request.method.rawValue, url: request.url.absoluteString,
                fields: fields.map { [$0.name.text, $0.value] }, endpoint: try EndpointKeeping.json(of: endpoint),
                numberField: E.outboxPolicy.numberField?.text,
                terms: OutboxTerms(of: endpoint, isSealed: mustBeSealed, environment: call.namedEnvironment))
            // What names its environment is kept with the rest of what was made where the client is, where it is looked for.
            let isolation = call.context.isolation
            let isNamed = call.namedEnvironment != nil
            let owner = owners.owner(isolation.identity, in: isNamed ? environment.name : isolation.environment)
            let content = OutboxContent(head: head, body: try request.body.bytes(upTo: limit))
            return (content, owner, call.context.destination(of: content, owner, request.url.origin))
        } catch let error as OutboxError {
            throw error
        } catch let error as APIError {
            throw .request(error)
        } catch {
            throw .request(
                APIError(.invalidParameter(field: "\(E.self)", reason: "\(error)"), stage: .prepare, underlying: error))
        }
    }

    /// Sends what was kept of a write, as any other call, but with its own bytes, and once: when it is sent again is decided by
    /// what is on disk. It neither joins nor ends another one, since each row is a write of its own. A redirect that would make a
    /// GET of it is its answer.
    func deliver<E: OutboxEndpoint>(
        _ endpoint: E, _ write: FrozenWrite, _ terms: OutboxTerms
    ) async -> Result<APIResponse<E.Output>, APIError> {
        let own = terms.ownOptions(in: environment).retry(.none).inFlight(.independent).with { $0.keepsMethod = true }
        let call = ActiveCall(endpoint, .frozen(write), .init(own: own), of: self)
        return await Result { () async throws(APIError) in try await call.response() }
    }
}

extension ActiveCall {
    /// The environment that the options name in place of the client's; `nil` where they name none.
    fileprivate var namedEnvironment: String? { resolved.settings.environment?.name }
}

extension CallContext {
    /// Names what a write has in common with those that go with it to the same host, and that are paused with it.
    fileprivate func destination(
        of content: OutboxContent, _ owner: OutboxOwner, _ origin: HTTPURL.Origin
    ) -> String {
        NameDigest.of(
            "destination", owner.digest, origin.text, content.head.service, content.head.name, "\(priority)",
            settings.tags.sorted().joined(separator: "\n"))
    }
}

extension APIClient {
    /// The environment that the options of a write name in place of the client's; `nil` where they name none.
    func namedEnvironment(of endpoint: some OutboxEndpoint) -> String? {
        let call = begin(endpoint, .init(isSilent: true, isUnsent: true))
        defer { call.finish(nil) }
        return call.namedEnvironment
    }

    /// Whether a write would not be sent until the app resumes it.
    func isPaused<E: OutboxEndpoint>(_ endpoint: E) -> Bool {
        guard state.admissions.hasPauses else { return false }
        let call = begin(endpoint, .init(isSilent: true, isUnsent: true))
        defer { call.finish(nil) }
        return state.admissions.isPaused(call.context)
    }

    /// Whether a user has signed out whom the app still names, so that every call of theirs is refused.
    func hasSignedOut(_ identity: String) -> Bool {
        state.signOuts.review()
        do throws(APIError) {
            try state.signOuts.check(identity)
            return false
        } catch {
            return true
        }
    }
}

extension HTTPBody {
    /// All of it.
    fileprivate func bytes(upTo limit: Int) throws -> Data {
        if let length, length > limit { throw OutboxError.store(.tooLarge(bytes: length, limit: limit)) }
        switch source {
        case .none: return Data()
        case .bytes(let data): return data
        case .file(let url):
            let data = try Data(contentsOf: url)
            // It may have grown since it was looked at.
            guard data.count <= limit else { throw OutboxError.store(.tooLarge(bytes: data.count, limit: limit)) }
            return data
        case .stream:
            throw APIError(
                .invalidParameter(field: "body", reason: "a stream cannot be kept; give its bytes"), stage: .prepare)
        }
    }
}
