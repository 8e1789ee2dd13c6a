#if os(Linux)
    import PenstockCurl
    import PenstockURLSession

    extension TransportChoice {
        static let available = [
            TransportChoice(name: "curl") { CurlTransport() },
            TransportChoice(name: "urlsession") { URLSessionTransport() },
        ]
    }
#endif
