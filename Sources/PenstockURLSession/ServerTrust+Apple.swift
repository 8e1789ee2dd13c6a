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
            guard policy.pins.set(for: host) != nil else { return nil }
            guard let chain = chain(of: trust) else { return .pinMismatch }
            return failure(ofPins: policy, chain, host)
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

        /// The chain as it was validated, not as the server has sent it; `nil` where the key of one certificate cannot be had.
        private static func chain(of trust: SecTrust) -> [PublicKeyPin]? {
            guard let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] else { return nil }
            let pins = certificates.compactMap { PublicKeyPin(ofCertificate: SecCertificateCopyData($0) as Data) }
            return pins.count == certificates.count ? pins : nil
        }

        /// - Returns: none where the file cannot be read; a damaged certificate is not passed over, for what is left would trust
        ///   something else.
        private static func certificates(in file: URL) -> [SecCertificate] {
            let blocks = (try? Data(contentsOf: file)).flatMap { PEMBlock.certificates(in: $0) } ?? []
            let certificates = blocks.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            return certificates.count == blocks.count ? certificates : []
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
            var chain: [SecCertificate] = []
            if let found = item[kSecImportItemCertChain as String] {
                guard let certificates = cast(found, to: [SecCertificate].self) else { return nil }
                chain = certificates
            }
            // The first of the chain is the identity's own.
            return URLCredential(
                identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        }

        /// The compiler does not let Core Foundation's types be asked for otherwise without insisting on them.
        private static func cast<Value>(_ value: Any, to type: Value.Type) -> Value? { value as? Value }
    }
#endif
