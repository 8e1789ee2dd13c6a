import Foundation
import PenstockCore

extension LoopbackServer {
    /// A request as the server read it.
    public struct Request: Sendable {
        /// The method as sent; methods are case-sensitive.
        public var method: HTTPMethod
        /// The request target, byte for byte.
        public var target: String
        /// The fields as sent, order and duplicates included.
        public var fields: HTTPFields
        /// The content, without the chunks it may have come in.
        public var body: Data
        /// Which connection it came by, counted from 1.
        public var connection: Int
        /// Which request of the server it is, counted from 1 in the order that heads came.
        public var number = 0
        /// The HTTP/2 stream it came by; `nil` on HTTP/1.1.
        public var stream: Int?
        /// `:scheme` of HTTP/2; `nil` on HTTP/1.1.
        public var scheme: String?

        /// The target up to the `?`, with its percent-escapes.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// What follows the first `?`, with its percent-escapes; `nil` without one.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        /// The content as UTF-8.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
