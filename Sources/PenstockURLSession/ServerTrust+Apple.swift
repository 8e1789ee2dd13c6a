#if canImport(Darwin)
    import Foundation
    import PenstockCore
    import Security

    /// Judges a server's certificate by a trust policy. Chain, dates and host name are verified by the system; only the anchors
    /// and the pins are ours.
    enum ServerTrust {
        /// - Parameter host: that of the request's own URL.
        /// - Returns: `nil` when the server is trusted.
        static func failure(
            of trust: SecTrust, for host: String, under policy: TrustPolicy
        ) -> TransportError.TLSFailure? {
            if case .file(let file) = policy.anchors, !anchor(trust, in: file) { return .trustMaterial }
            var error: CFError?
            guard SecTrustEvaluateWithError(trust, &error) else { return failure(of: error) }
            return failure(ofPins: policy, chain(of: trust), host)
        }

        private static func anchor(_ trust: SecTrust, in file: URL) -> Bool {
            let authorities = certificates(in: file)
            return !authorities.isEmpty
                && SecTrustSetAnchorCertificates(trust, authorities as CFArray) == errSecSuccess
                && SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
        }

        private static func failure(of error: CFError?) -> TransportError.TLSFailure {
            switch error.map({ OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) }) {
            case errSecCertificateExpired, errSecCertificateNotValidYet: .expired
            case errSecHostNameMismatch: .wrongHost
            case errSecCertificateRevoked: .revoked
            default: .untrusted
            }
        }

        private static func failure(
            ofPins policy: TrustPolicy, _ chain: [PublicKeyPin], _ host: String
        ) -> TransportError.TLSFailure? {
            switch policy.pins.verdict(on: chain, for: host, at: Date()) {
            case .notPinned, .matched: return nil
            case .reported(let report):
                policy.reporter?.report(report)
                return nil
            case .refused(let report):
                policy.reporter?.report(report)
                return .pinMismatch
            @unknown default: return .pinMismatch
            }
        }

        /// As it was validated, not as the server has sent it.
        private static func chain(of trust: SecTrust) -> [PublicKeyPin] {
            let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return certificates.compactMap { PublicKeyPin(ofCertificate: SecCertificateCopyData($0) as Data) }
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

    /// What a session shows to a server that asks who the client is.
    enum ClientCredential {
        /// - Returns: `nil` where the identity cannot be read.
        static func make(_ identity: ClientIdentity) -> URLCredential? {
            guard case .pkcs12(let data, let passphrase) = identity.form else { return nil }
            let options = [kSecImportExportPassphrase as String: passphrase]
            var items: CFArray?
            guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess,
                let item = (items as? [[String: Any]])?.first,
                let identity = item[kSecImportItemIdentity as String].flatMap({ cast($0, to: SecIdentity.self) })
            else { return nil }
            let chain = item[kSecImportItemCertChain as String].flatMap { cast($0, to: [SecCertificate].self) } ?? []
            // The first of the chain is the identity's own.
            return URLCredential(
                identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        }

        /// The compiler does not let Core Foundation's types be asked for otherwise without insisting on them.
        private static func cast<Value>(_ value: Any, to type: Value.Type) -> Value? { value as? Value }
    }
#endif
