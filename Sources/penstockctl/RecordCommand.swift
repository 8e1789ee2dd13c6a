import Foundation
import Penstock
import PenstockTesting

/// `penstockctl record`: a server on this machine that hands each request on to another one, and writes what it answers into an
/// archive that `replay` serves.
struct RecordCommand: Sendable {
    static let table =
        [
            OptionRule(names: ["--har"], placeholder: "FILE", help: "write what happens into FILE, as an HTTP archive"),
            OptionRule(
                names: ["--to"], placeholder: "ORIGIN",
                help: "whom requests are handed on to, such as https://example.com"),
            OptionRule(
                names: ["--content"], placeholder: "BYTES",
                help:
                    "content of requests and responses is kept in FILE where it is no longer (default 1048576 each); what is longer is handed on alone"
            ),
            OptionRule(
                names: ["--transport"], placeholder: TransportChoice.names(" | "),
                help: "what carries the requests (default \(TransportChoice.platform.name))"),
            FetchTrust.authorities, FetchTrust.pin, FetchTrust.certificate, FetchTrust.key, Names.option,
            OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
            OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
        ]

    private let archive: String
    private let origin: HTTPURL.Origin
    private let contentLimit: Int
    private let transport: TransportChoice
    private let trust: TrustPolicy?
    private let resolver: HostResolver

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.operands.isEmpty else { throw UsageError("record takes no arguments but options") }
        guard let archive = arguments.value("--har") else { throw UsageError("--har is missing") }
        guard let text = arguments.value("--to") else { throw UsageError("--to is missing") }
        self.archive = archive
        origin = try Self.origin(text)
        contentLimit = try FetchOptions.count(
            arguments.value("--content") ?? "1048576", "--content", upTo: FetchOptions.mostContent)
        transport = try TransportChoice.chosen(arguments.value("--transport"))
        trust = try FetchTrust.policy(arguments, for: origin)
        resolver = try Names.resolver(arguments)
    }

    /// Parses an origin, which is without a path, since an archive has the targets of requests as they were asked for here.
    private static func origin(_ text: String) throws(UsageError) -> HTTPURL.Origin {
        let url: HTTPURL
        do throws(HTTPURL.ParseError) {
            url = try HTTPURL(text)
        } catch {
            throw UsageError("--to: \(error)")
        }
        guard url.path == "/" || url.path.isEmpty, url.query == nil else {
            throw UsageError("--to: an origin has neither path nor query")
        }
        return url.origin
    }

    func run() async throws(UsageError) -> Int32 {
        let recorder: HARRecorder
        do throws(HARError) {
            recorder = try HARRecorder(
                file: URL(fileURLWithPath: archive), contents: .upTo(bytes: contentLimit), startsOver: true
            ) { Console.note("--har: \(ReportCommand.text($0))") }
        } catch {
            throw UsageError("--har: \(ReportCommand.text(error))")
        }
        let carrier = transport.make()
        let forwarder = Forwarder(origin, by: APIClient(configuration(recorder), transport: carrier))
        let status = await LoopbackService.serve("requests are handed on to \(origin.text)") {
            forwarder.answer($0)
        } ending: {
            // Whoever waits for the origin comes back, and nobody begins to.
            await carrier.shutdown()
        }
        await recorder.close()
        Console.note("\(forwarder.count) answers are in the archive \(archive)")
        return status
    }

    /// Nothing of the tool's own comes between: no cache, no cookies, no redirects, no second attempt.
    private func configuration(_ recorder: HARRecorder) -> APIClient.Configuration {
        var configuration = APIClient.Configuration(services: [])
        configuration.cache = .none
        configuration.cookies = nil
        configuration.circuitBreaker = nil
        configuration.sinks = [recorder]
        configuration.options = .with {
            // The user names the origin.
            $0.cleartext = .everywhere
            $0.redirects = RedirectPolicy.never
            $0.retry = RetryPolicy.none
            $0.trust = trust
            $0.resolver = resolver
        }
        return configuration
    }
}

