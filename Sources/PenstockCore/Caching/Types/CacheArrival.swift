import Foundation

/// A response that has come, as far as the cache looks at it.
package struct CacheArrival: Sendable {
    /// The status code as it came; 206 and 304 are among those that mean something to the cache.
    package var status: Int
    /// The fields of the head as received, without the trailers.
    package var fields: HTTPFields
    /// The version of HTTP it came by. It is stored with the response and decides nothing.
    package var version: HTTPVersion
    /// Length of its content in bytes, content codings removed.
    package var bodyLength: Int
    /// Whether all of the content came (RFC 9112 §8).
    package var isComplete: Bool
    /// Whether the content was thrown away unread, as that of a redirect which is followed: of such a response the head
    /// alone can be stored.
    package var isDiscarded: Bool
    /// When the request was sent, by the wall clock.
    package var requestTime: Date
    /// When the head of the response came, by the wall clock.
    package var responseTime: Date

    /// A response that has come.
    ///
    /// - Parameters:
    ///   - bodyLength: in bytes, with content codings removed. 0 by default.
    ///   - isComplete: whether all of the content came; `true` by default.
    ///   - isDiscarded: whether the content was thrown away unread; `false` by default.
    ///   - requestTime: when the request was sent, by the wall clock.
    ///   - responseTime: when the head of the response came, by the wall clock.
    package init(
        status: Int, fields: HTTPFields, version: HTTPVersion = .http11, bodyLength: Int = 0, isComplete: Bool = true,
        isDiscarded: Bool = false, requestTime: Date, responseTime: Date
    ) {
        self.status = status
        self.fields = fields
        self.version = version
        self.bodyLength = bodyLength
        self.isComplete = isComplete
        self.isDiscarded = isDiscarded
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
