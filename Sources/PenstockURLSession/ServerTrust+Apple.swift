#if canImport(Darwin)
    import Foundation
    import PenstockCore
    import Security

    /// Judges a server's certificate by the authorities of a PEM file. Chain, dates and host name are verified by the
    /// system; only the anchors are ours.
    enum ServerTrust {
        /// - Returns: `nil` when the server is trusted.
        static func failure(of trust: SecTrust, under policy: TrustPolicy) -> TransportError.TLSFailure? {
            guard case .file(let file) = policy.anchors else { return nil }
            let authorities = certificates(in: file)
            guard !authorities.isEmpty,
                SecTrustSetAnchorCertificates(trust, authorities as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
            else { return .trustMaterial }
            var error: CFError?
            return SecTrustEvaluateWithError(trust, &error) ? nil : failure(of: error)
        }

        private static func failure(of error: CFError?) -> TransportError.TLSFailure {
            switch error.map({ OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) }) {
            case errSecCertificateExpired, errSecCertificateNotValidYet: .expired
            case errSecHostNameMismatch: .wrongHost
            default: .untrusted
            }
        }

        private static func certificates(in file: URL) -> [SecCertificate] {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
            let blocks = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
            return blocks.compactMap { block in
                let base64 = block.components(separatedBy: "-----END CERTIFICATE-----")[0]
                return Data(base64Encoded: base64, options: .ignoreUnknownCharacters)
                    .flatMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            }
        }
    }
#endif