/// Hands requests on to an origin.
final class Forwarder: Sendable {
    /// The fields of one connection (RFC 9110 §7.6.1), of the codings that the library removes, and those that it writes itself.
    private static let ownFields: Set<HTTPFieldName> = [
        "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade", "Host", "Content-Length", "Accept-Encoding", "Content-Encoding", "Expect",
    ]

    private let origin: HTTPURL.Origin
    private let client: APIClient
    private let answered = Locked(0)

    init(_ origin: HTTPURL.Origin, by client: APIClient) {
        self.origin = origin
        self.client = client
    }

    /// How many answers have come.
    var count: Int { answered.withLock { $0 } }

    /// The answer of the origin, on the thread of the connection, which waits for it.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard request.target.hasPrefix("/"), let url = try? HTTPURL(origin.text + request.target) else {
            return .text("record hands on what is asked of this server, by path and query\n", status: 400)
        }
        var body = HTTPBody.none
        if !request.body.isEmpty || request.fields.contains("Content-Length") { body = .bytes(request.body) }
        let sent = HTTPRequest(
            method: request.method, url: url, fields: Self.endToEnd(request.fields, keepsCoding: true), body: body)
        let (result, done) = (Locked<Result<APIResponse<Data>, APIError>?>(nil), DispatchSemaphore(value: 0))
        Task {
            do throws(APIError) {
                let response = try await client.send(sent)
                result.withLock { $0 = .success(response) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        switch result.withLock({ $0 }) {
        case .success(let response): return answer(response.http, to: sent)
        case .failure(let error): return .text("\(FetchReport.text(of: error))\n", status: 502)
        case nil: return .init(status: 502)
        }
    }

    private func answer(_ response: HTTPResponse, to request: HTTPRequest) -> LoopbackServer.Response {
        answered.withLock { $0 += 1 }
        // Who follows a redirect within the origin is still recorded.
        var fields = HARAnswers.relocated(Self.endToEnd(response.fields, keepsCoding: false), of: request.url)
        fields[.contentLength] = HARAnswers.length(in: response, toMethod: request.method.rawValue)
        return .standing(for: response, fields, toMethod: request.method.rawValue)
    }

    /// The fields that are not of the connection alone, those that `Connection` names among them.
    static func endToEnd(_ fields: HTTPFields, keepsCoding: Bool) -> HTTPFields {
        let named = fields.values(of: "Connection").flatMap { $0.split(separator: ",") }
            .map { HTTPFieldName($0.trimmingCharacters(in: .whitespaces)) }
        return HTTPFields(
            fields.filter { field in
                if keepsCoding, field.name == .contentEncoding { return true }
                return !ownFields.contains(field.name) && !named.contains(field.name)
            })
    }
}

extension LoopbackServer.Response {
    /// An answer in place of another one. What has no content tells the length of the other one's, or none where that is unknown.
    static func standing(for response: HTTPResponse, _ fields: HTTPFields, toMethod method: String) -> Self {
        var answer = Self(status: response.status, fields: fields, body: response.body)
        answer.omitsLength = HARAnswers.tellsLength(response.status, toMethod: method)
        return answer
    }
}

/// A server on this machine for as long as the user wants it.
enum LoopbackService {
    /// Says where it is on standard output, and ends with an interrupt.
    ///
    /// - Parameter ending: called with the interrupt, so that whoever answers comes back. The server stops after it.
    static func serve(
        _ what: String, answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response,
        ending: @Sendable () async -> Void = {}
    ) async -> Int32 {
        do {
            let server = try Self.server(answer)
            defer { server.stop() }
            try Console.out(Data("\(server.url.absoluteString)\n".utf8))
            Console.note("\(what); an interrupt ends it")
            await Interrupts.cancelling { while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) } }
            await ending()
            return ExitCode.success
        } catch {
            Console.note("no server: \(error.localizedDescription)")
            return ExitCode.output
        }
    }

    /// The server keeps no request once it is answered: it runs for as long as the user likes, and nobody asks it what it saw.
    static func server(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.recordedRequests = 0
        return try LoopbackServer(configuration, handler: answer)
    }
}
