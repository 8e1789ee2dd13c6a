import Foundation

/// A change of the protocol within a connection of HTTP/1.1 (RFC 9110 §7.8): what is asked for, and how the answer is read.
struct HTTPUpgrade: Sendable {
    /// The name of the protocol as `Upgrade` has it.
    let name: String
    /// Fields that each request has of its own.
    let fields: @Sendable () -> HTTPFields

    /// Asks for it over a connection of its own.
    ///
    /// - Parameter exchange: its fields are sent behind those of the upgrade.
    /// - Returns: the request as it was sent, and the response: with status 101 its content is an ``UpgradedWire``.
    func perform(
        _ exchange: TransportRequest, by transport: any Transport, for call: CallContext
    ) async throws(TransportError) -> (HTTPRequest, TransportStream) {
        var request = exchange.request
        request.fields.merge(fields())
        let began = call.time.now()
        let wire = try await transport.connect(exchange, speaking: .http1)
        let alarms = [
            exchange.timeouts.firstByte.map { (call.time.now() + $0, TimeoutPhase.firstByte) },
            exchange.timeouts.total.map { (began + $0, .total) },
        ].compactMap { alarm in
            alarm.map { moment, phase in call.deadlines.add(moment) { [weak wire] in wire?.fail(.timeout(phase)) } }
        }
        defer { for alarm in alarms { call.deadlines.remove(alarm) } }
        var reply = UpgradeReply(exchange.limits)
        do throws(TransportError) {
            try await wire.write(head(of: request))
            let response = try await self.response(over: wire, &reply)
            guard response.status == 101 else {
                wire.close()
                return (request, stream(response, wire, BufferedContent([reply.content])))
            }
            return (request, stream(response, wire, UpgradedWire(wire, rest: reply.rest)))
        } catch {
            wire.fail(error.kind)
            var error = error
            error.sendState = reply.hasBegun ? .answered : .maybeProcessed
            throw error
        }
    }

    private func response(
        over wire: any TransportWire, _ reply: inout UpgradeReply
    ) async throws(TransportError) -> HTTPResponse {
        while true {
            if let response = try reply.next() { return response }
            guard let bytes = try await wire.read() else {
                throw TransportError(.connectionLost, sendState: .maybeProcessed)
            }
            reply.receive(bytes)
        }
    }

    private func stream(
        _ response: HTTPResponse, _ wire: any TransportWire, _ content: any TransportContent
    ) -> TransportStream {
        TransportStream(response, timings: wire.timings, connection: wire.connection, content: content)
    }

    private func head(of request: HTTPRequest) -> Data {
        var lines = "\(request.method) \(request.url.target) HTTP/1.1\r\nHost: \(request.url.hostField)\r\n"
        lines += "Connection: Upgrade\r\nUpgrade: \(name)\r\n"
        for field in request.fields { lines += "\(field.name): \(field.value)\r\n" }
        return Data((lines + "\r\n").utf8)
    }
}

/// The answer to an upgrade as its bytes come (RFC 9112 §4 and §5), read strictly: a byte that two readers could take for
/// different things ends it.
struct UpgradeReply: Sendable {
    private let limits: ResponseLimits
    private var bytes: [UInt8] = []
    private var start = 0
    private var headBytes = 0
    private var status: Int?
    private var version = HTTPVersion.http11
    private var fields = HTTPFields()
    private var hadInterim = false
    /// How much content comes, once the head is there.
    private var awaited: Awaited?
    /// The content of an answer that is no upgrade, all of it as announced; empty where it is longer than ``mostContent``.
    private(set) var content = Data()
    /// How much content of a refusal is read, with what stands around chunks: enough for what a server has to say about it.
    private static let mostContent = 64 << 10
    private static let longestChunkLine = 1 << 10

    private enum Awaited {
        case bytes(Int)
        /// - Parameter most: what may still come, in bytes.
        case chunks(ChunkReader, most: Int)
    }

    init(_ limits: ResponseLimits) {
        self.limits = limits
    }

    var hasBegun: Bool { status != nil || hadInterim }

    /// What came behind the head.
    var rest: Data { Data(bytes[start...]) }

    mutating func receive(_ more: Data) {
        bytes.append(contentsOf: more)
    }

    /// The head of the final answer, with 101 among them; of any other status, with what is announced of its content.
    ///
    /// - Returns: `nil` where more bytes are needed.
    mutating func next() throws(TransportError) -> HTTPResponse? {
        while awaited == nil {
            guard let line = try line() else { return nil }
            if status == nil {
                try takeStatus(line)
            } else if line.isEmpty {
                endBlock()
            } else {
                try takeField(line)
            }
        }
        guard let status, try takeContent() else { return nil }
        return HTTPResponse(status: status, fields: fields, version: version)
    }

