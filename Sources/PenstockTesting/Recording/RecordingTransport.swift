import Foundation
import PenstockCore

/// A transport that lets another one do the work, and keeps what it did.
///
/// ```swift
/// let recorder = RecordingTransport(PlatformTransport.make())
/// … // an app runs against a real server
/// try recorder.recording.write(to: file)
/// ```
///
/// A response is kept whole, in memory; of one that is read as a stream, what was read.
public final class RecordingTransport: Transport, PromptTransport {
    private let transport: any Transport
    private let time: TimeSource
    private let redact: @Sendable (inout Recording.Exchange) -> Void
    /// An exchange that is under way holds its place.
    private let exchanges = Locked<[Recording.Exchange?]>([])

    /// A transport that has recorded nothing yet.
    ///
    /// - Parameters:
    ///   - transport: what performs the exchanges.
    ///   - time: tells when a response came. The machine's clock by default.
    ///   - redact: takes out what else is secret to the app, after ``Redaction`` has taken out what it knows.
    public init(
        _ transport: any Transport, time: TimeSource = .system,
        redact: @escaping @Sendable (inout Recording.Exchange) -> Void = { _ in }
    ) {
        self.transport = transport
        self.time = time
        self.redact = redact
    }

    /// The exchanges that have ended, in the order they began; one that is read as a stream has ended when its content
    /// has, or was let go.
    public var recording: Recording { Recording(exchanges.withLock { $0.compactMap { $0 } }) }

    // MARK: Transport

    package var runsAppCode: Bool { transport.isAppCode }

    /// The capabilities of the other transport.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Performs the exchange by the other transport.
    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let place = reserve()
        do throws(TransportError) {
            let response = try await transport.perform(request)
            keep(request.request, .response(.init(response.response, to: request.request)), at: place)
            return response
        } catch {
            keep(request.request, .failure(.init(error)), at: place)
            throw error
        }
    }

    /// Has the wire made by the other transport. What goes over it is not recorded.
    public func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        try await transport.connect(request, speaking: speaking)
    }

    /// Has the socket opened by the other transport. What goes over it is not recorded.
    public func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
        try await transport.datagrams(request)
    }

    /// The message compression of the other transport.
    public var messageCompression: (any WebSocketCompression)? { transport.messageCompression }

    /// Has the exchange opened by the other transport, and keeps the content as it is read.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        let (place, sent) = (reserve(), request.request)
        do throws(TransportError) {
            let stream = try await transport.open(request)
            let came = time.date()
            let content = RecordingContent(stream.content, of: stream.response, to: sent) {
                self.keep(sent, $0, came, at: place)
            }
            return TransportStream(
                stream.response, timings: stream.timings, connection: stream.connection, content: content)
        } catch {
            keep(sent, .failure(.init(error)), at: place)
            throw error
        }
    }

    /// Has the other transport connect.
    public func preconnect(_ request: TransportRequest) async throws(TransportError) {
        try await transport.preconnect(request)
    }

    /// The content as the other transport writes it.
    public func encoded(_ content: Data, in coding: String) -> Data? { transport.encoded(content, in: coding) }

    /// Closes those of the other transport.
    public func closeConnections(of identity: String) {
        transport.closeConnections(of: identity)
    }

    /// Shuts the other transport down.
    public func shutdown() async {
        await transport.shutdown()
    }

    private func reserve() -> Int {
        exchanges.withLock { exchanges in
            exchanges.append(nil)
            return exchanges.count - 1
        }
    }

    private func keep(_ request: HTTPRequest, _ outcome: Recording.Outcome, _ came: Date? = nil, at place: Int) {
        var exchange = Recording.Exchange(.init(request), outcome, date: HTTPDate.format(came ?? time.date()))
        redact(&exchange)
        exchanges.withLock { [exchange] in $0[place] = exchange }
    }
}
