import Foundation

/// The certificate and private key by which a client shows who it is (RFC 8446 §4.4.2). Whatever prints it prints none of it.
///
/// ```swift
/// let me = ClientIdentity.pkcs12(try Data(contentsOf: file), passphrase: word)
/// let shop = Service(.shop, "https://api.shop.example", options: .trust(.system.identified(by: me)))
/// ```
///
/// It is held as bytes and not as the name of a file, so that a new certificate is another identity, which no connection and no
/// session of the old one serves. It is read when a connection is made: one that cannot be read, or that the TLS library does not
/// use (OpenSSL's level of security asks for 2,048 bits of RSA, as a rule), fails it with
/// ``TransportError/TLSFailure/clientCertificate``, and nothing is sent.
public struct ClientIdentity: Hashable, Sendable {
    /// How the bytes are to be read.
    @nonexhaustive
    public enum Form: Hashable, Sendable {
        /// The certificate, then those that lead to its authority; and the private key. Both PEM; they may be one text.
        case pem(certificates: Data, key: Data, passphrase: String?)
        /// All in one, by RFC 7292.
        case pkcs12(Data, passphrase: String)
    }

    private let boxed: Boxed<Form>

    private init(_ form: Form) {
        boxed = Boxed(form)
    }

    /// The bytes themselves, private key and passphrase included.
    public var form: Form { boxed.value }

    /// A certificate and its key in PEM.
    ///
    /// - Parameters:
    ///   - certificates: the certificate, then those that lead to its authority.
    ///   - passphrase: of the key; `nil`, the default, where it is not encrypted.
    public static func pem(certificates: Data, key: Data, passphrase: String? = nil) -> ClientIdentity {
        ClientIdentity(.pem(certificates: certificates, key: key, passphrase: passphrase))
    }

    /// A certificate and its key in PKCS#12, as `.p12` and `.pfx` files have them.
    ///
    /// On Linux the container needs a MAC and an encryption that OpenSSL 3 still has: RC2 and the like, which older tools write, are
    /// refused as ``TransportError/TLSFailure/clientCertificate``. To write such a container anew:
    ///
    /// ```sh
    /// openssl pkcs12 -legacy -nomacver -in old.p12 -out both.pem
    /// openssl pkcs12 -export -in both.pem -out new.p12
    /// ```
    public static func pkcs12(_ data: Data, passphrase: String) -> ClientIdentity {
        ClientIdentity(.pkcs12(data, passphrase: passphrase))
    }

    /// Tells identities apart without telling any: the passphrase has no part in it.
    var fingerprint: String {
        switch form {
        case .pem(let certificates, let key, _): SHA256.hex(certificates) + SHA256.hex(key)
        case .pkcs12(let data, _): SHA256.hex(data)
        }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { Redaction.mark }
    public var debugDescription: String { Redaction.mark }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ClientIdentity.Form: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { Redaction.mark }
    public var debugDescription: String { Redaction.mark }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
