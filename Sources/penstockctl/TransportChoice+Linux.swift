#if os(Linux)
    import Foundation
    import PenstockCurl
    import PenstockURLSession

    extension TransportChoice {
        static let available = [
            TransportChoice(name: "curl") { CurlTransport() },
            TransportChoice(name: "urlsession") {
                // Foundation's libcurl would take a proxy from the environment, and nothing in it is looked at.
                setenv("no_proxy", "*", 1)
                return URLSessionTransport()
            },
        ]
    }
#endif
