import Foundation

/// A connection that messages go over both ways, for as long as it is wanted: a ``WebSocket``, a ``TCPChannel``, a
/// ``DatagramChannel``.
///
/// ```swift
/// let socket = client.webSocket("/chat")
/// try await socket.send("hello")
/// for try await message in socket.messages { print(message.text ?? "") }
/// ```
///
/// It connects when it is first used. It is one call of its client until it is closed: its scope,
/// ``APIClient/cancelAll()`` and ``APIClient/signOut(_:)`` end it, and trust, proxy and time-outs are those of its options.
/// Letting go of it closes the wire.
public protocol Channel: AnyObject, Sendable {
    /// What is sent and received.
    associatedtype Message: Sendable
    /// What ``messages`` is.
    associatedtype Messages: AsyncSequence, Sendable where Messages.Element == Message

    /// Connects, where that has not begun, and returns when messages can go. Sending and receiving do so by themselves.
    ///
    /// - Throws: ``APIError``: why there is no connection.
    func open() async throws(APIError)

    /// Sends a message, and returns when the system has taken it. Those of several tasks go in the order of the calls.
    ///
    /// - Throws: ``APIError``: why it was not sent, or may not have been.
    func send(_ message: Message) async throws(APIError)

    /// The messages as they come, each given to one reader. Those that nobody reads are kept up to a limit; then the other end
    /// has to wait. It ends when the channel is closed, and throws what broke it. Cancelling a task that waits for a message
    /// closes the channel.
    var messages: Messages { get }

    /// Says goodbye as the protocol has it, and returns when the wire is closed. Nothing where it is.
    func close() async
}

/// What a channel receives.
public struct ChannelMessages<Message: Sendable>: AsyncSequence, Sendable {
    let next: @Sendable () async throws(APIError) -> Message?

    /// Begins the iteration, or goes on with it.
    public func makeAsyncIterator() -> Iterator { Iterator(take: next) }

    /// Gives the messages in the order they came.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let take: @Sendable () async throws(APIError) -> Message?

        /// The next message; `nil` once the channel is closed.
        public mutating func next() async throws(APIError) -> Message? { try await take() }
    }
}

extension Channel where Messages == ChannelMessages<Message> {
    /// Hands each message to an actor, one after the other and in their order, until the channel ends.
    ///
    /// ```swift
    /// try await socket.deliver(on: MainActor.shared) { message in print(message.text ?? "") }
    /// ```
    ///
    /// - Throws: what ``messages`` throws.
    public func deliver<Receiver: Actor>(
        on actor: isolated Receiver, _ receive: (Message) -> Void
    ) async throws(APIError) {
        var iterator = messages.makeAsyncIterator()
        while let message = try await iterator.next() { receive(message) }
    }
}
