import Foundation

/// A certificate authority made for one run, and what it signed.
struct Certificates {
    /// A certificate with its key, both in PEM files.
    struct Identity {
        let certificate: URL
        let key: URL
    }

    let authority: Identity
    /// For `localhost` and 127.0.0.1.
    let valid: Identity
    /// For the same names, out of date since 2021.
    let expired: Identity
    /// In date, for a host that is not this one.
    let wrongHost: Identity
    /// For the right names, signed by nobody but itself.
    let selfSigned: Identity

    private static let ourNames = "DNS:localhost,IP:127.0.0.1"

    init(in folder: URL) throws {
        let maker = Maker(folder: folder)
        authority = try maker.makeAuthority()
        valid = try maker.issue("valid", for: Self.ourNames)
        let longPast = ["-startdate", "20200101000000Z", "-enddate", "20210101000000Z"]
        expired = try maker.issue("expired", for: Self.ourNames, dates: longPast)
        wrongHost = try maker.issue("wrong-host", for: "DNS:elsewhere.example")
        selfSigned = try maker.makeSelfSigned("self-signed", extensions: ["subjectAltName=\(Self.ourNames)"])
    }

    /// Has `openssl` make keys, certificates and what is said about them.
    struct Maker {
        let folder: URL

        private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

        func makeAuthority() throws -> Identity {
            try write(configuration, to: "authority.conf")
            try write("", to: "index.txt")
            try write("1000\n", to: "serial")
            let extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
            return try makeSelfSigned("authority", extensions: extensions)
        }

        func makeSelfSigned(_ name: String, extensions: [String]) throws -> Identity {
            let identity = identity(name)
            try openssl(
                ["req", "-x509", "-days", "30", "-subj", "/CN=\(name)", "-config", "authority.conf"] + Self.newKey
                    + ["-keyout", identity.key.path, "-out", identity.certificate.path]
                    + extensions.flatMap { ["-addext", $0] })
            return identity
        }

        /// - Parameters:
        ///   - names: the alternative names; `nil` for none.
        ///   - subject: the common name; `name` by default.
        func issue(
            _ name: String, for names: String?, subject: String? = nil, dates: [String] = []
        ) throws -> Identity {
            let identity = identity(name)
            let extensions = names.map { ["-addext", "subjectAltName=\($0)"] } ?? []
            try openssl(
                ["req", "-new", "-subj", "/CN=\(subject ?? name)", "-config", "authority.conf"] + Self.newKey
                    + ["-keyout", identity.key.path, "-out", "\(name).csr"] + extensions)
            try openssl(
                ["ca", "-batch", "-notext", "-config", "authority.conf"] + dates
                    + ["-in", "\(name).csr", "-out", identity.certificate.path])
            return identity
        }

        // MARK: Revocation

        func revoke(_ name: String) throws {
            try openssl(["ca", "-config", "authority.conf", "-revoke", "\(name).crt"])
        }

        /// - Parameter dates: in date for 30 days by default.
        func makeRevocationList(_ name: String, dates: [String] = ["-crldays", "30"]) throws -> URL {
            let file = folder.appendingPathComponent("\(name).crl")
            try openssl(["ca", "-config", "authority.conf", "-gencrl", "-out", file.path] + dates)
            return file
        }

        /// The authority's word on a certificate, as a server staples it to its handshakes.
        func makeStaple(_ name: String) throws -> URL {
            let file = folder.appendingPathComponent("\(name).der")
            let authority = ["-CA", "authority.crt", "-CAfile", "authority.crt", "-issuer", "authority.crt"]
            try openssl(
                ["ocsp", "-index", "index.txt", "-rsigner", "authority.crt", "-rkey", "authority.key", "-ndays", "1"]
                    + authority + ["-cert", "\(name).crt", "-no_nonce", "-respout", file.path])
            return file
        }

        // MARK: For clients

        func makeContainer(_ identity: Identity, passphrase: String) throws -> Data {
            let file = folder.appendingPathComponent("\(UUID().uuidString).p12")
            try openssl(
                ["pkcs12", "-export", "-in", identity.certificate.path, "-inkey", identity.key.path]
                    + ["-passout", "pass:\(passphrase)", "-out", file.path])
            return try Data(contentsOf: file)
        }

        /// The key once more, encrypted.
        func makeLocked(_ key: URL, passphrase: String) throws -> Data {
            let file = folder.appendingPathComponent("\(UUID().uuidString).key")
            try openssl(["pkey", "-in", key.path, "-aes256", "-passout", "pass:\(passphrase)", "-out", file.path])
            return try Data(contentsOf: file)
        }

        /// By the command that the documentation of pins gives.
        func pin(of certificate: URL) throws -> String {
            let command = """
                openssl x509 -in "$1" -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
                """
            let shell = URL(fileURLWithPath: "/bin/sh")
            return try Programs.run(shell, ["-c", command, "sh", certificate.path])
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private func identity(_ name: String) -> Identity {
            let base = folder.appendingPathComponent(name)
            return Identity(certificate: base.appendingPathExtension("crt"), key: base.appendingPathExtension("key"))
        }

        private func openssl(_ arguments: [String]) throws {
            try Programs.run(Programs.openssl, arguments, in: folder)
        }

        private func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }

        private let configuration = """
            [req]
            distinguished_name = subject
            [subject]
            [ca]
            default_ca = authority
            [authority]
            certificate = authority.crt
            private_key = authority.key
            database = index.txt
            serial = serial
            new_certs_dir = .
            default_md = sha256
            default_days = 30
            unique_subject = no
            copy_extensions = copy
            policy = any_subject
            x509_extensions = leaf
            [any_subject]
            commonName = supplied
            [leaf]
            basicConstraints = CA:FALSE
            extendedKeyUsage = serverAuth, clientAuth
            """
    }
}
