import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// What becomes of the content of an answer that is not the call's own, so that its connection is free for others.
@Suite(.timeLimit(.minutes(5))) struct DiscardedContentTests {
    private let clock = TestClock()

    private func client(
        _ transport: Streams, _ change: (inout Service) -> Void = { _ in },
        configured: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var service = Service(.main, "https://a.example")
        change(&service)
        var configuration = APIClient.Configuration(services: [service])
        configuration.time = clock.timeSource
        configuration.random = RandomSource { 0 }
        configuration.cache = .none
        configured(&configuration)
        return APIClient(configuration, transport: transport)
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: the answers whose content was given up before.
    private func discarded<E: Endpoint>(
        by client: APIClient, _ transport: Streams, _ endpoint: E, _ options: CallOptions = .init()
    ) async throws -> [Int] {
        let response = try await client.stream(endpoint, options: options)
        #expect(response.http.status == 200)
        let discarded = transport.discarded.value
        #expect(try await response.reduce(into: Data()) { $0.append($1) } == Data("x".utf8))
        return discarded
    }

    @Test("The content of a redirect is given up, whether it is followed or refused")
    func redirects() async throws {
        let followed = Streams(.redirect(to: "/next"), .redirect(to: "/last"), HTTPResponse(status: 200))
        #expect(try await discarded(by: client(followed), followed, GetProduct()) == [0, 1])
        let refused = Streams(.redirect(to: "http://a.example/"))
        let error = await failure { try await client(refused).stream(GetProduct()) }
        guard case .blocked? = error?.kind else { return #expect(error?.kind == .blocked(reason: "")) }
        #expect(refused.discarded.value == [0])
    }

    @Test("So is that of an answer after which the request is sent again")
    func retries() async throws {
        let transport = Streams(HTTPResponse(status: 503), HTTPResponse(status: 503), HTTPResponse(status: 200))
        let options = CallOptions.retry(RetryPolicy(limit: 2, backoff: .init(base: .zero)))
        #expect(try await discarded(by: client(transport), transport, GetProduct(), options) == [0, 1])
    }

    @Test("So is that of a refusal for the time of a signature")
    func signatures() async throws {
        struct Timed: Signer {
            var isTimed: Bool { true }
            func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest { request }
        }
        let ahead = HTTPDate.format(clock.timeSource.date().addingTimeInterval(86_400))
        let transport = Streams(HTTPResponse(status: 401, fields: ["Date": ahead]), HTTPResponse(status: 200))
        let client = client(transport, { $0.signer = Timed() })
        #expect(try await discarded(by: client, transport, GetProduct()) == [0])
    }

    @Test("So is that of a refusal for want of a nonce")
    func nonces() async throws {
        struct Asked: Authenticator {
            func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest { request }
            func shouldSendAgain(after response: HTTPResponse, to request: HTTPRequest) -> Bool {
                response.status == 401
            }
        }
        let transport = Streams(HTTPResponse(status: 401), HTTPResponse(status: 200))
        let client = client(transport, { $0.authenticator = Asked() })
        try await client.signIn(Credential("t"))
        #expect(try await discarded(by: client, transport, GetProduct()) == [0])
    }

    @Test("So is that of a refusal of a coding")
    func codings() async throws {
        let transport = Streams(HTTPResponse(status: 415), HTTPResponse(status: 200))
        #expect(try await discarded(by: client(transport), transport, RequestCompressionTests.Report()) == [0])
    }

    @Test("Content that is given up gives its place in the queue to what is sent next")
    func places() async throws {
        let transport = Streams(.redirect(to: "/next"), HTTPResponse(status: 200))
        let client = client(transport, configured: { $0.admission = .init(total: 1) })
        #expect(try await discarded(by: client, transport, GetProduct()) == [0])
    }
}

/// Answers in turn, each with one piece of content that notes when it is given up.
private final class Streams: Transport {
    let capabilities = TransportCapabilities.all
    /// The numbers of the answers whose content was given up, each once.
    let discarded = Box<[Int]>([])
    private let answers: [HTTPResponse]
    private let count = Box(0)

    init(_ answers: HTTPResponse...) {
        self.answers = answers
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        let number = count.update { count in
            count += 1
            return count - 1
        }
        guard number < answers.count else { throw TransportError(.other, sendState: .unsent) }
        return TransportStream(answers[number], content: Content(number, discarded))
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("whole responses"), sendState: .unsent)
    }

    func shutdown() async {}

    private final class Content: TransportContent {
        private let number: Int
        private let discarded: Box<[Int]>
        private let hasEnded = Box(false)

        init(_ number: Int, _ discarded: Box<[Int]>) {
            (self.number, self.discarded) = (number, discarded)
        }

        func next() async throws(TransportError) -> Data? {
            let isFirst = hasEnded.update { hasEnded in
                defer { hasEnded = true }
                return !hasEnded
            }
            return isFirst ? Data("x".utf8) : nil
        }

        func discard() {
            discarded.update { [number] in if !$0.contains(number) { $0.append(number) } }
        }

        var completion: TransportCompletion { TransportCompletion() }
    }
}
