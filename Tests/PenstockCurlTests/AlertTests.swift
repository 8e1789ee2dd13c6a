#if os(Linux)
    import Testing

    @testable import PenstockCurl

    /// Which ends of a connection are the server's refusal of the client's certificate.
    @Suite struct AlertTests {
        private static func message(_ number: String) -> String {
            "OpenSSL SSL_read: OpenSSL/3.0.19: error:\(number):SSL routines::an alert, errno 0"
        }

        @Test(
            "An alert about the client's certificate is a refusal of it",
            arguments: [
                "0A000412", "0A000413", "0A000414", "0A000415", "0A000416", "0A000418", "0A000419", "0A00045C",
            ])
        func refusals(number: String) {
            #expect(CurlErrors.refusesCertificate(Self.message(number)))
            #expect(CurlErrors.kindOfLoss(Self.message(number)) == .tls(.handshake))
        }

        @Test(
            "Another alert, another error, and no number are none",
            arguments: [
                "0A000411", "0A000417", "0A00041A", "0A00045B", "0A00045D", "0A000126", "0A00007F", "0B00045C", "0A000",
                "",
            ])
        func others(number: String) {
            #expect(!CurlErrors.refusesCertificate(Self.message(number)))
            #expect(!CurlErrors.refusesCertificate("error:\(number)"))
            #expect(CurlErrors.kindOfLoss(Self.message(number)) == .connectionLost)
        }
    }
#endif
