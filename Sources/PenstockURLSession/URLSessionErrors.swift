import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns Foundation's errors into ours.
enum URLSessionErrors {
    static let cancelledBeforeStart = TransportError(.cancelled, sendState: .unsent, message: "cancelled")

    /// - Parameter isAnswered: whether a response had begun.
    static func kind(of error: any Error, isAnswered: Bool) -> TransportError.Kind {
        guard let error = error as? URLError else { return .other }
        return switch error.code {
        case .cancelled: .cancelled
        case .timedOut: .timeout(.total)
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .unreachable(.offline)
        case .cannotFindHost, .dnsLookupFailed: .unreachable(.nameNotResolved)
        case .cannotConnectToHost: .unreachable(.connectionRefused)
        // On Linux an empty reply is a bad one, and content that breaks off is of no known kind.
        case .networkConnectionLost, .badServerResponse: .connectionLost
        case .unknown: unknown(error.localizedDescription, isAnswered: isAnswered)
        // On Linux a reply that is not HTTP is blamed on the URL.
        case .unsupportedURL, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
            .protocolViolation
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .tls(.untrusted)
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: .tls(.expired)
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: .tls(.handshake)
        case .appTransportSecurityRequiresSecureConnection:
            .blocked(reason: "App Transport Security; the app's Info.plist names no exception for this host")
        case .requestBodyStreamExhausted, .fileDoesNotExist, .noPermissionsToReadFile: .requestBody
        case .dataLengthExceedsMaximum: .limitExceeded(.bodyBytes)
        default: .other
        }
    }

    /// The kind of an error that has no code of its own. On Linux that is much of what libcurl finds: only its text tells.
    private static func unknown(_ text: String, isAnswered: Bool) -> TransportError.Kind {
        if ["Out of memory", "Too large response headers"].contains(where: text.hasPrefix) {
            return .limitExceeded(.headerBytes)
        }
        if text.contains("content encodings") { return .limitExceeded(.contentCodings) }
        if brokenReplies.contains(where: text.contains) { return .protocolViolation }
        let isLost = ["transfer closed with", "Send failure", "Recv failure", "Failed to connect"].contains(
            where: text.hasPrefix)
        if isAnswered || isLost { return .connectionLost }
        return tlsFailure(text).map { .tls($0) } ?? .other
    }

    private static let brokenReplies = [
        "Failed writing header", "Header without colon", "Nul byte in header", "Invalid Content-Length",
        "function was given a bad argument", " in chunked-encoding", "Failed reading the chunked-encoded stream",
        "content unencoding", "Unrecognized content encoding",
    ]

    /// The failure of TLS that a text tells of. On Linux a refused certificate has no code of its own: only libcurl's text tells.
    private static func tlsFailure(_ text: String) -> TransportError.TLSFailure? {
        if text.contains("certificate has expired") { return .expired }
        if text.hasPrefix("SSL: "), text.contains("subject name") { return .wrongHost }
        if text.hasPrefix("SSL certificate problem") { return .untrusted }
        let isHandshake = text.hasPrefix("OpenSSL SSL_connect") || text.hasPrefix("OpenSSL/")
        return isHandshake ? .handshake : nil
    }

    /// Whether the failure came before anything could be sent.
    static func isBeforeSending(_ kind: TransportError.Kind) -> Bool {
        switch kind {
        case .unreachable, .tls, .unsupported, .blocked: true
        default: false
        }
    }
}