    /// - Returns: whether nothing more is to come.
    private mutating func takeContent() throws(TransportError) -> Bool {
        switch awaited {
        case nil: return false
        case .bytes(let count):
            guard bytes.count - start >= count else { return false }
            content = Data(bytes[start..<(start + count)])
            return true
        case .chunks(var reader, var most):
            let before = start
            let failure = takeChunks(by: &reader)
            most -= start - before
            awaited = .chunks(reader, most: most)
            if failure == .protocolViolation { throw .init(.protocolViolation, "the chunks of the content are none") }
            guard failure == nil, most >= 0 else {
                content = Data()
                return true
            }
            return reader.isOver
        }
    }

    /// - Returns: why the chunks are refused.
    private mutating func takeChunks(by reader: inout ChunkReader) -> TransportError.Kind? {
        var (place, taken) = (start, content)
        defer { (start, content) = (place, taken) }
        return bytes.withUnsafeBytes { bytes in
            while let piece = reader.next(in: bytes, from: &place) {
                switch piece {
                case .content(let range): taken += bytes[range]
                case .trailer: break
                case .failure(let kind): return kind
                }
            }
            return nil
        }
    }

    private mutating func line() throws(TransportError) -> ArraySlice<UInt8>? {
        guard let end = bytes[start...].firstIndex(of: 0x0A) else {
            guard headBytes + bytes.count - start <= limits.headerBytes else {
                throw .init(.limitExceeded(.headerBytes), Self.tooLarge)
            }
            return nil
        }
        headBytes += end + 1 - start
        guard headBytes <= limits.headerBytes else { throw .init(.limitExceeded(.headerBytes), Self.tooLarge) }
        guard end > start, bytes[end - 1] == 0x0D else {
            throw .init(.protocolViolation, "a line of the head ends without CR")
        }
        defer { start = end + 1 }
        return bytes[start..<(end - 1)]
    }

    private mutating func takeStatus(_ line: ArraySlice<UInt8>) throws(TransportError) {
        let parts = line.withUnsafeBytes(HTTPSyntax.text).split(separator: " ", omittingEmptySubsequences: false)
        // Three characters from 100 on are digits.
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", parts[1].utf8.count == 3,
            let code = Int(parts[1]), code >= 100
        else { throw .init(.protocolViolation, "the answer begins with no status line") }
        version = parts[0] == "HTTP/1.1" ? .http11 : .http10
        status = code
    }

    private mutating func takeField(_ line: ArraySlice<UInt8>) throws(TransportError) {
        guard fields.count < limits.headerCount else { throw .init(.limitExceeded(.headerCount), Self.tooLarge) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .init(.protocolViolation, Self.noField) }
        let name = HTTPFieldName(line[..<colon].withUnsafeBytes(HTTPSyntax.text))
        fields.append(line[(colon + 1)...].withUnsafeBytes { HTTPSyntax.value($0, of: name) }, for: name)
        guard fields.rejected.isEmpty else { throw .init(.protocolViolation, Self.noField) }
    }

    private static let tooLarge = "the head is larger than its limit"
    private static let noField = "a line of the head is no field, or continues one"

    private mutating func endBlock() {
        guard let code = status, code >= 200 || code == 101 else {
            hadInterim = true
            (status, fields) = (nil, HTTPFields())
            return
        }
        let length = fields[.contentLength].flatMap { Int($0) } ?? 0
        if code != 101, HTTPSyntax.equalIgnoringCase(fields[.transferEncoding] ?? "", "chunked") {
            awaited = .chunks(ChunkReader(maxLine: Self.longestChunkLine), most: Self.mostContent)
        } else {
            awaited = .bytes(code == 101 || !(0...Self.mostContent ~= length) ? 0 : length)
        }
    }
}

extension TransportError {
    fileprivate init(_ kind: Kind, _ message: String) {
        self.init(kind, sendState: .answered, message: message)
    }
}

/// A connection that has changed its protocol, in the place of a response's content. Who wants it takes it; otherwise it is
/// closed with this.
final class UpgradedWire: TransportContent {
    private let wire: any TransportWire
    private let rest: Data
    private let isTaken = Locked(false)

    init(_ wire: any TransportWire, rest: Data) {
        self.wire = wire
        self.rest = rest
    }

    deinit {
        if !isTaken.withLock({ $0 }) { wire.close() }
    }

    /// The wire, and what had come behind the head.
    func take() -> (wire: any TransportWire, rest: Data) {
        isTaken.withLock { $0 = true }
        return (wire, rest)
    }

    func next() async throws(TransportError) -> Data? { try await wire.read() }

    func discard() {
        wire.close()
    }

    var completion: TransportCompletion {
        TransportCompletion(timings: wire.timings, connection: wire.connection)
    }
}

extension HTTPURL {
    /// The host as `Host` has it: without the port that the scheme implies (RFC 9110 §7.2).
    fileprivate var hostField: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }
}
