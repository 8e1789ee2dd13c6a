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

    private struct Maker {
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

        func issue(_ name: String, for names: String, dates: [String] = []) throws -> Identity {
            let identity = identity(name)
            try openssl(
                ["req", "-new", "-subj", "/CN=\(name)", "-config", "authority.conf"] + Self.newKey
                    + ["-keyout", identity.key.path, "-out", "\(name).csr", "-addext", "subjectAltName=\(names)"])
            try openssl(
                ["ca", "-batch", "-notext", "-config", "authority.conf"] + dates
                    + ["-in", "\(name).csr", "-out", identity.certificate.path])
            return identity
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
            extendedKeyUsage = serverAuth
            """
    }
}
