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
        case .unknown where isAnswered: .connectionLost
        case .unknown: unknown(error.localizedDescription)
        // On Linux a reply that is not HTTP is blamed on the URL.
        case .unsupportedURL, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
            .protocolViolation
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .tls(.untrusted)
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: .tls(.expired)
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: .tls(.handshake)
        case .requestBodyStreamExhausted, .fileDoesNotExist, .noPermissionsToReadFile: .requestBody
        case .dataLengthExceedsMaximum: .limitExceeded(.bodyBytes)
        default: .other
        }
    }

    /// On Linux neither a connection that broke while the request was sent nor a refused certificate has a code of its own:
    /// only libcurl's text tells.
    private static func unknown(_ text: String) -> TransportError.Kind {
        let breaks = ["Send failure", "Recv failure", "Failed to connect"]
        if breaks.contains(where: text.hasPrefix) { return .connectionLost }
        return tlsFailure(text).map { .tls($0) } ?? .other
    }

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
        case .unreachable, .tls, .unsupported: true
        default: false
        }
    }
}
