extension TransportConformance {
    /// What HTTP/2 (RFC 9113) asks of a client.
    public static let http2: [Rule] =
        http2Requests + http2Responses + http2Malformed + http2Broken + http2Limits + http2Settings + http2Streams
        + http2Ends + http2Faults + mixedVersions
}
