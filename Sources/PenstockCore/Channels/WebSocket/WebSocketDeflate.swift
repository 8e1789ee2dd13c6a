import Foundation

/// What two ends have agreed on about permessage-deflate (RFC 7692 §7.1).
public struct WebSocketDeflate: Hashable, Sendable {
    /// The server compresses each message for itself.
    public var serverNoContextTakeover = false
    /// The client compresses each message for itself.
    public var clientNoContextTakeover = false
    /// How far back the server's messages refer: 8 to 15. 15 by default.
    public var serverMaxWindowBits = 15
    /// How far back the client's messages may refer: 8 to 15. 15 by default.
    public var clientMaxWindowBits = 15

    /// The parameters of the beginning: whole windows, which are kept from message to message.
    public init() {}

    private static let name = "permessage-deflate"

    // MARK: The client

    /// What a client asks for with these parameters, as `Sec-WebSocket-Extensions` has it. It always says that its own
    /// window may be limited.
    public var offer: String { text(isOffer: true) }

    /// The terms that a client takes from the server's answer (RFC 7692 §7.1).
    ///
    /// - Parameter answer: the values of `Sec-WebSocket-Extensions`; none where the server named no extension.
    /// - Returns: `nil` where nothing is compressed.
    /// - Throws: ``WebSocketFailure/Kind/handshake`` for an extension or a parameter that was not offered.
    public func accepted(_ answer: [String]) throws(WebSocketFailure) -> WebSocketDeflate? {
        let extensions = try WebSocketExtension.list(answer)
        guard let first = extensions.first else { return nil }
        guard extensions.count == 1, first.name == Self.name else {
            throw WebSocketFailure(.handshake, "the server answers with an extension that was not offered")
        }
        let agreed = try Self.parameters(first, isOffer: false)
        guard agreed.serverNoContextTakeover || !serverNoContextTakeover,
            agreed.serverMaxWindowBits <= serverMaxWindowBits
        else { throw WebSocketFailure(.handshake, "the server leaves out a parameter that was asked for") }
        return WebSocketDeflate.merged(agreed, own: self)
    }

    /// A client that has asked for less of itself keeps to it, whether the server repeats it or not.
    private static func merged(_ agreed: WebSocketDeflate, own: WebSocketDeflate) -> WebSocketDeflate {
        var merged = agreed
        merged.clientNoContextTakeover = agreed.clientNoContextTakeover || own.clientNoContextTakeover
        merged.clientMaxWindowBits = min(agreed.clientMaxWindowBits, own.clientMaxWindowBits)
        return merged
    }

    // MARK: The server

    /// What a server agrees to of a client's offers: the first that it can keep.
    ///
    /// - Parameter offers: the values of `Sec-WebSocket-Extensions`. Extensions of other names, and offers that it cannot
    ///   make sense of, are passed over (RFC 7692 §7.1).
    /// - Returns: the parameters, and what to answer; `nil` where nothing is compressed.
    public static func agreed(to offers: [String]) -> (deflate: WebSocketDeflate, answer: String)? {
        guard let extensions = try? WebSocketExtension.list(offers) else { return nil }
        for offered in extensions where offered.name == name {
            guard let deflate = try? parameters(offered, isOffer: true) else { continue }
            return (deflate, deflate.text(isOffer: false))
        }
        return nil
    }

    // MARK: The parameters

    private static func parameters(
        _ given: WebSocketExtension, isOffer: Bool
    ) throws(WebSocketFailure) -> WebSocketDeflate {
        var deflate = WebSocketDeflate()
        var seen: Set<String> = []
        for (name, value) in given.parameters {
            guard seen.insert(name).inserted else { throw refusal("stands there twice") }
            switch (name, value) {
            case ("server_no_context_takeover", nil): deflate.serverNoContextTakeover = true
            case ("client_no_context_takeover", nil): deflate.clientNoContextTakeover = true
            case ("server_max_window_bits", let value?): deflate.serverMaxWindowBits = try windowBits(value)
            case ("client_max_window_bits", let value?): deflate.clientMaxWindowBits = try windowBits(value)
            case ("client_max_window_bits", nil) where isOffer: break
            default: throw refusal("is none")
            }
        }
        return deflate
    }

    private static func windowBits(_ text: String) throws(WebSocketFailure) -> Int {
        guard let bits = Int(text), 8...15 ~= bits, String(bits) == text else { throw refusal("has no such value") }
        return bits
    }

