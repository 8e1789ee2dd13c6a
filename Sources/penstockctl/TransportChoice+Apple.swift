#if canImport(Darwin)
    import PenstockURLSession

    extension TransportChoice {
        static let available = [TransportChoice(name: "urlsession") { URLSessionTransport() }]
    }
#endif
