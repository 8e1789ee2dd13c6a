import Foundation
import PenstockCore

/// A certificate with its key, RSA of 512 bits: they belong together, and no level of security that OpenSSL has takes them.
enum WeakIdentity {
    static let pem = ClientIdentity.pem(certificates: Data(certificate.utf8), key: Data(key.utf8))

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCAR6gAwIBAgIUFlZN9ro67xwCmnbclce/AfrCyQAwDQYJKoZIhvcNAQEL
        BQAwDzENMAsGA1UEAwwEYW5uYTAgFw0yNjExMjcxODE0MTNaGA8yMTI2MTEwMzE4
        MTQxM1owDzENMAsGA1UEAwwEYW5uYTBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQDB
        OUW3cWLljJpgiSv4FrcfOQK6PZHqKggPp+6lHwXMh4dmn6yZjDKF1wNgIvnTrwWx
        1z6LqFqO25qS/dIT5SCXAgMBAAGjUDBOMB0GA1UdDgQWBBRcHTUtuEYRE/rPBMEv
        1kR0uSJptTAfBgNVHSMEGDAWgBRcHTUtuEYRE/rPBMEv1kR0uSJptTAMBgNVHRMB
        Af8EAjAAMA0GCSqGSIb3DQEBCwUAA0EAQ6yVCv+j2KdHgxX7gQcC6wiP0h8SOcwh
        nzVo4msjJwHD+hhxIOGEgsiH6kheC6N4XI4mq6P7NBNOBpxx7eYQvQ==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIIBVwIBADANBgkqhkiG9w0BAQEFAASCAUEwggE9AgEAAkEAwTlFt3Fi5YyaYIkr
        +Ba3HzkCuj2R6ioID6fupR8FzIeHZp+smYwyhdcDYCL5068Fsdc+i6hajtuakv3S
        E+UglwIDAQABAkEAvEzPBx1ljmR+UZN8GPIyFShe4xZ7a2L4piE2rQ3VfeHk4lmE
        s4ZD5JhdiHQ+FCrMmsqIvMaGveoUDVAF6pUm8QIhAPzN08AAroGiBoZq+GEE3Ar9
        nONzP7ILabx9zF0Rx+hvAiEAw6qeuNlzzBhRiCI1ejXvVcyIrjTyc1ZR2mXGvxNk
        zlkCIQC/hmR9W0baGVmeLp6cSiU3AmsA+shv6CukTR4uCJGOawIhAJCGvqabOEVQ
        0ShU3Ftg61/crDjBMzSuVdeTxbHtiVBBAiEA+KBWcXiU3zJ948PZ+bv13MJxSQEu
        xNpdV19E8/rdwww=
        -----END PRIVATE KEY-----
        """
}
