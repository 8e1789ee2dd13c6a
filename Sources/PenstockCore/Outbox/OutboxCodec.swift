import Foundation

/// Makes rows of writes, and writes of rows.
struct OutboxCodec: Sendable {
    struct Write: Sendable {
        let endpoint: any OutboxEndpoint
        let request: HTTPRequest
        let terms: OutboxTerms
        let policy: OutboxPolicy
    }

    /// The type of a write is needed to send it as it was meant, and the app does not have it, or cannot read it.
    struct TypeNeeded: Error {
        let name: String
    }

    /// The types of each name: more than one where the app has made a mistake.
    private let types: [String: [any OutboxEndpoint.Type]]
    private let cipher: (any OutboxCipher)?

    init(_ configuration: Outbox.Configuration) {
        types = Dictionary(grouping: configuration.endpoints) { $0.outboxName }
        cipher = configuration.cipher
    }

    /// Why a type cannot be put; `nil` where it can.
    func refusal<E: OutboxEndpoint>(of type: E.Type) -> OutboxError? {
        let named = types[E.outboxName] ?? []
        if let other = named.first(where: { $0 != type }) {
            let names = "\(String(reflecting: other)) and \(String(reflecting: type))"
            let reason =
                "\(names) have the same outboxName, \(E.outboxName), by which rows find their type: give one another"
            return .request(APIError(.invalidConfiguration(reason: reason), stage: .prepare, sendState: .unsent))
        }
        return named.isEmpty ? .unregistered(E.outboxName) : nil
    }

    /// - Parameter environment: the one that the write names in place of its owner's.
    func digest(of fold: OutboxFold, _ owner: OutboxOwner, in environment: String?) -> String {
        digest("fold", fold.name, owner, environment)
    }

    private func digest(_ kind: String, _ name: String, _ owner: OutboxOwner, _ environment: String?) -> String {
        guard let environment else { return NameDigest.of(kind, owner.digest, name) }
        return NameDigest.of(kind, owner.digest, name, environment)
    }

    func row(
        _ id: OutboxID, _ content: OutboxContent, _ owner: OutboxOwner, _ destination: String, _ policy: OutboxPolicy,
        at now: Date, _ intent: Data?, _ rollback: Data?
    ) throws(OutboxError) -> OutboxRow {
        let environment = content.head.terms?.environment
        let fold = content.head.fold.map { digest(of: OutboxFold($0), owner, in: environment) }
        do {
            let plain = try content.encoded()
            return OutboxRow(
                id: id, owner: owner, lane: digest("lane", content.head.lane, owner, environment), fold: fold,
                destination: destination, payload: try cipher?.seal(plain, for: id.key) ?? plain, created: now,
                expires: now.addingTimeInterval(policy.lifetime.seconds), isKept: policy.signOut == .keep,
                stopsLane: policy.afterFailure == .stopLane, intent: try seal(intent, .intent, fold),
                rollback: try seal(rollback, .rollback, fold))
        } catch {
            throw .cipher(error)
        }
    }

    /// What a value of a fold stands for. Each is sealed in a context of its own, so that none can be put in the other's place.
    private enum Meaning: String {
        case intent, rollback

        func context(_ fold: String) -> String { NameDigest.of(rawValue, fold) }
    }

    private func seal(_ value: Data?, _ meaning: Meaning, _ fold: String?) throws -> Data? {
        guard let value, let fold, let cipher else { return value }
        return try cipher.seal(value, for: meaning.context(fold))
    }

    /// What a row sets its fold to; `nil` where it can never be read.
    func intent(of row: OutboxRow) throws(OutboxCipherUnavailable) -> Data? {
        try value(row.intent, [.intent], of: row)
    }

    /// What a row's fold goes back to; `nil` where it can never be read.
    func rollback(of row: OutboxRow) throws(OutboxCipherUnavailable) -> Data? {
        // Once a write is delivered, its store moves what it intended there, as it was sealed.
        try value(row.rollback, [.rollback, .intent], of: row)
    }

    private func value(
        _ kept: Data?, _ meanings: [Meaning], of row: OutboxRow
    ) throws(OutboxCipherUnavailable) -> Data? {
        guard let kept, let fold = row.fold, let cipher else { return kept }
        // Earlier versions sealed all values of a fold in one context.
        for context in meanings.map({ $0.context(fold) }) + [fold] {
            do {
                return try cipher.open(kept, for: context)
            } catch let error as OutboxCipherUnavailable {
                throw error
            } catch {
                continue
            }
        }
        return nil
    }

    func content(of row: OutboxRow) throws -> OutboxContent {
        try OutboxContent(try cipher?.open(row.payload, for: row.id.key) ?? row.payload)
    }

    /// - Throws: ``TypeNeeded``, ``OutboxCipherUnavailable``, and whatever else is wrong with the bytes.
    func open(_ row: OutboxRow) throws -> Write {
        let content = try content(of: row)
        let request = try content.request(key: row.id.key, number: row.number)
        return Write(
            endpoint: try endpoint(of: content), request: request, terms: content.head.terms ?? OutboxTerms(),
            policy: policy(of: content) ?? UnknownWrite.outboxPolicy)
    }

    /// What the app does not know any more is still delivered, as it was meant.
    private func endpoint(of content: OutboxContent) throws(TypeNeeded) -> any OutboxEndpoint {
        let head = content.head
        let known = types[head.name]?.first.flatMap { type -> (any OutboxEndpoint)? in
            try? JSONDecoder().decode(type, from: head.endpoint)
        }
        if let known { return known }
        guard head.terms?.needsType != true else { throw TypeNeeded(name: head.name) }
        return UnknownWrite(service: head.service, head.terms ?? OutboxTerms())
    }

    /// The policy of the type where the app has one of the name, whether it can read what was kept or not; else what was kept of it.
    private func policy(of content: OutboxContent) -> OutboxPolicy? {
        types[content.head.name]?.first?.outboxPolicy ?? content.head.terms?.policy?.whole
    }

    /// - Returns: the standard one for what cannot be read.
    func policy(of row: OutboxRow) -> OutboxPolicy {
        (try? content(of: row)).flatMap { policy(of: $0) } ?? OutboxPolicy()
    }
}
