import Foundation

/// An HTTP archive in the format HAR 1.2 (J. Odvarko, "HAR 1.2 Spec"), with members of Penstock's own, whose names begin with an
/// underscore as the format asks.
package struct HAR: Codable, Sendable {
    package var log: Log

    package struct Log: Codable, Sendable {
        package var version: String
        package var creator: Creator?
        package var entries: [Entry]
        /// How many entries were left out as it was read, because they are none.
        package var unreadable = 0

        enum CodingKeys: String, CodingKey {
            case version, creator, entries
        }
    }

    package struct Creator: Codable, Sendable {
        package var name: String
        package var version: String?
    }

    /// One exchange; or a call that sent nothing, because the cache answered it or it failed before.
    package struct Entry: Codable, Sendable {
        package var startedDateTime: String
        /// The time of the exchange in milliseconds: the sum of the timings that are there.
        package var time: Double
        package var request: Request
        package var response: Response
        package var cache: Cache?
        package var timings: Timings
        package var serverIPAddress: String?
        package var comment: String?
        package var _call: Call?
    }

    /// What a browser's cache knew; Penstock's tells it in ``Call``.
    package struct Cache: Codable, Sendable {}

    package struct Request: Codable, Sendable {
        package var method: String
        package var url: String
        package var httpVersion: String
        package var cookies: [Cookie]?
        package var headers: [Pair]?
        package var queryString: [Pair]?
        package var postData: PostData?
        package var headersSize: Int?
        package var bodySize: Int?
    }

    package struct Response: Codable, Sendable {
        package var status: Int
        package var statusText: String
        package var httpVersion: String
        package var cookies: [Cookie]?
        package var headers: [Pair]?
        package var content: Content?
        package var redirectURL: String?
        package var headersSize: Int?
        package var bodySize: Int?
    }

    package struct Pair: Codable, Sendable {
        package var name: String
        package var value: String
    }

    package struct Cookie: Codable, Sendable {
        package var name: String
        package var value: String
        package var path: String?
        package var domain: String?
        package var expires: String?
        package var httpOnly: Bool?
        package var secure: Bool?
    }

    package struct PostData: Codable, Sendable {
        package var mimeType: String
        package var text: String?
        package var comment: String?
    }

    package struct Content: Codable, Sendable {
        /// Its codings removed.
        package var size: Int?
        /// How much the codings saved.
        package var compression: Int?
        package var mimeType: String?
        package var text: String?
        package var encoding: String?
        package var comment: String?
    }

    /// The timings of an exchange in milliseconds; -1 for a phase that did not happen. `connect` includes `ssl`.
    package struct Timings: Codable, Sendable {
        package var blocked: Double?
        package var dns: Double?
        package var connect: Double?
        package var ssl: Double?
        package var send: Double?
        package var wait: Double?
        package var receive: Double?
    }

    /// What the call was that the exchange belongs to.
    package struct Call: Codable, Sendable {
        /// Its number, unique in the process.
        package var number: UInt64
        package var endpoint: String
        package var service: String
        package var environment: String
        /// The number of this exchange among those of the call, from 1; 0 where nothing was sent.
        package var attempt: Int
        /// How many exchanges the call had.
        package var attempts: Int
        /// The time in milliseconds, from the start of the call to that of this exchange.
        package var offset: Double
        /// The time of the whole call in milliseconds.
        package var elapsed: Double
        /// `success`, `cancelled` or `failure`.
        package var outcome: String
        /// What the call failed of, in words.
        package var error: String?
        /// What this exchange failed of, in words.
        package var attemptError: String?
        /// How far this request got.
        package var sendState: String?
        /// Where the call's answer came from: `network`, `memory`, `disk`, `revalidated`, `interceptor`.
        package var source: String?
        package var isStale: Bool?
        package var isJoined: Bool?
        /// Whether the connection had served an exchange before.
        package var isReused: Bool?
        /// How often the transport sent the request again by itself.
        package var resends: Int?
        /// The decisions of the whole call, with its last exchange alone.
        package var decisions: [Decision]?
    }

    package struct Decision: Codable, Sendable {
        /// The time in milliseconds since the call began.
        package var at: Double
        package var attempt: Int
        package var text: String
    }
}
