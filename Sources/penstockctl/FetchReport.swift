import Foundation
import Penstock

/// What `--json` prints. What is not known is left out.
struct FetchReport: Encodable {
    private var status: Int?
    /// Pairs of name and value, as received.
    private var headers: [[String]]?
    /// The text of a body that is UTF-8; any other is in ``bodyBase64``.
    private var body: String?
    private var bodyBase64: String?
    private var `protocol`: String?
    /// The URL of the last hop.
    private var url: String?
    private var redirects: [Hop]?
    private var timings: Phases?
    private var connection: Peer?
    private var source: String?
    private var error: Failure?

    init(_ response: APIResponse<Data>, withBody: Bool) {
        status = response.http.status
        headers = response.http.fields.map { [$0.name.text, $0.value] }
        if withBody { setBody(response.data) }
        `protocol` = response.http.version.rawValue
        url = response.request.url.absoluteString
        redirects = zip(response.attempts, response.attempts.dropFirst()).compactMap(Hop.init)
        timings = Phases(response.timings)
        connection = Peer(response.connection)
        source = response.source.rawValue
    }

    init(_ error: APIError) {
        self.error = Failure(
            kind: error.kind.name, stage: error.stage.rawValue, message: Self.text(of: error), status: error.status)
    }

    init(_ failure: OutputFailure) {
        error = Failure(kind: "output", stage: "output", message: failure.message, status: nil)
    }

    /// A failure in one line.
    static func text(of error: APIError) -> String {
        error.debugMessage.isEmpty ? "\(error.kind)" : "\(error.kind) (\(error.debugMessage))"
    }

    /// One line.
    func json() throws(OutputFailure) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Console.printable(json: try encoder.encode(self)) + Data("\n".utf8)
        } catch {
            throw OutputFailure("JSON", error)
        }
    }

    /// Bytes that are not UTF-8 do not come back the same from text.
    private mutating func setBody(_ data: Data) {
        let text = String(decoding: data, as: UTF8.self)
        if text.utf8.elementsEqual(data) { body = text } else { bodyBase64 = data.base64EncodedString() }
    }
}

extension FetchReport {
    private struct Hop: Encodable {
        let status: Int
        let from: String
        let to: String

        /// Two attempts that follow each other; `nil` when the first was no redirect.
        init?(_ attempt: APIError.Attempt, _ next: APIError.Attempt) {
            guard let status = attempt.status, (300..<400).contains(status) else { return nil }
            self.status = status
            from = attempt.url.absoluteString
            to = next.url.absoluteString
        }
    }

    /// Milliseconds since the last hop began.
    private struct Phases: Encodable {
        var nameLookup: Double?
        var connect: Double?
        var tls: Double?
        var requestStart: Double?
        var firstByte: Double?
        var total: Double?

        init(_ timings: Timings) {
            nameLookup = timings.nameLookup.map(Self.milliseconds)
            connect = timings.connected.map(Self.milliseconds)
            tls = timings.secured.map(Self.milliseconds)
            requestStart = timings.requestStart.map(Self.milliseconds)
            firstByte = timings.responseStart.map(Self.milliseconds)
            total = timings.total.map(Self.milliseconds)
        }

        /// A duration in milliseconds, to the microsecond.
        private static func milliseconds(_ duration: Duration) -> Double {
            (duration / .microseconds(1)).rounded() / 1000
        }
    }

    private struct Peer: Encodable {
        let reused: Bool?
        let remoteAddress: String?
        let remotePort: Int?

        init(_ connection: ConnectionInfo) {
            reused = connection.isReused
            remoteAddress = connection.remoteAddress
            remotePort = connection.remotePort
        }
    }

    private struct Failure: Encodable {
        let kind: String
        let stage: String
        let message: String
        let status: Int?
    }
}
