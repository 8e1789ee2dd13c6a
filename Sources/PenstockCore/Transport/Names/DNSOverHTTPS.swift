import Foundation

/// Name servers that are asked over HTTPS (RFC 8484), so that nobody on the way sees or changes what is asked.
///
/// ```swift
/// let resolver = HostResolver([try DNSOverHTTPS("https://dns.example/dns-query", over: transport)])
/// ```
///
/// The server's own name is looked up by the system. What it says holds for as long as it says, less the time that it spent in
/// a cache on the way. Once the addresses of one kind have come, those of the other have 50 ms more (RFC 8305 §3).
public struct DNSOverHTTPS: HostSource {
    private let url: HTTPURL
    private let transport: any Transport
    private let isolation: IsolationKey
    var time = TimeSource.system
    /// How long those of one kind wait for those of the other.
    private static let delay = Duration.milliseconds(50)

    /// A server.
    ///
    /// - Parameters:
    ///   - url: of the server, without `{?dns}`; `https`.
    ///   - transport: carries the questions; the client's own will do.
    ///   - trust: whom TLS trusts; the system's authorities by default.
    /// - Throws: ``HTTPURL/ParseError``, or ``HostSourceError/malformedHost(_:)`` where the URL is not `https`.
    public init(_ url: String, over transport: any Transport, trust: TrustPolicy = .system) throws {
        self.url = try HTTPURL(url)
        self.transport = transport
        isolation = IsolationKey(trust: trust)
        guard self.url.scheme == .https else { throw HostSourceError.malformedHost(self.url.origin.text) }
    }

    /// Asks for the addresses of both kinds at once.
    ///
    /// - Throws: ``TransportError`` where the server is not reached, or does not answer what was asked;
    ///   ``HostSourceError/unanswered(_:)`` where it answers that it has not found out.
    public func answer(for host: String, port: Int) async throws -> HostAnswer? {
        let answers = await answers(for: host)
        let found = answers.compactMap { try? $0.get() }.filter { !$0.addresses.isEmpty }
        guard let lifetime = found.map(\.lifetime).min() else {
            // Whoever has answered one question is well, whatever became of the other.
            let errors = answers.compactMap { if case .failure(let error) = $0 { error } else { nil } }
            if let error = errors.first(where: { $0 is HostSourceError }) ?? errors.first { throw error }
            return nil
        }
        return HostAnswer(found.flatMap(\.addresses), lifetime: lifetime)
    }

    /// What has come of both questions, that of the new kind first; of one alone where the other takes too long.
    private func answers(for host: String) async -> [Result<HostAnswer, any Error>] {
        let kinds = [DNSMessage.Kind.aaaa, .a]
        return await withTaskGroup(of: (kind: DNSMessage.Kind, answer: Result<HostAnswer, any Error>)?.self) { group in
            for kind in kinds { group.addTask { (kind, await ask(host, kind)) } }
            var answers: [DNSMessage.Kind: Result<HostAnswer, any Error>] = [:]
            while answers.count < kinds.count, let next = await group.next() {
                guard let next else { break }
                answers[next.kind] = next.answer
                guard answers.count == 1, (try? next.answer.get())?.addresses.isEmpty == false else { continue }
                group.addTask { [end = time.now() + Self.delay] in
                    try? await time.sleep(until: end)
                    return nil
                }
            }
            group.cancelAll()
            return kinds.compactMap { answers[$0] }
        }
    }

    private func ask(_ host: String, _ kind: DNSMessage.Kind) async -> Result<HostAnswer, any Error> {
        guard let question = DNSMessage.question(host, kind) else { return .success(HostAnswer([])) }
        let control = ExchangeControl()
        let exchange = request(question, control)
        return await withTaskCancellationHandler {
            do {
                return .success(try Self.read(try await transport.perform(exchange).response, host, kind))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            control.cancel()
        }
    }

    /// A request by POST, so that no name stands in a URL that somebody logs.
    private func request(_ question: Data, _ control: ExchangeControl) -> TransportRequest {
        var request = HTTPRequest(method: .post, url: url, body: .bytes(question))
        request.fields[.contentType] = Self.type
        request.fields[.accept] = Self.type
        var limits = ResponseLimits()
        limits.bodyBytes = Self.most
        return TransportRequest(request, limits: limits, isolation: isolation, control: control)
    }

    private static let type = "application/dns-message"
    /// RFC 8484 §6: no message is longer.
    private static let most = 65_535

    static func read(_ response: HTTPResponse, _ host: String, _ kind: DNSMessage.Kind) throws -> HostAnswer {
        let type = response.fields[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard response.status == 200, type?.lowercased() == Self.type,
            let reply = DNSMessage.reply(response.body, to: host, kind)
        else {
            throw TransportError(
                .protocolViolation, sendState: .answered, message: "the name server has not answered the question")
        }
        guard case .addresses(let answer) = reply else { throw HostSourceError.unanswered(host) }
        return HostAnswer(answer.addresses, lifetime: answer.lifetime - .seconds(age(response.fields)))
    }

    /// How long the answer has been in a cache, in seconds. What is no number says nothing; one that does not fit is more than
    /// any answer holds (RFC 9111 §1.2.2).
    private static func age(_ fields: HTTPFields) -> Int64 {
        guard let text = fields["Age"], !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return 0 }
        return Int64(text) ?? .max
    }
}
