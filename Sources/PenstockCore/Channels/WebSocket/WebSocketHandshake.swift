import Foundation

/// The opening handshake of a WebSocket, both ends (RFC 6455 §4): what is asked, what is answered, and the checks.
public enum WebSocketHandshake {
    /// What both ends have agreed on.
    public struct Agreement: Hashable, Sendable {
        /// The application's protocol; `nil` where none was agreed on.
        public var subprotocol: String?
        /// How messages are compressed; `nil` where they are not.
        public var deflate: WebSocketDeflate?

        /// An agreement; on nothing by default.
        public init(subprotocol: String? = nil, deflate: WebSocketDeflate? = nil) {
            self.subprotocol = subprotocol
            self.deflate = deflate
        }
    }

    static let keyField: HTTPFieldName = "Sec-WebSocket-Key"
    static let acceptField: HTTPFieldName = "Sec-WebSocket-Accept"
    static let versionField: HTTPFieldName = "Sec-WebSocket-Version"
    static let protocolField: HTTPFieldName = "Sec-WebSocket-Protocol"
    static let extensionsField: HTTPFieldName = "Sec-WebSocket-Extensions"

    /// A new key: 16 random bytes, which each connection has of its own (§4.1).
    public static func key(using random: inout some RandomNumberGenerator) -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64EncodedString()
    }

    /// What a server proves by that it has read the key (§4.2.2).
    public static func accept(for key: String) -> String {
        Data(SHA1.digest(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))).base64EncodedString()
    }

    // MARK: The client

    /// The fields of a client's request, but for those that any change of protocol has.
    public static func request(
        key: String, subprotocols: [String] = [], deflate: WebSocketDeflate? = nil
    ) -> HTTPFields {
        var fields: HTTPFields = [keyField: key, versionField: "13"]
        if !subprotocols.isEmpty { fields[protocolField] = subprotocols.joined(separator: ", ") }
        if let deflate { fields[extensionsField] = deflate.offer }
        return fields
    }

    /// Checks a server's answer (§4.1).
    ///
    /// - Parameters:
    ///   - key: as it was sent.
    ///   - subprotocols: as they were asked for.
    ///   - deflate: as it was offered; `nil` where it was not.
    /// - Throws: ``WebSocketFailure/Kind/handshake`` for an answer that is no such upgrade, proves another key, or agrees to
    ///   what was not offered.
    public static func check(
        _ answer: HTTPResponse, key: String, subprotocols: [String] = [], deflate: WebSocketDeflate? = nil
    ) throws(WebSocketFailure) -> Agreement {
        guard answer.status == 101, has("websocket", answer.fields.values(of: "Upgrade")),
            has("upgrade", answer.fields.values(of: "Connection"))
        else { throw WebSocketFailure(.handshake, "the answer does not change to a WebSocket") }
        // An HTTP/1.0 response has no Upgrade (RFC 9110 §7.8), so that it was made by who does not know what it means.
        guard answer.version != .http10 else {
            throw WebSocketFailure(.handshake, "the answer is of HTTP/1.0, which has no change of protocols")
        }
        guard answer.fields.values(of: acceptField) == [accept(for: key)] else {
            throw WebSocketFailure(.handshake, "Sec-WebSocket-Accept does not prove the key")
        }
        let chosen = answer.fields.values(of: protocolField)
        guard chosen.count <= 1, chosen.allSatisfy(subprotocols.contains) else {
            throw WebSocketFailure(.handshake, "the server has chosen a subprotocol that was not offered")
        }
        return Agreement(
            subprotocol: chosen.first, deflate: try agreed(answer.fields.values(of: extensionsField), deflate))
    }

    private static func agreed(
        _ extensions: [String], _ deflate: WebSocketDeflate?
    ) throws(WebSocketFailure) -> WebSocketDeflate? {
        if let deflate { return try deflate.accepted(extensions) }
        guard try WebSocketExtension.list(extensions).isEmpty else {
            throw WebSocketFailure(.handshake, "the server answers with an extension that was not offered")
        }
        return nil
    }

    // MARK: The server

    /// What a server makes of a client's request (§4.2).
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - fields: of the request.
    ///   - subprotocols: those that the server speaks, by preference.
    ///   - compresses: whether it agrees to permessage-deflate.
    /// - Returns: what was agreed on, and the fields of the answer with status 101.
    /// - Throws: ``WebSocketFailure/Kind/handshake`` for what is to be answered with 400, or 426 for another version.
    public static func answer(
        _ method: HTTPMethod, _ fields: HTTPFields, subprotocols: [String] = [], compresses: Bool = false
    ) throws(WebSocketFailure) -> (agreement: Agreement, fields: HTTPFields) {
        guard method == .get, has("websocket", fields.values(of: "Upgrade")),
            has("upgrade", fields.values(of: "Connection"))
        else { throw WebSocketFailure(.handshake, "the request does not ask for a WebSocket") }
        guard fields.values(of: versionField) == ["13"] else {
            throw WebSocketFailure(.handshake, "the request asks for another version than 13")
        }
        let keys = fields.values(of: keyField)
        guard keys.count == 1, let key = keys.first, Data(base64Encoded: key)?.count == 16 else {
            throw WebSocketFailure(.handshake, "the request has no key of 16 bytes")
        }
        var answer: HTTPFields = ["Upgrade": "websocket", "Connection": "Upgrade", acceptField: accept(for: key)]
        var agreement = Agreement()
        let asked = items(fields.values(of: protocolField))
        if let chosen = subprotocols.first(where: asked.contains) {
            agreement.subprotocol = chosen
            answer[protocolField] = chosen
        }
        if compresses, let (deflate, text) = WebSocketDeflate.agreed(to: fields.values(of: extensionsField)) {
            agreement.deflate = deflate
            answer[extensionsField] = text
        }
        return (agreement, answer)
    }

    private static func has(_ token: String, _ values: [String]) -> Bool {
        items(values).contains { HTTPSyntax.equalIgnoringCase($0, token) }
    }

    private static func items(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",").map { HTTPSyntax.trimmed(String($0)) } }
    }
}

/// SHA-1 (FIPS 180-4 §6.1), which the handshake wants as a check that the other end has read it. It protects nothing.
enum SHA1 {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let length = UInt64(message.count) * 8
        let zeros = (119 - message.count % 64) % 64
        let padded =
            message + [0x80] + [UInt8](repeating: 0, count: zeros)
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> UInt64($0)) }
        for start in stride(from: 0, to: padded.count, by: 64) {
            let sum = compressed(state, padded[start..<(start + 64)])
            state = zip(state, sum).map { $0 &+ $1 }
        }
        return state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private static func compressed(_ state: [UInt32], _ block: ArraySlice<UInt8>) -> [UInt32] {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for round in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch round {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let sum = rotated(a, 5) &+ mixed &+ e &+ constant &+ words[round]
            (e, d, c, b, a) = (d, c, rotated(b, 30), a, sum)
        }
        return [a, b, c, d, e]
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