    private static func refusal(_ what: String) -> WebSocketFailure {
        WebSocketFailure(.handshake, "a parameter of permessage-deflate \(what)")
    }

    private func text(isOffer: Bool) -> String {
        var parts = [Self.name]
        if serverNoContextTakeover { parts.append("server_no_context_takeover") }
        if clientNoContextTakeover { parts.append("client_no_context_takeover") }
        if serverMaxWindowBits < 15 { parts.append("server_max_window_bits=\(serverMaxWindowBits)") }
        if clientMaxWindowBits < 15 {
            parts.append("client_max_window_bits=\(clientMaxWindowBits)")
        } else if isOffer {
            parts.append("client_max_window_bits")
        }
        return parts.joined(separator: "; ")
    }
}

/// An item of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
struct WebSocketExtension: Sendable {
    let name: String
    let parameters: [Parameter]

    typealias Parameter = (name: String, value: String?)

    /// - Throws: ``WebSocketFailure/Kind/handshake`` where the field breaks its grammar.
    static func list(_ values: [String]) throws(WebSocketFailure) -> [WebSocketExtension] {
        var items: [WebSocketExtension] = []
        for value in values {
            // A token has neither comma nor semicolon, and what is quoted has to be a token as well.
            for item in value.split(separator: ",") {
                let parts = item.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
                guard let name = parts.first else { continue }
                if parts.count == 1, name.isEmpty { continue }
                items.append(
                    WebSocketExtension(
                        name: try token(name).lowercased(), parameters: try parts.dropFirst().map(parameter)))
            }
        }
        return items
    }

    private static func parameter(_ text: String) throws(WebSocketFailure) -> Parameter {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        guard let name = sides.first else { throw malformed }
        guard sides.count == 2, var value = sides.last else { return (try token(name).lowercased(), nil) }
        if value.hasPrefix("\""), value.hasSuffix("\"") {
            value = String(value.dropFirst().dropLast())
        }
        return (try token(name).lowercased(), try token(value))
    }

    private static func trimmed(_ text: Substring) -> String { HTTPSyntax.trimmed(String(text)) }

    private static func token(_ text: String) throws(WebSocketFailure) -> String {
        guard HTTPSyntax.isToken(text) else { throw malformed }
        return text
    }

    private static var malformed: WebSocketFailure {
        WebSocketFailure(.handshake, "Sec-WebSocket-Extensions breaks its grammar")
    }
}

/// What compresses the messages of one end, and expands those of the other.
struct WebSocketCoders: Sendable {
    private let deflater: (any MessageDeflater)?
    private let inflater: any MessageInflater
    private let forgetsOwn: Bool
    private let forgetsOthers: Bool
    /// Shorter messages are sent as they are: compressed they would hardly be shorter.
    private static let least = 64
    /// What the sender of a message takes off its end (RFC 7692 §7.2.1).
    private static let tail = Data([0x00, 0x00, 0xFF, 0xFF])

    init(
        _ role: WebSocketMachine.Role, _ deflate: WebSocketDeflate, _ compression: (any WebSocketCompression)?
    ) throws(WebSocketFailure) {
        let isClient = role == .client
        let (own, others) = (deflate.clientMaxWindowBits, deflate.serverMaxWindowBits)
        guard let compression, let inflater = compression.inflater(windowBits: isClient ? others : own) else {
            throw WebSocketFailure(.compression, "there is nothing to expand messages with")
        }
        self.inflater = inflater
        deflater = compression.deflater(windowBits: isClient ? own : others)
        forgetsOwn = isClient ? deflate.clientNoContextTakeover : deflate.serverNoContextTakeover
        forgetsOthers = isClient ? deflate.serverNoContextTakeover : deflate.clientNoContextTakeover
    }

    func compress(_ message: Data) -> Data? {
        guard message.count >= Self.least, let deflater else { return nil }
        defer { if forgetsOwn { deflater.reset() } }
        return deflater.deflate(message)
    }

    func expand(_ piece: Data, isLast: Bool, upTo limit: Int) throws(WebSocketFailure) -> Data {
        defer {
            if isLast { inflater.endMessage() }
            if isLast, forgetsOthers { inflater.reset() }
        }
        let expanded = try inflater.inflate(isLast ? piece + Self.tail : piece, upTo: limit)
        // A message that ends within a block would have the next one read as the rest of it.
        guard !isLast || inflater.isComplete else {
            throw WebSocketFailure(.compression, "a message ends within a block of DEFLATE")
        }
        return expanded
    }
}
